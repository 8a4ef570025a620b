// The steps that ZooKeeper recipes are put together from: enter a lock's queue with an ephemeral node whose number the
// ensemble assigns, wait until no lower number is there, leave. This is the lock of ZooKeeper's documentation
// ("ZooKeeper Recipes and Solutions", Locks, 3.9): each waiter watches the node before its own and no other. The fencing
// token is the transaction that created the node, since those only grow, as the numbers do.

import type { Clock } from '../../clock.ts';
import type { AcquireRequest, Grant, Outcome } from '../../contract/lock-client.ts';
import { fencingToken, millis, nanosOf, type FencingToken } from '../../history/op.ts';
import { releaseUntilDone } from '../until-done.ts';
import { NODE_EXISTS, NO_NODE, NOT_CONNECTED, outcomeOf, SESSION_ENDED } from './errors.ts';
import type { ZooKeeperSession } from './port.ts';

export const BUSY: Outcome<never> = { kind: 'fail', error: 'busy' };
/** No session was had, or it was not the request that opened it: nothing was created. */
export const NO_SESSION: Outcome<never> = outcomeOf(NOT_CONNECTED);

const ROOT = '/lockpick';
const RETRY_PAUSE = millis(50);

function queueOf(lock: string): string {
  return `${ROOT}/${lock}`;
}

/** Puts a node named `name` and a number into the queue; makes the queue if there is none. The node's path. */
export async function enter(session: ZooKeeperSession, lock: string, name: string): Promise<Outcome<string>> {
  const queue = queueOf(lock);
  const create = (): Promise<Outcome<string>> => session.create(`${queue}/${name}`, 'ephemeral-sequential');
  const entered = await create();
  if (entered.kind !== 'fail' || entered.error !== NO_NODE.error) return entered;
  for (const path of [ROOT, queue]) {
    const made = await session.create(path, 'persistent');
    // No node of the attempt exists yet, whatever became of its queue.
    if (made.kind === 'info') return { kind: 'fail', error: made.error };
    if (made.kind === 'fail' && made.error !== NODE_EXISTS.error) return made;
  }
  return await create();
}

/** The node in the lock's queue whose name begins so, if the ensemble has one. */
export async function find(
  session: ZooKeeperSession,
  lock: string,
  name: string,
): Promise<Outcome<string | undefined>> {
  const synced = await session.sync();
  if (synced.kind !== 'ok') return synced;
  const queue = queueOf(lock);
  const children = await session.children(queue);
  if (children.kind === 'fail' && children.error === NO_NODE.error) return { kind: 'ok', value: undefined };
  if (children.kind !== 'ok') return children;
  const own = children.value.find((child) => child.startsWith(name));
  return { kind: 'ok', value: own === undefined ? undefined : `${queue}/${own}` };
}

/** The token of a node that is in the queue; `fail`: it is not there, or not this session's. */
export async function tokenOf(session: ZooKeeperSession, path: string): Promise<Outcome<FencingToken>> {
  const stat = await session.stat(path);
  if (stat.kind !== 'ok') return stat;
  return stat.value?.owner === session.id
    ? { kind: 'ok', value: fencingToken(stat.value.createdBy.toString()) }
    : outcomeOf(SESSION_ENDED);
}

/**
 * Waits until the node is the first of its queue, for at most the request's patience. `busy`: it was not, and has left.
 * `fail` with `session-ended`: its session has ended, and the node with it. `info`: it may still be there.
 */
export async function waitForTurn(
  session: ZooKeeperSession,
  clock: Clock,
  { request, path }: { readonly request: AcquireRequest; readonly path: string },
): Promise<Outcome<Grant>> {
  const giveUpAt = clock.now() + nanosOf(request.patienceMillis ?? request.ttlMillis);
  const queue = queueOf(request.lock);
  for (;;) {
    const token = await tokenOf(session, path);
    const children = token.kind === 'ok' ? await session.children(queue) : token;
    if (children.kind === 'fail' && children.error === SESSION_ENDED.error) return children;
    const before = children.kind === 'ok' ? predecessorOf(path, queue, children.value) : undefined;
    if (
      children.kind === 'ok' &&
      token.kind === 'ok' &&
      before === undefined &&
      clock.now() < session.deadline
    )
      return { kind: 'ok', value: { request, token: token.value, validUntil: session.deadline } };
    const leftNanos = giveUpAt - clock.now();
    if (leftNanos <= 0) {
      const left = await leave(session, clock, path);
      return left.kind === 'ok' ? BUSY : { kind: 'info', error: left.error };
    }
    if (before === undefined) await clock.sleep(RETRY_PAUSE);
    else await session.gone(before, millis(leftNanos / 1e6));
  }
}

/** The node with the highest number below that of `path`; undefined: there is none. */
function predecessorOf(path: string, queue: string, children: readonly string[]): string | undefined {
  const own = numberOf(path);
  const lower = children.filter((child) => numberOf(child) < own);
  const [last] = lower.toSorted((a, b) => numberOf(b) - numberOf(a));
  return last === undefined ? undefined : `${queue}/${last}`;
}

/** What the ensemble appended: ten digits (ZooKeeper 3.9, PrepRequestProcessor). */
function numberOf(node: string): number {
  return Number(node.slice(-10));
}

/** Removes the node. `released`: it was still there. */
export function leave(
  session: ZooKeeperSession,
  clock: Clock,
  path: string,
): Promise<Outcome<{ readonly released?: boolean }>> {
  return releaseUntilDone(
    clock,
    () => session.remove(path),
    () => session.live,
  );
}
