// One run's timeline: its canvases, its buttons, and what hands do to it (wheel, drag, pinch, brush, keys). Keeps the
// view and the selected finding; draws through draw.js.

import { drawTimeline } from './draw.js';
import { viewOfFinding } from './draw-findings.js';
import { layoutOf } from './layout.js';
import { drawOverview, loadOf } from './overview.js';
import { paintOf } from './paint.js';
import { findingAt, REACH_PIXELS } from './point.js';
import { scaleOf, WIDTH_MIN } from './scene.js';
import { tipIn } from './tip.js';
import { around, panned, whole, within, zoomed } from './view.js';

/** @import { Layout } from './layout.js' */
/** @import { Scene } from './scene.js' */
/** @import { Model } from './unpack.js' */
/** @import { View } from './view.js' */

const OVERVIEW_HEIGHT = 40;

/**
 * What the rest of the page may ask of a timeline.
 * @typedef {object} Timeline
 * @property {HTMLElement} frame
 * @property {readonly { anchor: string }[]} findings
 * @property {(finding: number) => void} select moves there and says what it is
 * @property {(direction: 1 | -1) => void} step selects the next or the previous finding, around and around
 * @property {() => void} restyle reads its colours again
 * @property {Layout} layout
 * @property {() => Scene} scene
 * @property {(from: number, until: number) => void} show moves to a stretch of time and what surrounds it
 * @property {(x: number | undefined) => void} point marks a moment, by CSS pixels from the left
 * @property {(follower: Follower) => void} follow
 */

/**
 * What goes along with a timeline.
 * @typedef {object} Follower
 * @property {() => void} viewed it shows another part
 * @property {() => void} restyled it has other colours, perhaps for a printer, which does not wait
 * @property {(x: number | undefined) => void} pointed the reader points at a moment
 */

/**
 * Builds the timeline inside `frame`.
 * @param {HTMLElement} frame
 * @param {Model} model
 * @returns {Timeline}
 */
