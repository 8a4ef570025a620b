// Last of the page's modules: wakes each timeline when it comes near, follows links to findings, copies commands. The
// page reads without it; it only adds.

import { chartsIn } from './charts.js';
import { showOnly } from './filter.js';
import { inFull, showFindingPage, steppedFrom } from './finding-page.js';
import { operationsIn } from './operations.js';
import { unpacked } from './unpack.js';
import { timelineIn } from './timeline.js';

/** @import { Timeline } from './timeline.js' */

/** @type {Map<HTMLElement, Promise<Timeline | undefined>>} */
const timelines = new Map();
/** @type {Timeline[]} */
const built = [];

/**
 * The timeline inside `frame`, built on first use.
 * @param {HTMLElement} frame
 */
function timelineOf(frame) {
  const known = timelines.get(frame);
  if (known !== undefined) return known;
  const made = build(frame);
  timelines.set(frame, made);
  return made;
}

/**
 * @param {HTMLElement} frame
 * @returns {Promise<Timeline | undefined>}
 */
async function build(frame) {
  const columns = document.getElementById(`${frame.dataset['run']}-columns`);
  if (columns === null) return undefined;
  try {
    const model = await unpacked(columns);
    const timeline = timelineIn(frame, model);
    built.push(timeline);
    whenNear(frame.closest('.run')?.querySelector('.charts'), (charts) => chartsIn(charts, model, timeline));
    whenNear(frame.closest('.run')?.querySelector('.operations'), (operations) =>
      operationsIn(operations, model, timeline),
    );
    frame.dataset['ready'] = '';
    return timeline;
  } catch (error) {
    frame.textContent = `The timeline cannot be drawn in this browser (${String(error)}); the tables say the same.`;
    return undefined;
  }
}

/**
 * Builds what is in `place` as soon as a reader may see it, or prints it.
 * @param {Element | null | undefined} place
 * @param {(place: HTMLElement) => void} fill
 */
function whenNear(place, fill) {
  if (!(place instanceof HTMLElement)) return;
  const near = new IntersectionObserver(
    ([entry]) => {
      if (!entry?.isIntersecting) return;
      near.disconnect();
      fill(place);
      place.dataset['ready'] = '';
    },
    { rootMargin: '300px' },
  );
  near.observe(place);
}

const frames = [...document.querySelectorAll('.timeline')].filter(
  (element) => element instanceof HTMLElement,
);
const waking = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries)
      if (isIntersecting && target instanceof HTMLElement) {
        waking.unobserve(target);
        void timelineOf(target);
      }
  },
  { rootMargin: '600px' },
);
for (const frame of frames) waking.observe(frame);

/**
 * Selects the finding on the timeline of its run.
 * @param {HTMLElement} frame
 * @param {string} anchor
 */
async function showFinding(frame, anchor) {
  const timeline = await timelineOf(frame);
  timeline?.select(timeline.findings.findIndex((finding) => finding.anchor === anchor));
}

/**
 * On to the next finding of the run in front of the reader.
 * @param {1 | -1} direction
 */
async function stepFinding(direction) {
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
  (await timelineOf(frame))?.step(direction);
  frame.scrollIntoView({ block: 'nearest' });
}

/** All findings of the page, with or without a page of their own, in the order of the page. */
const anchors = [...document.querySelectorAll('.part-findings [id^="/f/"]')]
  .filter((element) => element.matches('.finding, tr'))
  .map(({ id }) => id);

/** The page of the finding that the address names, or the whole report. */
async function followAddress() {
  const address = location.hash;
  const named = document.getElementById(decodeURIComponent(address.slice(1)));
  if (named === null || !anchors.includes(named.id)) {
    showFindingPage(undefined, anchors);
    if (named?.closest('[hidden]')) showOnly('');
    named?.scrollIntoView();
    return;
  }
  const target = await inFull(named);
  // The reader has gone on meanwhile.
  if (location.hash !== address) return;
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
  if (frame instanceof HTMLElement) void showFinding(frame, target.id);
}
addEventListener('hashchange', () => void followAddress());
void followAddress();

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
    void showFinding(frame, show);
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
  if (event.key === 'n') void stepFinding(1);
  if (event.key === 'p') void stepFinding(-1);
});

function restyle() {
  for (const timeline of built) timeline.restyle();
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
addEventListener('beforeprint', () => restyleFor(true));
addEventListener('afterprint', () => restyleFor(false));
