// Whatever a command threw → one message on stderr and its exit code (2.4 of the design). The last stop of every error.

import { CommanderError } from 'commander';
import { EXIT_CODE, HarnessError, messageOf } from '../contract/errors.ts';
import { userFileOf } from '../settings/user-module.ts';
import { printableLines } from './printable.ts';

/** Prints what went wrong, once, and gives the exit code. The first cause wins; what went wrong after it is added. */
export function failure(error: unknown): number {
  if (error instanceof SuppressedError) {
    const code = failure(error.suppressed);
    tell(`and while cleaning up: ${messageOf(error.error)}`);
    return code;
  }
  if (error instanceof AggregateError && error.errors.length > 0) {
    const [first, ...others]: unknown[] = error.errors;
    const code = failure(first);
    for (const other of others) tell(`and: ${messageOf(other)}`);
    return code;
  }
  // Commander has printed its own message, with the nearest names.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODE.ok : EXIT_CODE.usage;
  if (error instanceof HarnessError) {
    const remedy = error.remedy === undefined ? '' : ` → ${error.remedy}`;
    const detail = error.detail === undefined ? '' : `\n${error.detail.trimEnd()}`;
    const because = error.cause === undefined ? '' : messageOf(error.cause);
    const cause = error.message.includes(because) ? '' : `\n  cause: ${because}`;
    tell(`${error.message}${remedy}${cause}${detail}`);
    return EXIT_CODE[error.code];
  }
  const file = userFileOf(error);
  if (file !== undefined) {
    tell(`${file} left something running, and it failed: ${messageOf(error)} → catch it there`);
    return EXIT_CODE.usage;
  }
  tell(`this is a bug of lockpick itself, please report it:\n${stackOf(error)}`);
  return EXIT_CODE.internal;
}

function tell(words: string): void {
  process.stderr.write(`lockpick: ${printableLines(words)}\n`);
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
