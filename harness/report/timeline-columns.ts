// The timeline's numbers as columns: what the page's script draws. Times are microseconds, growing columns are stored
// as differences, texts once. As JSON it deflates to some 8 bytes an operation. `page/unpack.js` is the other end.

import { deflateRawSync } from 'node:zlib';
import { intersect, type Grant, type Interval } from '../history/grants.ts';
import type { Operation } from '../history/history.ts';
import { stallsOf } from '../history/stalls.ts';
import { CODE_MEANING, type CodeMeaning } from './meaning.ts';
import {
  circumstances,
  headline,
  holdEnding,
  lengthOf,
  LOCK_LANES_MAX,
  sharedBy,
  type RunView,
} from './run-view.ts';
import { byName, faultClause, jsonText, name } from './words.ts';

/** At most this many lanes for clients; those with findings come first. */
export const CLIENT_LANES_MAX = 40;

/** Exactly what is in the page, after inflating and `JSON.parse`. */
export interface TimelineColumns {
  /** Microseconds. */
  readonly end: number;
  readonly lanes: readonly { readonly name: string; readonly kind: 'client' | 'node' }[];
  readonly kinds: readonly string[];
  readonly outcomes: readonly string[];
  /** All lock names; the first `lockLanes` of them have a lane. */
  readonly locks: readonly string[];
  readonly lockLanes: number;
  /** `ended`: its last sign of life. */
  readonly processes: readonly { readonly name: string; readonly lane: number; readonly ended: number }[];
  /** Errors, stores and keys: what operations refer to by index; 0 is the empty text. */
  readonly words: readonly string[];
  /** In order of invocation. */
  readonly operations: {
    /** Difference to the one before. */
    readonly id: readonly number[];
    readonly process: readonly number[];
    /** Index in `kinds`. */
    readonly kind: readonly number[];
    readonly lock: readonly number[];
    readonly store: readonly number[];
    /** Index in `outcomes`. */
    readonly outcome: readonly number[];
    readonly error: readonly number[];
    /** Difference to the one before. */
    readonly invoked: readonly number[];
    /** Until the completion; -1: never completed. */
    readonly took: readonly number[];
    /** Token, value, base: for people. */
    readonly note: readonly string[];
  };
  /** One per grant, in order of the grant. */
  readonly grants: {
    /** Index of the acquire in `operations`. */
    readonly operation: readonly number[];
    readonly held: readonly number[];
    /** Index in `words`: what ended the hold. */
    readonly endedBy: readonly number[];
    /** Length of the tenure, which starts with the hold. */
    readonly tenure: readonly number[];
    /** In the lane of its lock: above 0 where it overlaps another hold. */
    readonly row: readonly number[];
  };
  /** Times at which two believed that they held a lock. */
  readonly overlaps: readonly { readonly lock: number; readonly from: number; readonly until: number }[];
  readonly faults: readonly {
    readonly id: string;
    readonly says: string;
    readonly lanes: readonly number[];
    readonly begin: number;
    /** -1: nothing showed that it acted. */
    readonly acted: number;
    /** -1: not healed within the history. */
    readonly end: number;
  }[];
  /** A process ended, or its client library said that a lock is gone; a server changed its role. */
  readonly notes: readonly { readonly lane: number; readonly at: number; readonly says: string }[];
  readonly findings: readonly {
    readonly anchor: string;
    readonly code: string;
    readonly mark: CodeMeaning['mark'];
    readonly says: string;
    readonly at: number;
    readonly from: number;
    readonly until: number;
    /** Indices in `operations`. */
    readonly operations: readonly number[];
  }[];
}

const OPERATION_KINDS = ['acquire', 'renew', 'release', 'read', 'write', 'cas'] as const;
const OUTCOMES = ['ok', 'fail', 'info'] as const;

