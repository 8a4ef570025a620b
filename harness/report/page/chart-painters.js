// What each chart shows, drawn onto a canvas: one function a chart, and the ground that all share (faults, moments,
// scale). Where there are more points than pixels a column of pixels says from where to where they reach.

import { barsIn, eachInView, scaleOf } from './scene.js';
import { ticks } from './view.js';

/** @import { Model } from './unpack.js' */
/** @import { Layout } from './layout.js' */
/** @import { Scene } from './scene.js' */

/**
 * @typedef {Scene & { height: number }} ChartScene
 * @typedef {object} Painter
 * @property {number} [height] in CSS pixels
 * @property {(context: CanvasRenderingContext2D, scene: ChartScene) => void} draw
 */

const TOP = 6;
const BOTTOM = 4;
const LOCK_ROW = 22;
const POINTS_MAX = 4000;
const BIN_PIXELS = 14;

/**
 * @param {Model} model
 * @param {Layout} layout
 * @returns {Record<string, Painter>}
 */
export function chartPainters(model, layout) {
  const { grants, operations, columns } = model;
  const waited = grants.from.map(
    (time, grant) => time - (operations.from[columns.grants.operation[grant] ?? 0] ?? 0),
  );
  const tokens = Float64Array.from(
    columns.grants.operation,
    (operation) => (columns.operations.token[operation] ?? 0) - 1,
  );
  const fallen = fallenTokens(model, tokens);
  const recoveries = columns.faults
    .filter(({ id, acted }) => acted >= 0 && id !== 'lockpick')
    .flatMap(({ acted }) => {
      const next = grants.from[firstFrom(grants.from, acted)];
      return next === undefined ? [] : { at: acted, took: next - acted };
    });
  const lanes = layout.lanes.filter(({ kind }) => kind === 'lock');
  return {
    holds: {
      height: Math.max(lanes.length, 1) * LOCK_ROW + TOP + BOTTOM,
      draw: (context, scene) => {
        drawGround(context, scene);
        for (const [index, lane] of lanes.entries()) {
          const base = TOP + (index + 1) * LOCK_ROW - 3;
          drawHolds(context, scene, { lane, base });
          labelAt(context, scene, lane.name, base - 5);
        }
      },
    },
    latency: {
      draw: (context, scene) => {
        const y = logScale(scene, waited);
        drawGround(context, scene, y.marks);
        drawPoints(context, scene, { at: grants.from, value: waited, y: y.of, fits: () => true });
        drawQuantiles(context, scene, { at: grants.from, value: waited, y: y.of });
      },
    },
    throughput: { draw: (context, scene) => drawThroughput(context, scene) },
    slack: {
      draw: (context, scene) => {
        const slack = columns.grants.slack;
        const y = linearScale(scene, slack);
        drawGround(context, scene, y.marks);
        drawPoints(context, scene, {
          at: grants.until,
          value: slack,
          y: y.of,
          fits: (grant) => slack[grant] !== 0,
          bad: (grant) => (slack[grant] ?? 0) < 0,
        });
      },
    },
    recovery: {
      draw: (context, scene) => {
        const y = logScale(
          scene,
          recoveries.map(({ took }) => took),
        );
        drawGround(context, scene, y.marks);
        context.strokeStyle = scene.paint.ink;
        context.fillStyle = scene.paint.ink;
        for (const { at, took } of recoveries) {
          const x = scene.gutter + (at - scene.view.from) * scaleOf(scene);
          if (x < scene.gutter || x > scene.width) continue;
          context.fillRect(x - 1, y.of(took), 2, scene.height - BOTTOM - y.of(took));
          context.fillRect(x - 4, y.of(took) - 1.5, 8, 3);
        }
      },
    },
    tokens: {
      draw: (context, scene) => {
        const y = linearScale(scene, tokens, String);
        drawGround(context, scene, y.marks);
        drawPoints(context, scene, {
          at: grants.from,
          value: tokens,
          y: y.of,
          fits: (grant) => (tokens[grant] ?? -1) >= 0,
          bad: (grant) => fallen.has(grant),
        });
      },
    },
  };
}

/**
 * Grants whose token is not above the one granted before on their lock.
 * @param {Model} model
 * @param {Float64Array} tokens
 */
function fallenTokens({ grants }, tokens) {
  /** @type {Map<number, number>} */
  const highest = new Map();
  /** @type {Set<number>} */
  const fallen = new Set();
  for (const [grant, token] of tokens.entries()) {
    if (token < 0) continue;
    const lock = grants.lock[grant] ?? 0;
    if (token <= (highest.get(lock) ?? -1)) fallen.add(grant);
    highest.set(lock, token);
  }
  return fallen;
}

/**
 * Faults, moments and the scale on the left.
 * @param {CanvasRenderingContext2D} context
 * @param {ChartScene} scene
 * @param {{ y: number, text: string }[]} [marks]
 */
