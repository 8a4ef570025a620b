// What an operation carried and what came of it, in words. Pure.

import type { Operation } from '../history/history.ts';
import { jsonText, name } from './words.ts';

/** Longer values are cut. */
export const VALUE_CHARACTERS_MAX = 40;

/** What is told of an operation that succeeded, and did not what was hoped for. */
export function afterword(operation: Operation): string {
  return operation.op === 'release' && operation.released === false ? 'it had ended before' : '';
}

/** Token, value, base: what an operation carried, for people. */
export function operationFacts(operation: Operation): string {
  const facts: string[] = [];
  if ('token' in operation && operation.token !== undefined) facts.push(`token ${operation.token}`);
  if ('value' in operation && operation.value !== undefined)
    facts.push(`value ${jsonText(operation.value, VALUE_CHARACTERS_MAX)}`);
  if ('base' in operation && operation.base !== undefined)
    facts.push(`from version ${name(operation.base, VALUE_CHARACTERS_MAX)}`);
  if ('highest' in operation && operation.highest !== undefined)
    facts.push(`highest token ${operation.highest}`);
  if (afterword(operation) !== '') facts.push(afterword(operation));
  return facts.join(', ');
}
