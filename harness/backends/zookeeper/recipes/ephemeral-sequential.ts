// The lock of ZooKeeper's documentation, as Curator's InterProcessMutex has it: the node's name carries a value of its
// attempt, because a create whose reply was lost may have made a node, which would block everybody for as long as its
// session lives. The client that lost the reply looks for it. Every lock of a session is lost when the session is.

import type { Clock } from '../../../clock.ts';
import type { AcquireRequest, LockClient, Outcome } from '../../../contract/lock-client.ts';
import { untilDone } from '../../until-done.ts';
import type { ZooKeeperPort, ZooKeeperRecipe, ZooKeeperSession } from '../port.ts';
import { enter, find, leave, NO_SESSION, waitForTurn } from '../queue.ts';

export const ephemeralSequential: ZooKeeperRecipe = {
  name: 'ephemeral-sequential',
  summary: 'a numbered node that ends with its session; waits for the number before its own',
  tokenSource: 'transaction that created the node (czxid)',
  polls: false,
  fifo: true,
  keepsAlive: true,
  ownerChecked: true,
  lockClient: (zooKeeper, clock, onLost) =>
    queueClient(zooKeeper, clock, async (session, request, held) => {
      const reason = await session.ended;
      if (held()) onLost(request, `session ${reason}`);
    }),
};

/** An attempt that may have a node. */
interface Attempt {
  readonly session: ZooKeeperSession;
  path?: string;
  held: boolean;
}

/** `watch` is started for every grant. */
export function queueClient(
  zooKeeper: ZooKeeperPort,
  clock: Clock,
  watch: (session: ZooKeeperSession, request: AcquireRequest, held: () => boolean) => Promise<void>,
): Omit<LockClient, keyof AsyncDisposable> {
  const attempts = new WeakMap<AcquireRequest, Attempt>();

  return {
    async acquire(request) {
      const opened = await zooKeeper.session(request.ttlMillis);
      if (opened.kind !== 'ok') return NO_SESSION;
      const session = opened.value;
      const attempt: Attempt = { session, held: false };
      attempts.set(request, attempt);
      const entered = await enterOnce(session, request);
      if (entered.kind !== 'ok') return entered;
      attempt.path = entered.value;
      const outcome = await waitForTurn(session, clock, { request, path: entered.value });
      if (outcome.kind === 'ok') {
        attempt.held = true;
        void watch(session, request, () => attempt.held);
      }
      return outcome;
    },

    async release({ request }) {
      const attempt = attempts.get(request);
      if (attempt?.path === undefined)
        throw new Error(`released ${request.owner}, which was not granted here`);
      const { path } = attempt;
      attempt.held = false;
      // Any session may remove it; its own may have ended.
      const opened = await zooKeeper.session(request.ttlMillis);
      if (opened.kind !== 'ok') return opened;
      return await leave(opened.value, clock, path);
    },

    async abandon(request) {
      const attempt = attempts.get(request);
      if (attempt === undefined) return { kind: 'ok', value: {} };
      const { session } = attempt;
      const left = await untilDone(
        clock,
        async (): Promise<Outcome<unknown>> => {
          const found = await find(session, request.lock, nodeName(request));
          return found.kind === 'ok' && found.value !== undefined ? await session.remove(found.value) : found;
        },
        () => session.live,
      );
      // The node may have waited and never held, so its end says nothing about a tenure.
      return left.kind === 'ok' ? { kind: 'ok', value: {} } : left;
    },
  };
}

function nodeName({ owner }: AcquireRequest): string {
  return `${owner}-lock-`;
}

/** Enters the queue; where the reply was lost, looks whether the node is there. `info`: it may be. */
async function enterOnce(session: ZooKeeperSession, request: AcquireRequest): Promise<Outcome<string>> {
  const entered = await enter(session, request.lock, nodeName(request));
  if (entered.kind !== 'info') return entered;
  const found = await find(session, request.lock, nodeName(request));
  return found.kind === 'ok' && found.value !== undefined ? { kind: 'ok', value: found.value } : entered;
}
