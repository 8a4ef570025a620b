// What the servers printed around a finding. Their lines carry wall times, each program in its own form; the run says
// at what wall time its clock began, so a line has a place on the timeline. Of other lines nothing is claimed. Pure.

import { seconds } from '../../checkers/wording.ts';
import { html, type Html } from './html.ts';
import type { NodeLog } from './judged-run.ts';
import { count, name } from './words.ts';

/** Before and after the finding. */
const AROUND_NANOS = 2e9;
/** Of all nodes; those nearest to the finding. */
const LINES_MAX = 40;
const LINE_CHARACTERS_MAX = 300;

export interface TimedLine {
  readonly node: string;
  /** Nanoseconds on the run's clock. */
  readonly at: number;
  readonly text: string;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAY_MILLIS = 86_400_000;

/**
 * Milliseconds since 1970 that a line begins with or soon says: PostgreSQL and etcd (`2026-11-29 19:54:32.258 UTC`,
 * `"ts":"2026-11-29T20:08:05.985Z"`), Redis (`29 Nov 2026 19:54:34.382`), ZooKeeper (`19:54:34.382`, of the day of
 * `near`). Containers tell UTC. undefined: it says none.
 */
export function wallTimeIn(line: string, near: number): number | undefined {
  const start = line.slice(0, 80);
  const iso = /(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d\.\d+)/.exec(start);
  if (iso !== null) return valid(Date.parse(`${iso[1]}T${iso[2]?.slice(0, 12)}Z`));
  const redis = /(\d\d) (\w{3}) (\d{4}) (\d\d:\d\d:\d\d\.\d{3})/.exec(start);
  if (redis !== null) {
    const month = String(MONTHS.indexOf(redis[2] ?? '') + 1).padStart(2, '0');
    return valid(Date.parse(`${redis[3]}-${month}-${redis[1]}T${redis[4]}Z`));
  }
  const clock = /^(\d\d):(\d\d):(\d\d)\.(\d{3})/.exec(start);
  if (clock === null) return undefined;
  const [, hour, minute, second, millis] = clock.map(Number);
  const ofDay = (((hour ?? 0) * 60 + (minute ?? 0)) * 60 + (second ?? 0)) * 1000 + (millis ?? 0);
  const midnight = near - (near % DAY_MILLIS) + ofDay;
  // Before or after midnight: the one that is nearer.
  return [midnight - DAY_MILLIS, midnight, midnight + DAY_MILLIS].toSorted(
    (a, b) => Math.abs(a - near) - Math.abs(b - near),
  )[0];
}

function valid(millis: number): number | undefined {
  return Number.isNaN(millis) ? undefined : millis;
}

/** All lines that have a place on the run's clock, in order of time. `zero`: the wall time at which that began. */
export function timedLines(logs: readonly NodeLog[], zero: unknown): readonly TimedLine[] {
  const began = typeof zero === 'string' ? Date.parse(zero) : Number.NaN;
  if (Number.isNaN(began)) return [];
  return logs
    .flatMap(({ node, text }) =>
      text.split('\n').flatMap((line) => {
        const wall = wallTimeIn(line, began);
        return wall === undefined ? [] : { node, at: (wall - began) * 1e6, text: line };
      }),
    )
    .toSorted((a, b) => a.at - b.at);
}

/** Those around a finding; nothing if there are none. */
export function logAround(lines: readonly TimedLine[], at: number): Html | undefined {
  const near = lines.filter((line) => Math.abs(line.at - at) <= AROUND_NANOS);
  if (near.length === 0) return undefined;
  const shown = near
    .toSorted((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at))
    .slice(0, LINES_MAX)
    .toSorted((a, b) => a.at - b.at);
  const left = near.length - shown.length;
  return html`<details class="more">
    <summary>What the servers printed, 2 s before and after: ${count(shown.length)} lines</summary>
    <div class="scroll" tabindex="0" role="group" aria-label="Server log">
      <table class="log">
        <thead>
          <tr>
            <th scope="col">At</th>
            <th scope="col">Node</th>
            <th scope="col">Line</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map(
            (line) =>
              html`<tr>
                <td class="number">${seconds(line.at)}</td>
                <td>${name(line.node)}</td>
                <td><code>${name(line.text, LINE_CHARACTERS_MAX)}</code></td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p class="soft">
      ${left > 0 ? `${count(left)} more lines, farther from it, are in logs/. ` : ''}Times are those that the
      servers printed, put on the run’s clock: right to about 2 ms, and wrong by as much as its clock was set
      wrong where a server was under a clock fault.
    </p>
  </details>`;
}