/** The columns of one run. O(n log n). */
export function timelineColumns(view: RunView): TimelineColumns {
  const { history } = view.run;
  const troubled = new Set(view.findings.flatMap(({ processes }) => processes.map(view.laneOf)));
  const clients = [...view.clients]
    .sort((a, b) => Number(troubled.has(b)) - Number(troubled.has(a)))
    .slice(0, CLIENT_LANES_MAX)
    .sort(byName);
  const lanes = [
    ...clients.map((lane) => ({ name: name(lane), kind: 'client' as const })),
    ...view.nodes.map((lane) => ({ name: name(lane), kind: 'node' as const })),
  ];
  const laneIndex = new Map([...clients, ...view.nodes].map((lane, index) => [lane, index]));
  const lockIndex = new Map(view.locks.map((lock, index) => [lock, index]));
  const words = interner('');
  const processes = interner();
  const drawn = history.operations.filter(({ process }) => laneIndex.has(view.laneOf(process)));
  const position = new Map(drawn.map(({ id }, index) => [id, index]));
  const grants = view.grants.filter(({ acquire }) => position.has(acquire.id));
  const stacked = stackedHolds(grants);
  const indices = (ids: readonly number[]): number[] => ids.flatMap((id) => position.get(id) ?? []);
  const lanesOf = (names: readonly string[]): number[] =>
    names.flatMap((process) => laneIndex.get(view.laneOf(process)) ?? []);

  return {
    end: micros(history.end),
    lanes,
    kinds: OPERATION_KINDS,
    outcomes: OUTCOMES,
    operations: {
      id: differences(drawn.map(({ id }) => id)),
      process: drawn.map(({ process }) => processes.index(process)),
      kind: drawn.map(({ op }) => OPERATION_KINDS.indexOf(op)),
      lock: drawn.map(({ lock }) => lockIndex.get(lock) ?? 0),
      store: drawn.map((operation) =>
        words.index('store' in operation ? `${name(operation.store)}/${name(operation.key)}` : ''),
      ),
      outcome: drawn.map(({ outcome }) => OUTCOMES.indexOf(outcome)),
      error: drawn.map(({ error }) => words.index(name(error ?? ''))),
      invoked: differences(drawn.map(({ invoked }) => micros(invoked))),
      took: drawn.map(({ invoked, completed }) =>
        completed === undefined ? -1 : micros(completed) - micros(invoked),
      ),
      note: drawn.map(operationFacts),
    },
    grants: {
      operation: grants.map(({ acquire }) => position.get(acquire.id) ?? 0),
      held: grants.map(({ hold }) => micros(lengthOf(hold))),
      endedBy: grants.map((grant) => words.index(holdEnding(grant))),
      tenure: grants.map(({ tenure }) => micros(lengthOf(tenure))),
      row: stacked.map(({ row }) => row),
    },
    overlaps: stacked.flatMap(({ grant, overlap }) =>
      overlap === undefined
        ? []
        : { lock: lockIndex.get(grant.lock) ?? 0, from: micros(overlap.start), until: micros(overlap.end) },
    ),
    faults: [
      ...history.faults.map((fault) => ({
        id: name(fault.id),
        says: faultClause(fault),
        lanes: lanesOf(fault.targets),
        begin: micros(fault.begin),
        acted: fault.acted === undefined ? -1 : micros(fault.acted),
        end: fault.end === undefined ? -1 : micros(fault.end),
      })),
      // Hatched over every lane: whatever was late then, lockpick itself was.
      ...stallsOf(history).map(({ start, end }) => ({
        id: 'lockpick',
        says: 'lockpick itself stood still: nothing that came late is held against the lock service',
        lanes: lanes.map((_, lane) => lane),
        begin: micros(start),
        acted: micros(start),
        end: micros(end),
      })),
    ],
    notes: [
      ...history.downs.flatMap(({ process, time, reason }) =>
        lanesOf([process]).map((lane) => ({
          lane,
          at: micros(time),
          says: `${name(process)} ended: ${name(reason)}`,
        })),
      ),
      ...history.losses.flatMap(({ process, time, lock, reason }) =>
        lanesOf([process]).map((lane) => ({
          lane,
          at: micros(time),
          says: `${name(process)} was told that ${name(lock)} is gone: ${name(reason)}`,
        })),
      ),
      ...history.servers.flatMap(({ node, time, role, term }) =>
        lanesOf([node]).map((lane) => ({
          lane,
          at: micros(time),
          says: `${name(node)} is ${name(role)}${term === undefined ? '' : `, term ${name(term)}`}`,
        })),
      ),
    ],
    findings: view.findings.map((finding) => {
      const operations = finding.ops.flatMap((id) => view.operations.get(id) ?? []);
      const holds = finding.ops.flatMap((id) => view.grantOf.get(id)?.hold ?? []);
      return {
        anchor: view.anchors.get(finding) ?? '',
        code: finding.code,
        mark: CODE_MEANING[finding.code].mark,
        says: `${headline(view, finding)}${circumstances(view, finding)}`,
        at: micros(finding.at),
        from: micros(Math.min(finding.at, ...operations.map(({ invoked }) => invoked))),
        until: micros(
          Math.max(
            finding.at,
            ...operations.map(({ invoked, completed }) => completed ?? invoked),
            ...holds.map(({ end }) => end),
          ),
        ),
        operations: indices(finding.ops),
      };
    }),
    // Read last: the columns above fill them.
    locks: view.locks.map((lock) => name(lock)),
    lockLanes: Math.min(view.locks.length, LOCK_LANES_MAX),
    processes: processes.texts.map((process) => ({
      name: name(process),
      lane: laneIndex.get(view.laneOf(process)) ?? 0,
      ended: micros(history.lastSeen.get(process) ?? history.end),
    })),
    words: words.texts,
  };
}

