// An ensemble in memory for tests: one tree of nodes, and sessions that the test ends. What becomes of a request, or of
// its reply, can be replaced by the test.

import type { Clock } from '../../clock.ts';
import type { Outcome } from '../../contract/lock-client.ts';
import { millis, nanos, nanosOf } from '../../history/op.ts';
import type { SessionEnd, ZooKeeperPort, ZooKeeperSession } from './port.ts';

type Request = 'create' | 'children' | 'stat' | 'remove' | 'sync';

export interface FakeZooKeeper {
  /** A client of its own. */
  client(): { readonly port: ZooKeeperPort; end(reason: SessionEnd): Promise<void> };
  /** Runs before each request; what it returns is the outcome instead, and the request is not carried out. */
  before: (request: Request) => Outcome<never> | undefined;
  /** Runs after each request; what it returns is the outcome instead, though the request was carried out. */
  after: (request: Request) => Outcome<never> | undefined;
  paths(): readonly string[];
}

interface Node {
  readonly createdBy: bigint;
  /** Empty: persistent. */
  readonly owner: string;
}

export function fakeZooKeeper(clock: Clock): FakeZooKeeper {
  const nodes = new Map<string, Node>();
  const counters = new Map<string, number>();
  let transactions = 0n;
  let sessions = 0;

  const ask = async <T>(request: Request, live: boolean, carryOut: () => Outcome<T>): Promise<Outcome<T>> => {
    if (!live) return { kind: 'fail', error: 'session-ended' };
    const refused = fake.before(request);
    if (refused !== undefined) return refused;
    const outcome = carryOut();
    return fake.after(request) ?? outcome;
  };

  const openSession = (timeoutMillis: number) => {
    const id = String((sessions += 1));
    const { promise: ended, resolve } = Promise.withResolvers<SessionEnd>();
    let live = true;
    const end = async (reason: SessionEnd): Promise<void> => {
      live = false;
      for (const [path, { owner }] of nodes) if (owner === id) nodes.delete(path);
      resolve(reason);
      await ended;
    };
    const session: ZooKeeperSession = {
      id,
      ended,
      get live() {
        return live;
      },
      get deadline() {
        return nanos(clock.now() + nanosOf(millis(timeoutMillis)));
      },
      create: (path, mode) =>
        ask('create', live, () => {
          const parent = path.slice(0, path.lastIndexOf('/'));
          if (parent !== '' && !nodes.has(parent)) return { kind: 'fail', error: 'no-node' };
          if (nodes.has(path)) return { kind: 'fail', error: 'node-exists' };
          transactions += 1n;
          const count = counters.get(parent) ?? 0;
          if (mode === 'ephemeral-sequential') counters.set(parent, count + 1);
          const made = mode === 'persistent' ? path : `${path}${String(count).padStart(10, '0')}`;
          nodes.set(made, { createdBy: transactions, owner: mode === 'persistent' ? '' : id });
          return { kind: 'ok', value: made };
        }),
      children: (path) =>
        ask('children', live, () =>
          nodes.has(path)
            ? {
                kind: 'ok',
                value: [...nodes.keys()]
                  .filter((child) => child.startsWith(`${path}/`))
                  .map((child) => child.slice(path.length + 1)),
              }
            : { kind: 'fail', error: 'no-node' },
        ),
      stat: (path) => ask('stat', live, () => ({ kind: 'ok', value: nodes.get(path) })),
      remove: (path) => ask('remove', live, () => ({ kind: 'ok', value: { existed: nodes.delete(path) } })),
      sync: () => ask('sync', live, () => ({ kind: 'ok', value: undefined })),
      gone: async (path, timeLimit) => {
        const deadline = clock.now() + nanosOf(timeLimit);
        while (session.live && nodes.has(path) && clock.now() < deadline) await clock.sleep(millis(5));
      },
    };
    return { session, end };
  };

  const fake: FakeZooKeeper = {
    before: () => undefined,
    after: () => undefined,
    paths: () => [...nodes.keys()],
    client: () => {
      let current: ReturnType<typeof openSession> | undefined;
      return {
        port: {
          session: async (timeoutMillis) => {
            if (current?.session.live !== true) current = openSession(timeoutMillis);
            return { kind: 'ok', value: current.session };
          },
          [Symbol.asyncDispose]: async () => {},
        },
        end: async (reason) => {
          await current?.end(reason);
        },
      };
    },
  };
  return fake;
}
