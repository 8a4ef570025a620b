// The faults `clock-jump`, `clock-drift` and `clock-strobe`: the wall clock of one node is wrong, as after somebody set
// its date, with a bad oscillator, or when two time servers disagree. By the shim; monotonic clocks go on as they are.
// Proved by asking the process itself what time it is and comparing with the engine's clock, in front and afterwards.

import { monotonicClock, monotonicOrigin, wallTime, type Clock } from '../../clock.ts';
import type { Node } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import type { FaultSpec, NodeFaultKind } from '../../contract/fault.ts';
import { millis, type JsonRecord } from '../../history/op.ts';
import { setControls } from './controls.ts';
import { millisSince, putInForce } from './scope.ts';

export interface ClockFaultOptions {
  /** What the node's process itself takes for the time, in milliseconds since 1970; undefined: it does not answer. */
  readonly readTime: (node: Node) => Promise<number | undefined>;
  /**
   * Makes its clock wrong: offset in nanoseconds, rate in millionths, phase in nanoseconds. Returns when, in nanoseconds
   * of the engine's wall clock; undefined: nothing in the node listens. Default: by the shim.
   */
  readonly set?: (node: Node, settings: readonly number[]) => Promise<number | undefined>;
}

type SetClock = NonNullable<ClockFaultOptions['set']>;

/** What is asked of a clock. */
interface WrongClock {
  readonly offsetMillis: number;
  /** Added to every second, in seconds. */
  readonly rate: number;
  /** It is right and wrong in turn, for so long each; 0: always wrong. */
  readonly phaseMillis: number;
}

const RIGHT: WrongClock = { offsetMillis: 0, rate: 0, phaseMillis: 0 };

/** By how much a process's clock is ahead of the engine's, known to within the error, and when. */
interface Reading {
  readonly aheadMillis: number;
  readonly errorMillis: number;
  readonly atMillis: number;
}

/** Looks at a clock that should be as asked; undefined: it is not. */
type Proof = (asked: WrongClock, read: () => Promise<Reading | undefined>) => Promise<JsonRecord | undefined>;

/** A second more than enough on a busy machine; what is asked is told apart from the error in any case. */
const READINGS_MAX = 40;
const READ_PAUSE = millis(20);

/** They act in about 80 ms; `inject` resolves when it is proved, some 0.2 s later for a server. */
export function clockFaults({
  readTime,
  set = (node, settings) => setControls(node, 'clock', settings),
}: ClockFaultOptions): readonly NodeFaultKind[] {
  const clock = monotonicClock(monotonicOrigin());
  const kind = (
    name: string,
    summary: string,
    wanted: (spec: FaultSpec) => Partial<WrongClock>,
    prove: Proof,
  ): NodeFaultKind => ({
    name,
    summary,
    hurts: 'clock',
    inject: (node, spec) => {
      const asked = { ...RIGHT, ...wanted(spec) };
      const began = clock.now();
      return putInForce(
        async () => {
          const engineAhead = await setClock(node, asked, set);
          const setMillis = millisSince(clock, began);
          if (engineAhead === undefined) return undefined;
          const seen = await prove(asked, () => readClock(node, engineAhead, readTime));
          return seen && { ...seen, setMillis, provedMillis: millisSince(clock, began) };
        },
        () => setRight(node, { clock, readTime, set }),
      );
    },
  });
  return [
    kind(
      'clock-jump',
      'sets the wall clock of a process (parameter `byMillis`, ahead or back), and sets it right later',
      (spec) => ({ offsetMillis: parameter(spec, 'byMillis') }),
      jumped,
    ),
    kind(
      'clock-drift',
      'lets the wall clock of a process run too fast (parameter `rate`: seconds more a second) or too slow',
      (spec) => ({ rate: parameter(spec, 'rate') }),
      (asked, read) => drifts(asked, read, clock),
    ),
    kind(
      'clock-strobe',
      'lets the wall clock of a process jump and jump back (parameters `byMillis`, `phaseMillis`)',
      (spec) => ({
        offsetMillis: parameter(spec, 'byMillis'),
        phaseMillis: parameter(spec, 'phaseMillis'),
      }),
      (asked, read) => strobes(asked, read, clock),
    ),
  ];
}

function parameter({ fault, params }: FaultSpec, name: string): number {
  const value = params?.[name];
  if (typeof value === 'number' && value !== 0) return value;
  throw new HarnessError('internal', `a ${fault} needs a number ${name}, not ${JSON.stringify(value)}`);
}

/** By how much the engine's clock is ahead of ours, as a reading; undefined: the node's process has no shim. */
async function setClock(
  node: Node,
  { offsetMillis, rate, phaseMillis }: WrongClock,
  set: SetClock,
): Promise<Reading | undefined> {
  return bracketed(async () => {
    const settings = [offsetMillis * 1e6, rate * 1e6, phaseMillis * 1e6].map(Math.round);
    const setAt = await set(node, settings);
    return setAt === undefined ? undefined : setAt / 1e6;
  });
}

