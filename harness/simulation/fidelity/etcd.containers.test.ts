// etcd: one script on three real members and on their models. Leases and what goes with them, transactions and revisions,
// watches, errors, a member that is gone, and a leader that is killed while leases run.

import { expect, it } from 'vitest';
import { DEFAULT_VARIANT } from '../../contract/backend.ts';
import type { Outcome } from '../../contract/lock-client.ts';
import { millis } from '../../history/op.ts';
import { openEtcdPort } from '../../backends/etcd/connection.ts';
import { librariesOver, openEtcdLibrary, type EtcdLibrary } from '../../backends/etcd/library.ts';
import { portsOver } from '../../backends/etcd/port-over.ts';
import type { EtcdPort, Operation, Transaction } from '../../backends/etcd/port.ts';
import { etcd } from '../../backends/etcd/server.ts';
import { libraryOn } from '../etcd/library.ts';
import { simulatedEtcdWires } from '../etcd/wire.ts';
import { playOnBoth, sorted, type Scene, type Script } from './scene.fixture.ts';

/** Ample: members that are there answer at once, or when a busy machine gets to it. */
const TIME_LIMIT = millis(10_000);
const OPTIONS = { first: 0, timeLimit: TIME_LIMIT };
/** Of a lease that ends; what is to be seen before has half of it to be late. */
const TTL_SECONDS = 4;
const TTL_MILLIS = TTL_SECONDS * 1_000;

interface Port {
  readonly port: EtcdPort;
  readonly library: EtcdLibrary;
}

const put = (key: string, value: string, lease?: string): Operation => ({
  kind: 'put',
  key,
  value,
  ...(lease !== undefined && { lease }),
});
const ifAbsent = (key: string, ...success: readonly Operation[]): Transaction => ({
  when: { key, createRevision: 0n },
  success,
  failure: [{ kind: 'get', key }],
});

function valueOf<T>(outcome: Outcome<T>): T {
  if (outcome.kind !== 'ok') throw new Error(outcome.error);
  return outcome.value;
}

/** What it is like to hold a lock of the library and to be cut off. */
async function libraryLock({ clock, client }: Scene<Port>): Promise<readonly string[]> {
  const [mine, theirs] = [await client(), await client()];
  await using one = mine.open().library;
  await using two = theirs.open().library;
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  const [held, wanted] = [
    await one.lock('lock/l', TTL_SECONDS, resolve),
    await two.lock('lock/l', TTL_SECONDS, () => undefined),
  ];
  const lines = [
    `taken → ${(await held.acquire()).kind}`,
    `busy → ${JSON.stringify(await wanted.acquire())}`,
  ];
  await clock.sleep(millis(1.5 * TTL_MILLIS));
  lines.push(`kept alive, busy → ${JSON.stringify(await wanted.acquire())}`);
  mine.cutOff();
  const cutAt = clock.now();
  await lost;
  const tookMillis = (clock.now() - cutAt) / 1e6;
  const isLate = tookMillis > 1.5 * TTL_MILLIS;
  let taken = await wanted.acquire();
  // A new leader lets leases run once more in full.
  while (taken.kind !== 'ok' && (clock.now() - cutAt) / 1e6 < 10 * TTL_MILLIS) {
    await clock.sleep(millis(50));
    taken = await wanted.acquire();
  }
  lines.push(
    `told of the loss ${isLate ? 'long after it' : `after ${tookMillis} ms`}`,
    `taken by the next → ${taken.kind}`,
    `given back → ${(await wanted.release()).kind}`,
  );
  return lines;
}

