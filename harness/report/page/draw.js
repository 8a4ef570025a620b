// Draws one frame of the timeline, from the back to the front: lanes, axis, faults, what happened, findings, names.
// Changes nothing but the canvas.

import { drawFindings, drawSelected } from './draw-findings.js';
import { drawLock, drawProcess } from './draw-lanes.js';
import { AXIS_HEIGHT, FAULT_HEIGHT, FINDINGS_HEIGHT } from './layout.js';
import { scaleOf } from './scene.js';
import { ticks } from './view.js';

/** @import { Scene } from './scene.js' */

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
    else if (lane.kind === 'client') drawProcess(context, scene, lane);
  }
  drawRoles(context, scene);
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
 * A row a fault: outlined from when it was ordered, filled once it was proved to act; and the same shading over
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
  if (context.measureText(text).width > wide - 8) return;
  context.textAlign = 'left';
  context.fillStyle = colour;
  context.fillText(text, x + 4, y);
}

/**
 * What a server said it was: filled where it led, outlined where it did not.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 */
function drawRoles(context, scene) {
  const { model, layout, view, paint, gutter } = scene;
  const scale = scaleOf(scene);
  context.font = `11px ${paint.font}`;
  for (const { lane, from, until, says, leads } of model.columns.roles) {
    if (until < view.from || from > view.until) continue;
    const { top, height } = layout.lanes[lane] ?? { top: 0, height: 0 };
    const x = gutter + (from - view.from) * scale;
    const wide = Math.max((until - from) * scale - 1, 2);
    context.strokeStyle = paint.soft;
    context.fillStyle = leads ? paint.lead : paint.paper;
    context.globalAlpha = 0.85;
    context.fillRect(x, top + 4, wide, height - 8);
    context.globalAlpha = 1;
    context.strokeRect(x + 0.5, top + 4.5, wide - 1, height - 9);
    const left = Math.max(x, gutter);
    drawText(context, { text: says, x: left, y: top + height / 2, wide: x + wide - left, colour: paint.ink });
  }
}

/**
 * Ends of processes and losses: a small cross.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 */
function drawNotes(context, { model, layout, view, paint, width, gutter }) {
  const scale = (width - gutter) / (view.until - view.from);
  context.strokeStyle = paint.ink;
  for (const { lane, at } of model.columns.notes) {
    if (at < view.from || at > view.until) continue;
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
