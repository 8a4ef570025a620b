// The page in a real browser, opened from disk like a reader does: it must fetch nothing, report no error, show every
// finding at every zoom, follow keys and links, and have nothing that axe-core objects to. Needs Chromium; without it
// the tests are skipped, and counted as skipped.

import { createRequire } from 'node:module';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, startChromium } from '../testing/chromium.ts';
import { fakeRun, SOME_TREND } from '../testing/fake-run.ts';
import type { JudgedRun } from './judged-run.ts';
import { renderReport, type Beside } from './report.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const without = CHROMIUM === undefined ? ' (skipped: no Chromium here; name one in LOCKPICK_CHROMIUM)' : '';

// What is evaluated in the page is text: the browser's names are not those of these sources.

/** How many pixels of the timeline differ from its first one; how many in the row of findings are of their colour. */
const PIXELS = `(() => {
  const canvas = document.querySelector('.stage canvas');
  const alert = getComputedStyle(document.documentElement).getPropertyValue('--alert').trim();
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(alert.slice(at, at + 2), 16));
  const shown = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const rowOfFindings = [22 * canvas.width * 4, 48 * canvas.width * 4];
  const found = { drawn: 0, alert: 0 };
  for (let at = 0; at < shown.length; at += 4) {
    if (shown[at] !== shown[0] || shown[at + 1] !== shown[1] || shown[at + 2] !== shown[2]) found.drawn++;
    if (at < rowOfFindings[0] || at > rowOfFindings[1]) continue;
    if (shown[at] === red && shown[at + 1] === green && shown[at + 2] === blue) found.alert++;
  }
  return found;
})()`;

/** Of each chart how many colours it has, and how many pixels are of the colour of alerts. */
const CHART_PIXELS = `[...document.querySelectorAll('.charts figure')].map((figure) => {
  const canvas = figure.querySelector('canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const hex = getComputedStyle(document.documentElement).getPropertyValue('--alert').trim().slice(1);
  const colours = new Map();
  for (let at = 0; at < data.length; at += 4) {
    const colour = ((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]).toString(16).padStart(6, '0');
    colours.set(colour, (colours.get(colour) ?? 0) + 1);
  }
  return { name: figure.dataset.chart, colours: colours.size, alert: colours.get(hex) ?? 0 };
})`;

/** The red of the timeline's first pixel: 255 on white paper. */
const CORNER = `document.querySelector('.stage canvas').getContext('2d').getImageData(1, 1, 1, 1).data[0]`;

const CHART_CORNER = `document.querySelector('.charts canvas').getContext('2d').getImageData(1, 1, 1, 1).data[0]`;

/** The canvas is drawn in the next frame. */
const FRAME = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

const pixels = (page: Page): Promise<{ drawn: number; alert: number }> => page.evaluate(PIXELS);
const span = async (page: Page): Promise<string> =>
  (await page.locator('.toolbar .span').textContent()) ?? '';
const selected = async (page: Page): Promise<string> => (await page.locator('.selected').textContent()) ?? '';
const frame = (page: Page): Promise<unknown> => page.evaluate(FRAME);

/** They are drawn when they come near. */
async function showCharts(page: Page): Promise<void> {
  await page.locator('.part-charts').scrollIntoViewIfNeeded();
  await page.waitForSelector('.charts canvas');
}

const required = process.env['LOCKPICK_REQUIRE_ALL'] !== undefined;

