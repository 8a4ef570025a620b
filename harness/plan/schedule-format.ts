// The text form of a schedule: what `--schedule FILE` reads, what a plan carries and what the journal's header records,
// all the same. `docs/schedules.md` explains it; `docs/schedule.schema.json` is made from here. Knows the shape only:
// `plan.ts` compares names and times with the rest of the plan.

import { z } from 'zod';
import type { PlannedSchedule } from '../contract/fault.ts';
import { millis } from '../history/op.ts';

const duration = z
  .number()
  .nonnegative()
  .transform((value) => millis(value))
  .describe('milliseconds');

function bare<const Kind extends string>(kind: Kind) {
  return z.strictObject({ kind: z.literal(kind) });
}

const target = z.discriminatedUnion('kind', [
  bare('holder').describe('the process that was granted a lock, by the trigger or last'),
  bare('waiter').describe('a process that wants a lock and has not got it'),
  bare('acquirer').describe('a process whose acquire is on its way'),
  bare('releaser').describe('a process whose release is on its way'),
  bare('random-client'),
  bare('server').describe('one at random'),
  z.strictObject({ kind: z.literal('servers'), count: z.enum(['all', 'majority', 'minority', 'half']) }),
  z
    .strictObject({ kind: z.literal('role'), role: z.string().min(1) })
    .describe('the first server that says that it has this role'),
  bare('lead').describe('the server that was promoted, or the first that says that it leads'),
  bare('follower').describe('one of the servers that say that they follow'),
  bare('cut-off').describe('a server under a fault of the network'),
  bare('voter').describe('a server without whose vote the grant would have had no majority'),
  z
    .strictObject({ kind: z.literal('voters'), count: z.enum(['all', 'majority']) })
    .describe('of the servers that voted for it'),
  z.strictObject({ kind: z.literal('nodes'), names: z.array(z.string().min(1)).min(1) }),
]);

const spec = z.strictObject({
  fault: z.string().describe('a kind of fault'),
  target,
  durationMillis: duration,
  params: z.record(z.string(), z.json()).exactOptional().describe('what the kind of fault understands'),
});

const step = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('at'), atMillis: duration, spec }).describe('at a time'),
  z
    .strictObject({
      kind: z.literal('when'),
      event: z.enum(['acquiring', 'granted', 'released', 'renewing', 'promoted', 'voted']),
      votes: z.number().int().positive().exactOptional().describe('of `voted`: exactly so many'),
      afterMillis: duration,
      untilMillis: duration.exactOptional(),
      delayMillis: z.strictObject({ min: duration, max: duration }),
      limit: z.number().int().positive().describe('fires at most so often'),
      cooldownMillis: duration,
      spec,
    })
    .refine(({ event, votes }) => (event === 'voted') === (votes !== undefined), {
      path: ['votes'],
      message: 'belongs to the event `voted`, which needs it',
    })
    .refine(({ delayMillis: { min, max } }) => min <= max, {
      path: ['delayMillis'],
      message: 'min is above max',
    })
    .describe('each time something happens, after a drawn delay'),
]);

/** Checks that what is read here is a schedule, and no less. */
export const scheduleSchema: z.ZodType<PlannedSchedule> = z
  .strictObject({
    steps: z.array(step).max(10_000),
    seed: z
      .string()
      .min(1)
      .max(100)
      .exactOptional()
      .describe('of delays and of targets drawn by chance; by default that of the run'),
  })
  .describe('When, to whom and for how long faults happen; times count from the start of the load.');

/** For editors and other programs. */
export function scheduleJsonSchema(): object {
  return z.toJSONSchema(scheduleSchema, { io: 'input' });
}
