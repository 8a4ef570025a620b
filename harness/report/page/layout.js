// Where everything is, top to bottom: findings, faults, one lane a client, one lane a lock. Worked out once per run;
// zooming changes nothing here. A lock lane is as many rows high as holds of it ever overlapped: two rows are proof.

import { pyramidOf } from './pyramid.js';

/** @import { Level } from './pyramid.js' */
/** @import { Model } from './unpack.js' */

/**
 * Indices in order of their start, with the latest end up to each: enough to find what reaches into a view.
 * @typedef {object} Track
 * @property {Uint32Array} items
 * @property {Float64Array} reach
 * @property {{ level: Level, wide: Track }[]} far how it looks from far away; none if it has few items
 */
/**
 * @typedef {object} Lane
 * @property {string} name
 * @property {'client' | 'node' | 'lock'} kind
 * @property {number} top
 * @property {number} height
 * @property {Track} grants
 * @property {Track[]} rows the same grants, one track for each row that holds are drawn in
 * @property {Track} operations empty in lock lanes
 * @property {Track} notable operations that are unknown or refused; empty in lock lanes
 * @property {{ from: number, until: number }[]} overlaps believed by two at once; lock lanes only
 */
/**
 * @typedef {object} Layout
 * @property {Lane[]} lanes
 * @property {Uint8Array} faultRow of each fault
 * @property {number} faultsTop
 * @property {number} faultsBottom
 * @property {number} height
 */

export const AXIS_HEIGHT = 22;
export const FINDINGS_HEIGHT = 26;
export const FAULT_HEIGHT = 17;
export const HOLD_HEIGHT = 14;
export const TENURE_HEIGHT = 4;
export const STRIP_HEIGHT = 6;
const CLIENT_HEIGHT = 34;
const NODE_HEIGHT = 22;
const ROWS_MAX = 4;
const GAP = 6;

/**
 * @param {Model} model
 * @returns {Layout}
 */
export function layoutOf(model) {
  const { columns, operations, grants } = model;
  const faultRow = rowsOf(
    columns.faults.map(({ begin, end }) => ({ from: begin, until: end < 0 ? model.end : end })),
    ROWS_MAX,
  );
  const faultsTop = AXIS_HEIGHT + FINDINGS_HEIGHT;
  const faultsBottom =
    faultsTop + (columns.faults.length === 0 ? 0 : (Math.max(...faultRow) + 1) * FAULT_HEIGHT) + GAP;
  /** @type {Lane[]} */
  const lanes = [];
  let top = faultsBottom;
  const operationsOf = grouped(operations.lane, columns.lanes.length);
  const grantsOf = grouped(grants.lane, columns.lanes.length);
  for (const [index, { name, kind }] of columns.lanes.entries()) {
    const height = kind === 'client' ? CLIENT_HEIGHT : NODE_HEIGHT;
    const own = operationsOf[index] ?? new Uint32Array();
    const holds = deep(grantsOf[index] ?? new Uint32Array(), {
      ...grants,
      end: model.end,
      kindOf: (grant) => lockKind(grants.lock[grant] ?? 0),
    });
    lanes.push({
      name,
      kind,
      top,
      height,
      grants: holds,
      rows: [holds],
      operations: deep(own, {
        ...operations,
        end: model.end,
        kindOf: (operation) =>
          (columns.operations.kind[operation] ?? 0) < 3 ? LOCK_OPERATION : STORE_OPERATION,
      }),
      notable: deep(
        own.filter((operation) => isNotable(model, operation)),
        { ...operations, end: model.end, kindOf: () => 1 },
      ),
      overlaps: [],
    });
    top += height;
  }
  top += GAP;
  const ofLock = grouped(grants.lock, columns.lockLanes);
  for (const [lock, items] of ofLock.entries()) {
    const rowCount = items.reduce((most, grant) => Math.max(most, columns.grants.row[grant] ?? 0), 0) + 1;
    const rows = Array.from({ length: rowCount }, (_, row) =>
      deep(
        items.filter((grant) => columns.grants.row[grant] === row),
        { ...grants, end: model.end, kindOf: () => 1 },
      ),
    );
    const height = GAP + TENURE_HEIGHT + rowCount * (HOLD_HEIGHT + 1) + GAP;
    lanes.push({
      name: columns.locks[lock] ?? '',
      kind: 'lock',
      top,
      height,
      // A tenure may outlive its hold: both count for what is in view, and tenures are what is drawn of it.
      grants: {
        ...track(items, grants.from, longer(grants.until, grants.tenureUntil)),
        far: deep(items, { from: grants.from, until: grants.tenureUntil, end: model.end, kindOf: () => 1 })
          .far,
      },
      rows,
      operations: NOTHING,
      notable: NOTHING,
      overlaps: columns.overlaps.filter((overlap) => overlap.lock === lock),
    });
    top += height;
  }
  return { lanes, faultRow, faultsTop, faultsBottom, height: top + 4 };
}