describe.skipIf(CHROMIUM === undefined && !required)(`the report in a browser${without}`, () => {
  const failing = fakeRun();
  const findings = [...failing.verdict.findings, ...failing.verdict.liveness].toSorted((a, b) => a.at - b.at);
  const folder = mkdtempSync(join(tmpdir(), 'lockpick-report-'));
  let browser: BrowserContext;
  /** What the open page did wrong. */
  let troubles: string[] = [];

  beforeAll(async () => {
    browser = await startChromium(join(folder, 'profile'));
    // The first start on a machine reads all of the browser from its disk.
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    for (const page of browser.pages()) await page.close();
    if (troubles.length > 0) throw new Error(`the page misbehaved:\n${troubles.join('\n')}`);
  });

  async function open(runs: readonly JudgedRun[], address = '', beside: Beside = {}): Promise<Page> {
    const file = join(folder, 'report.html');
    writeFileSync(file, renderReport(runs, beside));
    const own = pathToFileURL(file).href;
    const page = await browser.newPage();
    troubles = [];
    page.on('request', (request) => {
      if (request.url().split('#')[0] !== own) troubles.push(`asked for ${request.url()}`);
    });
    page.on('console', (message) => {
      if (message.type() === 'error') troubles.push(message.text());
    });
    page.on('pageerror', (error) => troubles.push(error.message));
    page.on('dialog', (dialog) => troubles.push(`a dialog: ${dialog.message()}`));
    await page.goto(own + address);
    await page.waitForSelector('.timeline canvas');
    return page;
  }

  it('shows verdict, first finding and replay command', async () => {
    const page = await open([failing]);
    const text = await page.locator('body').innerText();
    expect(text).toContain('redis-single/set-nx-px is UNSAFE');
    expect(text).toContain(findings[0]?.story ?? 'no finding');
    expect(text).toContain(failing.provenance.replayCommand);
    expect(await page.locator('.code .finding[open] .diagram').first().isVisible()).toBe(true);
  });

  it('is drawn where it is in sight when the page counts as loaded, as pictures and printers take it', async () => {
    await using _measured = await browser.addInitScript(`addEventListener('load', () => {
      const context = document.querySelector('.stage canvas')?.getContext('2d');
      const colours = new Set(new Uint32Array(context?.getImageData(0, 0, 400, 100).data.buffer ?? []));
      document.documentElement.dataset.coloursAtLoad = colours.size;
    })`);
    const page = await open([failing]);
    expect(Number(await page.locator('html').getAttribute('data-colours-at-load'))).toBeGreaterThan(5);
  });

  it('draws the run, and its findings at every zoom', async () => {
    const page = await open([failing]);
    const far = await pixels(page);
    expect(far.drawn).toBeGreaterThan(20_000);
    expect(far.alert).toBeGreaterThan(100);
    const everything = await span(page);
    await page.keyboard.press('n');
    await expect.poll(() => span(page)).not.toBe(everything);
    const near = await pixels(page);
    expect(near.drawn).toBeGreaterThan(20_000);
    expect(near.alert).toBeGreaterThan(100);
  });

  it('goes through the findings by n and p, and stops doing so when told', async () => {
    const page = await open([failing]);
    await page.keyboard.press('n');
    await expect.poll(() => selected(page)).toContain(`Finding 1 of ${findings.length}`);
    await page.keyboard.press('n');
    await expect
      .poll(() => selected(page))
      .toContain(`Finding 2 of ${findings.length} · ${findings[1]?.code}`);
    await page.keyboard.press('p');
    await page.keyboard.press('p');
    await expect.poll(() => selected(page)).toContain(`Finding ${findings.length} of ${findings.length}`);
    // By keys: what is drawn when it comes near moves the box under a pointer.
    const box = page.locator('#single-keys');
    await box.press('Space');
    expect(await box.isChecked()).toBe(false);
    await box.blur();
    await page.keyboard.press('n');
    await frame(page);
    expect(await selected(page)).toContain(`Finding ${findings.length} of ${findings.length}`);
  });

  it('zooms and pans by keys, wheel and drag', async () => {
    const page = await open([failing]);
    const stage = page.locator('.stage');
    const seen: string[] = [];
    const changed = async (): Promise<void> => {
      await expect.poll(async () => seen.includes(await span(page))).toBe(false);
      seen.push(await span(page));
    };
    await changed();
    await stage.focus();
    await page.keyboard.press('+');
    await changed();
    await page.keyboard.press('ArrowRight');
    await changed();
    await stage.hover();
    await page.mouse.wheel(0, -200);
    await changed();
    await page.mouse.down();
    await page.mouse.move(500, 400, { steps: 3 });
    await page.mouse.up();
    await changed();
    await page.keyboard.press('0');
    await expect.poll(() => span(page)).toBe(seen[0]);
  });

  it('leaves the wheel to the page until the timeline is asked for', async () => {
    const page = await open([failing]);
    const before = await span(page);
    await page.locator('.stage').hover();
    await page.mouse.wheel(0, 300);
    await frame(page);
    expect(await span(page)).toBe(before);
  });

  it('tells what is under the pointer', async () => {
    const page = await open([failing]);
    await page.locator('.stage').scrollIntoViewIfNeeded();
    const everything = await span(page);
    await page.keyboard.press('n');
    await expect.poll(() => span(page)).not.toBe(everything);
    const box = await page.locator('.stage canvas').boundingBox();
    if (box === null) throw new Error('the canvas has no place');
    const told = new Set<string>();
    for (let y = 30; y < box.height; y += 6) {
      await page.mouse.move(box.x + box.width / 2, box.y + y);
      if (await page.locator('.tip').isVisible()) told.add(await page.locator('.tip').innerText());
    }
    const all = [...told].join('\n');
    expect(all).toMatch(/f\d: c\d was paused\nordered at [\d.]+ s, proved by [\d.]+ s, over by/);
    expect(all).toMatch(/c\d holds k\d: acquire #\d+/);
    expect(all).toMatch(/believed [\d.]+ s – [\d.]+ s/);
  });

  it('keeps what is told after a click, until Esc', async () => {
    const page = await open([failing]);
    await page.keyboard.press('n');
    await expect.poll(() => selected(page)).toContain('Finding 1 of');
    await frame(page);
    const box = await page.locator('.stage canvas').boundingBox();
    if (box === null) throw new Error('the canvas has no place');
    const tip = page.locator('.tip');
    for (let y = 60; y < box.height && (await tip.isHidden()); y += 6)
      await page.mouse.move(box.x + box.width / 2, box.y + y);
    await page.mouse.down();
    await page.mouse.up();
    const told = await tip.innerText();
    await page.mouse.move(box.x + 20, box.y + 10);
    expect(await tip.innerText()).toBe(told);
    expect(await tip.isVisible()).toBe(true);
    await page.locator('.stage').focus();
    await page.keyboard.press('Escape');
    expect(await tip.isVisible()).toBe(false);
  });

  it('opens the finding that the address names, and shows it on the timeline', async () => {
    const folded = findings.findLast(({ code }) => code === 'belief-overlap');
    const page = await open([failing], `#/f/${folded?.id}`);
    await expect.poll(() => selected(page)).toContain('belief-overlap');
    expect(await page.locator(`[id="/f/${folded?.id}"]`).isVisible()).toBe(true);
    expect(await page.locator('.part-verdict').isVisible()).toBe(false);
    await page.getByText('← the whole report').click();
    await expect.poll(() => page.locator('.part-verdict').isVisible()).toBe(true);
    await page.locator(`[data-show="/f/${findings[0]?.id}"]`).scrollIntoViewIfNeeded();
    await page.locator(`[data-show="/f/${findings[0]?.id}"]`).click();
    await expect.poll(() => selected(page)).toContain('Finding 1 of');
    expect(await page.locator('.stage').isVisible()).toBe(true);
  });

  it('gives each finding a page with its clients, operations and command, and goes on by n and p', async () => {
    const [first] = findings;
    const page = await open([failing], `#/f/${first?.id}`);
    const text = (): Promise<string> => page.locator('body').innerText();
    await page.locator('.finding.current > .take > summary').click();
    for (const part of [
      first?.code,
      ...(first?.processes ?? []),
      ...(first?.ops.map((id) => `#${id}`) ?? []),
      failing.provenance.replayCommand,
      '"type":"invoke"',
    ])
      expect(await text()).toContain(part);
    const shown = (): Promise<string> => page.evaluate('location.hash');
    await page.keyboard.press('n');
    await expect.poll(shown).not.toBe(`#/f/${first?.id}`);
    await expect.poll(text).toContain(`finding 2 of ${findings.length}`);
    await page.keyboard.press('p');
    await expect.poll(shown).toBe(`#/f/${first?.id}`);
  });

  it.each(['#/f/none', '#100%'])(
    'is the whole report where the address names nothing: %s',
    async (address) => {
      const page = await open([failing], address);
      expect(await page.locator('.part-verdict').isVisible()).toBe(true);
      await page.keyboard.press('n');
      expect(await selected(page)).toContain('Finding 1 of');
    },
  );

  it('has a whole page also for a finding that is a line of a table', async () => {
    const last = findings.findLast(({ code }) => code === 'belief-overlap');
    expect(renderReport([failing])).not.toContain(last?.story);
    const page = await open([failing]);
    await page.locator('.code > details.more > summary').first().click();
    const line = page.locator(`tr[id="/f/${last?.id}"]`);
    await line.locator(`a[href="#/f/${last?.id}"]`).click();
    await expect.poll(() => page.locator('body').innerText()).toContain(last?.story);
    expect(await page.locator('.finding.current').getAttribute('id')).toBe(`/f/${last?.id}`);
    expect(await page.locator('.finding.current .diagram').isVisible()).toBe(true);
    expect(await page.locator('.finding.current .command button').isVisible()).toBe(true);
    await page.keyboard.press('n');
    await expect.poll(() => page.locator('.finding.current').getAttribute('id')).not.toBe(`/f/${last?.id}`);
    await page.keyboard.press('p');
    await expect.poll(() => page.locator('.finding.current').getAttribute('id')).toBe(`/f/${last?.id}`);
    // At once from the address, as somebody opens it who was sent it.
    const sent = await open([failing], `#/f/${last?.id}`);
    await expect.poll(() => sent.locator('.finding.current .story').textContent()).toBe(last?.story);
    expect(await sent.evaluate('scrollY')).toBe(0);
  });

  it('wakes every timeline of a page of several runs', async () => {
    const page = await open([
      failing,
      fakeRun({ tokens: true, seed: '7' }),
      fakeRun({ pauseEverySeconds: 0 }),
    ]);
    for (const timeline of await page.locator('.timeline').all()) {
      await timeline.scrollIntoViewIfNeeded();
      await timeline.locator('.stage canvas').waitFor();
    }
    // The finding of the run in front of the reader, not of the first one.
    await page.evaluate(`document.querySelector('#run-2').scrollIntoView()`);
    await page.keyboard.press('n');
    await expect.poll(() => page.locator('#run-2 .selected').textContent()).toContain('Finding 1 of');
  });

  it('shows only the runs of the field of the matrix that is chosen', async () => {
    const page = await open([
      failing,
      fakeRun({ tokens: true, seed: '7' }),
      fakeRun({ pauseEverySeconds: 0 }),
    ]);
    const shown = (): Promise<string[]> =>
      page.evaluate(`[...document.querySelectorAll('.run:not([hidden])')].map(({ id }) => id)`);
    expect(await shown()).toEqual(['run-1', 'run-2', 'run-3']);
    await page.locator('.matrix td [data-filter]').filter({ hasText: 'fencing' }).click();
    expect(await shown()).toEqual(['run-2']);
    await page.locator('.matrix th[scope=col] [data-filter]').filter({ hasText: 'pause-holder' }).click();
    expect(await shown()).toEqual(['run-1', 'run-2']);
    await page.locator('.filtered button').click();
    expect(await shown()).toEqual(['run-1', 'run-2', 'run-3']);
  });

  it('draws every chart, a lock held by two above the line, and one moment through all of them', async () => {
    const page = await open([fakeRun({ tokens: true })]);
    await showCharts(page);
    const drawn = await page.evaluate<{ name: string; colours: number; alert: number }[]>(CHART_PIXELS);
    expect(drawn.map(({ name }) => name)).toEqual([
      'holds',
      'latency',
      'throughput',
      'slack',
      'recovery',
      'tokens',
    ]);
    for (const { name, colours } of drawn) expect([name, colours > 3]).toEqual([name, true]);
    expect(drawn[0]?.alert).toBeGreaterThan(50);
    const calm = await open([fakeRun({ pauseEverySeconds: 0 })]);
    await showCharts(calm);
    const [holds] = await calm.evaluate<{ alert: number }[]>(CHART_PIXELS);
    expect(holds?.alert).toBe(0);
    await calm.locator('[data-chart=slack] canvas').hover();
    expect(await calm.locator('.cursor:visible').count()).toBe(
      1 + (await calm.locator('.charts canvas').count()),
    );
  });

  it('shows the operations that are asked for, and only the rows in view', async () => {
    const page = await open([failing]);
    await page.locator('.part-operations').scrollIntoViewIfNeeded();
    const status = page.locator('.operations > p');
    const all = failing.history.operations.filter(({ process }) => process !== 'coordinator');
    await expect
      .poll(() => status.textContent())
      .toContain(`of ${all.length.toLocaleString('en')} operations`);
    expect(await page.locator('.virtual tbody tr').count()).toBeLessThan(30);
    await page.locator('.operations input').fill('lock:k2 op:write');
    const wanted = all.filter(({ lock, op }) => lock === 'k2' && op === 'write');
    await expect.poll(() => status.textContent()).toContain(`${wanted.length} of `);
    await page.evaluate(`document.querySelector('.virtual').scrollTo(0, 1e9)`);
    await expect
      .poll(() => page.locator('.virtual tbody tr').last().textContent())
      .toContain(`#${wanted.at(-1)?.id} write`);
    const before = await span(page);
    await page.locator('.virtual tbody button').last().click();
    await expect.poll(() => span(page)).not.toBe(before);
    await page.locator('.operations input').fill('colour:red');
    await expect.poll(() => status.textContent()).toContain('no such word');
  });

  it('survives hostile names', async () => {
    const page = await open([
      fakeRun({ oddName: '</script><img src=x onerror=alert(1)>\'"&', killAtSecond: 5 }),
    ]);
    await page.keyboard.press('n');
    expect(await page.locator('img').count()).toBe(0);
    await expect.poll(() => selected(page)).toContain('Finding 1 of');
  });

  it('is drawn in a window of any width', async () => {
    const page = await open([failing], '#run-1-timeline');
    for (const width of [50, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await frame(page);
    }
    await page.setViewportSize({ width: 50, height: 900 });
    await page.reload();
    await page.waitForSelector('.stage canvas');
    await page.setViewportSize({ width: 1280, height: 900 });
    await expect.poll(async () => (await pixels(page)).drawn).toBeGreaterThan(20_000);
  });

  it('prints in the colours of paper', async () => {
    const page = await open([failing]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => page.evaluate<number>(CORNER)).toBeLessThan(40);
    await showCharts(page);
    expect(await page.evaluate<number>(CHART_CORNER), 'a chart before').toBeLessThan(60);
    // At once, since a printer does not wait.
    const printed = await page.evaluate<number>(`(dispatchEvent(new Event('beforeprint')), ${CHART_CORNER})`);
    expect(printed).toBe(255);
    await expect.poll(() => page.evaluate<number>(CORNER)).toBe(255);
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    await expect.poll(() => page.evaluate<number>(CORNER)).toBeLessThan(40);
  });

  it('prints also what nobody has come near', async () => {
    const page = await open([failing, { ...fakeRun({ seed: '2' }), name: '2' }], `#/f/${findings[0]?.id}`);
    const drawn = async (): Promise<readonly number[]> => [
      await page.locator('.timeline:has(canvas)').count(),
      await page.locator('.charts:has(canvas)').count(),
    ];
    await page.pdf();
    // What the page of one finding folds away is not on paper.
    expect(await drawn()).toEqual([1, 0]);
    await page.evaluate(`location.hash = ''`);
    await page.pdf();
    expect(await drawn()).toEqual([2, 2]);
  });

  it.each([
    { scheme: 'light', width: 1280 },
    { scheme: 'dark', width: 1280 },
    { scheme: 'light', width: 390 },
  ] as const)('gives axe-core nothing to object to ($scheme, $width wide)', async ({ scheme, width }) => {
    const runs = [fakeRun({ seconds: 8 }), fakeRun({ seconds: 3, pauseEverySeconds: 0 })];
    const page = await open(runs, '', { trends: [SOME_TREND] });
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await page.keyboard.press('n');
    await page.evaluate(
      `document.querySelectorAll('.more, .finding:nth-of-type(2)').forEach((details) => (details.open = true))`,
    );
    for (const [part, built] of [
      ['charts', 'canvas'],
      ['operations', 'table'],
    ]) {
      await page.locator(`.part-${part}`).first().scrollIntoViewIfNeeded();
      await page.waitForSelector(`.${part} ${built}`);
    }
    await page.evaluate(AXE);
    const results = await page.evaluate<AxeResults>('axe.run()');
    expect(results.passes.length).toBeGreaterThan(20);
    const violations = results.violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map(({ html }) => html)
          .join(' ')}`,
    );
    expect(violations).toEqual([]);
  });
});
