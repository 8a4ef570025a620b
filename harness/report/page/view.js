// Which stretch of the run is on the screen, and how to move it. Numbers only: no element, no canvas.

/**
 * @typedef {object} View
 * @property {number} from microseconds at the left edge
 * @property {number} until microseconds at the right edge
 */

/** Microseconds: no closer than this. */
const SPAN_MIN = 20;

/**
 * The nearest view that lies within the run and is not too close.
 * @param {View} view
 * @param {number} end
 * @returns {View}
 */
export function within({ from, until }, end) {
  const span = Math.min(Math.max(until - from, SPAN_MIN), end * 1.02);
  const start = Math.min(Math.max(from, -end * 0.01), end * 1.01 - span);
  return { from: start, until: start + span };
}

/**
 * Everything.
 * @param {number} end
 * @returns {View}
 */
export function whole(end) {
  return within({ from: -Infinity, until: Infinity }, end);
}

/**
 * Closer (factor < 1) or farther, with the moment `at` staying where it is.
 * @param {View} view
 * @param {{ factor: number, at: number }} step
 * @returns {View}
 */
export function zoomed({ from, until }, { factor, at }) {
  return { from: at - (at - from) * factor, until: at + (until - at) * factor };
}

/**
 * @param {View} view
 * @param {number} micros
 * @returns {View}
 */
export function panned({ from, until }, micros) {
  return { from: from + micros, until: until + micros };
}

/**
 * A view with some room around an interval, so that it fills about half of it.
 * @param {number} from
 * @param {number} until
 * @returns {View}
 */
export function around(from, until) {
  const room = Math.max((until - from) * 0.4, 4000);
  return { from: from - room, until: until + room };
}

/**
 * Round moments for an axis, about one per `every` microseconds, with the digits they need in seconds.
 * @param {View} view
 * @param {number} every
 * @returns {{ moments: number[], digits: number }}
 */
export function ticks({ from, until }, every) {
  const power = 10 ** Math.floor(Math.log10(every));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= every) ?? every;
  const moments = [];
  for (let tick = Math.ceil(Math.max(from, 0) / step) * step; tick <= until; tick += step) moments.push(tick);
  return { moments, digits: Math.max(0, 6 - Math.floor(Math.log10(step) + 1e-9)) };
}
