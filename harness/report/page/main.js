// Last of the page's modules: wakes each timeline when it comes near, follows links to findings, copies commands. The
// page reads without it; it only adds.

import { chartsIn } from './charts.js';
import { showOnly } from './filter.js';
import { inFull, showFindingPage, steppedFrom } from './finding-page.js';
import { operationsIn } from './operations.js';
import { unpacked } from './unpack.js';
import { timelineIn } from './timeline.js';

/** @import { Timeline } from './timeline.js' */

/** @type {Map<HTMLElement, Timeline | undefined>} */
const timelines = new Map();
/** What is nearer to the window is built, in CSS pixels. */
const NEAR_PIXELS = 600;

/**
 * The timeline inside `frame`, built on first use; undefined: it cannot be drawn here.
 * @param {HTMLElement} frame
 */
function timelineOf(frame) {
  if (!timelines.has(frame)) timelines.set(frame, build(frame));
  return timelines.get(frame);
}

/**
 * @param {HTMLElement} frame
 * @returns {Timeline | undefined}
 */
function build(frame) {
  const columns = document.getElementById(`${frame.dataset['run']}-columns`);
  if (columns === null) return undefined;
  try {
    const model = unpacked(columns);
    const timeline = timelineIn(frame, model);
    const run = frame.closest('.run');
    whenNear(run?.querySelector('.charts'), (charts) => chartsIn(charts, model, timeline));
    whenNear(run?.querySelector('.operations'), (operations) => operationsIn(operations, model, timeline));
    return timeline;
  } catch (error) {
    frame.textContent = `The timeline cannot be drawn in this browser (${String(error)}); the tables say the same.`;
    return undefined;
  }
}

/** @type {Map<Element, () => void>} place → what builds it */
const waiting = new Map();
const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) fillNow(target);
  },
  { rootMargin: `${NEAR_PIXELS}px` },
);

/**
 * Builds what is in `place` as soon as a reader may see it, or prints it: at once, or when it comes near.
 * @param {Element | null | undefined} place
 * @param {(place: HTMLElement) => void} fill
 */
function whenNear(place, fill) {
  if (!(place instanceof HTMLElement)) return;
  const { top, bottom, width } = place.getBoundingClientRect();
  // What is folded away has no width.
  if (width > 0 && top < innerHeight + NEAR_PIXELS && bottom > -NEAR_PIXELS) return fill(place);
  waiting.set(place, () => fill(place));
  near.observe(place);
}

/** @param {Element} place */
function fillNow(place) {
  const fill = waiting.get(place);
  waiting.delete(place);
  near.unobserve(place);
  fill?.();
}

const frames = [...document.querySelectorAll('.timeline')].filter(
  (element) => element instanceof HTMLElement,
);

/**
 * Selects the finding on the timeline of its run.
 * @param {HTMLElement} frame
 * @param {string} anchor
 */
function showFinding(frame, anchor) {
  const timeline = timelineOf(frame);
  timeline?.select(timeline.findings.findIndex((finding) => finding.anchor === anchor));
}

/**
 * On to the next finding of the run in front of the reader.
 * @param {1 | -1} direction
 */
function stepFinding(direction) {
  if (document.body.hasAttribute('data-finding')) {
    const shown = document.querySelector('.part-findings .current')?.id ?? '';
    location.hash = steppedFrom(anchors.indexOf(shown), direction, anchors);
    return;
  }
  const middle = innerHeight / 2;
  const started = frames.filter(
    (frame) =>
      frame.closest('[hidden]') === null &&
      (frame.closest('.run') ?? frame).getBoundingClientRect().top < middle,
  );
  const frame = started.at(-1) ?? frames[0];
  if (frame === undefined) return;
  timelineOf(frame)?.step(direction);
  frame.scrollIntoView({ block: 'nearest' });
}

/** All findings of the page, with or without a page of their own, in the order of the page. */
const anchors = [...document.querySelectorAll('.part-findings [id^="/f/"]')]
  .filter((element) => element.matches('.finding, tr'))
  .map(({ id }) => id);

/** null: nothing, or nothing on this page. */
function namedByAddress() {
  try {
    return document.getElementById(decodeURIComponent(location.hash.slice(1)));
  } catch {
    // A stray percent sign.
    return null;
  }
}

/** The page of the finding that the address names, or the whole report. */
function followAddress() {
  const named = namedByAddress();
  if (named === null || !anchors.includes(named.id)) {
    showFindingPage(undefined, anchors);
    if (named?.closest('[hidden]')) showOnly('');
    named?.scrollIntoView();
    return;
  }
  const target = inFull(named);
  for (
    let element = /** @type {Element | null} */ (target);
    element !== null;
    element = element.parentElement
  )
    if (element instanceof HTMLDetailsElement) element.open = true;
  if (target.closest('[hidden]') !== null) showOnly('');
  showFindingPage(target, anchors);
  scrollTo(0, 0);
  const frame = target.closest('.run')?.querySelector('.timeline');
  if (frame instanceof HTMLElement) showFinding(frame, target.id);
}
addEventListener('hashchange', followAddress);
followAddress();
// After that, so that what is seen of the whole page or of one finding is what is near.
for (const frame of frames) whenNear(frame, timelineOf);

document.addEventListener('click', (event) => {
  if (!(event.target instanceof Element)) return;
  const filter = event.target.closest('[data-filter]');
  if (filter instanceof HTMLAnchorElement) {
    event.preventDefault();
    showOnly(filter.hasAttribute('data-chosen') ? '' : (filter.dataset['filter'] ?? ''));
  }
  if (!(event.target instanceof HTMLElement)) return;
  const { show, copy } = event.target.dataset;
  const frame = event.target.closest('.run')?.querySelector('.timeline');
  if (show !== undefined && frame instanceof HTMLElement) {
    event.preventDefault();
    showFinding(frame, show);
    frame.scrollIntoView({ block: 'center' });
  }
  if (copy !== undefined) void copied(event.target, copy);
});

/**
 * @param {HTMLElement} button
 * @param {string} id of what is copied
 */
async function copied(button, id) {
  const source = document.getElementById(id);
  if (source === null) return;
  try {
    await navigator.clipboard.writeText(source.textContent ?? '');
    button.textContent = 'Copied';
  } catch {
    // Not allowed here: selected, so that the reader's own key copies it.
    getSelection()?.selectAllChildren(source);
    button.textContent = 'Selected';
  }
}
for (const button of document.querySelectorAll('[data-copy]')) button.removeAttribute('hidden');

const singleKeys = document.getElementById('single-keys');
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
  if (singleKeys instanceof HTMLInputElement && !singleKeys.checked) return;
  if (event.key === 'n') stepFinding(1);
  if (event.key === 'p') stepFinding(-1);
});

function restyle() {
  for (const timeline of timelines.values()) timeline?.restyle();
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', restyle);
/**
 * Canvases are printed as they are: drawn in the colours of paper first.
 * @param {boolean} onPaper
 */
function restyleFor(onPaper) {
  document.documentElement.toggleAttribute('data-paper', onPaper);
  restyle();
}
addEventListener('beforeprint', () => {
  restyleFor(true);
  for (const place of waiting.keys()) if (place.getClientRects().length > 0) fillNow(place);
});
addEventListener('afterprint', () => restyleFor(false));
