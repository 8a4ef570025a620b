// Whom a Sentinel promotes: the replica that has followed furthest, of those that answer and had a primary not long ago.
// Source: Redis 8.0, sentinel.c, sentinelSelectSlave and compareSlavesForPromotion; priorities are all the same here, and
// addresses stand for the identities of servers.

import { PERIOD, type Instance } from './instance.ts';

/** undefined: none can be. Times in milliseconds. */
export function bestReplica(
  replicas: readonly Instance[],
  primary: Instance,
  { now, downAfterMillis }: { readonly now: number; readonly downAfterMillis: number },
): Instance | undefined {
  const isDown = primary.downSince !== 0;
  const linkDownMillisMax = downAfterMillis * 10 + (isDown ? now - primary.downSince : 0);
  // While the primary is down replicas are asked once a second.
  const infoAgeMillisMax = isDown ? PERIOD.ping * 5 : PERIOD.info * 3;
  return replicas
    .filter(
      ({ downSince, isConnected, lastAvailable, saidAt, said }) =>
        downSince === 0 &&
        isConnected &&
        now - lastAvailable <= PERIOD.ping * 5 &&
        now - saidAt <= infoAgeMillisMax &&
        (said?.linkDownMillis ?? 0) <= linkDownMillisMax,
    )
    .toSorted((a, b) => (b.said?.offset ?? 0) - (a.said?.offset ?? 0) || (a.address < b.address ? -1 : 1))[0];
}
