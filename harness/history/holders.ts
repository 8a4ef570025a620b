// Who holds what: follows the acquires, renewals, releases and losses of a history in order of time, and says of each grant
// which of them may have been meant for it. `grants.ts` makes intervals of that.

import {
  holdersOf,
  isOfLock,
  NEVER,
  NONE,
  Op,
  Came,
  textAt,
  type OperationColumns,
} from './operation-columns.ts';
import type { History } from './history.ts';
import { isReentry } from './kinds.ts';
import type { Lost } from './op.ts';
import { sortRows } from './sort-rows.ts';

/** Columns, one place for each grant, in order of answer. */
export interface Followed {
  readonly size: number;
  /** The row of its acquire. */
  readonly acquire: Int32Array;
  /** The row of the first release that may be meant for it, or `NONE`. */
  readonly release: Int32Array;
  /** The rows of the renewals that are surely its own, in order of invocation; of those that have some. */
  readonly renewals: ReadonlyMap<number, readonly number[]>;
  /** When its client was told that it is lost, and when its process asked again or was granted the lock again; or `NEVER`. */
  readonly lost: Float64Array;
  readonly askedAgain: Float64Array;
  /**
   * 1: a later attempt of its process was granted, or may have been. From then on a renew or release may be that one's:
   * it proves nothing about this grant, but it may have ended it.
   */
  readonly doubted: Uint8Array;
}

/** O(n log n). */
export function followHolders(history: History): Followed {
  const { columns, header } = history;
  const { invoked, completed, outcome } = columns;
  const { of: holders, count: holderCount } = holdersOf(columns);
  const granted = grantedRows(columns);
  const size = granted.length;
  const release = new Int32Array(size).fill(NONE);
  const renewals = new Map<number, number[]>();
  const lost = new Float64Array(size).fill(NEVER);
  const askedAgain = new Float64Array(size).fill(NEVER);
  const doubted = new Uint8Array(size);
  /** 1: whether its holder came in again is unknown, and so is how often it must be released. */
  const unclear = new Uint8Array(size);
  /** By holder: the grants that nothing has released; the last one is what it holds now. */
  const unreleased: number[][] = [];
  const heldBy = (holder: number): number[] => (unreleased[holder] ??= []);
  /** By holder: 1 if any of those is unclear. */
  const unclearHeld = new Uint8Array(holderCount);
  const reenters = (held: number, row: number): boolean =>
    isReentry(header.meta, textAt(columns, granted[held] ?? 0, 'owner'), textAt(columns, row, 'owner'));

  inOrderOfTime(history, granted, {
    asked(row) {
      const holder = holders[row] ?? 0;
      const latest = heldBy(holder).at(-1);
      if (latest === undefined) return;
      if (!reenters(latest, row)) askedAgain[latest] = Math.min(askedAgain[latest] ?? 0, invoked[row] ?? 0);
      else if (outcome[row] === Came.info) unclear[latest] = unclearHeld[holder] = 1;
      if (outcome[row] !== Came.fail) doubted[latest] = 1;
    },
    granted(row, grant) {
      const held = heldBy(holders[row] ?? 0);
      const latest = held.at(-1);
      held.push(grant);
      if (latest === undefined) return;
      if (!reenters(latest, row)) askedAgain[latest] = Math.min(askedAgain[latest] ?? 0, completed[row] ?? 0);
      doubted[latest] = 1;
    },
    renewed(row) {
      const latest = heldBy(holders[row] ?? 0).at(-1);
      if (latest === undefined || doubted[latest] === 1) return;
      const own = renewals.get(latest);
      if (own === undefined) renewals.set(latest, [row]);
      else own.push(row);
    },
    released(row) {
      const holder = holders[row] ?? 0;
      const held = heldBy(holder);
      const [last, outer] = [held.at(-1), held.at(-2)];
      const isInner = last !== undefined && outer !== undefined && reenters(outer, granted[last] ?? 0);
      if (isInner && unclearHeld[holder] === 0) {
        release[last] = row;
        held.pop();
        return;
      }
      // It may be meant for any of them.
      for (const grant of held) release[grant] = row;
      held.length = 0;
      unclearHeld[holder] = 0;
    },
    lost(holder, { time }) {
      const held = heldBy(holder);
      for (const grant of held) lost[grant] = Math.min(lost[grant] ?? 0, time);
      held.splice(0, held.length - 1);
      const [kept] = held;
      unclearHeld[holder] = kept === undefined ? 0 : (unclear[kept] ?? 0);
    },
  });
  return { size, acquire: granted, release, renewals, lost, askedAgain, doubted };
}

/** The acquires that were granted, in order of answer. */
function grantedRows({ size, op, outcome, completed }: OperationColumns): Int32Array {
  const rows = new Int32Array(size);
  let count = 0;
  for (let row = 0; row < size; row++)
    if (op[row] === Op.acquire && outcome[row] === Came.ok) rows[count++] = row;
  return sortRows(rows.subarray(0, count), completed);
}

/** What happens to the holds of processes on locks. */
interface Moments {
  /** An acquire was invoked. */
  asked(row: number): void;
  /** An acquire was answered `ok`; it is that grant. */
  granted(row: number, grant: number): void;
  /** A renew was invoked. */
  renewed(row: number): void;
  /** A release was invoked. */
  released(row: number): void;
  lost(holder: number, loss: Lost): void;
}

/** In order of time. At one time what ends a hold comes before what begins one, and a grant before what is done to it. */
function inOrderOfTime({ columns, losses }: History, granted: Int32Array, moments: Moments): void {
  const { size, op, invoked, completed } = columns;
  const { numberOf } = holdersOf(columns);
  const lost = losses.toSorted((a, b) => a.time - b.time);
  const next = (from: number, isAcquire: boolean): number => {
    let row = from;
    while (row < size && !(isOfLock(columns, row) && (op[row] === Op.acquire) === isAcquire)) row++;
    return row;
  };
  let [acquire, other, grant, loss] = [next(0, true), next(0, false), 0, 0];
  for (;;) {
    const asked = invoked[acquire] ?? Infinity;
    const sent = invoked[other] ?? Infinity;
    const answered = grant < granted.length ? (completed[granted[grant] ?? 0] ?? 0) : Infinity;
    const lossNow = lost[loss];
    const now = Math.min(asked, answered, sent, lossNow?.time ?? Infinity);
    if (acquire < size && asked === now) {
      moments.asked(acquire);
      acquire = next(acquire + 1, true);
    } else if (grant < granted.length && answered === now) {
      moments.granted(granted[grant] ?? 0, grant);
      grant++;
    } else if (other < size && sent === now) {
      if (op[other] === Op.renew) moments.renewed(other);
      else moments.released(other);
      other = next(other + 1, false);
    } else if (lossNow !== undefined) {
      const holder = numberOf(lossNow.process, lossNow.lock);
      if (holder !== undefined) moments.lost(holder, lossNow);
      loss++;
    } else return;
  }
}
