// PostgreSQL: one script on two real servers, the store and the lock service, and on their models. What each defence of
// the store accepts, refuses and records, row locks and the states of errors, and what the locks' statements answer,
// before and after a session has ended and a server was killed.

import { expect, it } from 'vitest';
import { DEFAULT_VARIANT } from '../../contract/backend.ts';
import type { AcquireRequest, LockClient, Recipe } from '../../contract/lock-client.ts';
import type { StoreClient, StoreWrite } from '../../contract/store.ts';
import { fencingToken, millis } from '../../history/op.ts';
import { postgres, recipesOnSessions } from '../../backends/postgres/server.ts';
import { openStore } from '../../postgres-store/client.ts';
import { defences } from '../../postgres-store/defences.ts';
import { prepareStore, storeNode } from '../../postgres-store/node.ts';
import { openSession, type OpenSession } from '../../postgres/session.ts';
import { simulatedSessions } from '../postgres/session.ts';
import { playOnBoth, type Open, type Script } from './scene.fixture.ts';

/** Ample: every statement is answered at once, or when a busy machine gets to it. */
const TIME_LIMIT = millis(30_000);
const KEYS = ['k1', 'k2'];

interface Port {
  store(): Promise<StoreClient>;
  locks(recipe: string): LockClient;
}

function opened(sessions: OpenSession): Open<Port> {
  return (servers, clock) => {
    const [store, ...others] = servers;
    if (store === undefined) throw new Error('no store');
    const named = new Map<string, Recipe>(recipesOnSessions(sessions).map((recipe) => [recipe.name, recipe]));
    return {
      store: () =>
        openStore(
          { host: store.host, port: store.port, commandTimeLimit: TIME_LIMIT },
          { defences: defences.map(({ name }) => name), keys: KEYS, initialValue: '10' },
          sessions,
        ),
      locks(name) {
        const recipe = named.get(name);
        if (recipe === undefined) throw new Error(`no recipe ${name}`);
        const context = { process: 'c1', servers: others, commandTimeLimit: TIME_LIMIT };
        return recipe.open({ ...context, now: () => clock.now(), onLost: () => undefined });
      },
    };
  };
}

let ids = 0;
function write(more: Partial<StoreWrite> & { readonly token?: StoreWrite['token'] }): StoreWrite {
  ids += 1;
  return { id: ids, process: 'c1', key: 'k1', value: '7', base: '0', add: '-3', ...more };
}
const token = (number: number) => ({ token: fencingToken(String(number)) });

