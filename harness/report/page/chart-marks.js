// What several charts have in common: the ground with faults and moments, points, and lines through their quantiles. Where
// there are more points than pixels a column of pixels says from where to where they reach.

import { BOTTOM } from './chart-scales.js';
import { scaleOf } from './scene.js';
import { ticks } from './view.js';

/** @import { ChartScene } from './chart-painters.js' */

const POINTS_MAX = 4000;
const BIN_PIXELS = 14;

/**
 * Faults, moments and the scale on the left.
 * @param {CanvasRenderingContext2D} context
 * @param {ChartScene} scene
 * @param {{ y: number, text: string }[]} [marks]
 */
export function drawGround(context, scene, marks = []) {
  const { paint, view, width, gutter, height, model } = scene;
  const scale = scaleOf(scene);
  context.fillStyle = paint.paper;
  context.fillRect(0, 0, width, height);
  context.textBaseline = 'middle';
  context.font = `11px ${paint.font}`;
  for (const { begin, acted, end } of model.columns.faults) {
    if (acted < 0) continue;
    const from = Math.max(gutter + (Math.max(acted, begin) - view.from) * scale, gutter);
    const until = Math.min(gutter + ((end < 0 ? model.end : end) - view.from) * scale, width);
    if (until <= gutter || from >= width) continue;
    context.globalAlpha = 0.16;
    context.fillStyle = paint.fault;
    context.fillRect(from, 0, Math.max(until - from, 1), height);
    context.globalAlpha = 1;
  }
  context.strokeStyle = paint.line;
  context.beginPath();
  for (const moment of ticks(view, 110 / scale).moments) {
    const x = Math.round(gutter + (moment - view.from) * scale) + 0.5;
    if (x < gutter) continue;
    context.moveTo(x, 0);
    context.lineTo(x, height);
  }
  for (const { y } of marks) {
    context.moveTo(gutter, Math.round(y) + 0.5);
    context.lineTo(width, Math.round(y) + 0.5);
  }
  context.moveTo(gutter, height - BOTTOM + 0.5);
  context.lineTo(width, height - BOTTOM + 0.5);
  context.stroke();
  for (const { y, text } of marks) labelAt(context, scene, text, y);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {ChartScene} scene
 * @param {string} text
 * @param {number} y
 */
export function labelAt(context, { paint, gutter, height }, text, y) {
  context.fillStyle = paint.soft;
  context.textAlign = 'right';
  context.fillText(text, gutter - 6, Math.min(Math.max(y, 6), height - 6), gutter - 10);
}

/**
 * @typedef {object} Points
 * @property {Float64Array} at in order, nearly
 * @property {ArrayLike<number>} value
 * @property {(value: number) => number} y
 * @property {(item: number) => boolean} fits
 * @property {(item: number) => boolean} [bad] drawn as a triangle, whatever else is there
 */

/**
 * @param {CanvasRenderingContext2D} context
 * @param {ChartScene} scene
 * @param {Points} points
 */
export function drawPoints(context, scene, { at, value, y, fits, bad = () => false }) {
  const { view, gutter, paint, width } = scene;
  const scale = scaleOf(scene);
  const first = firstFrom(at, view.from);
  const last = firstFrom(at, view.until);
  const crowded = last - first > POINTS_MAX;
  const low = new Float64Array(Math.ceil(width) + 1).fill(-Infinity);
  const high = new Float64Array(Math.ceil(width) + 1).fill(Infinity);
  /** @type {[number, number][]} */
  const marked = [];
  context.fillStyle = paint.accent;
  for (let item = first; item < last; item++) {
    if (!fits(item)) continue;
    const x = gutter + ((at[item] ?? 0) - view.from) * scale;
    const height = y(value[item] ?? 0);
    if (bad(item)) marked.push([x, height]);
    else if (crowded) {
      const pixel = Math.min(Math.max(Math.floor(x), 0), low.length - 1);
      low[pixel] = Math.max(low[pixel] ?? 0, height);
      high[pixel] = Math.min(high[pixel] ?? 0, height);
    } else context.fillRect(x - 2, height - 2, 4, 4);
  }
  context.globalAlpha = 0.45;
  for (let pixel = 0; pixel < low.length; pixel++)
    if ((low[pixel] ?? 0) > -Infinity)
      context.fillRect(pixel, (high[pixel] ?? 0) - 1, 1, (low[pixel] ?? 0) - (high[pixel] ?? 0) + 2);
  context.globalAlpha = 1;
  context.fillStyle = paint.alert;
  let drawn = -Infinity;
  for (const [x, height] of marked) {
    if (x < drawn + 1) continue;
    drawn = x;
    context.beginPath();
    context.moveTo(x, height + 5);
    context.lineTo(x - 5, height - 4);
    context.lineTo(x + 5, height - 4);
    context.fill();
  }
}

/**
 * The median as a line, the 99 % as a dashed one, of bins of some pixels.
 * @param {CanvasRenderingContext2D} context
 * @param {ChartScene} scene
 * @param {Pick<Points, 'at' | 'value' | 'y'>} points
 */
export function drawQuantiles(context, scene, { at, value, y }) {
  const { view, gutter, paint, width } = scene;
  const scale = scaleOf(scene);
  const bins = Math.max(Math.floor((width - gutter) / BIN_PIXELS), 1);
  /** @type {number[][]} */
  const values = Array.from({ length: bins }, () => []);
  for (let item = firstFrom(at, view.from); item < firstFrom(at, view.until); item++)
    values[Math.min(Math.floor((((at[item] ?? 0) - view.from) * scale) / BIN_PIXELS), bins - 1)]?.push(
      value[item] ?? 0,
    );
  for (const bin of values) bin.sort((a, b) => a - b);
  context.strokeStyle = paint.ink;
  for (const [share, dash] of /** @type {[number, number[]][]} */ ([
    [0.5, []],
    [0.99, [4, 3]],
  ])) {
    context.setLineDash(dash);
    context.beginPath();
    for (const [index, bin] of values.entries()) {
      if (bin.length === 0) continue;
      const x = gutter + (index + 0.5) * BIN_PIXELS;
      context.lineTo(x, y(bin[Math.max(Math.ceil(bin.length * share) - 1, 0)] ?? 0));
    }
    context.stroke();
  }
  context.setLineDash([]);
}

/**
 * The first index whose value is not below `from`; `sorted` is.
 * @param {Float64Array} sorted
 * @param {number} from
 */
export function firstFrom(sorted, from) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
