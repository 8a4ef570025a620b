// What the user chose, and where: flag > `LOCKPICK_…` variable > config file > default (6.1). A value carries the words
// its user wrote it with, so that an error names the flag, variable or key that is wrong and not a field of the plan.
// Knows names and precedence; what a plan means is known to `plan.ts`, what a command does to the command.

import { HarnessError } from '../contract/errors.ts';
import { PlanError, type PlanInput } from '../plan/plan.ts';
import { optionName, PLAN_FLAGS } from './plan-flags.ts';

export type Source = 'flag' | 'environment' | 'config';

export interface Choice {
  readonly value: unknown;
  readonly from: Source;
  /** `--ttl 5ms`, `LOCKPICK_TTL=5ms`, `lockpick.config.ts, ttl`. */
  readonly written: string;
}

/** By the name of the option in camel case; what was left to its default is not in it. */
export type Choices = ReadonlyMap<string, Choice>;

/** An option of a command as the parser of the command line left it. */
export interface ParsedOption {
  readonly name: string;
  readonly flag: string;
  readonly variable: string | undefined;
  readonly value: unknown;
  readonly source: string | undefined;
}

/** A loaded config file, by option name, and its file name. */
export interface ConfigLayer {
  readonly file: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** Option name → the key in the file, where it is another. */
  readonly keys: Readonly<Record<string, string>>;
}

export function choicesOf(options: readonly ParsedOption[], config: ConfigLayer | undefined): Choices {
  const choices = new Map<string, Choice>();
  for (const [name, value] of Object.entries(config?.values ?? {}))
    if (value !== undefined) {
      const key = config?.keys[name] ?? name;
      choices.set(name, { value, from: 'config', written: `${config?.file}, ${key}` });
    }
  for (const { name, flag, variable, value, source } of options)
    if (source === 'cli') choices.set(name, { value, from: 'flag', written: `${flag}${shown(value)}` });
    else if (source === 'env')
      choices.set(name, { value, from: 'environment', written: `${variable}=${clipped(textOf(value))}` });
  return choices;
}

function shown(value: unknown): string {
  return value === true ? '' : ` ${clipped(textOf(value))}`;
}

/** More would scroll away what is wrong with it. */
const SHOWN_CHARACTERS_MAX = 200;

function clipped(text: string): string {
  return text.length <= SHOWN_CHARACTERS_MAX ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX)}…`;
}

/** As one would type it. */
function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : typeof value === 'string' ? value : JSON.stringify(value);
}

/** The plan's fields that the user set, of the given sources. */
export function chosenFields(choices: Choices, ...sources: readonly Source[]): PlanInput {
  return Object.fromEntries(
    PLAN_FLAGS.flatMap(({ field, flag }) => {
      const choice = choices.get(optionName(flag));
      return choice !== undefined && sources.includes(choice.from) ? [[field, choice.value]] : [];
    }),
  );
}

/** What `make` returns; a field it refuses is named as the user wrote it. */
export function inTheUsersWords<T>(choices: Choices, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    const [root = '', ...place] = error.field.split('.');
    const flag = PLAN_FLAGS.find(({ field }) => field === root)?.flag ?? root;
    const choice = choices.get(optionName(flag));
    if (choice === undefined) throw error;
    const where = place.length === 0 ? '' : `${place.join('.')}: `;
    throw new HarnessError('usage', `${choice.written}: ${where}${error.reason}`, { remedy: error.remedy });
  }
}

/** A whole number in [min, max], written as text or as a number. Throws HarnessError('usage') in the user's words. */
export function wholeNumber(
  choices: Choices,
  name: string,
  { min, max, fallback }: { readonly min: number; readonly max: number; readonly fallback: number },
): number {
  const choice = choices.get(name);
  if (choice === undefined) return fallback;
  const number = typeof choice.value === 'string' && choice.value.trim() === '' ? NaN : Number(choice.value);
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  throw new HarnessError('usage', `${choice.written}: must be a whole number from ${min} to ${max}`);
}

/** Throws HarnessError('usage') if it is empty: no name of a file or of anything else is. */
export function textChoice(choices: Choices, name: string): string | undefined {
  const choice = choices.get(name);
  if (choice?.value === '') throw new HarnessError('usage', `${choice.written.trimEnd()}: is empty`);
  return choice === undefined ? undefined : textOf(choice.value);
}

/** Texts, each perhaps several with commas between. Throws HarnessError('usage') if there is none in what was written. */
export function listChoice(choices: Choices, name: string): readonly string[] {
  const choice = choices.get(name);
  if (choice === undefined) return [];
  const items: readonly unknown[] = Array.isArray(choice.value) ? choice.value : [choice.value];
  const texts = items.flatMap((item) => String(item).split(',')).filter((item) => item !== '');
  if (texts.length === 0 && items.length > 0)
    throw new HarnessError('usage', `${choice.written.trimEnd()}: is empty`);
  return texts;
}
