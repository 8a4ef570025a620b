// `lockpick convert`: a stored history of ours in the form of another tool, whole or a window of it. Reads and writes files
// only; what the forms look like is known to `convert/`.

import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { HarnessError, messageOf } from '../contract/errors.ts';
import { chromeTraceLines } from '../convert/chrome-trace.ts';
import { csvLines } from '../convert/csv.ts';
import { ednLines } from '../convert/edn.ts';
import { parseDuration } from '../plan/duration.ts';
import { isDirectory, readRecorded } from '../stored/history-file.ts';
import { grantsOf } from '../history/grants.ts';
import type { History, Operation } from '../history/history.ts';

export interface ConvertFlags {
  readonly to: 'edn' | 'chrome-trace' | 'csv';
  /** Since the start of the run. */
  readonly from?: string;
  readonly until?: string;
  /** A lock, or `store/key`. */
  readonly key?: string;
  readonly output?: string;
}

interface Window {
  readonly from: number;
  readonly until: number;
}

export async function convertCommand(path: string, flags: ConvertFlags): Promise<void> {
  const file = isDirectory(path) ? join(path, 'history.jsonl') : path;
  const recorded = await readRecorded(file);
  if (recorded.format !== 'lockpick-history')
    throw new HarnessError('usage', `${file} is no lockpick history; only those have what can be converted`, {
      remedy: 'lockpick check reads it as it is',
    });
  const { history } = recorded;
  const window = windowOf(flags, history);
  const operations = history.operations.filter(
    (operation) => meets(window, operation) && (flags.key === undefined || isOf(flags.key, operation)),
  );
  if (operations.length === 0)
    throw new HarnessError('usage', `${file} has no operation to convert`, {
      remedy: 'widen --from and --until, or name another --key',
    });
  write(flags.output, linesOf(flags, history, window, operations));
}

function linesOf(
  { to, key }: ConvertFlags,
  history: History,
  window: Window,
  operations: readonly Operation[],
): Generator<string> {
  if (to === 'edn') return ednLines(operations);
  if (to === 'csv') return csvLines(operations);
  return chromeTraceLines({
    operations,
    grants: grantsOf(history).filter(
      ({ hold, lock }) =>
        hold.start <= window.until && hold.end >= window.from && (key === undefined || lock === key),
    ),
    faults: history.faults.filter(
      ({ begin, end }) => begin <= window.until && (end === undefined || end >= window.from),
    ),
    until: Math.min(window.until, history.end),
  });
}

function windowOf({ from, until }: ConvertFlags, history: History): Window {
  const window = {
    from: from === undefined ? -Infinity : nanosFrom('--from', from),
    until: until === undefined ? history.end : nanosFrom('--until', until),
  };
  if (window.from > window.until)
    throw new HarnessError(
      'usage',
      `--from ${from} is after ${until === undefined ? 'the end of the history' : `--until ${until}`}`,
    );
  return window;
}

function nanosFrom(flag: string, text: string): number {
  const duration = parseDuration(text);
  if (duration === undefined)
    throw new HarnessError('usage', `${flag} ${text} is not a duration`, {
      remedy: 'write it as 4.2s or 150ms',
    });
  return duration * 1e6;
}

/** Any part of it is in the window; one that was never answered goes on to the end. */
function meets({ from, until }: Window, { invoked, completed }: Operation): boolean {
  return invoked <= until && (completed === undefined || completed >= from);
}

function isOf(key: string, operation: Operation): boolean {
  return 'store' in operation ? `${operation.store}/${operation.key}` === key : operation.lock === key;
}

/** So much text is written at once. */
const CHUNK_CHARACTERS = 1 << 20;

/** `output` undefined: stdout. */
function write(output: string | undefined, lines: Iterable<string>): void {
  try {
    const file = output === undefined ? undefined : openSync(output, 'w');
    const flush = (chunk: string): void => {
      if (file === undefined) process.stdout.write(chunk);
      else writeSync(file, chunk);
    };
    let chunk = '';
    for (const line of lines) {
      chunk += line;
      if (chunk.length < CHUNK_CHARACTERS) continue;
      flush(chunk);
      chunk = '';
    }
    flush(chunk);
    if (file !== undefined) closeSync(file);
  } catch (error) {
    throw new HarnessError('environment', `cannot write ${output ?? 'the result'}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
