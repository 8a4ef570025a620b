// Draws the findings: a mark for each, or for several that are too close to be told apart, at every zoom; and what the
// selected one names, over everything else.

import { AXIS_HEIGHT, FINDINGS_HEIGHT } from './layout.js';
import { scaleOf } from './scene.js';
import { around } from './view.js';

/** @import { Model } from './unpack.js' */
/** @import { Scene } from './scene.js' */

/**
 * Findings too close to be told apart at this zoom, as one mark.
 * @typedef {object} Cluster
 * @property {number} x
 * @property {number[]} findings
 */

const CLUSTER_WIDTH = 15;

/**
 * @param {Scene} scene
 * @returns {Cluster[]} those in view, in order of time
 */
export function clustersOf(scene) {
  const { model, view, gutter, width } = scene;
  const scale = scaleOf(scene);
  /** @type {Cluster[]} */
  const clusters = [];
  for (const [index, { at }] of model.columns.findings.entries()) {
    const x = gutter + (at - view.from) * scale;
    if (x < gutter - CLUSTER_WIDTH || x > width + CLUSTER_WIDTH) continue;
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
export function drawFindings(context, scene) {
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
 * The operations that the selected finding names, each with its id, and the moment at which it was complete.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 */
export function drawSelected(context, scene) {
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
    const text = `#${columns.operations.id[operation] ?? ''} ${columns.kinds[columns.operations.kind[operation] ?? 0] ?? ''}`;
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

/**
 * The view that shows a finding with what led to it.
 * @param {Model} model
 * @param {number} finding
 */
export function viewOfFinding(model, finding) {
  const { from, until } = model.columns.findings[finding] ?? { from: 0, until: model.end };
  return around(from, until);
}
