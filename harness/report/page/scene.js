// What is drawn from: one run, the part of it in view, and the room there is; and the walk over what is in view, on which
// all lanes are drawn. What is smaller than a pixel is visited once per pixel, so a frame costs pixels, not operations.

import { firstReaching } from './layout.js';

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
/**
 * @param {Scene} scene
 * @returns {number} pixels per microsecond
 */
export function scaleOf({ view, width, gutter }) {
  return (width - gutter) / (view.until - view.from);
}

/**
 * Calls `draw` for each item of the track in view, leaving out what is narrower than a pixel and lies in one that is
 * drawn already, in the same row.
 * @param {Scene} scene
 * @param {{ track: Track, from: Float64Array, until: Float64Array, rows?: ArrayLike<number>, draw: (item: number, x: number, wide: number) => void }} what
 */
export function eachInView(scene, { track, from, until, rows, draw }) {
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
