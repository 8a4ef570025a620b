// What is under the pointer, as lines of text. Looks at the scene only, so it sees what is drawn and nothing else.

import { clustersOf } from './draw-findings.js';
import {
  AXIS_HEIGHT,
  FAULT_HEIGHT,
  FINDINGS_HEIGHT,
  firstReaching,
  HOLD_HEIGHT,
  holdsTop,
} from './layout.js';
import { scaleOf } from './scene.js';
import { factsOf } from './unpack.js';

/** @import { Lane, Track } from './layout.js' */
/** @import { Scene } from './scene.js' */

/**
 * Where the pointer is in the run, and how far around it counts.
 * @typedef {object} Spot
 * @property {number} time
 * @property {number} reach
 * @property {number} y
 */

export const REACH_PIXELS = 4;
const MARK_PIXELS = 9;

/**
 * The finding whose mark is there. Of several under one mark the first, and after it the next.
 * @param {Scene} scene
 * @param {{ x: number, y: number }} place
 * @returns {number | undefined}
 */
export function findingAt(scene, { x, y }) {
  if (y < AXIS_HEIGHT || y > AXIS_HEIGHT + FINDINGS_HEIGHT) return undefined;
  const cluster = clustersOf(scene).find((candidate) => Math.abs(candidate.x - x) <= MARK_PIXELS);
  if (cluster === undefined) return undefined;
  const following = cluster.findings.find((finding) => finding > scene.selected);
  return cluster.findings.includes(scene.selected) && following !== undefined
    ? following
    : cluster.findings[0];
}

/**
 * @param {Scene} scene
 * @param {{ x: number, y: number }} place
 * @returns {string[]} empty if nothing is there
 */
export function linesAt(scene, place) {
  const { model, layout, view, gutter } = scene;
  const { columns } = model;
  const finding = columns.findings[findingAt(scene, place) ?? -1];
  if (finding !== undefined) return [`${finding.code} at ${seconds(finding.at)}`, finding.says];
  const { y } = place;
  const spot = {
    time: view.from + (place.x - gutter) / scaleOf(scene),
    reach: REACH_PIXELS / scaleOf(scene),
    y,
  };
  if (y >= layout.faultsTop && y < layout.faultsBottom) return faultLines(scene, spot);
  const lane = layout.lanes.find(({ top, height }) => y >= top && y < top + height);
  if (lane === undefined) return [];
  const notes = columns.notes.filter(
    (note) => layout.lanes[note.lane] === lane && Math.abs(note.at - spot.time) <= 2 * spot.reach,
  );
  const roles = columns.roles.filter(
    ({ lane: own, from, until }) => layout.lanes[own] === lane && from <= spot.time && until > spot.time,
  );
  return [
    ...roles.map(({ says, from, until }) => `${lane.name} is ${says}, ${seconds(from)} – ${seconds(until)}`),
    ...notes.map(({ at, says }) => `${says}, ${seconds(at)}`),
    ...(lane.kind === 'lock' ? grantLines(scene, lane, spot) : processLines(scene, lane, spot)),
  ];
}

/**
 * @param {Scene} scene
 * @param {Spot} spot
 */
function faultLines({ model, layout }, { time, reach, y }) {
  const row = Math.floor((y - layout.faultsTop) / FAULT_HEIGHT);
  return model.columns.faults
    .filter(
      ({ begin, end }, index) =>
        layout.faultRow[index] === row && begin <= time + reach && (end < 0 || end >= time - reach),
    )
    .flatMap(({ id, says, begin, acted, end }) => [
      `${id}: ${says}`,
      [
        `ordered at ${seconds(begin)}`,
        acted < 0 ? 'not proved to act' : `proved by ${seconds(acted)}`,
        end < 0 ? 'not over in this history' : `over by ${seconds(end)}`,
      ].join(', '),
    ]);
}

/**
 * @param {Scene} scene
 * @param {Lane} lane
 * @param {Spot} spot
 */