/** Beyond this many at once, holds of one lock are drawn over each other. */
const ROWS_MAX = 4;

/**
 * For each grant the row of its hold among those of its lock, and the time it shares with an earlier one. Worked out
 * here, in nanoseconds: once rounded, holds that only follow each other closely would seem to overlap.
 */
function stackedHolds(
  grants: readonly Grant[],
): readonly { readonly grant: Grant; readonly row: number; readonly overlap: Interval | undefined }[] {
  const rows = new Map<string, Interval[]>();
  return grants.map((grant) => {
    const { lock, hold } = grant;
    const latest = rows.get(lock) ?? [];
    rows.set(lock, latest);
    const meeting = latest.filter((other) => intersect(other, hold)).sort((a, b) => b.end - a.end)[0];
    const free = latest.findIndex((other) => !intersect(other, hold));
    const row = free >= 0 ? free : Math.min(latest.length, ROWS_MAX - 1);
    latest[row] = hold;
    return { grant, row, overlap: meeting && sharedBy(meeting, hold) };
  });
}

/** Higher levels save 4 % and take ten times as long on columns this regular. */
const DEFLATE_LEVEL = 4;

/** The columns as they stand in the page: JSON, deflated, base64. */
export function packed(columns: TimelineColumns): string {
  return deflateRawSync(JSON.stringify(columns), { level: DEFLATE_LEVEL }).toString('base64');
}

/** Token, value, base: what an operation carried, for people. */
export function operationFacts(operation: Operation): string {
  const facts: string[] = [];
  if ('token' in operation && operation.token !== undefined) facts.push(`token ${operation.token}`);
  if ('value' in operation && operation.value !== undefined)
    facts.push(`value ${jsonText(operation.value, 40)}`);
  if ('base' in operation && operation.base !== undefined)
    facts.push(`from version ${name(operation.base, 40)}`);
  if ('highest' in operation && operation.highest !== undefined)
    facts.push(`highest token ${operation.highest}`);
  if (operation.op === 'release' && operation.released === false) facts.push('it had ended before');
  return facts.join(', ');
}

function micros(time: number): number {
  return Math.round(time / 1e3);
}

function differences(values: readonly number[]): number[] {
  return values.map((value, index) => value - (values[index - 1] ?? 0));
}

/** Gives each text a number, from 0 in order of first use. */
function interner(...first: readonly string[]): { readonly texts: string[]; index(text: string): number } {
  const texts = [...first];
  const indices = new Map(texts.map((text, index) => [text, index]));
  const index = (text: string): number => {
    const known = indices.get(text);
    if (known !== undefined) return known;
    indices.set(text, texts.length);
    return texts.push(text) - 1;
  };
  return { texts, index };
}