function words(outcome: object): string {
  return JSON.stringify(outcome, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

function request(owner: string, ttlMillis: number): AcquireRequest {
  return { lock: 'l', owner, ttlMillis: millis(ttlMillis) };
}

const script: Script<Port> = async ({ node, clock, client }, say) => {
  ids = 0;
  const [first, second] = [(await client()).open(), (await client()).open()];
  await using a = await first.store();
  await using b = await second.store();
  const wrote = async (store: StoreClient, defence: string, asked: StoreWrite) =>
    say(`${defence}: write ${words(asked)} → ${words(await store.write(defence, asked))}`);
  const saw = async (store: StoreClient, defence: string, asked = {}) =>
    say(`${defence}: read ${words(asked)} → ${words(await store.read(defence, { key: 'k1', ...asked }))}`);

  await saw(a, 'none');
  await wrote(a, 'none', write({}));
  await wrote(b, 'none', write({ value: '8' }));
  await wrote(b, 'none', write({ order: 'o1', ...token(3) }));
  await saw(a, 'none', { order: 'o1' });
  await saw(a, 'none', { order: 'o2' });
  for (const defence of ['fence-on-write', 'fence-on-read-and-write']) {
    await wrote(a, defence, write(token(5)));
    await wrote(b, defence, write(token(4)));
    await wrote(b, defence, write(token(5)));
    await wrote(b, defence, write({}));
    await saw(a, defence, token(9));
    await wrote(b, defence, write(token(7)));
    await saw(a, defence, token(6));
    await wrote(a, defence, write(token(9)));
  }
  await wrote(a, 'version-cas', write({ base: '0' }));
  await wrote(b, 'version-cas', write({ base: '0' }));
  await wrote(b, 'version-cas', write({ base: '1', order: 'o1' }));
  await saw(b, 'version-cas', { order: 'o1' });
  await wrote(a, 'conditional-update', write({ order: 'o1' }));
  await wrote(a, 'conditional-update', write({ order: 'o1' }));
  await wrote(b, 'conditional-update', write({ add: '-8', order: 'o2' }));
  await wrote(b, 'conditional-update', write({ add: '-7', order: 'o3' }));
  await saw(b, 'conditional-update', { order: 'o3' });
  await wrote(a, 'unique-constraint', write({ base: '0', order: 'o1' }));
  await wrote(b, 'unique-constraint', write({ base: '0', order: 'o2' }));
  await wrote(b, 'unique-constraint', write({ base: '1', order: 'o1' }));
  await wrote(b, 'unique-constraint', write({ base: '1' }));
  await wrote(b, 'unique-constraint', write({ base: '1' }));
  await saw(b, 'unique-constraint', { order: 'o2' });

  // A queue with one writer.
  await wrote(a, 'serialized-queue', write({ id: 1, order: 'o1' }));
  await wrote(b, 'serialized-queue', write({ id: 1, order: 'o2' }));
  await wrote(b, 'serialized-queue', write({ order: 'o1' }));
  await wrote(b, 'serialized-queue', write({ add: '-8' }));
  const { add: _, ...absolute } = write({});
  await wrote(b, 'serialized-queue', absolute);
  await wrote(b, 'serialized-queue', write({ add: '-7' }));
  await saw(a, 'serialized-queue', { order: 'o1' });

  // Row locks: while one has the row the other waits for a while and is refused.
  await wrote(b, 'row-lock', write({}));
  await saw(a, 'row-lock');
  await saw(b, 'row-lock');
  await wrote(a, 'row-lock', write({ value: '1' }));
  await saw(b, 'row-lock');
  await b.leave('k1');
  await saw(a, 'row-lock', { key: 'k2' });
  await wrote(a, 'row-lock', write({ value: '2', key: 'k2' }));
  await saw(a, 'row-lock');
  const blocked = b.read('row-lock', { key: 'k1' });
  await a.leave('k1');
  say(`a row that comes free in time → ${words(await blocked)}`);
  await b.leave('k1');
  // A row that was never there.
  for (const defence of ['none', 'version-cas', 'conditional-update'])
    await wrote(a, defence, write({ key: 'none' }));

  // Whoever seals ends what others have begun.
  await saw(a, 'row-lock');
  await using sealing = await second.store();
  say(`seal → ${(await sealing.seal()).kind}`);
  say(`what was begun → ${words(await a.write('row-lock', write({ value: '3' })))}`);
  for (const { name } of defences)
    for (const key of KEYS) say(words(await sealing.audit(name, { key, after: '0', limit: 100 })));
  say(`in pages: ${words(await sealing.audit('none', { key: 'k1', after: '1', limit: 1 }))}`);

  // Locks.
  for (const name of ['advisory-lock', 'lease-row']) {
    const [mine, theirs] = [first.locks(name), second.locks(name)];
    const acquire = async (locks: LockClient, asked: AcquireRequest) => {
      const outcome = await locks.acquire(asked);
      const granted =
        outcome.kind === 'ok' ? `granted ${outcome.value.token ?? 'without a token'}` : words(outcome);
      say(`${name}: ${asked.owner} acquires → ${granted}`);
    };
    const release = async (locks: LockClient, asked: AcquireRequest) =>
      say(`${name}: ${asked.owner} releases → ${words(await locks.release({ request: asked }))}`);
    const [one, two, three, four] = [
      request('one', 600_000),
      request('two', 400),
      request('three', 600_000),
      request('four', 600_000),
    ];
    await acquire(mine, one);
    await acquire(theirs, two);
    await release(mine, one);
    await release(mine, one);
    await acquire(theirs, two);
    await clock.sleep(millis(700));
    // A lease is over; a session is not.
    await acquire(mine, three);
    await release(theirs, two);
    await acquire(mine, three);
    const server = node('p1');
    await server.signal('SIGKILL');
    await server.start();
    await server.ready(millis(30_000));
    const again = second.locks(name);
    // A session's locks are gone with the server, and a row is not.
    await acquire(again, four);
    await again[Symbol.asyncDispose]();
    await release(mine, three);
    await clock.sleep(millis(200));
    const last = first.locks(name);
    await acquire(last, request('last', 600_000));
    for (const locks of [mine, theirs, last]) await locks[Symbol.asyncDispose]();
  }
};

it('simulated servers say what real ones say', async () => {
  const servers = [storeNode(), ...postgres.servers({ variant: DEFAULT_VARIANT, ttlMillis: millis(1_000) })];
  const { model, real } = await playOnBoth<Port>(
    {
      servers,
      assemble: async ([store, ...others]) => {
        if (store !== undefined) await prepareStore(store);
        await postgres.assemble?.(others);
      },
    },
    { real: opened(openSession), simulated: (machine) => opened(simulatedSessions(machine)) },
    script,
  );
  expect(model).toEqual(real);
  expect(real.length).toBeGreaterThan(70);
});