/** @type {Track} */
const NOTHING = { items: new Uint32Array(), reach: new Float64Array(), far: [] };

/** Kinds of bars, as bits: what a lane looks like from far away. */
export const LOCK_OPERATION = 1;
export const STORE_OPERATION = 2;

/**
 * Of the hold of a lock; as many as there are colours of locks.
 * @param {number} lock
 */
function lockKind(lock) {
  return 1 << (lock % 6);
}

/**
 * Unknown, or refused for another reason than that the lock is held.
 * @param {Model} model
 * @param {number} operation
 */
export function isNotable({ columns }, operation) {
  const outcome = columns.outcomes[columns.operations.outcome[operation] ?? 0];
  return (
    outcome === 'info' ||
    (outcome === 'fail' && columns.words[columns.operations.error[operation] ?? 0] !== 'busy')
  );
}

/**
 * Where the first row of holds begins in a lane; in the lane of a lock the tenures are above it.
 * @param {Lane} lane
 */
export function holdsTop({ kind, top }) {
  return top + (kind === 'lock' ? GAP + TENURE_HEIGHT + 1 : GAP - 1);
}

/**
 * The position in the track, `after` or beyond, of the first item that may end after `time`.
 * @param {Track} track
 * @param {number} time
 */
export function firstReaching({ reach }, time, after = 0) {
  let low = after;
  // It is near, mostly.
  let stride = 1;
  while ((reach[low + stride] ?? Infinity) < time) {
    low += stride;
    stride *= 2;
  }
  let high = Math.min(low + stride, reach.length);
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((reach[middle] ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * @param {Uint32Array} items in order of `from`
 * @param {Float64Array} from
 * @param {Float64Array} until
 * @returns {Track}
 */
function track(items, from, until) {
  const start = (/** @type {number} */ item) => from[item] ?? 0;
  // Most are in order as they come.
  let inOrder = true;
  for (let index = 1; index < items.length && inOrder; index++)
    inOrder = start(items[index - 1] ?? 0) <= start(items[index] ?? 0);
  const sorted = inOrder ? items : items.toSorted((a, b) => start(a) - start(b));
  const reach = new Float64Array(sorted.length);
  let latest = -Infinity;
  for (let index = 0; index < sorted.length; index++) {
    latest = Math.max(latest, until[sorted[index] ?? 0] ?? 0);
    reach[index] = latest;
  }
  return { items: sorted, reach, far: [] };
}

/**
 * A track that may be looked at from far away.
 * @param {Uint32Array} items in order of `from`
 * @param {{ from: Float64Array, until: Float64Array, end: number, kindOf: (item: number) => number }} what
 * @returns {Track}
 */
function deep(items, what) {
  const near = track(items, what.from, what.until);
  const far = pyramidOf(near.items, what).map((level) => ({
    level,
    wide: track(level.wide, what.from, what.until),
  }));
  return { ...near, far };
}

/**
 * The indices of each group, in order.
 * @param {Uint16Array | Uint32Array} groups
 * @param {number} count
 */
function grouped(groups, count) {
  const sizes = new Uint32Array(count);
  for (const group of groups) if (group < count) sizes[group] = (sizes[group] ?? 0) + 1;
  const lists = Array.from(sizes, (size) => new Uint32Array(size));
  const filled = new Uint32Array(count);
  for (let index = 0; index < groups.length; index++) {
    const group = groups[index] ?? 0;
    const list = lists[group];
    if (list === undefined) continue;
    list[filled[group] ?? 0] = index;
    filled[group] = (filled[group] ?? 0) + 1;
  }
  return lists;
}

/**
 * For each interval the first row that is free when it starts; the last one if none is.
 * @param {{ from: number, until: number }[]} intervals in order of `from`
 * @param {number} rowsMax
 */
function rowsOf(intervals, rowsMax) {
  /** @type {number[]} */
  const free = [];
  return Uint8Array.from(intervals, ({ from, until }) => {
    const found = free.findIndex((end) => end < from);
    const row = found >= 0 ? found : Math.min(free.length, rowsMax - 1);
    free[row] = Math.max(until, free[row] ?? 0);
    return row;
  });
}

/**
 * @param {Float64Array} a
 * @param {Float64Array} b
 */
function longer(a, b) {
  return a.map((value, index) => Math.max(value, b[index] ?? 0));
}
