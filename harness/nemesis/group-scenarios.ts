// Scenarios that hit several servers of a group, in the order in which it hurts: voters of a majority, the two sides of
// a replication link. Pure functions of plan and seed, as those in `schedule.ts`.

import { millis, type Millis } from '../history/op.ts';
import type { FaultSpec, Step } from '../contract/fault.ts';
import { OUTAGE_MILLIS, pastTheLease, periodic, WARM_UP_MILLIS, type Scenario } from './timing.ts';

function at(atMillis: number, spec: FaultSpec): Step {
  return { kind: 'at', atMillis: millis(Math.round(atMillis)), spec };
}

const NOTHING: Millis = millis(0);

/** How long before two servers come back a third one ends: about as long as it takes to come back itself. */
const JOINTLY_MILLIS = 700;

/**
 * Two of five servers are away for longer than a lease lasts, so that every lock that is held by then has three votes
 * and no more, and what the two remember has run out; one of the three voters ends and comes back, and the two come
 * back as well. If the voter has forgotten, three servers know nothing of any lock, while its holder is still at work.
 */
function restartVoter(fault: 'kill' | 'restart-empty', summary: string): Scenario {
  return {
    name: fault === 'kill' ? 'restart-voter' : 'restart-voter-empty',
    summary,
    faults: fault === 'kill' ? ['kill'] : ['kill', 'restart-empty'],
    steps: (basis, random) => {
      const awayMillis = Math.round(basis.ttlMillis * 1.05);
      const lastsMillis = awayMillis + basis.thinkMillis.max;
      return periodic(basis, random, { everyMillis: lastsMillis + 300, lastsMillis }, (atMillis) => {
        const away: FaultSpec = {
          fault: 'kill',
          target: { kind: 'server' },
          durationMillis: millis(awayMillis),
        };
        // Whichever: it has voted for all that is held.
        const voter: FaultSpec = { fault, target: { kind: 'server' }, durationMillis: NOTHING };
        return [at(atMillis, away), at(atMillis, away), at(atMillis + awayMillis - JOINTLY_MILLIS, voter)];
      });
    },
  };
}

/** Between the death of a primary and the promotion: nobody notices faster. */
const NOTICED_MILLIS = 300;

/**
 * The primary is cut off from other servers for longer than any lease lasts, so that what they know of its locks has
 * run out; then it dies, while locks that it gave since are held. `promoted`: by the harness; else whoever watches the
 * primary has taken it for dead long before.
 */
function losePrimary(
  name: string,
  { from, promoted }: { readonly from: 'servers' | 'one-server'; readonly promoted: boolean },
  summary: string,
): Scenario {
  return {
    name,
    summary,
    faults: ['partition', 'kill', ...(promoted ? ['failover'] : [])],
    steps: (basis, random) => {
      const cutMillis = basis.ttlMillis * 1.2;
      const awayMillis = millis(OUTAGE_MILLIS + NOTICED_MILLIS);
      // The cut outlasts the promotion, so that the dead primary cannot come back into it.
      const lastsMillis = Math.round(cutMillis + awayMillis);
      return periodic(basis, random, { everyMillis: lastsMillis + 1_500, lastsMillis }, (atMillis) => {
        const promotion: FaultSpec = {
          fault: 'failover',
          target: { kind: 'server' },
          durationMillis: NOTHING,
          params: { to: 'least' },
        };
        return [
          at(atMillis, {
            fault: 'partition',
            target: { kind: 'role', role: 'primary' },
            durationMillis: millis(lastsMillis),
            params: { from },
          }),
          at(atMillis + cutMillis, {
            fault: 'kill',
            target: { kind: 'cut-off' },
            durationMillis: awayMillis,
          }),
          ...(promoted ? [at(atMillis + cutMillis + NOTICED_MILLIS, promotion)] : []),
        ];
      });
    },
  };
}

export const groupScenarios: readonly Scenario[] = [
  restartVoter(
    'kill',
    'SIGKILL two servers for longer than a lease, then a third, which voted for all that is held; with their disks',
  ),
  restartVoter(
    'restart-empty',
    'the same, and the third, which voted for all that is held, comes back without its disk',
  ),
  {
    name: 'kill-minority',
    summary: 'SIGKILL two servers at once, start them again with their disks',
    faults: ['kill'],
    steps: (basis, random) =>
      periodic(
        basis,
        random,
        { everyMillis: OUTAGE_MILLIS + 1_500, lastsMillis: OUTAGE_MILLIS },
        (atMillis) => {
          const away: FaultSpec = {
            fault: 'kill',
            target: { kind: 'server' },
            durationMillis: OUTAGE_MILLIS,
          };
          return [at(atMillis, away), at(atMillis, away)];
        },
      ),
  },
  {
    name: 'pause-acquirer',
    summary: 'with two servers silent: stop clients that wait for their votes, for 1.5 × TTL',
    faults: ['pause'],
    // The other votes are in by then, and the lease has begun to run; the client hears of it when it is over.
    steps: (basis, random) => {
      const silenceMillis = 1_000;
      const lastsMillis = silenceMillis + pastTheLease(basis);
      return periodic(basis, random, { everyMillis: lastsMillis + 300, lastsMillis }, (atMillis) => {
        const silent: FaultSpec = {
          fault: 'pause',
          target: { kind: 'server' },
          durationMillis: millis(silenceMillis),
        };
        const stop: Step = {
          kind: 'when',
          event: 'acquiring',
          afterMillis: millis(atMillis + 100),
          untilMillis: millis(atMillis + silenceMillis - 400),
          delayMillis: { min: millis(10), max: millis(30) },
          limit: 1,
          cooldownMillis: millis(0),
          spec: { fault: 'pause', target: { kind: 'holder' }, durationMillis: pastTheLease(basis) },
        };
        return [at(atMillis, silent), at(atMillis, silent), stop, stop, stop];
      });
    },
  },
  losePrimary(
    'lose-primary',
    { from: 'servers', promoted: true },
    'cut the primary off from its replicas for 1.2 × TTL, SIGKILL it, promote a replica',
  ),
  losePrimary(
    'lose-acknowledged',
    { from: 'one-server', promoted: true },
    'cut one replica off from the primary for 1.2 × TTL, SIGKILL the primary, promote that replica',
  ),
  losePrimary(
    'kill-isolated-primary',
    { from: 'servers', promoted: false },
    'cut the primary off from all other servers for 1.2 × TTL, and SIGKILL it',
  ),
  {
    name: 'order-failover',
    summary: 'order a healthy primary to be replaced',
    faults: ['failover'],
    steps: () => [
      at(WARM_UP_MILLIS, {
        fault: 'failover',
        target: { kind: 'server' },
        durationMillis: NOTHING,
        params: { to: 'furthest' },
      }),
    ],
  },
];