function drawGround(context, scene, marks = []) {
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
function labelAt(context, { paint, gutter, height }, text, y) {
  context.fillStyle = paint.soft;
  context.textAlign = 'right';
  context.fillText(text, gutter - 6, Math.min(Math.max(y, 6), height - 6), gutter - 10);
}

/**
 * One bar where somebody holds the lock, a second one above it where two do.
 * @param {CanvasRenderingContext2D} context
 * @param {ChartScene} scene
 * @param {{ lane: import('./layout.js').Lane, base: number }} row
 */
function drawHolds(context, scene, { lane, base }) {
  const { model, paint, view, gutter, width } = scene;
  const scale = scaleOf(scene);
  const bars = barsIn(context, { y: base - 8, height: 8 });
  context.save();
  context.beginPath();
  context.rect(gutter, 0, width - gutter, scene.height);
  context.clip();
  eachInView(scene, {
    track: lane.grants,
    from: model.grants.from,
    until: model.grants.until,
    draw: (_, x, wide) => bars.add(x, wide, paint.opStore),
  });
  bars.flush();
  context.strokeStyle = paint.soft;
  context.setLineDash([2, 3]);
  context.beginPath();
  context.moveTo(gutter, base - 8.5);
  context.lineTo(width, base - 8.5);
  context.stroke();
  context.setLineDash([]);
  context.fillStyle = paint.alert;
  for (const { from, until } of lane.overlaps) {
    const x = gutter + (from - view.from) * scale;
    const wide = Math.max((until - from) * scale, 3);
    if (x + wide >= gutter && x <= width) context.fillRect(x, base - 17, wide, 17);
  }
  context.restore();
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
function drawPoints(context, scene, { at, value, y, fits, bad = () => false }) {
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
function drawQuantiles(context, scene, { at, value, y }) {
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

const OUTCOME_LOOKS = /** @type {const} */ ([
  ['ok', 'accent', []],
  ['fail', 'soft', [5, 3]],
  ['info', 'unknown', [2, 2]],
]);

/**
 * @param {CanvasRenderingContext2D} context
 * @param {ChartScene} scene
 */
function drawThroughput(context, scene) {
  const { view, gutter, paint, width, model } = scene;
  const { operations, columns } = model;
  const bins = Math.max(Math.floor((width - gutter) / 6), 1);
  const length = (view.until - view.from) / bins;
  const counts = columns.outcomes.map(() => new Float64Array(bins));
  const first = firstFrom(operations.from, view.from);
  const last = firstFrom(operations.from, view.until);
  for (let item = first; item < last; item++) {
    const bin = Math.min(Math.floor(((operations.from[item] ?? 0) - view.from) / length), bins - 1);
    const own = counts[columns.operations.outcome[item] ?? 0];
    if (own !== undefined) own[bin] = (own[bin] ?? 0) + 1e6 / length;
  }
  const y = linearScale(
    scene,
    [0, ...counts.map((own) => own.reduce((a, b) => Math.max(a, b), 0))],
    (value) => `${Math.round(value)}/s`,
  );
  drawGround(context, scene, y.marks);
  for (const [outcome, colour, dash] of OUTCOME_LOOKS) {
    context.strokeStyle = paint[colour];
    context.setLineDash([...dash]);
    context.beginPath();
    for (const [bin, count] of (counts[columns.outcomes.indexOf(outcome)] ?? new Float64Array()).entries()) {
      context.lineTo(gutter + bin * 6, y.of(count));
      context.lineTo(gutter + (bin + 1) * 6, y.of(count));
    }
    context.stroke();
  }
  context.setLineDash([]);
}

/**
 * From the smallest value to the largest, zero included.
 * @param {ChartScene} scene
 * @param {ArrayLike<number>} values
 * @param {(value: number) => string} [words] default: microseconds as a duration
 */
function linearScale({ height }, values, words = micros) {
  let least = 0;
  let most = 0;
  for (let item = 0; item < values.length; item++) {
    least = Math.min(least, values[item] ?? 0);
    most = Math.max(most, values[item] ?? 0);
  }
  const room = height - TOP - BOTTOM;
  const span = Math.max(most - least, 1);
  const of = (/** @type {number} */ value) => TOP + ((most - value) / span) * room;
  const marks = [...new Set([most, ...(least < 0 ? [least] : []), 0])].map((value) => ({
    y: of(value),
    text: words(value),
  }));
  return { of, marks };
}

/**
 * By powers of ten.
 * @param {ChartScene} scene
 * @param {ArrayLike<number>} values microseconds
 */
function logScale({ height }, values) {
  let least = Infinity;
  let most = 10;
  for (let item = 0; item < values.length; item++) {
    least = Math.min(least, Math.max(values[item] ?? 0, 1));
    most = Math.max(most, values[item] ?? 0);
  }
  const low = Math.floor(Math.log10(Math.min(least, most / 10)));
  const high = Math.ceil(Math.log10(most));
  const room = height - TOP - BOTTOM;
  const of = (/** @type {number} */ value) =>
    TOP + ((high - Math.log10(Math.max(value, 1))) / (high - low)) * room;
  const powers = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  return { of, marks: powers.map((power) => ({ y: of(power), text: micros(power) })) };
}

/** @param {number} value microseconds */
function micros(value) {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))} s`;
  return size >= 1e3 ? `${Number((value / 1e3).toPrecision(3))} ms` : `${Math.round(value)} µs`;
}

/**
 * The first index whose value is not below `from`; `sorted` is.
 * @param {Float64Array} sorted
 * @param {number} from
 */
function firstFrom(sorted, from) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
