// The timeline's numbers as columns: what the page's script draws. Times are microseconds, texts are stored once and
// named by number. `column-forms.ts` makes some 5 bytes an operation of it, `page/unpack.js` gives the same columns again.

import { doneTo, struckBy } from '../../checkers/wording.ts';
import type { History } from '../history/history.ts';
import { stallsOf } from '../history/stalls.ts';
import { slackOf } from './charts-section.ts';
import { CODE_MEANING, type CodeMeaning } from './meaning.ts';
import { afterword, VALUE_CHARACTERS_MAX } from './operation-facts.ts';
import { circumstances, headline, HOLD_ENDING, lengthOf, LOCK_LANES_MAX, type RunView } from './run-view.ts';
import { stackedHolds } from './stacked-holds.ts';
import { byName, clause, name } from './words.ts';

/** At most this many lanes for clients; those with findings come first. */
export const CLIENT_LANES_MAX = 40;

/** In the page an array of numbers, or a typed one. */
type Numbers = ArrayLike<number>;

/** What the page's script gets. */
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
  /** Errors, stores, keys and values: what operations refer to by index; 0 is the empty text. */
  readonly words: readonly string[];
  /** In order of invocation. */
  readonly operations: {
    readonly id: Numbers;
    readonly process: Numbers;
    /** Index in `kinds`. */
    readonly kind: Numbers;
    readonly lock: Numbers;
    readonly store: Numbers;
    /** Index in `outcomes`. */
    readonly outcome: Numbers;
    readonly error: Numbers;
    readonly invoked: Numbers;
    /** Until the completion; -1: never completed. */
    readonly took: Numbers;
    /** What it carried: 0 nothing, n > 0 the number n - 1, n < 0 the text of `words[-n]`. */
    readonly token: Numbers;
    readonly value: Numbers;
    /** The version it was computed from. */
    readonly base: Numbers;
    /** The highest token seen by a store that refused it. */
    readonly highest: Numbers;
  };
  /** One per grant, in order of the grant. */
  readonly grants: {
    /** Index of the acquire in `operations`. */
    readonly operation: Numbers;
    readonly held: Numbers;
    /** Index in `words`: what ended the hold. */
    readonly endedBy: Numbers;
    /** How many operations after the acquire the release that ended the hold is; 0: none did. */
    readonly released: Numbers;
    /** Length of the tenure, which starts with the hold. */
    readonly tenure: Numbers;
    /** What was left of its lease when its release was sent; 0: no lease, or no release. */
    readonly slack: Numbers;
    /** In the lane of its lock: above 0 where it overlaps another hold. */
    readonly row: Numbers;
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
  /** What a server said it was, until it said something else, died, or another one was made to lead. */
  readonly roles: readonly {
    readonly lane: number;
    readonly from: number;
    readonly until: number;
    readonly says: string;
    readonly leads: boolean;
  }[];
  /** A process ended, or its client library said that a lock is gone. */
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

/** Those who grant locks, in the words of the services. */
const LEADING_ROLES: ReadonlySet<string> = new Set(['primary', 'leader', 'master', 'standalone']);

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
  const carried = (given: string | bigint | undefined): number => {
    if (given === undefined) return 0;
    const figure = Number(given);
    const exact = Number.isSafeInteger(figure + 1) && figure >= 0 && String(figure) === String(given);
    return exact ? figure + 1 : -words.index(name(String(given), VALUE_CHARACTERS_MAX));
  };
  const indices = (ids: readonly number[]): number[] => ids.flatMap((id) => position.get(id) ?? []);
  const lanesOf = (names: readonly string[]): number[] =>
    names.flatMap((process) => laneIndex.get(view.laneOf(process)) ?? []);

  return {
    end: micros(history.end),
    lanes,
    kinds: OPERATION_KINDS,
    outcomes: OUTCOMES,
    operations: {
      id: drawn.map(({ id }) => id),
      process: drawn.map(({ process }) => processes.index(process)),
      kind: drawn.map(({ op }) => OPERATION_KINDS.indexOf(op)),
      lock: drawn.map(({ lock }) => lockIndex.get(lock) ?? 0),
      store: drawn.map((operation) =>
        words.index('store' in operation ? `${name(operation.store)}/${name(operation.key)}` : ''),
      ),
      outcome: drawn.map(({ outcome }) => OUTCOMES.indexOf(outcome)),
      error: drawn.map((operation) => words.index(name(operation.error ?? afterword(operation)))),
      invoked: drawn.map(({ invoked }) => micros(invoked)),
      took: drawn.map(({ invoked, completed }) =>
        completed === undefined ? -1 : micros(completed) - micros(invoked),
      ),
      token: drawn.map((operation) => carried('token' in operation ? operation.token : undefined)),
      value: drawn.map((operation) => carried('value' in operation ? operation.value : undefined)),
      base: drawn.map((operation) => carried('base' in operation ? operation.base : undefined)),
      highest: drawn.map((operation) => carried('highest' in operation ? operation.highest : undefined)),
    },
    grants: {
      operation: grants.map(({ acquire }) => position.get(acquire.id) ?? 0),
      held: grants.map(({ hold }) => micros(lengthOf(hold))),
      endedBy: grants.map(({ hold }) => words.index(HOLD_ENDING[hold.endedBy])),
      released: grants.map(({ acquire, hold, release }) =>
        hold.endedBy === 'release' && release !== undefined
          ? (position.get(release.id) ?? 0) - (position.get(acquire.id) ?? 0)
          : 0,
      ),
      tenure: grants.map(({ tenure }) => micros(lengthOf(tenure))),
      slack: grants.map((grant) => micros(slackOf(grant) ?? 0)),
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
        says: clause(doneTo(fault)),
        lanes: lanesOf(struckBy(fault)),
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
    ],
    roles: [...Map.groupBy(history.servers, ({ node }) => node)].flatMap(([node, said]) =>
      lanesOf([node]).flatMap((lane) =>
        said.map(({ time, role, term }, index) => ({
          lane,
          from: micros(time),
          until: micros(roleEnd(history, node, time, said[index + 1]?.time)),
          says: `${name(role)}${term === undefined ? '' : `, term ${name(term)}`}`,
          leads: LEADING_ROLES.has(role),
        })),
      ),
    ),
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

/** Kinds of faults after which a server starts anew. */
const ENDS_SERVER: ReadonlySet<string> = new Set(['kill', 'power-loss', 'restart-empty']);

/** How long what a server said may still be so. */
function roleEnd({ faults, end }: History, node: string, said: number, next: number | undefined): number {
  const ends = faults.flatMap(({ fault, targets, acted }) =>
    acted !== undefined &&
    acted > said &&
    (fault === 'failover' || (ENDS_SERVER.has(fault) && targets.includes(node)))
      ? acted
      : [],
  );
  return Math.min(next ?? end, ...ends);
}

function micros(time: number): number {
  return Math.round(time / 1e3);
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
