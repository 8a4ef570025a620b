// Replicated Redis with Sentinels: one script on three real servers and three Sentinels, and on their models. What
// replicas have and refuse, what WAIT confirms, whom Sentinels name, an ordered failover, after which the old primary
// takes writes until it is changed, and one that a dead primary causes.

import { expect, it } from 'vitest';
import { DEFAULT_VARIANT } from '../../contract/backend.ts';
import { millis } from '../../history/op.ts';
import { openLocatedRedisPort } from '../../backends/redis/connection.ts';
import type { Command, RedisPort } from '../../backends/redis/port.ts';
import { portsOver, type OpenRedisPort } from '../../backends/redis/port-over.ts';
import { redisSentinel } from '../../backends/redis-sentinel/server.ts';
import { simulatedDial } from '../redis/wire.ts';
import { playOnBoth, sorted, type Open, type Script } from './scene.fixture.ts';

/** Ample: every command is answered at once, or when a busy machine gets to it. */
const TIME_LIMIT = millis(60_000);
/** Of a wait that ends when what is waited for is so. */
const AMPLE = 20_000;
const GROUP = ['r1', 'r2', 'r3'];
const SENTINELS = ['s1', 's2', 's3'];

function opened(open: OpenRedisPort): Open<RedisPort> {
  return ([server]) => open(() => Promise.resolve(server), TIME_LIMIT);
}

