// When the steps of a scenario happen: what all scenarios share. Pure (I6).

import { millis, type Millis } from '../history/op.ts';
import type { FaultSpec, PlannedSchedule, Step } from '../contract/fault.ts';
import type { Random } from '../contract/workload.ts';

/** What a schedule depends on, apart from the seed. */
export interface ScheduleBasis {
  readonly timeLimitMillis: Millis;
  readonly ttlMillis: Millis;
  readonly thinkMillis: { readonly min: Millis; readonly max: Millis };
  readonly commandTimeLimitMillis: Millis;
  readonly service: ServiceTraits;
  /** Takes the place of whatever the scenario would do. */
  readonly schedule?: PlannedSchedule | undefined;
}

/** What decides which faults a lock service can suffer. */
export interface ServiceTraits {
  readonly servers: number;
  /** One of them leads, and says so when asked. */
  readonly leads: boolean;
  /** Somebody can order another one to lead. */
  readonly promotes: boolean;
  /** A server whose disk was replaced serves again by itself. */
  readonly startsEmpty: boolean;
  /** Kinds of faults that cannot hurt its servers. */
  readonly notApplicable: readonly string[];
}

export interface Scenario {
  readonly name: string;
  readonly summary: string;
  /** The fault kinds it uses. */
  readonly faults: readonly string[];
  steps(basis: ScheduleBasis, random: Random): readonly Step[];
}

/** Load runs this long before the first fault, so that a fault meets held locks. */
export const WARM_UP_MILLIS = millis(500);
/** A server that was killed stays away this long. */
export const OUTAGE_MILLIS = millis(700);

/** Paused past its lease: 1.5 × TTL, so that others are granted the lock while it is away. */
export function pastTheLease(basis: ScheduleBasis): Millis {
  return millis(basis.ttlMillis * 1.5);
}

/** Starts at a random point of each period, as long as the whole step ends before the time limit. */
export function periodic(
  basis: ScheduleBasis,
  random: Random,
  period: { readonly everyMillis: number; readonly lastsMillis: number },
  stepsAt: (atMillis: Millis) => readonly Step[],
): readonly Step[] {
  const steps: Step[] = [];
  for (
    let from: number = WARM_UP_MILLIS;
    from + period.lastsMillis < basis.timeLimitMillis;
    from += period.everyMillis
  ) {
    const slack = Math.max(0, period.everyMillis - period.lastsMillis);
    const at = from + random.real(0, slack / 2);
    if (at + period.lastsMillis < basis.timeLimitMillis) steps.push(...stepsAt(millis(Math.round(at))));
  }
  return steps;
}

export function whenGranted(basis: ScheduleBasis, spec: FaultSpec): Step {
  return {
    kind: 'when',
    event: 'granted',
    afterMillis: WARM_UP_MILLIS,
    // Well inside the shortest critical section, less the time a signal takes to arrive.
    delayMillis: { min: millis(0), max: millis(basis.thinkMillis.min / 3) },
    limit: 1_000,
    cooldownMillis: basis.ttlMillis,
    spec,
  };
}
