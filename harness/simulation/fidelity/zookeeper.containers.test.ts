// ZooKeeper: one script on three real servers and on their models. Errors, numbers of nodes, transactions that grow, the
// end of a session and what goes with it, watches and what is read behind them, and a leader that is killed.

import { expect, it } from 'vitest';
import { DEFAULT_VARIANT } from '../../contract/backend.ts';
import type { Outcome } from '../../contract/lock-client.ts';
import { millis } from '../../history/op.ts';
import { openZooKeeperPort } from '../../backends/zookeeper/connection.ts';
import type { ZooKeeperPort, ZooKeeperSession } from '../../backends/zookeeper/port.ts';
import { portsOver } from '../../backends/zookeeper/port-over.ts';
import { zookeeper } from '../../backends/zookeeper/server.ts';
import { simulatedWires } from '../zookeeper/wire.ts';
import { playOnBoth, sorted, type Open, type Script } from './scene.fixture.ts';

const TIMEOUT = millis(2_000);
/** Of a session whose end is not looked at. */
const AMPLE_TIMEOUT = millis(30_000);
/** Ample: servers that are there answer at once, or when a busy machine gets to it. */
const TIME_LIMIT = millis(10_000);

const real: Open<ZooKeeperPort> = (servers, clock) =>
  openZooKeeperPort({ servers, clock, timeLimit: TIME_LIMIT });

async function sessionOf(port: ZooKeeperPort, timeout = AMPLE_TIMEOUT): Promise<ZooKeeperSession> {
  const opened = await port.session(timeout);
  if (opened.kind !== 'ok') throw new Error(`no session: ${opened.error}`);
  return opened.value;
}

function words(outcome: Outcome<unknown>): string {
  return outcome.kind === 'ok' ? JSON.stringify(outcome.value ?? null) : `${outcome.kind} ${outcome.error}`;
}

async function statOf(session: ZooKeeperSession, path: string) {
  const found = await session.stat(path);
  if (found.kind !== 'ok') throw new Error(found.error);
  return found.value;
}

