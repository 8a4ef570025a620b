// A track seen from far away: for ever longer parts of the run which kinds of bars are in each, as bits. A longer part has
// the bits of the two that it is made of, so whatever is there is seen at every zoom, and a frame costs as much as it has
// pixels, however many bars there are. Bars that are wide enough to be seen at a level stand beside it, one by one.

/**
 * @typedef {object} Level
 * @property {number} part length of a part, in microseconds
 * @property {Uint8Array} kinds of each part
 * @property {Uint32Array} wide items of the track that are longer than some parts, in its order
 */

/** Parts of the first level, a power of two. */
const PARTS = 2 ** 15;
const LEVELS = 6;
/** Fewer are drawn one by one as quickly. */
const ITEMS_MIN = 2000;
/** Bars of so many parts are more than two pixels wide where their level is drawn, and have a look of their own. */
const WIDE_PARTS = 2;

/**
 * @param {Uint32Array} items in order of `from`
 * @param {{ from: Float64Array, until: Float64Array, end: number, kindOf: (item: number) => number }} what `kindOf`: one bit
 * @returns {Level[]} none if there are few items
 */
export function pyramidOf(items, { from, until, end, kindOf }) {
  if (items.length < ITEMS_MIN) return [];
  const part = end / PARTS;
  const kinds = new Uint8Array(PARTS);
  for (const item of items) {
    const last = Math.min(Math.floor((until[item] ?? 0) / part), PARTS - 1);
    const kind = kindOf(item);
    for (let index = Math.floor((from[item] ?? 0) / part); index <= last; index++)
      kinds[index] = (kinds[index] ?? 0) | kind;
  }
  const isWide = (/** @type {number} */ length) => (/** @type {number} */ item) =>
    (until[item] ?? 0) - (from[item] ?? 0) > length * WIDE_PARTS;
  /** @type {Level[]} */
  const levels = [{ part, kinds, wide: items.filter(isWide(part)) }];
  while (levels.length < LEVELS) {
    const below = levels.at(-1);
    if (below === undefined) break;
    levels.push({
      part: below.part * 2,
      kinds: halved(below.kinds),
      wide: below.wide.filter(isWide(below.part * 2)),
    });
  }
  return levels;
}

/** @param {Uint8Array} kinds */
function halved(kinds) {
  const half = new Uint8Array(kinds.length / 2);
  for (let index = 0; index < half.length; index++)
    half[index] = (kinds[2 * index] ?? 0) | (kinds[2 * index + 1] ?? 0);
  return half;
}

/**
 * The kinds of all parts that reach into a stretch of time.
 * @param {Level} level
 * @param {number} from
 * @param {number} until
 */
export function kindsIn({ part, kinds }, from, until) {
  let found = 0;
  const last = Math.min(Math.ceil(until / part), kinds.length);
  for (let index = Math.max(Math.floor(from / part), 0); index < last; index++) found |= kinds[index] ?? 0;
  return found;
}
