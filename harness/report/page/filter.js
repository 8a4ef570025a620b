// Shows only the runs that a field of the matrix is about. Which those are stands on the elements themselves
// (`data-row`, `data-column`); this file hides the others, and says so.

/** @param {string} place `row/column`; an empty part: any; empty: everything */
export function showOnly(place) {
  const [row = '', column = ''] = place.split('/');
  let shown = 0;
  let all = 0;
  for (const element of document.querySelectorAll('[data-row]')) {
    if (!(element instanceof HTMLElement)) continue;
    const fits =
      (row === '' || element.dataset['row'] === row) &&
      (column === '' || element.dataset['column'] === column);
    element.hidden = !fits;
    if (!element.classList.contains('run')) continue;
    all += 1;
    if (fits) shown += 1;
  }
  for (const link of document.querySelectorAll('[data-filter]'))
    link.toggleAttribute('data-chosen', place !== '' && link.getAttribute('data-filter') === place);
  const status = document.getElementById('filtered');
  if (status === null) return;
  status.hidden = shown === all;
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: 'show all' });
  button.addEventListener('click', () => showOnly(''));
  status.replaceChildren(`Shown below: ${shown} of ${all} runs. `, button);
}
