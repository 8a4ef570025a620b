// What one run will do: one frozen, serialisable value. `parsePlan` is the only place where input (flags, environment,
// a stored plan.json) is validated; what comes out is complete and is stored in the run as it is.

import { z } from 'zod';
import leven from 'leven';
import { DEFAULT_VARIANT, type ServerOptions } from '../contract/backend.ts';
import { DEFAULT_WORKLOAD } from './cell-name.ts';
import { PLACES } from './choices.ts';
import { HarnessError } from '../contract/errors.ts';
import { formatDuration, parseDuration, parseSpan } from './duration.ts';
import type { Millis } from '../history/op.ts';
import { wrongParam } from '../nemesis/fault-params.ts';
import { FIXED } from '../nemesis/schedule.ts';
import { issueField, issueWords } from './issue-words.ts';
import { scheduleSchema } from './schedule-format.ts';

/** The names a plan may use; handed in, so that this file knows no backend. */
export interface Vocabulary {
  readonly backends: readonly {
    readonly name: string;
    readonly recipes: readonly { readonly name: string }[];
    readonly variants?: readonly { readonly name: string }[];
    servers(options: ServerOptions): readonly { readonly name: string }[];
  }[];
  readonly workloads: readonly string[];
  readonly defences: readonly string[];
  readonly scenarios: readonly string[];
  /** Kinds of faults. */
  readonly faults: readonly string[];
  readonly images: readonly string[];
}

const durationText = z.union([z.string(), z.number().nonnegative()]).transform((value, context): Millis => {
  const duration = typeof value === 'number' ? parseDuration(`${value}ms`) : parseDuration(value);
  if (duration === undefined) {
    context.addIssue({
      code: 'custom',
      message: `${JSON.stringify(value)} is not a duration; write 500ms, 1s or 2m`,
    });
    return z.NEVER;
  }
  return duration;
});

const span = z
  .union([z.string(), z.object({ min: z.number().nonnegative(), max: z.number().nonnegative() })], {
    error: 'is not a span; write 20ms..60ms, or one duration',
  })
  .transform((value, context): { min: Millis; max: Millis } => {
    const text = typeof value === 'string' ? value : `${value.min}ms..${value.max}ms`;
    const parsed = parseSpan(text);
    if (parsed !== undefined) return parsed;
    context.addIssue({
      code: 'custom',
      message: `${JSON.stringify(text)} is not a span; write 20ms..60ms, or one duration`,
    });
    return z.NEVER;
  });

/** A number, or its text: nothing else, and no blank, counts as one. */
function amount(schema: z.ZodNumber | z.ZodInt): z.ZodType<number> {
  return z.preprocess(
    (value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value),
    schema,
  );
}

/** At most this many processes: operation ids are dealt out in strides of it. */
export const PROCESSES_MAX = 1000;

/** `inconclusive` is nothing to hope for. */
export const EXPECTABLE_GRADES = ['safe', 'safe-with-fencing', 'unsafe'] as const;

/** The numbers of a plan, each with its bounds; the config file has the same. */
export const NUMBERS = {
  /** Part of the writes during which the client loses its connection to the store; then nothing on it is answered. */
  cutWrites: z.number().min(0).max(1),
  clients: z.int().min(1).max(100),
  locks: z.int().min(1).max(10_000),
  /** Of a semaphore, in the place of its recipe's own number. */
  permits: z.int().min(1).max(100),
  /** Contended hand-offs below which a clean result is inconclusive. */
  minContendedHandoffs: z.int().min(0),
} as const;

