// Redis and Valkey: one script of commands, waits and errors on real servers and on their models, and what is left when
// a server is killed, by its settings. What differs on purpose is in docs/simulation.md.

import { expect, it } from 'vitest';
import type { NodeSpec } from '../../contract/cluster.ts';
import { millis } from '../../history/op.ts';
import { openLocatedRedisPort } from '../../backends/redis/connection.ts';
import type { Command, RedisPort } from '../../backends/redis/port.ts';
import { portsOver, type OpenRedisPort } from '../../backends/redis/port-over.ts';
import { GRANT_WITH_TOKEN } from '../../backends/redis/recipes/fenced-incr.ts';
import { GRANT_WITH_VOLATILE_TOKEN } from '../../backends/redis/recipes/token-on-volatile-key.ts';
import { APPEND_ALWAYS, redisNode } from '../../backends/redis/server.ts';
import { DELETE_IF_OWNER, EXTEND_IF_OWNER } from '../../backends/redis/steps.ts';
import { simulatedDial } from '../redis/wire.ts';
import { playOnBoth, type Open, type Script } from './scene.fixture.ts';

/** Ample: every command is answered at once, or when a busy machine gets to it. */
const TIME_LIMIT = millis(30_000);

/** A command, or a wait in milliseconds. What is to be there still has 600 s; what is to be gone runs out while nobody asks. */
const REDIS_SCRIPT: readonly (Command | number)[] = [
  ['SET', 'k', 'a', 'NX', 'PX', 600_000],
  ['SET', 'k', 'b', 'NX', 'PX', 400],
  ['GET', 'k'],
  ['EVAL', DELETE_IF_OWNER, 1, 'k', 'b'],
  ['EVAL', EXTEND_IF_OWNER, 1, 'k', 'b', 400],
  ['EVAL', EXTEND_IF_OWNER, 1, 'k', 'a', 600_000],
  ['GET', 'k'],
  ['EVAL', EXTEND_IF_OWNER, 1, 'k', 'a', 200],
  300,
  ['GET', 'k'],
  ['SET', 'k', 'a', 'NX', 'PX', 200],
  300,
  ['GET', 'k'],
  ['EVAL', DELETE_IF_OWNER, 1, 'k', 'a'],
  ['EVAL', EXTEND_IF_OWNER, 1, 'k', 'a', 400],
  ['SETNX', 'k', 'c'],
  ['SETNX', 'k', 'd'],
  ['PTTL', 'k'],
  ['PEXPIRE', 'k', 200],
  ['SET', 'k', 'e', 'PX', 600_000],
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
  ['EVAL', GRANT_WITH_TOKEN, 2, 'l', 'l-token', 'a', 600_000],
  ['EVAL', GRANT_WITH_TOKEN, 2, 'l', 'l-token', 'b', 200],
  ['EVAL', DELETE_IF_OWNER, 1, 'l', 'a'],
  ['EVAL', GRANT_WITH_TOKEN, 2, 'l', 'l-token', 'b', 200],
  300,
  ['EVAL', GRANT_WITH_TOKEN, 2, 'l', 'l-token', 'b', 600_000],
  ['EVAL', GRANT_WITH_VOLATILE_TOKEN, 2, 'v', 'v-token', 'a', 200],
  300,
  ['EVAL', GRANT_WITH_VOLATILE_TOKEN, 2, 'v', 'v-token', 'b', 600_000],
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

const SERVERS: readonly NodeSpec[] = [
  redisNode('always', APPEND_ALWAYS),
  redisNode('everysec', ['--appendonly', 'yes', '--appendfsync', 'everysec']),
  redisNode('never', ['--appendonly', 'yes', '--appendfsync', 'no']),
  // Nor a snapshot: it is never told to stop in order.
  redisNode('memory', []),
  { ...redisNode('valkey', APPEND_ALWAYS), image: 'valkey9' },
];

function opened(open: OpenRedisPort): Open<RedisPort> {
  return ([server]) => open(() => Promise.resolve(server), TIME_LIMIT);
}

const script: Script<RedisPort> = async ({ nodes, clock, client }, say) => {
  const c = await client();
  const tell = async (name: string, port: RedisPort, [word, ...args]: Command) => {
    const words = args.map((each) => String(each).replaceAll(/\s+/g, ' ').slice(0, 40));
    say(`${name}: ${[word, ...words].join(' ')} → ${JSON.stringify(await port.command(word, ...args))}`);
  };
  for (const name of ['always', 'valkey']) {
    await using port = c.open([name]);
    for (const step of REDIS_SCRIPT)
      if (typeof step === 'number') await clock.sleep(millis(step));
      else await tell(name, port, step);
    for (const command of ['DELIFEQ', 'DELEX'])
      say(`${name} offers ${command}: ${await port.offers(command)}`);
  }

  // What a server has answered survives it if it was written to a file, synced or not: the system has it.
  for (const { name } of nodes) {
    await using port = c.open([name]);
    await tell(name, port, ['SET', 'kept', 'a', 'NX', 'PX', 600_000]);
    await tell(name, port, ['SET', 'brief', 'a', 'PX', 1]);
  }
  await Promise.all(nodes.map((node) => node.signal('SIGKILL')));
  await Promise.all(
    nodes.map(async (node) => {
      await node.start();
      await node.ready(millis(30_000));
    }),
  );
  for (const { name } of nodes) {
    await using port = c.open([name]);
    await tell(name, port, ['GET', 'kept']);
    await tell(name, port, ['GET', 'brief']);
  }
};

it('simulated servers say what real ones say', async () => {
  const { model, real } = await playOnBoth(
    { servers: SERVERS },
    {
      real: opened(openLocatedRedisPort),
      simulated: (machine) => opened(portsOver(simulatedDial(machine), machine.process.after)),
    },
    script,
  );
  expect(model).toEqual(real);
  // Of a script in which nothing was answered nothing would be learned.
  expect(real.filter((line) => line.includes('"kind":"ok"')).length).toBeGreaterThan(80);
});
