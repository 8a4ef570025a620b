// How large a report of a million operations is, how fast it opens and how smoothly it moves, in headless Chromium:
// `node bench/report.ts [operations]`. Needs Chromium and no engine. The history is made up, its verdict is not.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startChromium } from '../harness/testing/chromium.ts';
import { fakeRun } from '../harness/testing/fake-run.ts';
import { renderReport } from '../harness/report/report.ts';

const wanted = Number(process.argv[2] ?? '1000000');
const OPERATIONS_PER_SECOND = 6330;
const FRAMES = 240;

/**
 * Zooms in and out around the middle and pans, a step a frame. `work`: from the start of a frame's callbacks until the
 * timeline is drawn; `between`: from frame to frame, which includes what the browser does with it, and its 60 Hz.
 */
const MOVE = `(async () => {
  const stage = document.querySelector('.stage');
  stage.scrollIntoView();
  stage.focus();
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  await frame();
  const work = [];
  const between = [];
  let last = performance.now();
  for (let step = 0; step < ${FRAMES}; step++) {
    let began = 0;
    requestAnimationFrame(() => (began = performance.now()));
    const key = step % 3 === 2 ? 'ArrowRight' : step % 60 < 30 ? '+' : '-';
    stage.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    await new Promise((resolve) => requestAnimationFrame(() => {
      const now = performance.now();
      work.push(now - began);
      between.push(now - last);
      last = now;
      resolve();
    }));
  }
  return { work, between };
})()`;

interface Moved {
  readonly work: readonly number[];
  readonly between: readonly number[];
}

const folder = mkdtempSync(join(tmpdir(), 'lockpick-bench-'));
const file = join(folder, 'report.html');
const run = fakeRun({
  seconds: wanted / OPERATIONS_PER_SECOND,
  clients: 20,
  locks: 8,
  thinkMillis: { min: 1, max: 3 },
  tokens: true,
});
const began = performance.now();
const page = renderReport([run]);
const rendered = performance.now() - began;
writeFileSync(file, page);

const browser = await startChromium(join(folder, 'profile'));
const opened: number[] = [];
let moved: Moved = { work: [], between: [] };
for (let time = 0; time < 3; time++) {
  const tab = await browser.newPage();
  const start = performance.now();
  await tab.goto(pathToFileURL(file).href);
  await tab.waitForSelector('.timeline canvas', { state: 'attached' });
  opened.push(performance.now() - start);
  if (time === 2) moved = await tab.evaluate<Moved>(MOVE);
  await tab.close();
}
await browser.close();
rmSync(folder, { recursive: true });

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(Math.floor(values.length * share), values.length - 1)] ??
  Number.NaN;
const round = (value: number): number => Math.round(value * 10) / 10;
console.table({
  operations: { measured: run.history.operations.length },
  findings: { measured: run.verdict.findings.length },
  'render, ms': { measured: round(rendered) },
  'file, MB': { measured: round(Buffer.byteLength(page) / 1e6), goal: 10 },
  'open, ms, median of 3': { measured: round(quantile(opened, 0.5)), goal: 3000 },
  'drawing a frame, ms, 95 %': { measured: round(quantile(moved.work, 0.95)), goal: 16 },
  'drawing a frame, ms, longest': { measured: round(quantile(moved.work, 1)) },
  'from frame to frame, ms, 95 %': { measured: round(quantile(moved.between, 0.95)) },
});
