// What is drawn from: one run, the part of it in view, and the room there is; and the walk over what is in view, on which
// all lanes are drawn. What is smaller than a pixel is visited once per pixel, so a frame costs pixels, not operations.

import { firstReaching } from './layout.js';
import { kindsIn } from './pyramid.js';

/** @import { Model } from './unpack.js' */
/** @import { View } from './view.js' */
/** @import { Layout, Track } from './layout.js' */
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

/** Leaves room for time beside the names. In a narrower window a timeline is drawn so wide, and squeezed. */
export const WIDTH_MIN = 160;

/**
 * @param {Scene} scene
 * @returns {number} pixels per microsecond
 */
export function scaleOf({ view, width, gutter }) {
  return (width - gutter) / (view.until - view.from);
}

/**
 * Calls `draw` for each item of the track in view, leaving out what is narrower than a pixel and lies in one that is
 * drawn already. The items of a track are to be drawn in one row.
 * @param {Scene} scene
 * @param {{ track: Track, from: Float64Array, until: Float64Array, draw: (item: number, x: number, wide: number) => void }} what
 */
export function eachInView(scene, { track, from, until, draw }) {
  const { view, gutter } = scene;
  const scale = scaleOf(scene);
  const { items } = track;
  let drawn = -Infinity;
  for (let position = firstReaching(track, view.from); position < items.length; position++) {
    const item = items[position] ?? 0;
    const start = from[item] ?? 0;
    if (start > view.until) return;
    const x = gutter + (start - view.from) * scale;
    const right = gutter + ((until[item] ?? 0) - view.from) * scale;
    if (right < drawn && right - x < 1) continue;
    const wide = Math.max(right - x, 1);
    draw(item, x, wide);
    drawn = Math.max(drawn, Math.floor(x + wide) + 0.5);
    // On to the first that ends outside this pixel and the next.
    if (right - x < 1)
      position = Math.max(
        position,
        firstReaching(track, view.from + (drawn + 1 - gutter) / scale, position) - 1,
      );
  }
}

/**
 * Draws the track as it looks from far away, and returns what of it is to be drawn one by one: from near, all of it.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {{ track: Track, y: number, height: number, colourOf: (kinds: number) => string }} row
 */
export function drawFar(context, scene, { track, y, height, colourOf }) {
  const { view, gutter, width } = scene;
  const pixel = 1 / scaleOf(scene);
  const far = track.far.findLast(({ level }) => level.part <= pixel);
  if (far === undefined) return track;
  const bars = barsIn(context, { y, height });
  for (let x = gutter; x < width; x++) {
    const from = view.from + (x - gutter) * pixel;
    const kinds = kindsIn(far.level, from, from + pixel);
    if (kinds !== 0) bars.add(x, 1, colourOf(kinds));
  }
  bars.flush();
  return far.wide;
}

/** Narrower gaps than this cannot be told from none, in pixels. */
const GAP_HIDDEN = 1.6;

/**
 * Fills bars of one row, neighbours of one colour together: far out a lane is a few long bars instead of thousands that
 * nobody could tell apart.
 * @param {CanvasRenderingContext2D} context
 * @param {{ y: number, height: number }} row
 */
export function barsIn(context, { y, height }) {
  let from = 0;
  let until = -1;
  /** @type {string} */
  let colour = '';
  const flush = () => {
    if (until < from) return;
    context.fillStyle = colour;
    context.fillRect(from, y, until - from, height);
    until = -1;
  };
  return {
    /** @type {(x: number, wide: number, colour: string) => void} */
    add: (x, wide, own) => {
      if (own !== colour || x > until + GAP_HIDDEN || x < from) {
        flush();
        from = x;
        colour = own;
        until = x;
      }
      until = Math.max(until, x + wide);
    },
    flush,
  };
}
