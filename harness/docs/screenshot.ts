// The picture of a report in the README: the page of the first finding of a stored run, in a real browser.
// `node harness/docs/screenshot.ts results/<run>` makes docs/report.png again; needs Chromium.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HarnessError } from '../contract/errors.ts';
import { startChromium } from '../testing/chromium.ts';
import { renderReport } from '../report/report.ts';
import { runDirectory } from '../stored/results.ts';
import { judgeRun, reportedRun } from '../stored/stored-run.ts';

const FILE = join(import.meta.dirname, '../../docs/report.png');
const SIZE = { width: 1060, height: 1180 };

const run = judgeRun(runDirectory(process.argv[2] ?? 'results/latest'));
const [first] = run.verdict.findings;
if (first === undefined) throw new HarnessError('usage', `${run.directory.path} has no finding to show`);
const folder = mkdtempSync(join(tmpdir(), 'lockpick-screenshot-'));
const file = join(folder, 'report.html');
writeFileSync(file, renderReport([reportedRun(run)]));
await using browser = await startChromium(join(folder, 'profile'));
const page = await browser.newPage();
await page.setViewportSize(SIZE);
await page.goto(`${pathToFileURL(file).href}#/f/${first.id}`);
await page.waitForSelector('.finding.current');
await page.waitForSelector('.timeline canvas');
// The finding and its timeline; what stands above would leave no room for both.
await page.evaluate(`document.querySelector('.finding.current > summary').scrollIntoView()`);
// Drawn in the next frame.
await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
await page.screenshot({ path: FILE });
rmSync(folder, { recursive: true, force: true });
process.stdout.write(`${FILE}\n`);
