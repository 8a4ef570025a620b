// Draws the lanes: of a process its holds and, below them, its operations; of a lock its tenures and, below them, the
// holds. What matters (overlaps, unknown and refused operations) is never smaller than it takes to be seen.

import { HOLD_HEIGHT, holdsTop, STORE_OPERATION, STRIP_HEIGHT, TENURE_HEIGHT } from './layout.js';
import { barsIn, drawFar, eachInView, scaleOf } from './scene.js';

/** @import { Lane } from './layout.js' */
/** @import { Scene } from './scene.js' */

const LABEL_WIDTH_MIN = 30;
/** Narrower bars have no hatching, and may run together. */
const THIN = 3;
/** Narrower overlaps are filled: outlines alone would run together. */
const OUTLINE_WIDTH_MIN = 7;

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {Lane} lane
 */
export function drawProcess(context, scene, lane) {
  const { model, paint } = scene;
  const { operations, grants, columns } = model;
  const strip = lane.top + lane.height - STRIP_HEIGHT - 3;
  const row = { y: strip, height: STRIP_HEIGHT };
  const some = drawFar(context, scene, {
    ...row,
    track: lane.operations,
    colourOf: (kinds) => ((kinds & STORE_OPERATION) === 0 ? paint.opLock : paint.opStore),
  });
  const done = barsIn(context, row);
  eachInView(scene, {
    track: some,
    from: operations.from,
    until: operations.until,
    draw: (item, x, wide) =>
      done.add(x, wide, (columns.operations.kind[item] ?? 0) < 3 ? paint.opLock : paint.opStore),
  });
  done.flush();
  const above = { y: strip - 1, height: STRIP_HEIGHT + 2 };
  const odd = drawFar(context, scene, { ...above, track: lane.notable, colourOf: () => paint.unknown });
  const notable = barsIn(context, above);
  eachInView(scene, {
    track: odd,
    from: operations.from,
    until: operations.until,
    draw: (_, x, wide) => notable.add(x, Math.max(wide, 2.5), paint.unknown),
  });
  notable.flush();
  context.font = `11px ${paint.font}`;
  const holds = { y: holdsTop(lane), height: HOLD_HEIGHT };
  const held = drawFar(context, scene, {
    ...holds,
    track: lane.grants,
    // Of several locks in one pixel none is told.
    colourOf: (kinds) => ((kinds & (kinds - 1)) === 0 ? lockColour(scene, Math.log2(kinds)) : paint.soft),
  });
  const thin = barsIn(context, holds);
  eachInView(scene, {
    track: held,
    from: grants.from,
    until: grants.until,
    draw: (grant, x, wide) => {
      const lock = grants.lock[grant] ?? 0;
      if (wide < THIN) return thin.add(x, wide, lockColour(scene, lock));
      thin.flush();
      drawHold(context, scene, { lock, x, y: holdsTop(lane), wide });
      if (wide < LABEL_WIDTH_MIN) return;
      const text = `${columns.locks[lock] ?? ''} #${columns.operations.id[columns.grants.operation[grant] ?? 0] ?? ''}`;
      labelHold(context, scene, { text, x, y: holdsTop(lane), wide });
    },
  });
  thin.flush();
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
  for (const { from, until } of lane.overlaps) {
    const x = gutter + (from - view.from) * scale;
    const wide = Math.max((until - from) * scale, 3);
    context.fillStyle = paint.alertSoft;
    context.fillRect(x, lane.top, wide, lane.height);
  }
  const promised = { y: holdsTop(lane) - TENURE_HEIGHT - 1, height: TENURE_HEIGHT };
  const kept = drawFar(context, scene, { ...promised, track: lane.grants, colourOf: () => paint.tenure });
  const tenures = barsIn(context, promised);
  eachInView(scene, {
    track: kept,
    from: grants.from,
    until: grants.tenureUntil,
    // A gap between tenures that are wide enough to show one.
    draw: (_, x, wide) => tenures.add(x, wide > 3 ? wide - 1 : wide, paint.tenure),
  });
  tenures.flush();
  for (const [row, track] of lane.rows.entries()) {
    const y = holdsTop(lane) + row * (HOLD_HEIGHT + 1);
    const own = lockColour(scene, columns.locks.indexOf(lane.name));
    const held = drawFar(context, scene, { y, height: HOLD_HEIGHT, track, colourOf: () => own });
    const thin = barsIn(context, { y, height: HOLD_HEIGHT });
    eachInView(scene, {
      track: held,
      from: grants.from,
      until: grants.until,
      draw: (grant, x, wide) => {
        const lock = grants.lock[grant] ?? 0;
        if (wide < THIN) return thin.add(x, wide, lockColour(scene, lock));
        thin.flush();
        drawHold(context, scene, { lock, x, y, wide });
        if (wide < LABEL_WIDTH_MIN) return;
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
    thin.flush();
  }
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
 * @param {Scene} scene
 * @param {number} lock
 */
function lockColour({ paint }, lock) {
  return paint.locks[lock % paint.locks.length] ?? paint.ink;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {{ lock: number, x: number, y: number, wide: number }} bar
 */
function drawHold(context, scene, { lock, x, y, wide }) {
  const { lockPatterns } = scene.paint;
  context.fillStyle = lockColour(scene, lock);
  if (wide >= 6) context.fillStyle = lockPatterns[lock % lockPatterns.length] ?? context.fillStyle;
  // The hatching moves with the bar, not under it.
  context.translate(x, y);
  context.fillRect(0, 0, wide - 0.5, HOLD_HEIGHT);
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
