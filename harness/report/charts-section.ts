// The places of the charts in the page, which page/charts.js draws with the data of the timeline, and the tables that
// say the same: the run in equal slices of time, and what came after each fault. Pure.

import { doneTo, faultTimes, seconds } from '../../checkers/wording.ts';
import type { Grant } from '../history/grants.ts';
import { html, type Html } from './html.ts';
import type { RunView } from './run-view.ts';
import { clause, count, duration, name } from './words.ts';

const SLICES = 20;
const FAULT_ROWS_MAX = 200;

/** What page/charts.js finds by `data-chart`. */
const CHARTS = [
  ['holds', 'Holds in force, lock by lock: a bar above the dashed line is a lock held by two at once'],
  ['latency', 'Time to be granted the lock (logarithmic): each grant; line: median, dashed: 99 %'],
  ['throughput', 'Operations a second: done (line), refused (dashed), unknown (dotted)'],
  ['slack', 'Lease left when the release was sent: below zero it came too late'],
  ['recovery', 'From the proof that a fault acts to the next grant of any lock (logarithmic)'],
  ['tokens', 'Fencing tokens as granted: a triangle is one that is not above the one before on its lock'],
] as const;

export function chartsSection(view: RunView): Html {
  const hasTokens = view.grants.some(({ token }) => token !== undefined);
  const charts = CHARTS.filter(
    ([chart]) =>
      (chart !== 'tokens' || hasTokens) && (chart !== 'recovery' || view.run.history.faults.length > 0),
  );
  return html`<p class="soft">
      Of the part that the timeline shows; shaded from the proof that a fault acts to the proof that it is
      over. Point at one to see the same moment everywhere.
    </p>
    <div class="charts">
      ${charts.map(
        ([chart, words]) => html`<figure data-chart="${chart}"><figcaption>${words}</figcaption></figure>`,
      )}
    </div>
    <details class="more">
      <summary>The charts as tables</summary>
      ${sliceTable(view)} ${recoveryTable(view)}
    </details>`;
}

function sliceTable(view: RunView): Html {
  const { operations, end } = view.run.history;
  const length = Math.max(end, 1) / SLICES;
  const sliceOf = (time: number): number => Math.min(Math.floor(time / length), SLICES - 1);
  const done = Map.groupBy(operations, ({ completed, invoked }) => sliceOf(completed ?? invoked));
  const granted = Map.groupBy(view.grants, ({ hold }) => sliceOf(hold.start));
  const most = mostHolds(view, sliceOf);
  return html`<div class="scroll" tabindex="0" role="group" aria-label="The run in slices of time">
    <table>
      <thead>
        <tr>
          <th scope="col">From</th>
          <th scope="col">Done</th>
          <th scope="col">Refused</th>
          <th scope="col">Unknown</th>
          <th scope="col">Grants</th>
          <th scope="col">Time to a grant, median</th>
          <th scope="col">99 %</th>
          <th scope="col">Holds of one lock at once, most</th>
          <th scope="col">Least lease left</th>
          <th scope="col">Tokens</th>
        </tr>
      </thead>
      <tbody>
        ${Array.from({ length: SLICES }, (_, slice) => {
          const here = done.get(slice) ?? [];
          const grants = granted.get(slice) ?? [];
          const outcome = (word: string): string =>
            count(here.filter((operation) => operation.outcome === word).length);
          const waits = grants
            .map(({ acquire, hold }) => hold.start - acquire.invoked)
            .toSorted((a, b) => a - b);
          const slack = grants.flatMap((grant) => slackOf(grant) ?? []);
          const tokens = grants.flatMap(({ token }) => token ?? []).toSorted((a, b) => (a < b ? -1 : 1));
          return html`<tr>
            <td class="number">${seconds(slice * length)}</td>
            <td class="number">${outcome('ok')}</td>
            <td class="number">${outcome('fail')}</td>
            <td class="number">${outcome('info')}</td>
            <td class="number">${count(grants.length)}</td>
            <td class="number">${quantile(waits, 0.5)}</td>
            <td class="number">${quantile(waits, 0.99)}</td>
            <td class="number">${count(most[slice] ?? 0)}</td>
            <td class="number">
              ${slack.length === 0 ? '–' : signed(slack.reduce((a, b) => Math.min(a, b)))}
            </td>
            <td class="number">${tokens.length === 0 ? '–' : name(`${tokens[0]} to ${tokens.at(-1)}`)}</td>
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}

/** By nearest rank; `sorted` is. */
function quantile(sorted: readonly number[], share: number): string {
  const value = sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)];
  return value === undefined ? '–' : duration(value);
}

function signed(nanos: number): string {
  return nanos < 0 ? `−${duration(-nanos)}` : duration(nanos);
}

/** What was left of the lease when its release was sent; undefined: no lease, or no release. */
export function slackOf({ leaseEnd, release, hold }: Grant): number | undefined {
  return leaseEnd === undefined || release === undefined || hold.endedBy !== 'release'
    ? undefined
    : leaseEnd - release.invoked;
}

/** In each slice the most holds of one lock that were in force at once. O(n log n). */
function mostHolds(view: RunView, sliceOf: (time: number) => number): readonly number[] {
  const most = Array.from({ length: SLICES }, () => 0);
  for (const grants of Map.groupBy(view.grants, ({ lock }) => lock).values()) {
    const changes = grants
      .filter(({ hold }) => hold.end > hold.start)
      .flatMap(({ hold }) => [
        { at: hold.start, by: 1 },
        { at: hold.end, by: -1 },
      ])
      .toSorted((a, b) => a.at - b.at || a.by - b.by);
    let holds = 0;
    let slice = 0;
    for (const { at, by } of changes) {
      for (const until = sliceOf(at); slice < until;) {
        slice += 1;
        most[slice] = Math.max(most[slice] ?? 0, holds);
      }
      holds += by;
      most[slice] = Math.max(most[slice] ?? 0, holds);
    }
  }
  return most;
}

function recoveryTable(view: RunView): Html | undefined {
  const { faults } = view.run.history;
  if (faults.length === 0) return undefined;
  const starts = view.grants.map(({ hold }) => hold.start);
  return html`<div class="scroll" tabindex="0" role="group" aria-label="After each fault">
    <table>
      <thead>
        <tr>
          <th scope="col">Fault</th>
          <th scope="col">When</th>
          <th scope="col">From the proof to the next grant of any lock</th>
        </tr>
      </thead>
      <tbody>
        ${faults.slice(0, FAULT_ROWS_MAX).map((fault) => {
          const { acted } = fault;
          const next = acted === undefined ? undefined : starts.find((start) => start >= acted);
          return html`<tr>
            <td>${name(fault.id)}: ${clause(doneTo(fault))}</td>
            <td>${faultTimes(fault)}</td>
            <td class="number">
              ${acted === undefined || next === undefined ? 'none' : duration(next - acted)}
            </td>
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}