async function readClock(
  node: Node,
  engine: Reading,
  readTime: ClockFaultOptions['readTime'],
): Promise<Reading | undefined> {
  const seen = await bracketed(() => readTime(node));
  return (
    seen && {
      atMillis: seen.atMillis,
      aheadMillis: seen.aheadMillis - engine.aheadMillis,
      errorMillis: seen.errorMillis + engine.errorMillis,
    }
  );
}

/** Reads a clock somewhere between a look at ours before and one afterwards. */
async function bracketed(read: () => Promise<number | undefined>): Promise<Reading | undefined> {
  const before = wallTime().getTime();
  const theirs = await read();
  const after = wallTime().getTime();
  if (theirs === undefined) return undefined;
  const atMillis = (before + after) / 2;
  // A millisecond for what both are rounded to.
  return { aheadMillis: theirs - atMillis, errorMillis: (after - before) / 2 + 1, atMillis };
}

const jumped: Proof = async ({ offsetMillis }, read) => {
  const seen = await read();
  if (seen === undefined || !isAhead(seen, offsetMillis)) return undefined;
  return { askedMillis: offsetMillis, measuredMillis: rounded(seen.aheadMillis), ...within(seen) };
};

/** Ahead by that, as far as can be told, and not by nothing. */
function isAhead({ aheadMillis, errorMillis }: Reading, wanted: number): boolean {
  return (
    Math.abs(aheadMillis - wanted) <= errorMillis && (wanted === 0 || Math.abs(aheadMillis) > errorMillis)
  );
}

/** Two readings so far apart that the difference between them shows the rate. */
async function drifts(
  { rate }: WrongClock,
  read: () => Promise<Reading | undefined>,
  clock: Clock,
): Promise<JsonRecord | undefined> {
  const first = await read();
  if (first === undefined) return undefined;
  for (let left = READINGS_MAX; left > 0; left--) {
    await clock.sleep(READ_PAUSE);
    const next = await read();
    if (next === undefined) return undefined;
    const elapsed = next.atMillis - first.atMillis;
    const measured = (next.aheadMillis - first.aheadMillis) / elapsed;
    // While it is asked the clock goes on, as fast as it does.
    const error = ((first.errorMillis + next.errorMillis) * (1 + Math.abs(rate))) / elapsed;
    if (error > Math.abs(rate) / 4) continue;
    if (Math.abs(measured - rate) > error) return undefined;
    return { askedRate: rate, measuredRate: rounded(measured), errorRate: rounded(error) };
  }
  return undefined;
}

/** Seen both wrong and right. */
async function strobes(
  { offsetMillis, phaseMillis }: WrongClock,
  read: () => Promise<Reading | undefined>,
  clock: Clock,
): Promise<JsonRecord | undefined> {
  let wrong: Reading | undefined;
  let right: Reading | undefined;
  for (let left = READINGS_MAX; left > 0 && !(wrong && right); left--) {
    const seen = await read();
    if (seen === undefined) return undefined;
    if (isAhead(seen, offsetMillis)) wrong ??= seen;
    else if (isAhead(seen, 0)) right ??= seen;
    await clock.sleep(READ_PAUSE);
  }
  return (
    wrong &&
    right && {
      askedMillis: offsetMillis,
      phaseMillis,
      measuredMillis: [rounded(wrong.aheadMillis), rounded(right.aheadMillis)],
      ...within(wrong),
    }
  );
}

/** Throws HarnessError if a process that answers is still wrong. One that does not answer is for others to bring back. */
async function setRight(
  node: Node,
  { clock, readTime, set }: ClockFaultOptions & { readonly clock: Clock; readonly set: SetClock },
): Promise<JsonRecord> {
  const engineAhead = await setClock(node, RIGHT, set);
  if (engineAhead === undefined) return { differenceMillis: null };
  let seen: Reading | undefined;
  for (let left = READINGS_MAX; left > 0; left--) {
    seen = await readClock(node, engineAhead, readTime);
    if (seen === undefined) return { differenceMillis: null };
    if (isAhead(seen, 0)) return { differenceMillis: rounded(seen.aheadMillis), ...within(seen) };
    await clock.sleep(READ_PAUSE);
  }
  throw new HarnessError(
    'environment',
    `the clock of node ${node.name} is still ${seen?.aheadMillis} ms ahead`,
  );
}

function within({ errorMillis }: Reading): JsonRecord {
  return { errorMillis: rounded(errorMillis) };
}

function rounded(value: number): number {
  return Math.round(value * 1e3) / 1e3;
}
