// From evidence to a finding: the id, the faults in force, the order. Shared by every rule, so that the same evidence
// has the same id whenever and wherever it is judged. What a finding says in words is each rule's own; `wording.ts`
// has the phrases. Pure; knows no rule.

import type { FaultSpan, History } from '../harness/history/history.ts';
import type { Header, JsonRecord, Nanos } from '../harness/history/op.ts';
import { meeting, spansOf, type Spans } from './spans.ts';
import { resultOf, type Finding, type FindingCode, type RuleResult } from './verdict.ts';

/** What a rule has proved, before it is a finding. */
export interface Proof<Code extends FindingCode> {
  readonly code: Code;
  readonly lock?: string;
  readonly store?: string;
  readonly processes: readonly string[];
  /** Operation ids, in the order in which the story names them. */
  readonly ops: readonly number[];
  /** The earliest invocation that the story tells of: faults that may have acted from here to `at` belong to it. */
  readonly since: Nanos;
  /** When the evidence was complete. */
  readonly at: Nanos;
  readonly story: string;
  readonly evidence: JsonRecord;
}

/** What is asked for the faults of a time. */
export interface Faulted extends Pick<History, 'faults'> {
  readonly header: Pick<Header, 'clockErrorNanos'>;
}

/** The finding of a proof; fills `id` and `faults`. */
export function findingOf<Code extends FindingCode>(history: Faulted, proof: Proof<Code>): Finding<Code> {
  const { since, ...rest } = proof;
  const { code, lock = '', store = '', ops, at } = proof;
  const key = [code, lock, store, ops.toSorted((a, b) => a - b).join(',')].join('|');
  return { id: hashOf(key), ...rest, faults: faultsWithin(history, since, at).map(({ id }) => id) };
}

/** Every finding asks for the faults of its history. */
const known = new WeakMap<readonly FaultSpan[], Spans<FaultSpan>>();

/**
 * Faults that may have acted at some time of [from, to], by stamps of clients: ordered by then, and not proved to be over
 * before; in order of beginning. Not those for which there was nobody to hit. O(log n) for each.
 */
export function faultsWithin({ faults, header }: Faulted, from: Nanos, to: Nanos): readonly FaultSpan[] {
  const spans =
    known.get(faults) ??
    spansOf(
      faults.filter(({ evidence }) => evidence['noTarget'] === undefined),
      ({ begin, end = Infinity }) => ({ start: begin, end }),
    );
  known.set(faults, spans);
  const { clockErrorNanos } = header;
  return [...meeting(spans, from - clockErrorNanos, to + clockErrorNanos)];
}

/**
 * A verdict lists no more than this of one code in one store: a lock that locks nothing has more violations than memory
 * has room for. Counted for each by itself, so that many of one kind never hide one of another.
 */
export const FINDINGS_MAX = 10_000;

/** Says of each finding whether it still is to be listed: the first of each lock is, whatever there is of others. */
export function quota(): (finding: Pick<Finding, 'code' | 'lock' | 'store'>) => boolean {
  const listed = new Map<string, number>();
  const named = new Set<string>();
  return ({ code, lock = '', store = '' }) => {
    const kind = `${code} ${store}`;
    const count = listed.get(kind) ?? 0;
    listed.set(kind, count + 1);
    const ofLock = `${kind} ${lock}`;
    const isFirst = !named.has(ofLock);
    named.add(ofLock);
    return count < FINDINGS_MAX || isFirst;
  };
}

/** So many findings of one code that are not listed are counted; past that a rule need not look for them. */
export const OMITTED_MAX = 100_000;

/**
 * Findings as a rule makes them: the first `FINDINGS_MAX` of a code are kept, and the first of each lock; the others are
 * counted and never made.
 */
export interface Collector<Code extends FindingCode> {
  add(code: Code, lock: string, make: () => Finding<Code>): void;
  /**
   * There are so many that one more of this lock, of which there is one, says nothing. Pairs of grants would else be the
   * square of what there is to read.
   */
  hasEnough(code: Code, lock: string): boolean;
  /** `inOrder`. */
  result(): RuleResult<Code>;
}

export function collector<Code extends FindingCode>(): Collector<Code> {
  const findings: Finding<Code>[] = [];
  const listed = quota();
  const omitted = new Map<Code, number>();
  const named = new Map<Code, Set<string>>();
  return {
    add(code, lock, make) {
      const ofLocks = named.get(code) ?? new Set();
      named.set(code, ofLocks.add(lock));
      if (listed({ code, lock })) findings.push(make());
      else omitted.set(code, (omitted.get(code) ?? 0) + 1);
    },
    hasEnough: (code, lock) => (omitted.get(code) ?? 0) >= OMITTED_MAX && named.get(code)?.has(lock) === true,
    result: () =>
      resultOf(
        inOrder(findings),
        [...omitted.values()].reduce((sum, count) => sum + count, 0),
      ),
  };
}

/** By time, then id: the order of findings in a verdict. */
export function inOrder<Code extends FindingCode>(findings: readonly Finding<Code>[]): Finding<Code>[] {
  return findings.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
}

/** The container that a process ran in, which is what faults name: a restarted `c3` is `c3.2`; an address is itself. */
export function containerOf(process: string): string {
  const start = process.replace(/\.\d+$/, '');
  return /[a-z]/i.test(start) ? start : process;
}

/** The containers that a client process ran in. What else a fault names is a server. */
export function clientContainers({ lastSeen }: History): ReadonlySet<string> {
  return new Set([...lastSeen.keys()].map(containerOf));
}

/** It acts on the container of this process. */
export function hits(fault: FaultSpan, process: string): boolean {
  return fault.targets.includes(containerOf(process)) || fault.targets.includes(process);
}

/** 64-bit FNV-1a (Fowler, Noll, Vo) over UTF-16 units, as 16 hexadecimal digits; in four 16-bit limbs. */
function hashOf(text: string): string {
  // The prime is 2^40 + 0x1b3: multiplying is a shift by 40 bits plus a product with 0x1b3.
  let [d, c, b, a] = [0xcbf2, 0x9ce4, 0x8422, 0x2325];
  for (let index = 0; index < text.length; index++) {
    a ^= text.charCodeAt(index);
    const a1 = a * 0x1b3;
    const b1 = b * 0x1b3 + (a1 >>> 16);
    const c1 = c * 0x1b3 + (b1 >>> 16) + ((a << 8) & 0xffff);
    const d1 = d * 0x1b3 + (c1 >>> 16) + ((b << 8) & 0xffff) + (a >>> 8);
    [d, c, b, a] = [d1 & 0xffff, c1 & 0xffff, b1 & 0xffff, a1 & 0xffff];
  }
  return [d, c, b, a].map((limb) => limb.toString(16).padStart(4, '0')).join('');
}
