// Colours and hatchings of the canvases, read from colours.css so that they follow its light, dark and print styles.

/**
 * @typedef {object} Paint
 * @property {string} ink
 * @property {string} soft
 * @property {string} line
 * @property {string} paper
 * @property {string} panel
 * @property {string} accent
 * @property {string} alert
 * @property {string} alertSoft
 * @property {string} fault
 * @property {string} unknown
 * @property {string} tenure
 * @property {string} lead the ground of a server that leads
 * @property {string} opLock
 * @property {string} opStore
 * @property {string} barInk text on bars
 * @property {string[]} locks one colour a lock, over again after the last
 * @property {CanvasPattern[]} lockPatterns
 * @property {CanvasPattern} faultPattern
 * @property {string} font
 */

const LOCK_COLOURS = 6;

/**
 * @param {HTMLElement} element whose style counts
 * @param {CanvasRenderingContext2D} context
 * @returns {Paint}
 */
export function paintOf(element, context) {
  const style = getComputedStyle(element);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  const locks = Array.from({ length: LOCK_COLOURS }, (_, index) => colour(`lock-${index}`));
  return {
    ink: colour('ink'),
    soft: colour('soft'),
    line: colour('line'),
    paper: colour('paper'),
    panel: colour('panel'),
    accent: colour('accent'),
    alert: colour('alert'),
    alertSoft: colour('alert-soft'),
    fault: colour('fault'),
    unknown: colour('unknown'),
    tenure: colour('tenure'),
    lead: colour('lead'),
    opLock: colour('op-lock'),
    opStore: colour('op-store'),
    barInk: colour('bar-ink'),
    locks,
    lockPatterns: locks.map((lock, index) =>
      hatching(context, { ground: lock, line: colour('hatch'), kind: index }),
    ),
    faultPattern: hatching(context, { ground: 'transparent', line: colour('fault'), kind: 1 }),
    font: style.fontFamily,
  };
}

/** What is drawn on a tile of 8 × 8, by kind; the first is plain. */
const TILES = ['', 'M-2 2 2-2M0 8 8 0M6 10 10 6', 'M2 2h1M6 6h1', 'M0 0 8 8M0 8 8 0', 'M4 0V8', 'M0 4H8'];

/**
 * @param {CanvasRenderingContext2D} context
 * @param {{ ground: string, line: string, kind: number }} look
 */
function hatching(context, { ground, line, kind }) {
  const tile = document.createElement('canvas');
  tile.width = 8;
  tile.height = 8;
  const drawing = tile.getContext('2d');
  if (drawing !== null) {
    drawing.fillStyle = ground;
    drawing.fillRect(0, 0, 8, 8);
    drawing.strokeStyle = line;
    drawing.lineWidth = kind === 2 ? 2 : 1.2;
    drawing.stroke(new Path2D(TILES[kind] ?? ''));
  }
  const pattern = context.createPattern(tile, 'repeat');
  if (pattern === null) throw new Error('this browser makes no canvas patterns');
  return pattern;
}
