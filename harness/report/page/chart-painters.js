// What each chart shows, drawn onto a canvas: one function a chart.

import { drawGround, drawPoints, drawQuantiles, firstFrom, labelAt } from './chart-marks.js';
import { BOTTOM, linearScale, logScale, TOP } from './chart-scales.js';
import { barsIn, eachInView, scaleOf } from './scene.js';

/** @import { Model } from './unpack.js' */
/** @import { Layout } from './layout.js' */
/** @import { Scene } from './scene.js' */

/**
 * @typedef {Scene & { height: number }} ChartScene
 * @typedef {object} Painter
 * @property {number} [height] in CSS pixels
 * @property {(context: CanvasRenderingContext2D, scene: ChartScene) => void} draw
 */

const LOCK_ROW = 22;

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
