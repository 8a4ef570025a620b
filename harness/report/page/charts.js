// The charts under the timeline: of the same stretch of the run, with the same scale from left to right, so that one
// moment is one line through all of them. They follow the timeline when it rests; while it moves they would only slow it.

import { chartPainters } from './chart-painters.js';

/** @import { Model } from './unpack.js' */
/** @import { Timeline } from './timeline.js' */

const HEIGHT = 96;
const REST_MILLIS = 70;

/**
 * Draws into each `figure` of `element`, and again whenever the timeline shows something else.
 * @param {Element} element
 * @param {Model} model
 * @param {Timeline} timeline
 */
export function chartsIn(element, model, timeline) {
  const painters = chartPainters(model, timeline.layout);
  const charts = [...element.querySelectorAll('figure')].flatMap((figure) => {
    const painter = painters[figure.dataset['chart'] ?? ''];
    if (painter === undefined) return [];
    const place = document.createElement('div');
    place.className = 'place';
    const canvas = document.createElement('canvas');
    canvas.setAttribute('aria-hidden', 'true');
    const cursor = document.createElement('div');
    cursor.className = 'cursor';
    cursor.hidden = true;
    place.append(canvas, cursor);
    figure.append(place);
    place.addEventListener('pointermove', (event) => timeline.point(event.offsetX));
    place.addEventListener('pointerleave', () => timeline.point(undefined));
    return { canvas, cursor, painter };
  });
  const draw = () => {
    const scene = timeline.scene();
    const ratio = Math.min(devicePixelRatio, 2);
    for (const { canvas, painter } of charts) {
      const height = painter.height ?? HEIGHT;
      canvas.width = Math.round(scene.width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.height = `${height}px`;
      const context = canvas.getContext('2d');
      if (context === null) continue;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      painter.draw(context, { ...scene, height });
    }
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let resting;
  timeline.follow({
    viewed: () => {
      clearTimeout(resting);
      resting = setTimeout(draw, REST_MILLIS);
    },
    restyled: draw,
    pointed: (x) => {
      for (const { cursor } of charts) {
        cursor.hidden = x === undefined;
        if (x !== undefined) cursor.style.transform = `translateX(${x}px)`;
      }
    },
  });
  draw();
}
