// From values to heights in a chart, and the marks on its left.

/** @import { ChartScene } from './chart-painters.js' */

/** Above and below what is drawn, in CSS pixels. */
export const TOP = 6;
export const BOTTOM = 4;

/**
 * From the smallest value to the largest, zero included.
 * @param {ChartScene} scene
 * @param {ArrayLike<number>} values
 * @param {(value: number) => string} [words] default: microseconds as a duration
 */
export function linearScale({ height }, values, words = micros) {
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
export function logScale({ height }, values) {
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
