// What a member says of itself over HTTP on its client port: who leads, and which version it is; and how the one that
// leads is ordered to let another one lead (etcd 3.5, service Maintenance, by the gateway).

import type { Backend, Roles } from '../../contract/backend.ts';
import type { Node } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import { millis } from '../../history/op.ts';
import { askOverTcp } from '../ask-over-tcp.ts';
import { versionIn } from '../version-in.ts';

const TIME_LIMIT = millis(1_000);

export const askRole: Roles['ask'] = async (node) => {
  const answer = await post(node, 'status', '{}');
  if (answer === undefined) return undefined;
  const member = numberNamed('member_id', answer);
  const leader = numberNamed('leader', answer);
  const term = numberNamed('raftTerm', answer);
  const applied = numberNamed('raftAppliedIndex', answer);
  return {
    role: leader === undefined ? 'candidate' : leader === member ? 'leader' : 'follower',
    ...(term !== undefined && { term }),
    ...(applied !== undefined && { position: Number(applied) }),
  };
};

/** Answered when the other one leads; refused by any but the leader. */
export const promote: NonNullable<Roles['promote']> = async (node, servers) => {
  const target = numberNamed('member_id', (await post(node, 'status', '{}')) ?? '');
  const roles = await Promise.all(servers.map(async (server) => ({ server, seen: await askRole(server) })));
  const leader = roles.find(({ seen }) => seen?.role === 'leader')?.server;
  const order = JSON.stringify({ targetID: target });
  const obeyed = leader && target && (await post(leader, 'transfer-leadership', order));
  const now = await askRole(node);
  if (obeyed === undefined || now?.role !== 'leader')
    throw new HarnessError('environment', `the lead could not be given to node ${node.name}`, {
      detail: leader === undefined ? 'nobody leads' : `${leader.name} leads`,
    });
  return { promoted: node.name, before: leader?.name ?? null };
};

/** What a 200 came with; undefined: it refused, or nothing came. */
async function post(node: Node, method: string, body: string): Promise<string | undefined> {
  const question = `POST /v3/maintenance/${method} HTTP/1.0\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const answer = await askOverTcp(node, question, TIME_LIMIT);
  return answer?.startsWith('HTTP/1.0 200') === true ? answer : undefined;
}

/** 64-bit numbers are decimal text in its JSON, and a field that is 0 is left out. */
function numberNamed(name: string, json: string): string | undefined {
  return new RegExp(`"${name}":\\s*"(\\d+)"`).exec(json)?.[1];
}

export const askVersion: Backend['version'] = async (node) => {
  const answer = await askOverTcp(node, 'GET /version HTTP/1.0\r\n\r\n', TIME_LIMIT);
  return `etcd ${versionIn(node, answer, /"etcdserver":"([^"]+)"/)}`;
};