const script: Script<Port> = async (scene, say) => {
  const { nodes, node, clock, client } = scene;
  const first = await client();
  await using one = first.open(['e1']).port;
  await using two = (await client()).open(['e2']).port;
  /** Revisions as distances from the first. */
  let origin: bigint | undefined;
  let isAlone = true;
  const distance = (revision: bigint): string => {
    origin ??= revision;
    return revision === 0n ? 'none' : isAlone ? `+${revision - origin}` : 'some';
  };
  const transact = async (port: EtcdPort, what: string, transaction: Transaction) => {
    const outcome = await port.transact(transaction);
    if (outcome.kind !== 'ok') return say(`${what} → ${outcome.kind} ${outcome.error}`);
    const { succeeded, revision, found } = outcome.value;
    const seen = found.map((each) =>
      each.map(
        ({ key, value, createRevision, version }) =>
          `${key}=${value} created ${distance(createRevision)} version ${version}`,
      ),
    );
    say(`${what} → ${succeeded} at ${distance(revision)}: ${JSON.stringify(seen)}`);
  };
  const look = (port: EtcdPort, key: string) =>
    transact(port, `look at ${key}`, {
      when: { key, createRevision: 0n },
      success: [],
      failure: [{ kind: 'get', key }],
    });
  const list = (port: EtcdPort, prefix: string) =>
    transact(port, `list ${prefix}`, ifAbsent('no-such', { kind: 'list', prefix }));

  const { lease, ttlSeconds } = valueOf(await one.grantLease(60));
  say(`a lease of ${ttlSeconds} s, named by digits: ${/^\d+$/.test(lease)}`);
  await transact(one, 'put if absent', ifAbsent('q/a', put('q/a', '1', lease)));
  await transact(two, 'put if absent', ifAbsent('q/a', put('q/a', '2', lease)));
  await transact(two, 'put and get', ifAbsent('q/b', put('q/b', '1'), { kind: 'get', key: 'q/b' }));
  await transact(one, 'put twice', ifAbsent('none', put('q/b', '2'), put('q/c', '1', lease)));
  await transact(one, 'put one key twice', ifAbsent('none', put('q/d', '1'), put('q/d', '2')));
  await transact(one, 'with a lease that is not there', ifAbsent('q/e', put('q/e', '1', '12345')));
  await look(two, 'q/e');
  await list(two, 'q/');
  await list(one, 'empty/');
  const found = valueOf(await one.transact(ifAbsent('none', { kind: 'get', key: 'q/c' }))).found[0]?.[0];
  for (const limit of [1, 2])
    await transact(
      two,
      `the ${limit} before`,
      ifAbsent('none', { kind: 'before', prefix: 'q/', createRevision: found?.createRevision ?? 0n, limit }),
    );
  say(`keep alive → ${JSON.stringify(valueOf(await two.keepAlive(lease)))}`);

  // A watch, from now on and from what is past.
  const { revision } = valueOf(await one.transact(ifAbsent('none', { kind: 'get', key: 'q/a' })));
  const watched = two.deleted('q/a', revision + 1n, millis(30_000));
  say(`a watch of what stays → ${await one.deleted('q/b', revision + 1n, millis(400))}`);
  say(`revoke → ${JSON.stringify(valueOf(await one.revoke(lease)))}`);
  say(`a watch of what went with it → ${await watched}`);
  say(`a watch from before → ${await one.deleted('q/a', revision + 1n, millis(30_000))}`);
  say(`revoke again → ${JSON.stringify(valueOf(await one.revoke(lease)))}`);
  say(`keep alive → ${JSON.stringify(valueOf(await one.keepAlive(lease)))}`);
  await list(two, 'q/');

  // A lease that nobody keeps alive. Meanwhile others write, and revisions are not counted any more.
  isAlone = false;
  const library = libraryLock(scene);
  const short = valueOf(await one.grantLease(TTL_SECONDS));
  await transact(one, 'put', ifAbsent('q/short', put('q/short', '1', short.lease)));
  const grantedAt = clock.now();
  await clock.sleep(millis(0.6 * TTL_MILLIS));
  say(`keep alive → ${JSON.stringify(valueOf(await two.keepAlive(short.lease)))}`);
  await clock.sleep(millis(0.6 * TTL_MILLIS));
  await look(two, 'q/short');
  say(`ends → ${await two.deleted('q/short', revision, millis(30_000))}`);
  const tookMillis = (clock.now() - grantedAt) / 1e6;
  say(tookMillis > 1.5 * TTL_MILLIS ? 'its time after it was kept alive' : `after ${tookMillis} ms`);
  await look(one, 'q/short');

  for (const line of await library) say(`the library: ${line}`);

  // A leader that is killed: leases run once more in full.
  const roles = await Promise.all(
    nodes.map(async (member) => ({ member, seen: await etcd.roles?.ask(member) })),
  );
  say(`roles: ${sorted(roles.map(({ seen }) => seen?.role))}`);
  const leader = roles.find(({ seen }) => seen?.role === 'leader')?.member;
  const left = nodes.filter((member) => member !== leader).map(({ name }) => name);
  const survivor = (await client()).open(left.slice(0, 1)).port;
  const long = valueOf(await survivor.grantLease(TTL_SECONDS));
  await transact(survivor, 'put', ifAbsent('q/long', put('q/long', '1', long.lease)));
  await clock.sleep(millis(0.5 * TTL_MILLIS));
  await leader?.signal('SIGKILL');
  const killedAt = clock.now();
  await clock.sleep(millis(200));
  await using gone = first.open(leader === undefined ? [] : [leader.name]).port;
  const refused = await gone.grantLease(TTL_SECONDS);
  say(`a member that is gone → ${refused.kind === 'ok' ? 'ok' : refused.error}`);
  say(
    `the key outlives its time → ${!(await survivor.deleted('q/long', revision, millis(0.6 * TTL_MILLIS)))}`,
  );
  const ends = await survivor.deleted('q/long', revision, millis(30_000));
  say(
    `and ends → ${ends}, ${(clock.now() - killedAt) / 1e6 > 0.9 * TTL_MILLIS ? 'a whole time later' : 'early'}`,
  );
  await survivor[Symbol.asyncDispose]();

  // Without a majority nothing is said to be done.
  const [second = ''] = left.slice(1);
  await node(second).signal('SIGKILL');
  await using alone = (await client()).open(left.slice(0, 1)).port;
  await clock.sleep(millis(1_500));
  const asked = await alone.transact(ifAbsent('q/alone', put('q/alone', '1')));
  say(`without a majority → ${asked.kind}`);
};

it('simulated members say what real ones say', async () => {
  const { model, real } = await playOnBoth(
    { servers: etcd.servers({ variant: DEFAULT_VARIANT, ttlMillis: millis(TTL_MILLIS) }) },
    {
      real: (servers) => ({
        port: openEtcdPort(servers, OPTIONS),
        library: openEtcdLibrary(servers, TIME_LIMIT),
      }),
      simulated: (machine) => {
        const { after } = machine.process;
        const openPort = portsOver(simulatedEtcdWires(machine), after);
        const openLibrary = librariesOver(() => Promise.resolve(libraryOn(machine)), after);
        return (servers) => ({ port: openPort(servers, OPTIONS), library: openLibrary(servers, TIME_LIMIT) });
      },
    },
    script,
  );
  expect(model).toEqual(real);
  expect(real.length).toBeGreaterThan(30);
});
