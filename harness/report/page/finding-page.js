// The page of one finding: everything else is folded away by the style, and a bar leads to the next, the previous and
// back to the whole. Which finding it is stands in the address, so that it can be sent to somebody. Where a code has many
// findings, the later ones are lines of a table, and their pages are unpacked when they are asked for.

import { inflated } from './unpack.js';

/** @type {WeakMap<Element, Record<string, string>>} */
const unpackedPages = new WeakMap();

/**
 * The finding in full: `target` itself, or what is unpacked for the line of a table that it is. The line itself if that
 * cannot be.
 * @param {HTMLElement} target
 */
export function inFull(target) {
  const packed = target.matches('tr') ? target.closest('.code')?.querySelector('.pages') : undefined;
  if (packed === null || packed === undefined) return target;
  try {
    const pages = unpackedPages.get(packed) ?? JSON.parse(new TextDecoder().decode(inflated(packed)));
    unpackedPages.set(packed, pages);
    const template = document.createElement('template');
    template.innerHTML = pages[target.id] ?? '';
    const page = template.content.querySelector('details');
    if (page === null) return target;
    target.removeAttribute('id');
    target.closest('.more')?.before(page);
    for (const button of page.querySelectorAll('[data-copy]')) button.removeAttribute('hidden');
    return page;
  } catch {
    return target;
  }
}

/**
 * @param {HTMLElement | undefined} target undefined: the whole report
 * @param {string[]} anchors of all findings, in the order of the bar
 */
export function showFindingPage(target, anchors) {
  for (const element of document.querySelectorAll('.current')) element.classList.remove('current');
  document.body.toggleAttribute('data-finding', target !== undefined);
  document.getElementById('finding-bar')?.remove();
  if (target === undefined) return;
  target.classList.add('current');
  target.closest('.run')?.classList.add('current');
  const bar = document.createElement('nav');
  bar.id = 'finding-bar';
  bar.setAttribute('aria-label', 'Findings');
  const nth = anchors.indexOf(target.id);
  bar.append(
    linkTo(`${target.closest('.run')?.id ?? ''}-findings`, '← the whole report'),
    linkTo(steppedFrom(nth, -1, anchors), '‹ previous (p)'),
    `finding ${nth + 1} of ${anchors.length}`,
    linkTo(steppedFrom(nth, 1, anchors), 'next (n) ›'),
  );
  document.body.prepend(bar);
}

/**
 * @param {string} anchor
 * @param {string} text
 */
function linkTo(anchor, text) {
  return Object.assign(document.createElement('a'), { href: `#${anchor}`, textContent: text });
}

/**
 * The anchor of the next finding or the previous one, around and around.
 * @param {number} nth
 * @param {1 | -1} direction
 * @param {string[]} anchors
 */
export function steppedFrom(nth, direction, anchors) {
  return anchors[(nth + direction + anchors.length) % anchors.length] ?? '';
}
