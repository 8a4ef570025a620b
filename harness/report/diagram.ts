// The small picture of one finding: only the processes, holds, operations and faults involved, to scale in time, as
// inline SVG with a text that says the same. Colours and patterns come from colours.css and diagram.css, and the page's
// <defs>. Pure.

import type { Finding } from '../../checkers/verdict.ts';
import { doneWords, faultPhrase, list, seconds, struckBy } from '../../checkers/wording.ts';
import type { FaultSpan, Operation } from '../history/history.ts';
import { html, type Html } from './html.ts';
import type { Grant } from '../history/grants.ts';
import { beliefOverlap, lengthOf, type RunView } from './run-view.ts';
import { clause, duration, interval, name } from './words.ts';

const WIDTH = 760;
const LEFT = 92;
const RIGHT = 14;
const LANE_HEIGHT = 50;
const FAULT_HEIGHT = 24;
const TOP = 10;
/** Of the diagram's small type, for laying out labels. */
const CHARACTER_WIDTH = 7;

/** Draws the finding; undefined if none of its operations is in the history. */
export function findingDiagram(view: RunView, finding: Finding): Html | undefined {
  const operations = finding.ops.flatMap((id) => view.operations.get(id) ?? []);
  if (operations.length === 0) return undefined;
  const grants = involvedGrants(view, finding, operations);
  const lanes = [...new Set(operations.map(({ process }) => process))];
  const faults = finding.faults.flatMap((id) => view.faults.get(id) ?? []);
  const moments = [
    finding.at,
    ...operations.flatMap(({ invoked, completed }) => [invoked, completed ?? invoked]),
    ...grants.flatMap(({ hold }) => [hold.start, hold.end]),
  ];
  const from = Math.min(...moments);
  const span = Math.max(Math.max(...moments) - from, 1000);
  const start = from - span * 0.04;
  const scale = (WIDTH - LEFT - RIGHT) / (span * 1.08);
  const x = (time: number): number => round(LEFT + Math.min(Math.max(time - start, 0), span * 1.08) * scale);
  const elsewhere = faults.filter(
    (fault) => !lanes.some((process) => struckBy(fault).includes(view.laneOf(process))),
  );
  const faultsTop = TOP + lanes.length * LANE_HEIGHT;
  const bottom = faultsTop + elsewhere.length * FAULT_HEIGHT;
  const height = bottom + 26;
  const overlap = finding.code === 'belief-overlap' ? beliefOverlap(view, finding) : undefined;

  const laneMarks = lanes.map((process, index) => {
    const y = TOP + index * LANE_HEIGHT;
    const hurt = faults.filter((fault) => struckBy(fault).includes(view.laneOf(process)));
    return html`<text class="d-lane" x="${LEFT - 10}" y="${y + 17}">${name(process, 11)}</text>
      ${index === 0 ? undefined : html`<line class="d-line" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y - 4}" y2="${y - 4}" />`}${hurt.map(
        (fault) => faultBars(fault, x, { y: y - 2, height: 46 }),
      )}${grants
        .filter(({ acquire }) => acquire.process === process)
        .map(
          ({ lock, hold, tenure }) =>
            html`${bar(`d-hold d-lock-${Math.max(view.locks.indexOf(lock), 0) % 6}`, x(hold.start), x(hold.end), y + 5, 15)}${bar(
              'd-tenure',
              x(tenure.start),
              x(tenure.end),
              y,
              3,
            )}`,
        )}${operationMarks(
        operations.filter((operation) => operation.process === process),
        x,
        y,
      )}`;
  });
  const proof =
    overlap === undefined
      ? html`<line class="d-at" x1="${x(finding.at)}" x2="${x(finding.at)}" y1="2" y2="${bottom}" />`
      : bar('d-overlap', x(overlap.start), x(overlap.end), 2, bottom - 4);
  const words = described(view, finding, { operations, grants, faults });
  return html`<svg class="diagram" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${words}">
    ${proof}${laneMarks}${elsewhere.map((fault, row) => faultRow(fault, x, faultsTop + row * FAULT_HEIGHT))}${axis(start, span * 1.08, x, bottom)}
  </svg>`;
}

/** Outlined from when it was ordered, hatched once it was proved to act; both until it was proved to be over. */
function faultBars(
  { begin, acted, end }: FaultSpan,
  x: (time: number) => number,
  { y, height }: { readonly y: number; readonly height: number },
): Html {
  const until = x(end ?? Infinity);
  const proved = acted === undefined ? undefined : bar('d-fault', x(acted), until, y, height);
  return html`${bar('d-asked', x(begin), until, y, height)}${proved}`;
}

/** A fault of none of the processes: a row of its own. */
function faultRow(fault: FaultSpan, x: (time: number) => number, y: number): Html {
  const from = x(fault.begin);
  const words = name(doneWords(fault));
  const left = round(Math.min(from + 6, WIDTH - RIGHT - words.length * CHARACTER_WIDTH));
  return html`<text class="d-lane d-node" x="${LEFT - 10}" y="${y + 16}">
      ${name(struckBy(fault).join(' '), 11)}</text
    >
    ${faultBars(fault, x, { y: y + 3, height: FAULT_HEIGHT - 6 })}<text
      class="d-label"
      x="${left}"
      y="${y + 16}"
    >
      ${words}
    </text>`;
}

/** The grants named, and those under which a named operation was done. */
function involvedGrants(view: RunView, finding: Finding, operations: readonly Operation[]): Grant[] {
  const named = finding.ops.flatMap((id) => view.grantOf.get(id) ?? []);
  const under = operations.flatMap(({ process, lock, invoked }) =>
    view.grantsHeldBy(process, lock).filter(({ hold }) => invoked >= hold.start && invoked <= hold.end),
  );
  return [...new Set([...named, ...under])];
}

function bar(kind: string, from: number, until: number, y: number, height: number): Html {
  return html`<rect
    class="${kind}"
    x="${from}"
    y="${y}"
    width="${round(Math.max(until - from, 1.5))}"
    height="${height}"
  />`;
}

/** Ticks on the lane and their labels below; a label for which there is no room is left to the table. */
function operationMarks(operations: readonly Operation[], x: (time: number) => number, y: number): Html[] {
  const labels = operations
    .toSorted((a, b) => a.invoked - b.invoked)
    .map((operation) => {
      const text = operationLabel(operation);
      return { operation, text, at: x(operation.invoked), wide: text.length * CHARACTER_WIDTH };
    });
  let limit = WIDTH;
  const lefts = labels.toReversed().map(({ at, wide }) => {
    const left = round(Math.min(at, limit - wide));
    limit = left < LEFT ? limit : left - 8;
    return left;
  });
  return labels.map(({ operation, text, at }, index) => {
    const left = lefts.at(-1 - index) ?? at;
    const label =
      left < LEFT
        ? undefined
        : html`<path class="d-lead" d="M${at} ${y + 22}L${left + 3} ${y + 30}" />
            <text class="d-label" x="${left}" y="${y + 39}">${text}</text>`;
    return html`${bar('d-op', at, x(operation.completed ?? operation.invoked), y + 3, 19)}${label}`;
  });
}

/** `#131 write 9`, `#118 acquire`, with `refused` or `?` where it did not simply succeed. */
function operationLabel(operation: Operation): string {
  const value = operation.op === 'write' || operation.op === 'cas' ? ` ${name(operation.value, 12)}` : '';
  const read =
    operation.op === 'read' && operation.value !== undefined ? ` ${name(operation.value, 12)}` : '';
  const outcome = operation.outcome === 'ok' ? '' : operation.outcome === 'fail' ? ' refused' : ' ?';
  return `#${operation.id} ${operation.op}${value}${read}${outcome}`;
}

