// Draws what is in view, and only that. What is smaller than a pixel is drawn once per pixel; what matters (findings,
// overlaps, unknown and refused operations) is never smaller than it takes to be seen. Changes nothing but the canvas.

import { around, ticks } from './view.js';
import {
  AXIS_HEIGHT,
  FAULT_HEIGHT,
  FINDINGS_HEIGHT,
  firstReaching,
  HOLD_HEIGHT,
  STRIP_HEIGHT,
  TENURE_HEIGHT,
} from './layout.js';

/** @import { Model } from './unpack.js' */
/** @import { View } from './view.js' */
/** @import { Lane, Layout, Track } from './layout.js' */
/** @import { Paint } from './paint.js' */

/**
 * @typedef {object} Scene
 * @property {Model} model
 * @property {Layout} layout
 * @property {Paint} paint
 * @property {View} view
 * @property {number} width in CSS pixels, names included
 * @property {number} gutter width of the names
 * @property {number} selected index of a finding, -1: none
 */
/**
 * Findings too close to be told apart at this zoom, as one mark.
 * @typedef {object} Cluster
 * @property {number} x
 * @property {number[]} findings
 */

const CLUSTER_WIDTH = 15;
const LABEL_WIDTH_MIN = 30;
/** Narrower overlaps are filled: outlines alone would run together. */
const OUTLINE_WIDTH_MIN = 7;

/**
 * @param {Scene} scene
 * @returns {number} pixels per microsecond
 */
export function scaleOf({ view, width, gutter }) {
  return (width - gutter) / (view.until - view.from);
}

/**
 * @param {Scene} scene
 * @returns {Cluster[]} in order of time
 */
