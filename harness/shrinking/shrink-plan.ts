// The smallest plan that still shows something: first as few faults as can be, then clients, locks and stores, then as
// little time; and the faults once more, because with less around them fewer may do. Whether a plan shows it is asked of
// whoever hands in `shows`; in simulation it runs it. Pure but for that.

import { HarnessError } from '../contract/errors.ts';
import type { PlannedSchedule, Step } from '../contract/fault.ts';
import { millis, type Millis } from '../history/op.ts';
import { FIXED } from '../nemesis/schedule.ts';
import { parsePlan, type Plan, type PlanInput } from '../plan/plan.ts';
import { vocabulary } from '../plan/vocabulary.ts';
import { firstThatShows, smallestPart } from './smallest-part.ts';

/** Of the load, the shortest that a plan may have first. */
const SECONDS = [1, 1.5, 2, 3, 4, 6, 8, 10, 12, 15, 20, 30, 45, 60, 90, 120];

export interface ShrinkOptions {
  readonly shows: (plan: Plan) => Promise<boolean>;
  /** The stores that the finding may be about. */
  readonly defences: readonly string[];
  /** Called with each plan that is smaller than the one before and still shows it. */
  readonly onSmaller: (plan: Plan) => void;
}

/** The plan as one that carries its own schedule. Throws HarnessError if the schedule does not fit it. */
export function withSchedule(plan: Plan, schedule: PlannedSchedule): Plan {
  return parsePlan(vocabulary, plan, { fault: FIXED, schedule });
}

/** `plan` carries its schedule and shows it. */
export async function shrinkPlan(plan: Plan, options: ShrinkOptions): Promise<Plan> {
  let smallest = plan;
  /** Each question once. */
  const asked = new Map<string, boolean>();
  const shows = async (candidate: Plan | undefined): Promise<boolean> => {
    if (candidate === undefined) return false;
    const key = JSON.stringify(candidate);
    const known = asked.get(key) ?? (await options.shows(candidate).catch(isNoPlan));
    asked.set(key, known);
    return known;
  };
  const take = (found: Plan): void => {
    if (JSON.stringify(found) === JSON.stringify(smallest)) return;
    smallest = found;
    options.onSmaller(found);
  };
  const tryEach = async (candidates: Iterable<PlanInput>): Promise<void> => {
    const plans = [...candidates].flatMap((change) => changed(smallest, change) ?? []);
    take((await firstThatShows(plans, shows)) ?? smallest);
  };
  const fewerFaults = async (): Promise<void> => {
    const { schedule = { steps: [] } } = smallest;
    const withSteps = (steps: readonly Step[]): Plan | undefined =>
      changed(smallest, { schedule: { ...schedule, steps } });
    const steps = await smallestPart(schedule.steps, (part) => shows(withSteps(part)));
    take(withSteps(steps) ?? smallest);
    // A rule fires as often as it may.
    for (const [nth, step] of (smallest.schedule?.steps ?? []).entries())
      if (step.kind === 'when') {
        const limited = (limit: number): PlanInput => ({
          schedule: { ...schedule, steps: replaced(smallest, nth, { ...step, limit }) },
        });
        await tryEach([1, 2, 3, 4, 5, 8, 12, 20].filter((limit) => limit < step.limit).map(limited));
      }
  };

  await fewerFaults();
  await tryEach(below(smallest.clients).map((clients) => ({ clients })));
  await tryEach(below(smallest.locks).map((locks) => ({ locks })));
  await tryEach(options.defences.map((defence) => ({ defences: [defence] })));
  if (smallest.cutWrites > 0) await tryEach([{ cutWrites: 0 }]);
  await tryEach(
    SECONDS.map((seconds) => millis(seconds * 1_000))
      .filter((limit) => limit < smallest.timeLimitMillis)
      .map((limit) => withinTime(smallest, limit)),
  );
  await fewerFaults();
  return smallest;
}

/** What makes no sense, such as a store for a workload that has none, shows nothing. */
function isNoPlan(error: unknown): false {
  if (error instanceof HarnessError && error.code === 'usage') return false;
  throw error;
}

/** undefined: it is no plan, such as one whose schedule names a client that it has not. */
function changed(plan: Plan, change: PlanInput): Plan | undefined {
  try {
    return parsePlan(vocabulary, plan, change);
  } catch (error) {
    if (error instanceof HarnessError && error.code === 'usage') return undefined;
    throw error;
  }
}

/** 1, 2, … */
function below(count: number): readonly number[] {
  return Array.from({ length: count - 1 }, (_, index) => index + 1);
}

function replaced({ schedule }: Plan, nth: number, step: Step): readonly Step[] {
  return (schedule?.steps ?? []).map((other, index) => (index === nth ? step : other));
}

/** The load ends then, and with it every fault; those that would begin later are left out. */
function withinTime({ schedule }: Plan, timeLimitMillis: Millis): PlanInput {
  const steps = (schedule?.steps ?? []).flatMap((step): readonly Step[] => {
    if (step.kind === 'when') return step.afterMillis < timeLimitMillis ? [step] : [];
    const leftMillis = timeLimitMillis - step.atMillis;
    if (leftMillis <= 0) return [];
    const durationMillis = millis(Math.min(step.spec.durationMillis, leftMillis));
    return [{ ...step, spec: { ...step.spec, durationMillis } }];
  });
  return { timeLimitMillis, schedule: { ...schedule, steps } };
}
