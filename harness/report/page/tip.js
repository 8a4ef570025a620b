// What is told of the spot under the pointer. A click keeps it, so that it can be read beside others and copied.

import { linesAt } from './point.js';

/** @import { Scene } from './scene.js' */

/**
 * @param {HTMLElement} stage
 * @param {() => Scene} scene
 */
export function tipIn(stage, scene) {
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.hidden = true;
  stage.append(tip);
  let kept = false;
  /** @param {boolean} stays */
  const keep = (stays) => {
    kept = stays;
    tip.classList.toggle('pinned', stays);
  };
  /**
   * @param {number} x in CSS pixels from the left of the stage
   * @param {number} y
   */
  const point = (x, y) => {
    if (kept) return;
    const { width, layout } = scene();
    const lines = linesAt(scene(), { x, y });
    tip.hidden = lines.length === 0;
    if (tip.hidden) return;
    tip.replaceChildren(
      ...lines.map((line) => Object.assign(document.createElement('div'), { textContent: line })),
    );
    const left = Math.min(Math.max(x + 14, 0), Math.max(width - tip.offsetWidth - 4, 0));
    const below = y + 18 + tip.offsetHeight < layout.height;
    tip.style.transform = `translate(${left}px, ${below ? y + 18 : Math.max(y - tip.offsetHeight - 10, 0)}px)`;
  };
  return {
    point,
    /**
     * Keeps what is told there, or lets go what is kept.
     * @param {number} x
     * @param {number} y
     */
    click: (x, y) => {
      const lets = kept;
      keep(false);
      point(x, y);
      keep(!lets && !tip.hidden);
    },
    leave: () => {
      if (!kept) tip.hidden = true;
    },
    close: () => {
      keep(false);
      tip.hidden = true;
    },
  };
}
