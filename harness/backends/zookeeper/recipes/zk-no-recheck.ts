// Wrong on purpose: takes the lock as soon as the node that it watches is gone, and does not look who else is before it,
// as ZooKeeper's documentation says one must. That node may have been of one who only waited, and gave up or died; whoever
// was before that one holds the lock still.

import type { Clock } from '../../../clock.ts';
import type { Grant, Outcome } from '../../../contract/lock-client.ts';
import { millis, nanosOf } from '../../../history/op.ts';
import type { ZooKeeperRecipe, ZooKeeperSession } from '../port.ts';
import { alone, BUSY, leave, nodesBefore, tokenOf, untilOneGone, type Waiting } from '../queue.ts';
import { ephemeralSequential, queueClient, sessionWatch } from './ephemeral-sequential.ts';

export const zkNoRecheck: ZooKeeperRecipe = {
  ...ephemeralSequential,
  name: 'zk-no-recheck',
  summary: 'as ephemeral-sequential, but the end of the node before its own is taken for the lock',
  flaw: 'one that gave up waiting hands on a lock that it never had',
  lockClient: (zooKeeper, clock, onLost) =>
    queueClient(zooKeeper, clock, { watch: sessionWatch(onLost), turn: alone, wait: watchOnce }),
};

/** Until the nodes that it waits for at first are gone, whoever else there is. */
export async function watchOnce(
  session: ZooKeeperSession,
  clock: Clock,
  { request, path, turn }: Waiting,
): Promise<Outcome<Grant>> {
  const { lock, patienceMillis = request.ttlMillis } = request;
  const giveUpAt = clock.now() + nanosOf(patienceMillis);
  let watched: readonly string[] | undefined;
  for (;;) {
    const lower = await nodesBefore(session, lock, path);
    // Its own node is in the queue.
    if (lower.kind !== 'ok') return { kind: 'info', error: lower.error };
    watched ??= turn(lower.value, request);
    const nodes = watched.filter((node) => lower.value.includes(node));
    if (nodes.length === 0) break;
    const leftMillis = (giveUpAt - clock.now()) / 1e6;
    if (leftMillis <= 0) {
      const gone = await leave(session, clock, path);
      return gone.kind === 'ok' ? BUSY : { kind: 'info', error: gone.error };
    }
    await untilOneGone(session, lock, { nodes, timeLimit: millis(leftMillis) });
  }
  const token = await tokenOf(session, path);
  if (token.kind !== 'ok') return { kind: 'info', error: token.error };
  return { kind: 'ok', value: { request, token: token.value, validUntil: session.deadline } };
}
