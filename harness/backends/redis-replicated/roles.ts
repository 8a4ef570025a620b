// Who leads a group of replicated Redis servers, as the servers say (`INFO`), and how an operator changes it
// (`REPLICAOF`). Nothing in Redis without Sentinel does that by itself, so the harness is the operator.

import type { ObservedRole, Roles } from '../../contract/backend.ts';
import type { Node } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import { millis } from '../../history/op.ts';
import { askOverTcp } from '../ask-over-tcp.ts';

const TIME_LIMIT = millis(1_000);

/** A server's answer to inline commands, after which it closes the connection; undefined: none came. */
export function askRedis(node: Node, command: string): Promise<string | undefined> {
  return askOverTcp(node, `${command}\r\nQUIT\r\n`, TIME_LIMIT);
}

export async function askRole(node: Node): Promise<ObservedRole | undefined> {
  return parseRole((await askRedis(node, 'INFO replication')) ?? '');
}

/**
 * Fields of INFO, section replication, Redis 8.0. ROLE would be shorter, but a replica that has lost its primary gives
 * -1 there in place of its position. undefined: it is no such answer.
 */
export function parseRole(info: string): ObservedRole | undefined {
  const field = (name: string): string | undefined => new RegExp(`^${name}:(.*)\\r$`, 'm').exec(info)?.[1];
  const role = field('role');
  if (role === 'master') return { role: 'primary', position: Number(field('master_repl_offset')) };
  if (role === 'slave') return { role: 'replica', position: Number(field('slave_repl_offset')) };
  return undefined;
}

export const operatedRoles: Roles = {
  ask: askRole,
  promote: async (node, servers) => {
    await obey(node, 'REPLICAOF NO ONE');
    const others = servers.filter(({ name }) => name !== node.name);
    const followers = await Promise.all(
      others.map(async (other) => {
        const answer = await askRedis(other, followCommand(node));
        return answer?.startsWith('+OK') === true ? [other.name] : [];
      }),
    );
    return { promoted: node.name, followers: followers.flat() };
  },
  rejoin: async (node, servers) => {
    const others = servers.filter(({ name }) => name !== node.name);
    const roles = await Promise.all(others.map(async (other) => ({ other, seen: await askRole(other) })));
    const primary = roles.find(({ seen }) => seen?.role === 'primary')?.other;
    if (primary !== undefined) await follow(node, primary);
  },
};

/** Throws HarnessError('environment') unless the server says that it will. */
export async function follow(replica: Node, primary: Node): Promise<void> {
  await obey(replica, followCommand(primary));
}

function followCommand(primary: Node): string {
  return `REPLICAOF ${primary.address} ${primary.spec.port}`;
}

async function obey(node: Node, command: string): Promise<void> {
  const reply = await askRedis(node, command);
  if (reply?.startsWith('+OK') === true) return;
  throw new HarnessError('environment', `node ${node.name} did not obey ${command}`, {
    detail: reply ?? 'no answer',
  });
}