const planSchema = z.strictObject({
  backend: z.string(),
  /** Of the backend's servers. */
  variant: z.string(),
  recipe: z.string(),
  /** The recipe is the user's own, and this file has it; relative to where lockpick is started. */
  adapter: z.string().min(1).optional(),
  fault: z.string(),
  workload: z.string(),
  /** In containers if it does not say. */
  on: z.enum(PLACES).optional(),
  /** The grade that its user calls right, in the place of what the catalogue expects. */
  expect: z.enum(EXPECTABLE_GRADES).optional(),
  /** Of the store, all used side by side; `all`: every one that recipe and workload can use. */
  defences: z.union([
    z.literal('all'),
    z.array(z.string()).min(1),
    z.string().transform((names) => names.split(',')),
  ]),
  cutWrites: amount(NUMBERS.cutWrites),
  /** Decimal or any text; the same plan and seed give the same schedule and the same choices of every client. */
  seed: z.coerce.string().min(1).max(100),
  timeLimitMillis: durationText.refine(
    (value) => value >= 1000 && value <= 24 * 3_600_000,
    'must be 1s to 24h',
  ),
  ttlMillis: durationText.refine((value) => value >= 50 && value <= 600_000, 'must be 50ms to 10m'),
  clients: amount(NUMBERS.clients),
  locks: amount(NUMBERS.locks),
  permits: amount(NUMBERS.permits).optional(),
  thinkMillis: span,
  idleMillis: span,
  pollMillis: span,
  patienceMillis: durationText,
  commandTimeLimitMillis: durationText.refine((value) => value >= 10, 'must be at least 10ms'),
  minContendedHandoffs: amount(NUMBERS.minContendedHandoffs),
  /** Image name → reference that replaces ours. */
  images: z.record(z.string(), z.string().min(1)),
  /** Takes the place of the one that the fault's name and the seed give. */
  schedule: scheduleSchema.optional(),
});

export type Plan = Readonly<z.output<typeof planSchema>>;
/** What a user or a cell may leave open or override. */
export type PlanInput = { readonly [Key in keyof Plan]?: unknown };

/** Holds for every backend unless its cell, the config or a flag says otherwise. */
export const PLAN_DEFAULTS = {
  variant: DEFAULT_VARIANT,
  workload: DEFAULT_WORKLOAD,
  defences: 'all',
  cutWrites: 0,
  fault: 'pause-holder',
  timeLimitMillis: '20s',
  ttlMillis: '1s',
  clients: 5,
  locks: 3,
  thinkMillis: '30ms..80ms',
  idleMillis: '0..20ms',
  pollMillis: '5ms..15ms',
  patienceMillis: '10s',
  commandTimeLimitMillis: '500ms',
  minContendedHandoffs: 10,
  images: {},
} as const satisfies PlanInput;

/** Of a field that has a value it cannot have; who knows how the field was written by its user says it in those words. */
export class PlanError extends HarnessError {
  readonly field: string;
  /** What is wrong, without the field's name. */
  readonly reason: string;
  constructor(
    field: string,
    reason: string,
    options: { message?: string; remedy?: string | undefined } = {},
  ) {
    const { message = `plan field ${field}: ${reason}`, ...rest } = options;
    super('usage', message, rest);
    this.name = 'PlanError';
    this.field = field;
    this.reason = reason;
  }
}

/**
 * Validates `layers`, the later ones winning, over the defaults. Throws HarnessError('usage') that names the field,
 * what is wrong with it, and the nearest known names.
 */
