// What became of the cells of the page over time: as a picture a cell, in numbers, and in words where something is worse
// than before. Pure.

import { exactInterval, intervalText } from '../comparison/interval.ts';
import { asExpected, brokeRule, type PastRun, type Trend } from '../comparison/trends.ts';
import { html, type Html } from './html.ts';
import { counted, name } from './words.ts';

const WIDTH = 240;
const HEIGHT = 46;
/** Above and below the rates. */
const MARGIN = 8;
/** Runs that follow each other are one point if there are more. */
const POINTS_MAX = 24;

/** undefined: no cell of the page ran before. */
export function trendsSection(trends: readonly Trend[]): Html | undefined {
  if (trends.length === 0) return undefined;
  const worse = trends.filter((trend) => trend.worse.length > 0);
  const earlier = trends.reduce((sum, { before }) => sum + before.length, 0);
  return html`<section class="over-time" id="over-time">
    <h2>Over time</h2>
    ${
      worse.length === 0
        ? html`<p>
            Nothing is worse than chance explains in ${counted(trends.length, 'cell')} against
            ${counted(earlier, 'earlier run')}.
          </p>`
        : html`<ul class="warnings">
            ${worse.map((trend) => html`<li><strong>${cellWords(trend)}</strong>: ${trend.worse.join('; ')}</li>`)}
          </ul>`
    }
    <details class="more">
      <summary>Each cell, before and here</summary>
      <p class="soft">
        Of the runs, how many came out as expected, and of the faults that acted, how many broke a rule, each
        with the exact 95 % interval. The picture has the latter for at most ${POINTS_MAX} groups of runs,
        oldest first, those of this page right of the line; a triangle marks runs that did not come out as
        expected.
      </p>
      <div class="scroll" tabindex="0" role="group" aria-label="Cells over time">
        <table>
          <thead>
            <tr>
              <th scope="col">Cell</th>
              <th scope="col">As expected before</th>
              <th scope="col">Here</th>
              <th scope="col">Faults that broke a rule before</th>
              <th scope="col">Here</th>
              <th scope="col">Over the runs</th>
            </tr>
          </thead>
          <tbody>
            ${trends.map((trend) => row(trend))}
          </tbody>
        </table>
      </div>
    </details>
  </section>`;
}

function cellWords({ cell, simulated }: Trend): string {
  return `${name(cell)}${simulated ? ', simulated' : ''}`;
}

function row(trend: Trend): Html {
  const { before, now } = trend;
  return html`<tr>
    <td>
      ${cellWords(trend)}<br /><span class="soft">since ${name(before[0]?.started.slice(0, 10) ?? '')}</span>
    </td>
    <td class="number">${intervalText(asExpected(before))}</td>
    <td class="number">${intervalText(asExpected(now))}</td>
    <td class="number">${rateText(before)}</td>
    <td class="number">${rateText(now)}</td>
    <td>${picture(trend)}</td>
  </tr>`;
}

function rateText(runs: readonly PastRun[]): string {
  const broke = brokeRule(runs);
  return broke.trials === 0 ? '–' : intervalText(broke);
}

function picture({ before, now }: Trend): Html {
  const share = (runs: readonly PastRun[]): number =>
    Math.ceil((POINTS_MAX * runs.length) / (before.length + now.length));
  const [earlier, later] = [grouped(before, share(before)), grouped(now, share(now))];
  const points = [...earlier, ...later];
  const step = WIDTH / points.length;
  const y = (rate: number): number => round(HEIGHT - MARGIN - rate * (HEIGHT - 2 * MARGIN));
  const line = round(earlier.length * step);
  return html`<svg
    class="trend"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    width="${WIDTH}"
    height="${HEIGHT}"
    role="img"
    aria-label="${words(points)}"
  >
    <path class="d-axis" d="M0 ${y(0)}H${WIDTH}M0 ${y(1)}H${WIDTH}" />
    <path class="d-lead" d="M${line} 0V${HEIGHT}" />
    ${points.map((runs, index) => {
      const x = round((index + 0.5) * step);
      const broke = brokeRule(runs);
      const { low, high } = exactInterval(broke);
      const rate =
        broke.trials === 0
          ? undefined
          : html`<path class="d-lead" d="M${x} ${y(low)}V${y(high)}" /><circle
                class="d-step"
                cx="${x}"
                cy="${y(broke.hits / broke.trials)}"
                r="3"
              />`;
      const surprise = runs.every((run) => run.asExpected)
        ? undefined
        : html`<path class="d-mark" d="M${x} ${HEIGHT - MARGIN + 1}l4 7h-8z" />`;
      return html`${rate}${surprise}`;
    })}
  </svg>`;
}

/** In so many groups at most, of nearly the same size, in order. */
function grouped(runs: readonly PastRun[], groups: number): readonly (readonly PastRun[])[] {
  const size = Math.ceil(runs.length / groups);
  return Array.from({ length: Math.ceil(runs.length / size) }, (_, index) =>
    runs.slice(index * size, (index + 1) * size),
  );
}

function words(points: readonly (readonly PastRun[])[]): string {
  const rates = points.map((runs) => {
    const { hits, trials } = brokeRule(runs);
    const wrong = runs.filter((run) => !run.asExpected).length;
    return `${hits} of ${trials}${wrong === 0 ? '' : ` (${counted(wrong, 'run')} not as expected)`}`;
  });
  return `Faults that broke a rule, oldest runs first: ${rates.join(', ')}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
