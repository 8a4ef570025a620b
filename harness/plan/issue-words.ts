// What zod finds wrong with what people write (plans, schedules, configs, adapters), in words for someone who never heard of
// zod: for `safeParse(value, { error: issueWords })`. What a schema says in its own words stays.

import type { z } from 'zod';

const TYPES: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  function: 'a function',
};

const UNITS: Readonly<Record<string, string>> = { string: ' characters', array: ' entries' };

/** undefined: as zod says it. */
export function issueWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return oneOf(issue.values);
    case 'invalid_union':
      return Array.isArray(issue['options'])
        ? oneOf(issue['options'])
        : 'is of a kind that is not understood';
    case 'too_small':
      if (issue.minimum === 1 && issue.origin in UNITS) return 'must not be empty';
      return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${UNITS[issue.origin] ?? ''}`;
    case 'too_big':
      return `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${UNITS[issue.origin] ?? ''}`;
    case 'unrecognized_keys':
      return `unknown field ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
    case 'custom':
    case 'invalid_element':
    case 'invalid_format':
    case 'invalid_key':
    case 'not_multiple_of':
      return undefined;
  }
}

/** Where it is, as people write it: `steps.0.kind`; empty: the whole. `within`: where that stands. */
export function issueField(issue: z.core.$ZodIssue | undefined, within: readonly string[] = []): string {
  return [...within, ...(issue?.path ?? [])].map(String).join('.');
}

function oneOf(values: readonly unknown[]): string {
  const last = values.length - 1;
  const words = values.map(
    (value, nth) => `${nth === 0 ? '' : nth === last ? ' or ' : ', '}${String(value)}`,
  );
  return `must be ${words.join('')}`;
}
