// All operations of a run as a table that has only the rows in view: a million of them are as quick as ten. What is
// asked for is `operation-filter.js`.

import { FILTER_KEYS, operationFilter } from './operation-filter.js';
import { factsOf } from './unpack.js';

/** @import { Model } from './unpack.js' */
/** @import { Timeline } from './timeline.js' */

const ROW_HEIGHT = 26;
const ROWS_SHOWN = 14;
const TYPING_MILLIS = 120;
const HEADINGS = ['Operation', 'Process', 'On', 'Invoked', 'Took', 'Outcome', 'Carried'];

/**
 * @param {HTMLElement} frame
 * @param {Model} model
 * @param {Timeline} timeline
 */
export function operationsIn(frame, model, timeline) {
  const label = document.createElement('label');
  const field = Object.assign(document.createElement('input'), {
    type: 'search',
    placeholder: 'lock:k2 type:info dur>1s near:7f3c',
    spellcheck: false,
  });
  label.append('Show only ', field);
  const status = document.createElement('p');
  status.className = 'soft';
  status.setAttribute('aria-live', 'polite');
  const scroller = document.createElement('div');
  scroller.className = 'virtual';
  scroller.tabIndex = 0;
  scroller.setAttribute('role', 'group');
  scroller.setAttribute('aria-label', 'Operations');
  const table = document.createElement('table');
  const head = table.createTHead().insertRow();
  for (const heading of HEADINGS)
    head.append(Object.assign(document.createElement('th'), { scope: 'col', textContent: heading }));
  const above = document.createElement('div');
  const below = document.createElement('div');
  const body = table.createTBody();
  scroller.append(above, table, below);
  frame.append(label, status, scroller);

  let found = Uint32Array.from({ length: model.operations.length }, (_, index) => index);
  const draw = () => {
    const first = Math.min(
      Math.max(Math.floor(scroller.scrollTop / ROW_HEIGHT) - 4, 0),
      Math.max(found.length - ROWS_SHOWN, 0),
    );
    const shown = found.subarray(first, first + ROWS_SHOWN + 8);
    above.style.height = `${first * ROW_HEIGHT}px`;
    below.style.height = `${(found.length - first - shown.length) * ROW_HEIGHT}px`;
    table.setAttribute('aria-rowcount', String(found.length + 1));
    body.replaceChildren(
      ...Array.from(shown, (operation, index) => row(model, { operation, nth: first + index + 2, timeline })),
    );
  };
  const search = () => {
    try {
      const fits = operationFilter(model, field.value);
      const all = Uint32Array.from({ length: model.operations.length }, (_, index) => index);
      found = field.value.trim() === '' ? all : all.filter(fits);
      status.textContent = `${found.length.toLocaleString('en')} of ${all.length.toLocaleString('en')} operations. Words: ${FILTER_KEYS}.`;
      scroller.scrollTop = 0;
      draw();
    } catch (error) {
      status.textContent = error instanceof Error ? error.message : String(error);
    }
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  field.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(search, TYPING_MILLIS);
  });
  scroller.addEventListener('scroll', draw);
  search();
}

/**
 * @param {Model} model
 * @param {{ operation: number, nth: number, timeline: Timeline }} place
 */
function row(model, { operation, nth, timeline }) {
  const { columns, operations } = model;
  const own = columns.operations;
  const from = operations.from[operation] ?? 0;
  const until = operations.until[operation] ?? 0;
  const error = columns.words[own.error[operation] ?? 0];
  const outcome = columns.outcomes[own.outcome[operation] ?? 0] ?? '';
  const element = document.createElement('tr');
  element.setAttribute('aria-rowindex', String(nth));
  const button = Object.assign(document.createElement('button'), {
    type: 'button',
    textContent: `#${own.id[operation] ?? ''} ${columns.kinds[own.kind[operation] ?? 0] ?? ''}`,
    title: 'show on the timeline',
  });
  button.addEventListener('click', () => timeline.show(from, until));
  element.insertCell().append(button);
  for (const text of [
    columns.processes[own.process[operation] ?? 0]?.name ?? '',
    columns.words[own.store[operation] ?? 0] || (columns.locks[own.lock[operation] ?? 0] ?? ''),
    `${(from / 1e6).toFixed(6)} s`,
    (own.took[operation] ?? -1) < 0 ? 'never completed' : `${((until - from) / 1e3).toFixed(2)} ms`,
    error ? `${outcome}, ${error}` : outcome,
    factsOf(columns, operation),
  ])
    element.insertCell().textContent = text;
  return element;
}