const script: Script<ZooKeeperPort> = async ({ nodes, clock, latenessMillis, client }, say) => {
  const [first, second, third] = [await client(), await client(), await client()];
  await using one = first.open(['z1']);
  await using two = second.open(['z2']);
  const [a, b] = [await sessionOf(one), await sessionOf(two)];
  const names = new Map([
    [a.id, 'the first'],
    [b.id, 'the second'],
  ]);
  say(`an identity has ${a.id.length} digits`);
  const create = async (session: ZooKeeperSession, ...args: Parameters<ZooKeeperSession['create']>) =>
    say(`create ${args.join(' ')} → ${words(await session.create(...args))}`);
  const children = async (session: ZooKeeperSession, path: string): Promise<string> => {
    const found = await session.children(path);
    return found.kind === 'ok' ? sorted(found.value) : words(found);
  };

  await create(a, '/f', 'persistent');
  await create(a, '/f', 'persistent');
  await create(a, '/none/x', 'persistent');
  await create(a, '/none/x-', 'ephemeral-sequential');
  say(`children of none → ${await children(a, '/none')}`);
  say(`stat of none → ${words(await a.stat('/none'))}`);
  for (const session of [a, b, a]) await create(session, '/f/n-', 'ephemeral-sequential');
  say(`remove → ${words(await a.remove('/f/n-0000000001'))}`);
  say(`remove it again → ${words(await a.remove('/f/n-0000000001'))}`);
  await create(b, '/f/other-', 'ephemeral-sequential');
  await create(a, '/f/p', 'persistent');
  await create(b, '/f/n-', 'ephemeral-sequential');
  await create(a, '/f/n-0000000000/below', 'persistent');
  say(`remove a node with children → ${words(await a.remove('/f'))}`);
  say(`sync → ${words(await a.sync())}`);
  say(`what the first reads: ${await children(a, '/f')}`);
  say(`sync → ${words(await b.sync())}`);
  say(`what the second reads: ${await children(b, '/f')}`);
  const path = ['/f', '/f/n-0000000000', '/f/n-0000000002', '/f/other-0000000003', '/f/p', '/f/n-0000000005'];
  const stats = await Promise.all(path.map((node) => statOf(b, node)));
  say(`owners: ${stats.map((found) => names.get(found?.owner ?? '') ?? found?.owner).join(', ')}`);
  const made = stats.map((found) => found?.createdBy ?? 0n);
  say(
    `younger nodes have later transactions: ${made.every((zxid, at) => at === 0 || zxid > (made[at - 1] ?? 0n))}`,
  );

  // Watches.
  const watched = b.gone('/f/p', millis(30_000)).then(async () => await children(b, '/f'));
  await clock.sleep(millis(300));
  say(`remove what is watched → ${words(await a.remove('/f/p'))}`);
  say(`read behind the watch: ${await watched}`);
  let asked = clock.now();
  await b.gone('/f/p', millis(30_000));
  say(`a watch of nothing settles ${clock.now() - asked < 20e9 ? 'at once' : 'late'}`);
  asked = clock.now();
  await b.gone('/f', millis(600));
  say(`a watch of what stays settles ${clock.now() - asked >= 6e8 ? 'when the time is up' : 'early'}`);

  // A session that says goodbye, and one that is not heard any more.
  const brief = third.open(['z3']);
  const c = await sessionOf(brief);
  await create(c, '/f/c-', 'ephemeral-sequential');
  await brief[Symbol.asyncDispose]();
  await b.sync();
  say(`after a goodbye: ${await children(b, '/f')}`);
  say(`of a session that has ended: ${words(await c.stat('/f'))}`);
  const cut = await client();
  const d = await sessionOf(cut.open(), TIMEOUT);
  await create(d, '/f/d-', 'ephemeral-sequential');
  await b.sync();
  const waitMillis = 30_000;
  const waiting = b.gone('/f/d-0000000007', millis(waitMillis)).then(() => clock.now());
  await clock.sleep(millis(300));
  cut.cutOff();
  const cutAt = clock.now();
  say(`the client that is cut off ends its session: ${await d.ended}`);
  const endedAt = clock.now();
  const goneAt = await waiting;
  say(`and it does so while the ensemble has it: ${(endedAt - goneAt) / 1e6 < latenessMillis()}`);
  const tookMillis = (goneAt - cutAt) / 1e6;
  say(
    `which ends it ${tookMillis > 1_200 && tookMillis < waitMillis ? 'after its time-out' : `after ${tookMillis} ms`}`,
  );
  await b.sync();
  say(`then: ${await children(b, '/f')}`);

  // Whoever leads is killed, while one client may use all of the servers.
  const free = await client();
  await using everywhere = free.open();
  const e = await sessionOf(everywhere);
  await create(e, '/f/e-', 'ephemeral-sequential');
  const roles = await Promise.all(
    nodes.map(async (node) => ({ node, seen: await zookeeper.roles?.ask(node) })),
  );
  say(`roles: ${sorted(roles.map(({ seen }) => seen?.role))}`);
  const leader = roles.find(({ seen }) => seen?.role === 'leader');
  await leader?.node.signal('SIGKILL');
  const killedAt = clock.now();
  let written = await e.create('/f/late', 'persistent');
  while (written.kind !== 'ok' && (clock.now() - killedAt) / 1e6 < 40_000) {
    await clock.sleep(millis(50));
    written = await e.create('/f/late', 'persistent');
    if (written.kind === 'fail' && written.error === 'node-exists') break;
  }
  say(
    `written within ${(clock.now() - killedAt) / 1e6 < 30_000 ? 'seconds' : 'no time'}; the session goes on: ${e.live}`,
  );
  await e.sync();
  say(`with its node: ${(await children(e, '/f')).includes('e-0000000008')}`);
  await create(e, '/f/e-', 'ephemeral-sequential');
  const later = await statOf(e, '/f/e-0000000010');
  const before = await statOf(e, '/f/e-0000000008');
  const epochs = [before, later].map((found) => (found?.createdBy ?? 0n) >> 32n);
  say(`a new leader begins an epoch: ${(epochs[1] ?? 0n) > (epochs[0] ?? 0n)}`);
  const after = await Promise.all(nodes.map(async (node) => (await zookeeper.roles?.ask(node))?.role));
  say(`roles: ${sorted(after)}`);
};

it('simulated servers say what real ones say', async () => {
  const servers = zookeeper.servers({ variant: DEFAULT_VARIANT, ttlMillis: AMPLE_TIMEOUT });
  const { model, real: seen } = await playOnBoth(
    { servers },
    {
      real,
      simulated: (machine) => (addresses, clock) =>
        portsOver(
          simulatedWires(machine),
          machine.process.after,
        )({ servers: addresses, clock, timeLimit: TIME_LIMIT }),
    },
    script,
  );
  expect(model).toEqual(seen);
  expect(seen.length).toBeGreaterThan(40);
});
