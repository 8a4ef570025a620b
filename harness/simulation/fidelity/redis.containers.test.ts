// Fidelity, tested and not assumed: one script of commands runs against a simulated server and against the real one in a
// container, and every reply, error and expiry must be the same. What differs on purpose is in docs/simulation.md.

import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { DEFAULT_VARIANT } from '../../contract/backend.ts';
import type { NodeSpec } from '../../contract/cluster.ts';
import { millis } from '../../history/op.ts';
import { openRedisPort } from '../../backends/redis/connection.ts';
import type { Command, RedisPort } from '../../backends/redis/port.ts';
import { portsOver } from '../../backends/redis/port-over.ts';
import { GRANT_WITH_TOKEN } from '../../backends/redis/recipes/fenced-incr.ts';
import { GRANT_WITH_VOLATILE_TOKEN } from '../../backends/redis/recipes/token-on-volatile-key.ts';
import { redisSingle } from '../../backends/redis/server.ts';
import { DELETE_IF_OWNER, EXTEND_IF_OWNER } from '../../backends/redis/steps.ts';
import { startServer } from '../../testing/container.fixture.ts';
import type { Machine } from '../program.ts';
import { simulatedDial } from '../redis/wire.ts';
import { serverProgram } from '../services.ts';
import { openWorld } from '../world.ts';

const TIME_LIMIT = millis(2_000);

/** A command, or a wait in milliseconds. */
const REDIS_SCRIPT: readonly (Command | number)[] = [
  ['SET', 'k', 'a', 'NX', 'PX', 400],
  ['SET', 'k', 'b', 'NX', 'PX', 400],
  ['GET', 'k'],
  ['EVAL', DELETE_IF_OWNER, 1, 'k', 'b'],
  ['EVAL', EXTEND_IF_OWNER, 1, 'k', 'b', 400],
  ['EVAL', EXTEND_IF_OWNER, 1, 'k', 'a', 400],
  200,
  ['GET', 'k'],
  300,
  ['GET', 'k'],
  ['EVAL', DELETE_IF_OWNER, 1, 'k', 'a'],
  ['EVAL', EXTEND_IF_OWNER, 1, 'k', 'a', 400],
  ['SETNX', 'k', 'c'],
  ['SETNX', 'k', 'd'],
  ['PTTL', 'k'],
  ['PEXPIRE', 'k', 200],
  ['SET', 'k', 'e', 'PX', 60_000],
  300,
  ['GET', 'k'],
  ['DEL', 'k'],
  ['DEL', 'k'],
  ['PTTL', 'k'],
  ['PEXPIRE', 'k', 100],
  ['EXISTS', 'k'],
  ['INCR', 'n'],
  ['INCR', 'n'],
  ['SET', 'n', 'text'],
  ['INCR', 'n'],
  ['SET', 'k', 'f'],
  ['PEXPIRE', 'k', -1],
  ['EXISTS', 'k'],
  ['EVAL', GRANT_WITH_TOKEN, 2, 'l', 'l-token', 'a', 200],
  ['EVAL', GRANT_WITH_TOKEN, 2, 'l', 'l-token', 'b', 200],
  ['EVAL', DELETE_IF_OWNER, 1, 'l', 'a'],
  ['EVAL', GRANT_WITH_TOKEN, 2, 'l', 'l-token', 'b', 60_000],
  ['EVAL', GRANT_WITH_VOLATILE_TOKEN, 2, 'v', 'v-token', 'a', 200],
  300,
  ['EVAL', GRANT_WITH_VOLATILE_TOKEN, 2, 'v', 'v-token', 'b', 60_000],
  ['PTTL', 'l-token'],
  ['WAIT', 0, 50],
  ['WAIT', 1, 50],
  ['SET', 'k', 'g', 'PX', 0],
  ['SET', 'k', 'g', 'NX', 'PX', 'soon'],
  ['SET', 'k', 'g', 'PX'],
  ['SET', 'k', 'g', 'NO-SUCH'],
  ['SET', 'k'],
  ['GET'],
  ['NO-SUCH-COMMAND', 'k'],
  ['DBSIZE'],
  ['PING'],
];

async function play(
  port: RedisPort,
  sleep: (duration: number) => Promise<unknown>,
): Promise<readonly string[]> {
  const said: string[] = [];
  for (const step of REDIS_SCRIPT)
    if (typeof step === 'number') await sleep(step);
    else {
      const [name, ...args] = step;
      const words = [name, ...args.map((word) => String(word).replaceAll(/\s+/g, ' ').slice(0, 40))];
      said.push(`${words.join(' ')} → ${JSON.stringify(await port.command(...step))}`);
    }
  said.push(
    `offers DELIFEQ → ${await port.offers('DELIFEQ')}`,
    `offers DELEX → ${await port.offers('DELEX')}`,
  );
  return said;
}

async function simulated(spec: NodeSpec): Promise<readonly string[]> {
  const world = openWorld('fidelity');
  return await world.during(async () => {
    let machine: Machine | undefined;
    const client: NodeSpec = { name: 'c1', role: 'client', image: 'client' };
    const cluster = await world.start([spec, client], (node) =>
      node.role === 'client' ? (own) => void (machine = own) : serverProgram(node),
    );
    if (machine === undefined) throw new Error('the client was not started');
    const { process } = machine;
    const address = { host: cluster.node(spec.name).address, port: 6379 };
    await using port = portsOver(simulatedDial(machine), process.after)(
      () => Promise.resolve(address),
      TIME_LIMIT,
    );
    return await play(port, (duration) => process.clock(0).sleep(millis(duration)));
  });
}

describe('a simulated Redis says what a real one says', () => {
  it.each([DEFAULT_VARIANT, 'valkey-9'])('%s', async (variant) => {
    const [spec] = redisSingle.servers({ variant, ttlMillis: millis(1_000) });
    if (spec === undefined) throw new Error('redis-single without a server');
    await using server = await startServer(spec.image, 6379, ...(spec.command ?? []));
    await using port = openRedisPort(server, TIME_LIMIT);
    const [real, model] = [await play(port, delay), await simulated(spec)];
    expect(model).toEqual(real);
    // Of a script in which nothing was answered nothing would be learned.
    expect(real.filter((line) => line.includes('"kind":"ok"')).length).toBeGreaterThan(35);
  });
});