const script: Script<RedisPort> = async ({ nodes, clock, node, client }, say) => {
  const c = await client();
  const ports = new Map([...GROUP, ...SENTINELS].map((name) => [name, c.open([name])]));
  const ask = async (name: string, ...words: Command) => {
    const port = ports.get(name);
    if (port === undefined) throw new Error(`no server ${name}`);
    const outcome = await port.command(...words);
    return outcome.kind === 'ok' ? outcome.value : `${outcome.kind} ${outcome.error}`;
  };
  const told = async (name: string, ...words: Command) =>
    say(`${name}: ${words.join(' ')} → ${JSON.stringify(await ask(name, ...words))}`);
  const nameOf = (reply: Awaited<ReturnType<typeof ask>>): string => {
    const [host, port] = Array.isArray(reply) ? reply : [];
    return `${nodes.find(({ address }) => address === host)?.name ?? String(reply)} ${String(port)}`;
  };
  const until = async (done: () => Promise<boolean>): Promise<boolean> => {
    const from = clock.now();
    while ((clock.now() - from) / 1e6 < 60_000) {
      if (await done()) return true;
      await clock.sleep(millis(50));
    }
    return false;
  };
  const named = async (sentinel: string) =>
    nameOf(await ask(sentinel, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'lockpick'));
  const roleOf = async (name: string) => {
    const role = await ask(name, 'ROLE');
    return Array.isArray(role) ? String(role[0]) : undefined;
  };

  await told('r1', 'SET', 'k', 'a', 'NX', 'PX', 600_000);
  await told('r1', 'WAIT', 2, AMPLE);
  await told('r1', 'WAIT', 3, 100);
  await told('r1', 'WAIT', 0, 100);
  for (const name of GROUP) {
    await told(name, 'GET', 'k');
    say(`${name}: role ${await roleOf(name)}`);
  }
  await told('r2', 'SET', 'k', 'b');
  await told('r2', 'DEL', 'k');
  await told('r1', 'DEL', 'k');
  await told('r1', 'WAIT', 2, AMPLE);
  await told('r3', 'GET', 'k');
  // A replica that is stopped confirms nothing, and has it all when it goes on.
  await node('r3').signal('SIGSTOP');
  await clock.sleep(millis(200));
  await told('r1', 'INCR', 'n');
  await told('r1', 'WAIT', 1, AMPLE);
  await told('r1', 'WAIT', 2, 300);
  await node('r3').signal('SIGCONT');
  say(`r3 catches up: ${await until(async () => (await ask('r3', 'GET', 'n')) === '1')}`);
  await told('r1', 'WAIT', 2, AMPLE);
  // A replica does not see a key that has run out, and its primary lets it go.
  await told('r1', 'SET', 'short', 'a', 'PX', 600_000);
  await told('r1', 'WAIT', 2, AMPLE);
  await told('r2', 'GET', 'short');
  await told('r1', 'PEXPIRE', 'short', 100);
  await told('r1', 'WAIT', 2, AMPLE);
  await clock.sleep(millis(500));
  await told('r2', 'GET', 'short');

  for (const name of SENTINELS) say(`${name} names ${await named(name)}`);
  await told('s1', 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'no-such');
  await told('s1', 'PING');

  // An order to hand over. Whoever is still with the old primary goes on with it.
  const orderedAt = clock.now();
  await told('s1', 'SENTINEL', 'FAILOVER', 'lockpick');
  say(
    `all name another one: ${await until(async () => {
      const names = await Promise.all(SENTINELS.map(named));
      return new Set(names).size === 1 && names.every((name) => /^r[23] 6379$/.test(name));
    })}`,
  );
  const [first = ''] = (await named('s1')).split(' ');
  say(`it leads: ${await roleOf(first)}`);
  await told('r1', 'SET', 'late', 'by the old one');
  say(`the new one does not know of it: ${JSON.stringify(await ask(first, 'GET', 'late'))}`);
  const third = GROUP.find((name) => name !== 'r1' && name !== first) ?? '';
  say(`the third follows: ${await until(async () => (await ask(first, 'WAIT', 1, 100)) === 1)}`);
  say(
    `a write reaches it: ${JSON.stringify(await ask(first, 'SET', 'new', 'a'))} ${JSON.stringify(await ask(first, 'WAIT', 1, AMPLE))}`,
  );
  say(`the third has it: ${JSON.stringify(await ask(third, 'GET', 'new'))}`);
  say(`the old one is changed: ${await until(async () => (await roleOf('r1')) === 'slave')}`);
  const tookMillis = (clock.now() - orderedAt) / 1e6;
  say(`after ${tookMillis > 6_000 ? 'some ten seconds' : `${tookMillis} ms`}`);
  say(`what it took is lost: ${await until(async () => (await ask('r1', 'GET', 'late')) === null)}`);
  say(`it has the rest: ${JSON.stringify(await ask('r1', 'GET', 'new'))}`);

  // A primary that dies.
  await ask(first, 'WAIT', 2, AMPLE);
  await node(first).signal('SIGKILL');
  const killedAt = clock.now();
  say(
    `another one is named: ${await until(async () => {
      const names = await Promise.all(SENTINELS.map(named));
      return new Set(names).size === 1 && !names.every((name) => name.startsWith(first));
    })}`,
  );
  const failoverMillis = (clock.now() - killedAt) / 1e6;
  say(failoverMillis > 1_800 ? 'not before it was silent for two seconds' : `after ${failoverMillis} ms`);
  const roles = await Promise.all(GROUP.filter((name) => name !== first).map(roleOf));
  say(`roles: ${sorted(roles)}`);
  const [second = ''] = (await named('s2')).split(' ');
  say(`what was confirmed is there: ${JSON.stringify(await ask(second, 'GET', 'new'))}`);
};

it('simulated servers say what real ones say', async () => {
  const servers = redisSentinel.servers({ variant: DEFAULT_VARIANT, ttlMillis: millis(1_000) });
  const { model, real } = await playOnBoth(
    {
      servers,
      assemble: async (nodes) => {
        await redisSentinel.assemble?.(nodes);
      },
    },
    {
      real: opened(openLocatedRedisPort),
      simulated: (machine) => opened(portsOver(simulatedDial(machine), machine.process.after)),
    },
    script,
  );
  expect(model).toEqual(real);
  expect(real.length).toBeGreaterThan(40);
});
