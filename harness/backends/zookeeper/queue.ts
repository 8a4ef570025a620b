// The steps that ZooKeeper recipes are put together from: enter a lock's queue with an ephemeral node whose number the
// ensemble assigns, wait until no lower number is there, leave. This is the lock of ZooKeeper's documentation
// ("ZooKeeper Recipes and Solutions", Locks, 3.9): each waiter watches the node before its own and no other. The fencing
// token is the transaction that created the node, since those only grow, as the numbers do.

import type { Clock } from '../../clock.ts';
import type { AcquireRequest, Grant, Outcome } from '../../contract/lock-client.ts';
import { fencingToken, millis, nanosOf, type FencingToken, type Millis } from '../../history/op.ts';
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
 * Whom a node waits for: nobody, and it is its turn; else until one of them is gone. `lower`: the nodes with lower
 * numbers, in their order.
 */
export type Turn = (lower: readonly string[], request: AcquireRequest) => readonly string[];

/** The node before its own, and no other. */
export const alone: Turn = (lower) => lower.slice(-1);

/** The nodes in the queue with lower numbers than this one, in their order. */
export async function nodesBefore(
  session: ZooKeeperSession,
  lock: string,
  path: string,
): Promise<Outcome<readonly string[]>> {
  const children = await session.children(queueOf(lock));
  return children.kind === 'ok' ? { kind: 'ok', value: lowerThan(path, children.value) } : children;
}

/** Until one of these nodes is gone, or may be, or the time is up. */
export async function untilOneGone(
  session: ZooKeeperSession,
  lock: string,
  { nodes, timeLimit }: { readonly nodes: readonly string[]; readonly timeLimit: Millis },
): Promise<void> {
  await Promise.race(nodes.map((node) => session.gone(`${queueOf(lock)}/${node}`, timeLimit)));
}

/** A node in a lock's queue, and how it finds that its turn has come. */
export interface Waiting {
  readonly request: AcquireRequest;
  readonly path: string;
  readonly turn: Turn;
}

/**
 * Waits until it is the node's turn, for at most the request's patience. `busy`: it was not, and has left.
 * `fail` with `session-ended`: its session has ended, and the node with it. `info`: it may still be there.
 */
export async function waitForTurn(
  session: ZooKeeperSession,
  clock: Clock,
  { request, path, turn }: Waiting,
): Promise<Outcome<Grant>> {
  const giveUpAt = clock.now() + nanosOf(request.patienceMillis ?? request.ttlMillis);
  for (;;) {
    const token = await tokenOf(session, path);
    const lower = token.kind === 'ok' ? await nodesBefore(session, request.lock, path) : token;
    if (lower.kind === 'fail' && lower.error === SESSION_ENDED.error) return lower;
    const before = lower.kind === 'ok' ? turn(lower.value, request) : [];
    if (lower.kind === 'ok' && token.kind === 'ok' && before.length === 0 && clock.now() < session.deadline)
      return { kind: 'ok', value: { request, token: token.value, validUntil: session.deadline } };
    const leftNanos = giveUpAt - clock.now();
    if (leftNanos <= 0) {
      const gone = await leave(session, clock, path);
      return gone.kind === 'ok' ? BUSY : { kind: 'info', error: gone.error };
    }
    const timeLimit = millis(leftNanos / 1e6);
    if (before.length === 0) await clock.sleep(RETRY_PAUSE);
    else await untilOneGone(session, request.lock, { nodes: before, timeLimit });
  }
}

/** Those of `children` with numbers below that of `path`, ascending. */
function lowerThan(path: string, children: readonly string[]): readonly string[] {
  const own = numberOf(path);
  return children.filter((child) => numberOf(child) < own).toSorted((a, b) => numberOf(a) - numberOf(b));
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