export function clustersOf(scene) {
  const { model, view, gutter } = scene;
  const scale = scaleOf(scene);
  /** @type {Cluster[]} */
  const clusters = [];
  for (const [index, { at }] of model.columns.findings.entries()) {
    const x = gutter + (at - view.from) * scale;
    const last = clusters.at(-1);
    if (last !== undefined && x - last.x < CLUSTER_WIDTH) last.findings.push(index);
    else clusters.push({ x, findings: [index] });
  }
  return clusters;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 */
export function drawTimeline(context, scene) {
  const { layout, paint, width, gutter } = scene;
  context.fillStyle = paint.paper;
  context.fillRect(0, 0, width, layout.height);
  context.textBaseline = 'middle';
  for (const [index, lane] of layout.lanes.entries()) {
    if (index % 2 === 1) continue;
    context.fillStyle = paint.panel;
    context.fillRect(gutter, lane.top, width - gutter, lane.height);
  }
  context.save();
  context.beginPath();
  context.rect(gutter, 0, width - gutter, layout.height);
  context.clip();
  drawAxis(context, scene);
  drawFaults(context, scene);
  for (const lane of layout.lanes) {
    if (lane.kind === 'lock') drawLock(context, scene, lane);
    else drawProcess(context, scene, lane);
  }
  drawNotes(context, scene);
  drawSelected(context, scene);
  drawFindings(context, scene);
  context.restore();
  drawNames(context, scene);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 */
function drawAxis(context, scene) {
  const { view, paint, layout, gutter } = scene;
  const scale = scaleOf(scene);
  const { moments, digits } = ticks(view, 110 / scale);
  context.font = `11px ${paint.font}`;
  context.textAlign = 'center';
  for (const moment of moments) {
    const x = Math.round(gutter + (moment - view.from) * scale) + 0.5;
    context.strokeStyle = paint.line;
    context.beginPath();
    context.moveTo(x, AXIS_HEIGHT);
    context.lineTo(x, layout.height);
    context.stroke();
    context.fillStyle = paint.soft;
    context.fillText(`${(moment / 1e6).toFixed(digits)} s`, x, AXIS_HEIGHT / 2);
  }
}

/**
 * A row a fault: outlined from the moment it was asked for, filled once it was proved to act; and the same shading over
 * the lanes of its targets.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 */
function drawFaults(context, scene) {
  const { model, layout, view, paint, gutter } = scene;
  const scale = scaleOf(scene);
  for (const [index, { begin, acted, end, says, lanes }] of model.columns.faults.entries()) {
    const until = end < 0 ? model.end : end;
    if (until < view.from || begin > view.until) continue;
    const x = gutter + (begin - view.from) * scale;
    const wide = Math.max((until - begin) * scale, 3);
    const y = layout.faultsTop + (layout.faultRow[index] ?? 0) * FAULT_HEIGHT;
    context.strokeStyle = paint.fault;
    context.strokeRect(x, y + 0.5, wide, FAULT_HEIGHT - 4);
    if (acted >= 0) {
      const from = gutter + (acted - view.from) * scale;
      const filled = Math.max((until - acted) * scale, 2);
      context.globalAlpha = 0.3;
      context.fillStyle = paint.fault;
      context.fillRect(from, y + 0.5, filled, FAULT_HEIGHT - 4);
      for (const lane of lanes) {
        const { top, height } = layout.lanes[lane] ?? { top: 0, height: 0 };
        context.globalAlpha = 0.18;
        context.fillRect(from, top, filled, height);
        context.globalAlpha = 0.5;
        context.fillStyle = paint.faultPattern;
        context.fillRect(from, top, filled, height);
        context.fillStyle = paint.fault;
      }
      context.globalAlpha = 1;
    }
    const label = acted < 0 ? `${says}: no proof` : says;
    drawText(context, {
      text: label,
      x: Math.max(x, gutter),
      y: y + FAULT_HEIGHT / 2 - 1,
      wide: x + wide - Math.max(x, gutter),
      colour: paint.ink,
    });
  }
}

/**
 * A text that is drawn only if it fits.
 * @param {CanvasRenderingContext2D} context
 * @param {{ text: string, x: number, y: number, wide: number, colour: string }} label
 */
function drawText(context, { text, x, y, wide, colour }) {
  if (wide < LABEL_WIDTH_MIN || context.measureText(text).width > wide - 8) return;
  context.textAlign = 'left';
  context.fillStyle = colour;
  context.fillText(text, x + 4, y);
}

/**
 * Calls `draw` for each item of the track in view, leaving out what is narrower than a pixel and lies in one that is
 * drawn already, in the same row.
 * @param {Scene} scene
 * @param {{ track: Track, from: Float64Array, until: Float64Array, rows?: readonly number[], draw: (item: number, x: number, wide: number) => void }} what
 */
function eachInView(scene, { track, from, until, rows, draw }) {
  const { view, gutter } = scene;
  const scale = scaleOf(scene);
  const { items } = track;
  /** @type {number[]} the right edge of what is drawn, by row */
  const drawn = [];
  for (let position = firstReaching(track, view.from); position < items.length; position++) {
    const item = items[position] ?? 0;
    const start = from[item] ?? 0;
    if (start > view.until) return;
    const x = gutter + (start - view.from) * scale;
    const right = gutter + ((until[item] ?? 0) - view.from) * scale;
    const row = rows?.[item] ?? 0;
    const edge = drawn[row] ?? -Infinity;
    if (right < edge && right - x < 1) continue;
    const wide = Math.max(right - x, 1);
    draw(item, x, wide);
    const covered = Math.max(edge, Math.floor(x + wide) + 0.5);
    drawn[row] = covered;
    // On to the first that ends outside this pixel; with several rows each of them has to be looked at.
    if (right - x < 1 && rows === undefined)
      position = Math.max(position, firstReaching(track, view.from + (covered - gutter) / scale) - 1);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {Lane} lane
 */
function drawProcess(context, scene, lane) {
  const { model, paint, gutter, view } = scene;
  const { operations, grants, columns } = model;
  const strip = lane.top + lane.height - STRIP_HEIGHT - 3;
  eachInView(scene, {
    track: lane.operations,
    from: operations.from,
    until: operations.until,
    draw: (item, x, wide) => {
      context.fillStyle = (columns.operations.kind[item] ?? 0) < 3 ? paint.opLock : paint.opStore;
      context.fillRect(x, strip, wide, STRIP_HEIGHT);
    },
  });
  const scale = scaleOf(scene);
  context.fillStyle = paint.unknown;
  let drawn = -Infinity;
  for (const item of lane.notable) {
    const x = gutter + ((operations.from[item] ?? 0) - view.from) * scale;
    const wide = Math.max(((operations.until[item] ?? 0) - (operations.from[item] ?? 0)) * scale, 2.5);
    if (x + wide < drawn + 1) continue;
    context.fillRect(x, strip - 1, wide, STRIP_HEIGHT + 2);
    drawn = x + wide;
  }
  context.font = `11px ${paint.font}`;
  eachInView(scene, {
    track: lane.grants,
    from: grants.from,
    until: grants.until,
    draw: (grant, x, wide) => {
      const lock = grants.lock[grant] ?? 0;
      drawHold(context, scene, { lock, x, y: lane.top + 5, wide });
      const text = `${columns.locks[lock] ?? ''} #${operations.id[columns.grants.operation[grant] ?? 0] ?? ''}`;
      labelHold(context, scene, { text, x, y: lane.top + 5, wide });
    },
  });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {{ lock: number, x: number, y: number, wide: number }} bar
 */
function drawHold(context, { paint }, { lock, x, y, wide }) {
  const kind = lock % paint.locks.length;
  context.fillStyle = paint.locks[kind] ?? paint.ink;
  if (wide >= 6) context.fillStyle = paint.lockPatterns[kind] ?? context.fillStyle;
  // The hatching moves with the bar, not under it.
  context.translate(x, y);
  context.fillRect(0, 0, wide > 3 ? wide - 0.5 : wide, HOLD_HEIGHT);
  context.translate(-x, -y);
}

/**
 * The text of a bar, on the part of it that is in view.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {{ text: string, x: number, y: number, wide: number }} bar
 */
function labelHold(context, { paint, gutter, width }, { text, x, y, wide }) {
  const left = Math.max(x, gutter);
  const room = Math.min(x + wide, width) - left;
  if (room < LABEL_WIDTH_MIN) return;
  const long = context.measureText(text).width;
  // A label that would hide its bar says less than the bar.
  if (long * 1.5 > room - 8) return;
  context.fillStyle = paint.paper;
  context.fillRect(left + 2, y + 1, long + 6, HOLD_HEIGHT - 2);
  context.textAlign = 'left';
  context.fillStyle = paint.ink;
  context.fillText(text, left + 5, y + HOLD_HEIGHT / 2 + 0.5);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {Lane} lane
 */
function drawLock(context, scene, lane) {
  const { model, paint, gutter, view, width } = scene;
  const { grants, operations, columns } = model;
  const scale = scaleOf(scene);
  const holdsTop = lane.top + 7 + TENURE_HEIGHT;
  const holdTop = (/** @type {number} */ grant) =>
    holdsTop + (columns.grants.row[grant] ?? 0) * (HOLD_HEIGHT + 1);
  for (const { from, until } of lane.overlaps) {
    const x = gutter + (from - view.from) * scale;
    const wide = Math.max((until - from) * scale, 3);
    context.fillStyle = paint.alertSoft;
    context.fillRect(x, lane.top, wide, lane.height);
  }
  eachInView(scene, {
    track: lane.grants,
    from: grants.from,
    until: grants.tenureUntil,
    draw: (_, x, wide) => {
      context.fillStyle = paint.tenure;
      context.fillRect(x, lane.top + 5, wide > 3 ? wide - 0.5 : wide, TENURE_HEIGHT);
    },
  });
  eachInView(scene, {
    track: lane.grants,
    from: grants.from,
    until: grants.until,
    rows: columns.grants.row,
    draw: (grant, x, wide) => {
      const y = holdTop(grant);
      drawHold(context, scene, { lock: grants.lock[grant] ?? 0, x, y, wide });
      const operation = columns.grants.operation[grant] ?? 0;
      const process = columns.processes[columns.operations.process[operation] ?? 0]?.name ?? '';
      labelHold(context, scene, { text: `${process} #${operations.id[operation] ?? ''}`, x, y, wide });
    },
  });
  context.strokeStyle = paint.alert;
  context.fillStyle = paint.alert;
  for (const { from, until } of lane.overlaps) {
    const x = gutter + (from - view.from) * scale;
    const wide = Math.max((until - from) * scale, 3);
    if (x + wide < gutter || x > width) continue;
    if (wide >= OUTLINE_WIDTH_MIN) context.strokeRect(x, lane.top + 1.5, wide, lane.height - 3);
    else {
      context.globalAlpha = 0.5;
      context.fillRect(x, lane.top + 1, wide, lane.height - 2);
      context.globalAlpha = 1;
    }
  }
}

/**
 * Ends of processes, losses and roles: a small cross, and its words where there is room.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 */
function drawNotes(context, { model, layout, view, paint, width, gutter }) {
  const scale = (width - gutter) / (view.until - view.from);
  context.strokeStyle = paint.ink;
  for (const { lane, at } of model.columns.notes) {
    const { top, height } = layout.lanes[lane] ?? { top: 0, height: 0 };
    const x = gutter + (at - view.from) * scale;
    const y = top + height / 2;
    context.beginPath();
    context.moveTo(x - 4, y - 4);
    context.lineTo(x + 4, y + 4);
    context.moveTo(x + 4, y - 4);
    context.lineTo(x - 4, y + 4);
    context.stroke();
  }
}

/**
 * The operations that the selected finding names, each with its id, and the moment at which it was complete.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 */
function drawSelected(context, scene) {
  const { model, layout, view, paint, gutter, width } = scene;
  const finding = model.columns.findings[scene.selected];
  if (finding === undefined) return;
  const { operations, columns } = model;
  const scale = scaleOf(scene);
  const at = Math.round(gutter + (finding.at - view.from) * scale) + 0.5;
  context.strokeStyle = paint.alert;
  context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(at, AXIS_HEIGHT);
  context.lineTo(at, layout.height);
  context.stroke();
  context.setLineDash([]);
  context.font = `600 11px ${paint.font}`;
  context.textAlign = 'left';
  /** @type {Map<number, number>} */
  const free = new Map();
  for (const operation of [...finding.operations].sort((a, b) => a - b)) {
    const lane = layout.lanes[operations.lane[operation] ?? 0];
    if (lane === undefined) continue;
    const x = gutter + ((operations.from[operation] ?? 0) - view.from) * scale;
    const wide = Math.max(
      ((operations.until[operation] ?? 0) - (operations.from[operation] ?? 0)) * scale,
      3,
    );
    context.strokeStyle = paint.alert;
    context.lineWidth = 2;
    context.strokeRect(x - 1, lane.top + 3, wide + 2, lane.height - 5);
    context.lineWidth = 1;
    const text = `#${operations.id[operation] ?? ''} ${kindName(columns.operations.kind[operation] ?? 0)}`;
    const long = context.measureText(text).width;
    const left = Math.max(x + 4, free.get(lane.top) ?? 0);
    if (left + long > width) continue;
    free.set(lane.top, left + long + 6);
    context.fillStyle = paint.paper;
    context.fillRect(left - 2, lane.top + lane.height - 14, long + 4, 13);
    context.fillStyle = paint.alert;
    context.fillText(text, left, lane.top + lane.height - 7);
  }
}

/** @param {number} kind index in OPERATION_KINDS of timeline-columns.ts */
export function kindName(kind) {
  return ['acquire', 'renew', 'release', 'read', 'write', 'cas'][kind] ?? '';
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 */
function drawFindings(context, scene) {
  const { model, paint, selected } = scene;
  const y = AXIS_HEIGHT + FINDINGS_HEIGHT / 2;
  context.font = `600 10px ${paint.font}`;
  for (const { x, findings } of clustersOf(scene)) {
    const chosen = findings.includes(selected);
    const first = model.columns.findings[chosen ? selected : (findings[0] ?? 0)];
    context.fillStyle = paint.alert;
    context.strokeStyle = chosen ? paint.ink : paint.paper;
    context.lineWidth = 2;
    const shape = markShape(first?.mark ?? 'exclusion', { x, y, size: chosen ? 9 : 7 });
    context.stroke(shape);
    context.fill(shape);
    context.lineWidth = 1;
    if (findings.length === 1) continue;
    context.fillStyle = paint.alert;
    context.textAlign = 'left';
    context.fillText(String(findings.length), x + 8, y - 6);
  }
}

/**
 * @param {'exclusion' | 'store' | 'liveness'} mark
 * @param {{ x: number, y: number, size: number }} place
 */
function markShape(mark, { x, y, size }) {
  const shape = new Path2D();
  if (mark === 'liveness') shape.rect(x - size + 1, y - size + 1, 2 * size - 2, 2 * size - 2);
  else {
    shape.moveTo(x, y - size);
    shape.lineTo(x + size, mark === 'exclusion' ? y + size - 1 : y);
    if (mark === 'store') shape.lineTo(x, y + size);
    shape.lineTo(x - size, mark === 'exclusion' ? y + size - 1 : y);
    shape.closePath();
  }
  return shape;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 */
function drawNames(context, { model, layout, paint, gutter, width }) {
  context.fillStyle = paint.paper;
  context.fillRect(0, 0, gutter, layout.height);
  context.strokeStyle = paint.line;
  context.beginPath();
  context.moveTo(gutter - 0.5, 0);
  context.lineTo(gutter - 0.5, layout.height);
  context.moveTo(0, layout.faultsBottom - 0.5);
  context.lineTo(width, layout.faultsBottom - 0.5);
  const firstLock = layout.lanes.find(({ kind }) => kind === 'lock');
  if (firstLock !== undefined) {
    context.moveTo(0, firstLock.top - 3.5);
    context.lineTo(width, firstLock.top - 3.5);
  }
  context.stroke();
  context.textAlign = 'left';
  context.font = `11px ${paint.font}`;
  context.fillStyle = paint.soft;
  context.fillText('findings', 2, AXIS_HEIGHT + FINDINGS_HEIGHT / 2);
  if (model.columns.faults.length > 0) context.fillText('faults', 2, layout.faultsTop + FAULT_HEIGHT / 2 - 1);
  for (const { name, kind, top, height } of layout.lanes) {
    context.font = `600 12px ${paint.font}`;
    context.fillStyle = paint.ink;
    context.fillText(shortened(context, name, gutter - 34), 2, top + height / 2);
    const long = context.measureText(shortened(context, name, gutter - 34)).width;
    context.font = `10px ${paint.font}`;
    context.fillStyle = paint.soft;
    if (kind === 'lock' && long < gutter - 34) context.fillText('lock', long + 8, top + height / 2 + 1);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} wide
 */
function shortened(context, text, wide) {
  if (context.measureText(text).width <= wide) return text;
  let kept = text;
  while (kept.length > 1 && context.measureText(`${kept}…`).width > wide) kept = kept.slice(0, -1);
  return `${kept}…`;
}

/**
 * The whole run in one strip: how much happened, faults, findings, and which part is in view.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene & { height: number, load: Float64Array }} scene `load`: operations in each equal part of the run, of 1
 */
export function drawOverview(context, { model, paint, view, width, gutter, height, load }) {
  const scale = (width - gutter) / model.end;
  context.fillStyle = paint.paper;
  context.fillRect(0, 0, width, height);
  context.fillStyle = paint.panel;
  context.fillRect(gutter, 0, width - gutter, height);
  context.fillStyle = paint.opLock;
  const part = (width - gutter) / load.length;
  for (const [index, share] of load.entries())
    context.fillRect(gutter + index * part, height - share * (height - 12), part, share * (height - 12));
  context.globalAlpha = 0.35;
  context.fillStyle = paint.fault;
  for (const { begin, acted, end } of model.columns.faults)
    context.fillRect(
      gutter + (acted < 0 ? begin : acted) * scale,
      0,
      Math.max(((end < 0 ? model.end : end) - begin) * scale, 1.5),
      height,
    );
  context.globalAlpha = 1;
  context.fillStyle = paint.alert;
  for (const { at } of model.columns.findings) context.fillRect(gutter + at * scale - 1, 0, 2.5, 8);
  const from = gutter + Math.max(view.from, 0) * scale;
  const until = gutter + Math.min(view.until, model.end) * scale;
  context.fillStyle = paint.paper;
  context.globalAlpha = 0.65;
  context.fillRect(gutter, 0, from - gutter, height);
  context.fillRect(until, 0, width - until, height);
  context.globalAlpha = 1;
  context.strokeStyle = paint.accent;
  context.lineWidth = 2;
  context.strokeRect(from, 1, Math.max(until - from, 4), height - 2);
  context.lineWidth = 1;
}

/**
 * How many operations began in each of `parts` equal parts of the run, the most being 1.
 * @param {Model} model
 * @param {number} parts
 */
export function loadOf({ operations, end }, parts) {
  const load = new Float64Array(parts);
  for (const from of operations.from) {
    const part = Math.min(Math.floor((from / end) * parts), parts - 1);
    load[part] = (load[part] ?? 0) + 1;
  }
  const most = load.reduce((a, b) => Math.max(a, b), 1);
  return load.map((count) => count / most);
}

/**
 * The view that shows a finding with what led to it.
 * @param {Model} model
 * @param {number} finding
 */
export function viewOfFinding(model, finding) {
  const { from, until } = model.columns.findings[finding] ?? { from: 0, until: model.end };
  return around(from, until);
}
