// The whole run in one strip above the timeline: where it was busy, hurt and wrong, and which part is in view.

/** @import { Model } from './unpack.js' */
/** @import { Scene } from './scene.js' */

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
