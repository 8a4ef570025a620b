// The lock of ZooKeeper's documentation, as Curator's InterProcessMutex has it: the node's name carries a value of its
// attempt, because a create whose reply was lost may have made a node, which would block everybody for as long as its
// session lives. The client that lost the reply looks for it. Every lock of a session is lost when the session is.

import type { Clock } from '../../../clock.ts';
import type {
  AcquireRequest,
  Grant,
  LockClient,
  Outcome,
  RecipeContext,
} from '../../../contract/lock-client.ts';
import { untilDone } from '../../until-done.ts';
import type { ZooKeeperPort, ZooKeeperRecipe, ZooKeeperSession } from '../port.ts';
import { alone, enter, find, leave, NO_SESSION, tokenOf, waitForTurn, type Turn } from '../queue.ts';

export const ephemeralSequential: ZooKeeperRecipe = {
  name: 'ephemeral-sequential',
  summary: 'a numbered node that ends with its session; waits for the number before its own',
  tokenSource: 'transaction that created the node (czxid)',
  polls: false,
  fifo: true,
  keepsAlive: true,
  ownerChecked: true,
  lockClient: (zooKeeper, clock, onLost) =>
    queueClient(zooKeeper, clock, { watch: sessionWatch(onLost), turn: alone }),
};

/** What a queue of this kind is, apart from its nodes. */
export interface QueueRules {
  /** Is started for every grant. */
  readonly watch: (session: ZooKeeperSession, request: AcquireRequest, held: () => boolean) => Promise<void>;
  readonly turn: Turn;
  /** How a node in the queue comes to its turn; absent: as `waitForTurn` has it. */
  readonly wait?: typeof waitForTurn;
  /** What the name of a node says besides whose it is. */
  readonly mark?: (request: AcquireRequest) => string;
}

/** A lock is lost with its session. */
export function sessionWatch(onLost: RecipeContext['onLost']): QueueRules['watch'] {
  return async (session, request, held) => {
    const reason = await session.ended;
    if (held()) onLost(request, `session ${reason}`);
  };
}

/** An attempt that may have a node. */
interface Attempt {
  readonly session: ZooKeeperSession;
  path?: string;
  held: boolean;
}

export interface QueueClient extends Omit<LockClient, keyof AsyncDisposable> {
  /** Whether the node of a grant is still there; the grant as it is now. `fail`: it has ended. */
  look(grant: Grant): Promise<Outcome<Grant>>;
}

export function queueClient(
  zooKeeper: ZooKeeperPort,
  clock: Clock,
  { watch, turn, wait = waitForTurn, mark = () => 'lock' }: QueueRules,
): QueueClient {
  const nodeName = (request: AcquireRequest): string => `${request.owner}-${mark(request)}-`;
  const attempts = new WeakMap<AcquireRequest, Attempt>();
  const grantedAttempt = (request: AcquireRequest) => {
    const attempt = attempts.get(request);
    if (attempt?.path === undefined) throw new Error(`${request.owner} was not granted here`);
    return { attempt, session: attempt.session, path: attempt.path };
  };

  return {
    async acquire(request) {
      const opened = await zooKeeper.session(request.ttlMillis);
      if (opened.kind !== 'ok') return NO_SESSION;
      const session = opened.value;
      const attempt: Attempt = { session, held: false };
      attempts.set(request, attempt);
      const entered = await enterOnce(session, request.lock, nodeName(request));
      if (entered.kind !== 'ok') return entered;
      attempt.path = entered.value;
      const outcome = await wait(session, clock, { request, path: entered.value, turn });
      if (outcome.kind === 'ok') {
        attempt.held = true;
        void watch(session, request, () => attempt.held);
      }
      return outcome;
    },

    async look({ request }) {
      const { session, path } = grantedAttempt(request);
      const token = await tokenOf(session, path);
      if (token.kind !== 'ok') return token;
      return { kind: 'ok', value: { request, token: token.value, validUntil: session.deadline } };
    },

    async release({ request }) {
      const { attempt, path } = grantedAttempt(request);
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

/** Enters the queue; where the reply was lost, looks whether the node is there. `info`: it may be. */
async function enterOnce(session: ZooKeeperSession, lock: string, name: string): Promise<Outcome<string>> {
  const entered = await enter(session, lock, name);
  if (entered.kind !== 'info') return entered;
  const found = await find(session, lock, name);
  return found.kind === 'ok' && found.value !== undefined ? { kind: 'ok', value: found.value } : entered;
}
