// Draws the lanes: of a process its holds and, below them, its operations; of a lock its tenures and, below them, the
// holds. What matters (overlaps, unknown and refused operations) is never smaller than it takes to be seen.

import { HOLD_HEIGHT, holdsTop, STRIP_HEIGHT, TENURE_HEIGHT } from './layout.js';
import { eachInView, scaleOf } from './scene.js';

/** @import { Lane } from './layout.js' */
/** @import { Scene } from './scene.js' */

const LABEL_WIDTH_MIN = 30;
/** Narrower overlaps are filled: outlines alone would run together. */
const OUTLINE_WIDTH_MIN = 7;

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {Lane} lane
 */
export function drawProcess(context, scene, lane) {
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
      drawHold(context, scene, { lock, x, y: holdsTop(lane), wide });
      const text = `${columns.locks[lock] ?? ''} #${columns.operations.id[columns.grants.operation[grant] ?? 0] ?? ''}`;
      labelHold(context, scene, { text, x, y: holdsTop(lane), wide });
    },
  });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {Lane} lane
 */
export function drawLock(context, scene, lane) {
  const { model, paint, gutter, view, width } = scene;
  const { grants, columns } = model;
  const scale = scaleOf(scene);
  const holdTop = (/** @type {number} */ grant) =>
    holdsTop(lane) + (columns.grants.row[grant] ?? 0) * (HOLD_HEIGHT + 1);
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
      context.fillRect(x, holdsTop(lane) - TENURE_HEIGHT - 1, wide > 3 ? wide - 0.5 : wide, TENURE_HEIGHT);
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
      labelHold(context, scene, {
        text: `${process} #${columns.operations.id[operation] ?? ''}`,
        x,
        y,
        wide,
      });
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
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {{ lock: number, x: number, y: number, wide: number }} bar
 */
function drawHold(context, { paint }, { lock, x, y, wide }) {
  const kind = lock % paint.locks.length;
  context.fillStyle = paint.locks[kind] ?? paint.ink;
  if (wide >= 6) context.fillStyle = paint.lockPatterns[kind] ?? context.fillStyle;
  // The hatching moves with the bar, not under it; a thin bar on whole pixels keeps its colour.
  const left = wide < 3 ? Math.round(x) : x;
  context.translate(left, y);
  context.fillRect(0, 0, wide < 3 ? Math.ceil(wide) : wide - 0.5, HOLD_HEIGHT);
  context.translate(-left, -y);
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