export function timelineIn(frame, model) {
  const { columns } = model;
  const layout = layoutOf(model);
  const load = loadOf(model, 300);
  const toolbar = added(frame, 'div', 'toolbar');
  const overview = added(frame, 'canvas', 'overview');
  const stage = added(frame, 'div', 'stage');
  const canvas = added(stage, 'canvas', '');
  const cursor = added(stage, 'div', 'cursor');
  const status = added(frame, 'p', 'selected');
  const context = contextOf(canvas);
  const overviewContext = contextOf(overview);
  overview.setAttribute('aria-hidden', 'true');
  canvas.setAttribute('aria-hidden', 'true');
  stage.tabIndex = 0;
  stage.setAttribute('role', 'application');
  stage.setAttribute(
    'aria-label',
    'Timeline. Arrow keys pan, plus and minus zoom, 0 shows the whole run, n and p go to the next and previous finding. The tables below say the same.',
  );
  status.setAttribute('aria-live', 'polite');
  cursor.hidden = true;
  /** @type {Follower[]} */
  const followers = [];

  let view = whole(model.end);
  let selected = -1;
  let width = 0;
  let paint = paintOf(frame, context);
  let drawing = 0;

  const scene = () => ({ model, layout, paint, view, width, gutter: width < 560 ? 62 : 96, selected });
  const tip = tipIn(stage, scene);
  const draw = () => {
    drawing = 0;
    const now = scene();
    drawTimeline(context, now);
    drawOverview(overviewContext, { ...now, height: OVERVIEW_HEIGHT, load });
    for (const { viewed } of followers) viewed();
    span.textContent = `${(Math.max(view.from, 0) / 1e6).toFixed(4)} – ${(Math.min(view.until, model.end) / 1e6).toFixed(4)} s`;
  };
  const redraw = () => {
    if (drawing === 0) drawing = requestAnimationFrame(draw);
  };
  /** @param {View} next */
  const show = (next) => {
    view = within(next, model.end);
    redraw();
  };
  /** @param {number} factor */
  const zoom = (factor, at = (view.from + view.until) / 2) => show(zoomed(view, { factor, at }));
  /** @param {number} share of what is in view */
  const pan = (share) => show(panned(view, (view.until - view.from) * share));
  /** @param {number} x in CSS pixels from the left of the canvas */
  const timeAt = (x) => view.from + (x - scene().gutter) / scaleOf(scene());

  /** @param {number | undefined} x */
  const mark = (x) => {
    const shown = x !== undefined && x >= scene().gutter ? x : undefined;
    cursor.hidden = shown === undefined;
    if (shown !== undefined) cursor.style.transform = `translateX(${shown}px)`;
    for (const { pointed } of followers) pointed(shown);
  };

  /** @param {number} finding */
  const select = (finding) => {
    const chosen = columns.findings[finding];
    if (chosen === undefined) return;
    selected = finding;
    show(viewOfFinding(model, finding));
    const link = document.createElement('a');
    link.href = `#${chosen.anchor}`;
    link.textContent = 'read it';
    status.replaceChildren(
      `Finding ${finding + 1} of ${columns.findings.length} · ${chosen.code} · ${(chosen.at / 1e6).toFixed(3)} s: ${chosen.says}. `,
      link,
    );
  };
  /** @param {1 | -1} direction */
  const step = (direction) => {
    const count = columns.findings.length;
    if (selected < 0) select(direction > 0 ? 0 : count - 1);
    else select((selected + direction + count) % count);
  };

  const button = (/** @type {string} */ text, /** @type {() => void} */ act) => {
    const element = added(toolbar, 'button', '');
    element.type = 'button';
    element.textContent = text;
    element.addEventListener('click', act);
  };
  if (columns.findings.length > 0) {
    button('‹ previous finding', () => step(-1));
    button('next finding ›', () => step(1));
  }
  button('zoom in', () => zoom(0.5));
  button('zoom out', () => zoom(2));
  button('whole run', () => show(whole(model.end)));
  const span = added(toolbar, 'span', 'span');

  const resize = () => {
    width = Math.max(stage.clientWidth, WIDTH_MIN);
    for (const [element, height] of /** @type {const} */ ([
      [canvas, layout.height],
      [overview, OVERVIEW_HEIGHT],
    ])) {
      const ratio = Math.min(devicePixelRatio, 2);
      element.width = Math.round(width * ratio);
      element.height = Math.round(height * ratio);
      element.style.height = `${height}px`;
      contextOf(element).setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    draw();
  };
  new ResizeObserver(() => {
    // Without width it is hidden, and keeps what is drawn.
    if (stage.clientWidth !== width && stage.clientWidth > 0) resize();
  }).observe(stage);
  resize();

  stage.addEventListener(
    'wheel',
    (event) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      // The wheel belongs to the page until the timeline is asked for: by Ctrl (or a pinch), or by a click into it.
      if (!event.ctrlKey && !event.metaKey && !sideways && document.activeElement !== stage) return;
      event.preventDefault();
      if (sideways) pan((event.deltaX + (event.shiftKey ? event.deltaY : 0)) / width);
      else
        zoom(
          Math.exp(Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 100) * 0.004),
          timeAt(event.offsetX),
        );
    },
    { passive: false },
  );

  /** @type {Map<number, number>} pointer → where it was, in CSS pixels */
  const pointers = new Map();
  let travelled = 0;
  canvas.addEventListener('pointerdown', (event) => {
    pointers.set(event.pointerId, event.offsetX);
    canvas.setPointerCapture(event.pointerId);
    travelled = 0;
  });
  canvas.addEventListener('pointermove', (event) => {
    mark(event.offsetX);
    const before = pointers.get(event.pointerId);
    if (before === undefined) return tip.point(event.offsetX, event.offsetY);
    tip.leave();
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    travelled += Math.abs(event.offsetX - before);
    if (other === undefined) show(panned(view, (before - event.offsetX) / scaleOf(scene())));
    else
      zoom(
        Math.max(Math.abs(before - other), 8) / Math.max(Math.abs(event.offsetX - other), 8),
        timeAt(other),
      );
    pointers.set(event.pointerId, event.offsetX);
  });
  canvas.addEventListener('pointerup', (event) => {
    pointers.delete(event.pointerId);
    if (travelled > REACH_PIXELS) return;
    const finding = findingAt(scene(), { x: event.offsetX, y: event.offsetY });
    if (finding !== undefined) return select(finding);
    tip.click(event.offsetX, event.offsetY);
  });
  canvas.addEventListener('pointercancel', (event) => pointers.delete(event.pointerId));
  canvas.addEventListener('pointerleave', () => {
    tip.leave();
    mark(undefined);
  });

  /** @type {number | undefined} */
  let brushFrom;
  const overviewTime = (/** @type {PointerEvent} */ event) =>
    ((event.offsetX - scene().gutter) / (width - scene().gutter)) * model.end;
  overview.addEventListener('pointerdown', (event) => {
    overview.setPointerCapture(event.pointerId);
    const at = overviewTime(event);
    const zoomedIn = view.until - view.from < model.end * 0.95;
    if (zoomedIn && at >= view.from && at <= view.until) brushFrom = undefined;
    else brushFrom = at;
  });
  overview.addEventListener('pointermove', (event) => {
    if (!overview.hasPointerCapture(event.pointerId)) return;
    const at = overviewTime(event);
    const half = (view.until - view.from) / 2;
    if (brushFrom === undefined) show({ from: at - half, until: at + half });
    else if (Math.abs(at - brushFrom) > (model.end / width) * REACH_PIXELS)
      show({ from: Math.min(at, brushFrom), until: Math.max(at, brushFrom) });
  });

  stage.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      ArrowLeft: () => pan(-0.15),
      ArrowRight: () => pan(0.15),
      '+': () => zoom(0.6),
      '=': () => zoom(0.6),
      '-': () => zoom(1 / 0.6),
      0: () => show(whole(model.end)),
      Escape: tip.close,
    }[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  });

  return {
    frame,
    findings: columns.findings,
    layout,
    scene,
    show: (from, until) => {
      show(around(from, until));
      frame.scrollIntoView({ block: 'nearest' });
    },
    point: mark,
    follow: (follower) => {
      followers.push(follower);
    },
    select,
    step,
    restyle: () => {
      paint = paintOf(frame, context);
      draw();
      for (const { restyled } of followers) restyled();
    },
  };
}

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {HTMLElement} parent
 * @param {Name} kind
 * @param {string} look its class
 */
function added(parent, kind, look) {
  const element = document.createElement(kind);
  if (look !== '') element.className = look;
  parent.append(element);
  return element;
}

/** @param {HTMLCanvasElement} canvas */
function contextOf(canvas) {
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('this browser draws no canvas');
  return context;
}