function axis(start: number, span: number, x: (time: number) => number, y: number): Html {
  const steps = 4;
  const digits = span < 20e6 ? 5 : span < 200e6 ? 4 : 3;
  const ticks = Array.from({ length: steps + 1 }, (_, step) => start + (span * (step + 0.3)) / (steps + 0.6));
  return html`<path
      class="d-axis"
      d="M${LEFT} ${y}H${WIDTH - RIGHT}${ticks.map((tick) => `M${x(tick)} ${y}v5`).join('')}"
    />${ticks.map(
      (tick) =>
        html`<text class="d-tick" x="${x(tick)}" y="${y + 18}">${(tick / 1e9).toFixed(digits)} s</text>`,
    )}`;
}

function described(
  view: RunView,
  finding: Finding,
  involved: {
    readonly operations: readonly Operation[];
    readonly grants: readonly Grant[];
    readonly faults: readonly FaultSpan[];
  },
): string {
  const overlap = beliefOverlap(view, finding);
  return [
    'To scale in time:',
    ...involved.grants.map(
      ({ acquire, hold }) =>
        `${name(acquire.process)} believes it holds ${name(acquire.lock)} ${interval(hold.start, hold.end)};`,
    ),
    ...involved.operations.map(
      (operation) =>
        `${name(operation.process)} ${operationLabel(operation)} at ${seconds(operation.invoked)};`,
    ),
    ...involved.faults.map((fault) => `${clause(faultPhrase(fault))};`),
    overlap === undefined
      ? `complete at ${seconds(finding.at)}.`
      : `${list(finding.processes.map((process) => name(process)))} overlap for ${duration(lengthOf(overlap))}.`,
  ].join(' ');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