function grantLines({ model }, lane, spot) {
  const { grants, columns } = model;
  const row = Math.floor((spot.y - holdsTop(lane)) / (HOLD_HEIGHT + 1));
  const inTenure = lane.kind === 'lock' && row < 0;
  const grant = nearest(lane.grants, {
    from: grants.from,
    until: inTenure ? grants.tenureUntil : grants.until,
    spot,
    fits: (candidate) => inTenure || lane.kind !== 'lock' || columns.grants.row[candidate] === row,
  });
  if (grant === undefined) return [];
  const operation = columns.grants.operation[grant] ?? 0;
  const process = columns.processes[columns.operations.process[operation] ?? 0]?.name ?? '';
  const lock = columns.locks[grants.lock[grant] ?? 0] ?? '';
  const note = factsOf(columns, operation);
  const from = grants.from[grant] ?? 0;
  const until = grants.until[grant] ?? 0;
  const released = columns.grants.released[grant] ?? 0;
  const by = released === 0 ? '' : ` #${columns.operations.id[operation + released] ?? ''}`;
  const endedBy = `${columns.words[columns.grants.endedBy[grant] ?? 0] ?? ''}${by}`;
  return [
    `${process} holds ${lock}: acquire #${columns.operations.id[operation] ?? ''}${note ? `, ${note}` : ''}`,
    `believed ${seconds(from)} – ${seconds(until)} (${((until - from) / 1e3).toFixed(1)} ms), ended by ${endedBy}`,
    `tenure certain until ${seconds(grants.tenureUntil[grant] ?? 0)}`,
  ];
}

/**
 * @param {Scene} scene
 * @param {Lane} lane
 * @param {Spot} spot
 */
function processLines(scene, lane, spot) {
  const { operations, columns } = scene.model;
  if (spot.y < holdsTop(lane) + HOLD_HEIGHT) {
    const lines = grantLines(scene, lane, spot);
    if (lines.length > 0) return lines;
  }
  const operation = nearest(lane.operations, {
    from: operations.from,
    until: operations.until,
    spot,
    fits: () => true,
  });
  if (operation === undefined) return [];
  const column = columns.operations;
  const kind = columns.kinds[column.kind[operation] ?? 0] ?? '';
  const process = columns.processes[column.process[operation] ?? 0]?.name ?? '';
  const on = columns.words[column.store[operation] ?? 0] || columns.locks[column.lock[operation] ?? 0];
  const outcome = columns.outcomes[column.outcome[operation] ?? 0];
  const error = columns.words[column.error[operation] ?? 0];
  const completed = (column.took[operation] ?? -1) < 0 ? 'never' : seconds(operations.until[operation] ?? 0);
  return [
    `#${columns.operations.id[operation] ?? ''} ${kind} ${on} by ${process}: ${outcome}${error ? `, ${error}` : ''}`,
    `invoked ${seconds(operations.from[operation] ?? 0)}, completed ${completed}`,
    ...[factsOf(columns, operation)].filter((facts) => facts !== ''),
  ];
}

/**
 * The item at the spot, or the nearest one that is within its reach.
 * @param {Track} track
 * @param {{ from: Float64Array, until: Float64Array, spot: Spot, fits: (item: number) => boolean }} what
 */
function nearest(track, { from, until, spot, fits }) {
  const { items } = track;
  /** @type {number | undefined} */
  let found;
  let distance = spot.reach;
  for (let position = firstReaching(track, spot.time - spot.reach); position < items.length; position++) {
    const item = items[position] ?? 0;
    if ((from[item] ?? 0) > spot.time + spot.reach) break;
    if (!fits(item)) continue;
    const away = Math.max((from[item] ?? 0) - spot.time, spot.time - (until[item] ?? 0), 0);
    if (away <= distance) {
      found = item;
      distance = away;
    }
  }
  return found;
}

/** @param {number} micros */
function seconds(micros) {
  return `${(micros / 1e6).toFixed(6)} s`;
}
