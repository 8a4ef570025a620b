// The config file `lockpick.config.{ts,mts,js,mjs,json}`: its schema, from which its type, its validation and the JSON
// Schema for editors are made. A key is the flag's name in camel case; a flag or a variable wins over it.

import { z } from 'zod';
import { EXPORTED_REPORTS, KEEP_CHOICES, PLACE_CHOICES, PROFILE_NAMES, SEEDS } from '../plan/choices.ts';
import { EXPECTABLE_GRADES, NUMBERS } from '../plan/plan.ts';
import { optionName, PLAN_FLAGS } from './plan-flags.ts';

/** The flag's own words, so that an editor shows what `--help` does. */
function says(name: string): string {
  return PLAN_FLAGS.find(({ flag }) => optionName(flag) === name)?.says ?? '';
}

const AMOUNT = String.raw`(0|\d+(\.\d+)?\s*(ms|s|m|h))`;
const DURATION = new RegExp(String.raw`^\s*${AMOUNT}\s*$`);
const SPAN = new RegExp(String.raw`^\s*${AMOUNT}\s*(\.\.\s*${AMOUNT}\s*)?$`);

const name = (key: string): z.ZodOptional<z.ZodString> => z.string().min(1).optional().describe(says(key));
const NO_DURATION = 'is not a duration; write 500ms, 1s or 2m';
const NO_SPAN = 'is not a span; write 20ms..60ms, or one duration';
const duration = (key: string): z.ZodOptional<z.ZodString> =>
  z.string(NO_DURATION).regex(DURATION, NO_DURATION).optional().describe(says(key));
const span = (key: string): z.ZodOptional<z.ZodString> =>
  z.string(NO_SPAN).regex(SPAN, NO_SPAN).optional().describe(says(key));
const number = (key: keyof typeof NUMBERS): z.ZodOptional<z.ZodNumber> =>
  NUMBERS[key].optional().describe(says(key));

export const configSchema = z.strictObject({
  $schema: z.string().optional().describe('for editors, in a JSON file'),
  cells: z
    .array(z.string().min(1))
    .optional()
    .describe('what runs if the command line names no cell: backend[:variant][/recipe[/fault[/workload]]]'),
  adapters: z
    .array(z.string().min(1))
    .optional()
    .describe('modules with lock libraries of your own, relative to the working directory'),
  profile: z.enum(PROFILE_NAMES).optional().describe('of `lockpick compare`'),
  seeds: z.int().min(SEEDS.min).max(SEEDS.max).optional().describe('run each cell with this many seeds'),
  out: z.string().min(1).optional().describe('where runs are kept'),
  reporters: z.array(z.enum(EXPORTED_REPORTS)).optional().describe('what is written beside verdict.json'),
  keep: z.enum(KEEP_CHOICES).optional().describe('of which runs history, logs and report are kept'),
  images: z
    .record(z.string(), z.string().min(1))
    .optional()
    .describe('image name → reference that replaces ours'),
  backend: name('backend'),
  variant: name('variant'),
  recipe: name('recipe'),
  fault: name('fault'),
  workload: name('workload'),
  on: z.enum(PLACE_CHOICES).optional().describe(says('on')),
  expect: z.enum(EXPECTABLE_GRADES).optional().describe(says('expect')),
  defences: z.array(z.string().min(1)).min(1).optional().describe(says('defences')),
  cutWrites: number('cutWrites'),
  seed: z
    .union([z.string().min(1), z.int()], 'must be a text or a whole number')
    .optional()
    .describe(says('seed')),
  timeLimit: duration('timeLimit'),
  ttl: duration('ttl'),
  clients: number('clients'),
  locks: number('locks'),
  permits: number('permits'),
  think: span('think'),
  idle: span('idle'),
  poll: span('poll'),
  patience: duration('patience'),
  commandTimeLimit: duration('commandTimeLimit'),
  minContendedHandoffs: number('minContendedHandoffs'),
});

/** What `lockpick.config.ts` exports. Every key may be left out. */
export type Config = z.input<typeof configSchema>;

/** Option → key, where a list or a record stands for a flag that may be given several times. */
export const CONFIG_KEYS: Readonly<Record<string, keyof Config>> = {
  adapter: 'adapters',
  reporter: 'reporters',
  image: 'images',
};

/** The JSON Schema of `lockpick.config.json`, for editors. */
export function configJsonSchema(): object {
  return z.toJSONSchema(configSchema, { io: 'input' });
}