export function parsePlan(vocabulary: Vocabulary, ...layers: readonly PlanInput[]): Plan {
  const input: Record<string, unknown> = { ...PLAN_DEFAULTS };
  for (const layer of layers)
    for (const [key, value] of Object.entries(layer)) if (value !== undefined) input[key] = value;
  const backend = known(
    'backend',
    input['backend'],
    vocabulary.backends.map(({ name }) => name),
  );
  const found = vocabulary.backends.find(({ name }) => name === backend);
  const recipes = found?.recipes.map(({ name }) => name) ?? [];
  // The recipe of an adapter is in no list; whoever loads its file compares the names.
  if (input['adapter'] === undefined)
    input['recipe'] = known('recipe', input['recipe'] ?? recipes[0], recipes);
  const variants = found?.variants?.map(({ name }) => name) ?? [];
  known('variant', input['variant'], [DEFAULT_VARIANT, ...variants]);
  known('fault', input['fault'], vocabulary.scenarios);
  known('workload', input['workload'], vocabulary.workloads);
  const parsed = planSchema.safeParse(input, { error: issueWords });
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    if (issue?.code === 'unrecognized_keys' && issue.path.length === 0)
      known('plan field', issue.keys[0], Object.keys(planSchema.shape));
    // A schedule is deep, and its text form is what its author wrote.
    const field = issue?.path[0] === 'schedule' ? issueField(issue) : String(issue?.path[0] ?? '?');
    throw new PlanError(field, issue?.message ?? 'is wrong');
  }
  if (parsed.data.defences !== 'all')
    for (const value of parsed.data.defences)
      knownAt('defences', 'defence', { value, names: vocabulary.defences });
  for (const image of Object.keys(parsed.data.images)) known('image', image, vocabulary.images);
  checkSchedule(parsed.data, vocabulary);
  return Object.freeze(parsed.data);
}

/** A process of the plan, by the name of its container. */
export function clientNames({ clients }: Pick<Plan, 'clients'>): readonly string[] {
  return Array.from({ length: clients }, (_, index) => `c${index + 1}`);
}

/** What the schedule of a plan says must fit the rest of the plan. Throws a PlanError that names the place. */
function checkSchedule(plan: Plan, vocabulary: Vocabulary): void {
  const { schedule, timeLimitMillis } = plan;
  if (schedule === undefined) {
    if (plan.fault === FIXED)
      throw new PlanError('schedule', `the fault ${FIXED} needs one: --schedule <file>`);
    return;
  }
  const servers = vocabulary.backends.find(({ name }) => name === plan.backend)?.servers(plan) ?? [];
  const nodes = [...servers.map(({ name }) => name), ...clientNames(plan)];
  for (const [index, step] of schedule.steps.entries()) {
    const place = `schedule.steps.${index}`;
    const { fault, target, durationMillis } = step.spec;
    knownAt(`${place}.spec.fault`, 'fault', { value: fault, names: vocabulary.faults });
    if (target.kind === 'nodes')
      for (const value of target.names)
        knownAt(`${place}.spec.target.names`, 'node', { value, names: nodes });
    const wrong = wrongParam(fault, step.spec.params ?? {}, [...nodes, 'store']);
    if (wrong !== undefined) throw new PlanError(`${place}.spec.params.${wrong.name}`, wrong.reason);
    const late = `is past the end of the load at ${formatDuration(timeLimitMillis)}`;
    if (step.kind === 'when' && step.afterMillis >= timeLimitMillis)
      throw new PlanError(`${place}.afterMillis`, late);
    if (step.kind === 'at' && step.atMillis + durationMillis > timeLimitMillis)
      throw new PlanError(place, `its end, ${formatDuration(step.atMillis + durationMillis)}, ${late}`);
  }
}

/** As `known`, for a name that is in a field of another name. */
export function knownAt(
  place: string,
  what: string,
  { value, names }: { readonly value: unknown; readonly names: readonly string[] },
): void {
  try {
    known(what, value, names);
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    throw new PlanError(place, error.reason, { remedy: error.remedy });
  }
}

/** `value`, if it is one of `names`. Throws a PlanError that lists the nearest ones. */
export function known(what: string, value: unknown, names: readonly string[]): string {
  if (typeof value === 'string' && names.includes(value)) return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const near = names
    .map((name) => ({ name, distance: leven(name, text ?? '') }))
    .filter(({ name, distance }) => distance <= Math.max(2, name.length / 3) || name.includes(text ?? '\n'))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name);
  const message = value === undefined ? `no ${what} given` : `unknown ${what} ${JSON.stringify(text)}`;
  throw new PlanError(what, message, {
    message,
    remedy: near.length > 0 ? `did you mean ${near.join(', ')}?` : `known: ${names.join(', ')}`,
  });
}
