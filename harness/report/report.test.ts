// The page as text: what it says, that nothing in a history can break out of it, and that it points nowhere but at
// itself. How it looks and moves is `report.browser.test.ts`.

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { percentText, perThousandText } from '../comparison/interval.ts';
import { assembleHistory } from '../history/history.ts';
import type { Verdict } from '../../checkers/verdict.ts';
import { fakeHistory, PAUSE_HOLDER } from '../testing/fake-history.ts';
import { fakeRun } from '../testing/fake-run.ts';
import { hatchings } from './hatchings.ts';
import { columnsIn, failing, judged, plainText } from './page.fixture.ts';
import { pageScript } from './page-script.ts';
import { PAGE_STYLE } from './page-style.ts';
import { renderReport } from './report.ts';

const page = renderReport([failing]);

function idsOf(text: string): string[] {
  return [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id = '']) => id);
}

/** Of each slice of the run the most holds of one lock at once, as its table says. */
function most(text: string): number[] {
  return [...text.matchAll(/<tr>\s*<td class="number">[\d.]+ s<\/td>([\s\S]*?)<\/tr>/g)].map(([, row = '']) =>
    Number([...row.matchAll(/<td class="number">\s*([^<]*?)\s*<\/td>/g)][6]?.[1]),
  );
}

describe('the page of a failing run', () => {
  it('comes to one sentence', () => {
    expect(page).toMatch(
      /redis-single\/set-nx-px is UNSAFE: c\d and c\d both believed they held k\d for [\d.]+ m?s after c\d was paused; also /,
    );
    expect(page).toContain('✓ as expected');
    expect(page).toContain('a paused holder outlives its lease');
  });

  it('names each finding with its story, its operations and an anchor', () => {
    const ids = idsOf(page);
    for (const { id } of failing.verdict.findings) expect(ids).toContain(`/f/${id}`);
    const [first] = failing.verdict.findings;
    expect(first?.code).toBe('belief-overlap');
    expect(page).toContain(first?.story ?? 'no finding');
    for (const op of first?.ops ?? []) expect(page).toContain(`#${op} acquire`);
  });

  it('says how to run it again, how hard it was tried and what was not', () => {
    const { power } = failing.verdict;
    expect(page).toContain(failing.provenance.replayCommand);
    expect(page).toContain(`<dt>contended hand-offs</dt>`);
    expect(page).toContain(`<dd>${power.contendedHandoffs}</dd>`);
    expect(page).toContain('network partitions');
    expect(page).toContain('sha256:9f2c51f2e6d0');
    for (const { id } of failing.history.faults) expect(page).toContain(`<code>${id}</code> pause`);
  });

  it('says beside the grade that it was simulated, and only then', () => {
    const simulated = { ...failing, plan: { ...failing.plan, on: 'simulation' } };
    expect(plainText(renderReport([simulated]))).toMatch(/unsafe simulated .*UNSAFE/);
    expect(plainText(renderReport([simulated, failing]))).toContain(`${failing.plan.seed}, simulated`);
    expect(plainText(page)).not.toMatch(/simulated/);
  });

  it('is the same for the same run', () => {
    expect(renderReport([fakeRun()])).toBe(page);
  });

  it('shows many findings of one code in a table, and says how many', () => {
    const overlaps = failing.verdict.findings.filter(({ code }) => code === 'belief-overlap').length;
    expect(overlaps).toBeGreaterThan(25);
    expect(page).toMatch(new RegExp(`${overlaps - 25}\\s+more\\s+of\\s+this\\s+code`));
  });

  it('has only links that lead somewhere, and no id twice', () => {
    const ids = idsOf(page);
    expect(new Set(ids).size).toBe(ids.length);
    const targets = [...page.matchAll(/href="#([^"]*)"/g)].map(([, id = '']) => id);
    expect(targets.length).toBeGreaterThan(10);
    for (const target of targets) expect(ids).toContain(target);
  });
});

describe('the stores', () => {
  it('are graded one by one, with what the record settles', () => {
    const stores: Verdict['stores'] = [
      {
        name: 'none',
        verdict: 'invalid',
        findings: { 'lost-update': 2 },
        brokenPromises: [],
        writes: { accepted: 1200, refused: 3, unanswered: 2 },
        settled: { landed: 1, never: 1 },
        settlements: [],
      },
      {
        name: 'row-lock',
        verdict: 'unknown',
        findings: {},
        brokenPromises: [],
        writes: { accepted: 0, refused: 0, unanswered: 0 },
        settled: {},
        settlements: [],
        reason: 'no write was accepted',
      },
    ];
    const run = fakeRun();
    const waste = { ticks: 10, runs: 11, double: 1, missed: 2, doubleRate: 0.1, missedRate: 0.2 };
    const text = plainText(
      renderReport([{ ...run, verdict: { ...run.verdict, stores, measures: { waste } } }]),
    );
    expect(text).toContain('none ✗ harmed by 2 lost updates 1,200 3 2: 1 landed and 1 never took effect');
    expect(text).toContain('row-lock ? unknown (no write was accepted) 0 0 0');
    expect(text).toContain('of 10 ticks 1 ran more than once (10 %) and 2 never (20 %)');
  });
});

describe('the tables of the charts', () => {
  it('say in which slice of the run a lock was held by two', () => {
    expect(most(page)).toHaveLength(20);
    expect(Math.max(...most(page))).toBe(2);
    expect(Math.max(...most(renderReport([fakeRun({ pauseEverySeconds: 0 })])))).toBe(1);
  });
});

it('locks are hatched alike in pictures and on the timeline', () => {
  const [, tiles = ''] = /TILES = \[([^\]]*)\]/.exec(pageScript()) ?? [];
  const drawn = Array.from(tiles.matchAll(/"([^"]*)"/g), ([, tile]) => tile);
  const pictured = Array.from(
    hatchings().markup.matchAll(/class="d-hatch" d="([^"]*)"/g),
    ([, tile]) => tile,
  );
  expect(new Set(pictured).size).toBe(6);
  expect(pictured).toEqual(drawn);
});

describe('self-containment', () => {
  it('points at nothing outside', () => {
    expect(page.match(/\b(src|href|action|srcset)="(?!#)[^"]*/g)).toBeNull();
    expect(page.match(/\burl\((?!#)[^)]*/g)).toBeNull();
    expect(page.match(/<(link|iframe|base|object|embed)\b[^>]*/g)).toBeNull();
    expect(PAGE_STYLE.match(/@import.*/g)).toBeNull();
  });

  it('allows its own style and script by their hashes, and no other', () => {
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? '';
    expect(policy).toContain("default-src 'none'");
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '';
    const script = /<script type="module">([\s\S]*?)<\/script>/.exec(page)?.[1] ?? '';
    for (const [directive, text] of [
      ['style-src', style],
      ['script-src', script],
    ] as const) {
      const hash = createHash('sha256').update(text).digest('base64');
      expect(policy).toContain(`${directive} 'sha256-${hash}'`);
    }
    expect(page).not.toMatch(/\sstyle="|\son[a-z]+="/);
  });

  it('has the same script wherever lockpick is and is started', () => {
    expect(pageScript()).toMatch(/^\/\/ main\.js$/m);
    expect(pageScript()).not.toContain('harness/report');
  });

  it('imports nothing into its script', () => {
    expect(pageScript()).not.toMatch(/^\s*(import|export)\b|\bimport\(/m);
  });
});

describe('hostile text', () => {
  const breakout = `</script><script>alert(1)</script><img src=x onerror="alert(2)">'"&`;

  it('cannot break out of the page', () => {
    const run = fakeRun({ oddName: breakout, killAtSecond: 5 });
    const text = renderReport([
      {
        ...run,
        name: breakout,
        plan: { ...run.plan, seed: breakout },
        provenance: {
          ...run.provenance,
          replayCommand: breakout,
          expectedBecause: breakout,
          versions: { [breakout]: breakout },
        },
      },
    ]);
    expect(text.match(/<img[^>]*|<script>alert/g)).toBeNull();
    expect(text.match(/<script/g)).toHaveLength(page.match(/<script/g)?.length ?? 0);
    expect(text).toContain('&lt;/script&gt;&lt;script&gt;alert(1)');
    expect(columnsIn(text).lanes.map(({ name }) => name)).toContain(breakout);
  });

  it('does not fill the page', () => {
    const text = renderReport([fakeRun({ oddName: 'long'.repeat(2500) })]);
    // Twice a story at most: stories are the checkers' words and are shown whole.
    const withoutStories = text.replace(/<(p class="story"|pre id="[^"]*issue")[\s\S]*?<\/p(re)?>/g, '');
    expect(withoutStories).not.toContain('long'.repeat(100));
  });
});

describe('several runs on one page', () => {
  const fenced = fakeRun({ tokens: true, seed: '7' });
  const calm = fakeRun({ pauseEverySeconds: 0 });
  const text = renderReport([failing, fenced, calm, failing]);

  it('begins with all of them against what was expected', () => {
    expect(text).toContain('4 runs: all as expected');
    expect(text).toContain('href="#run-3"');
    expect(text).toContain('belief-overlap × ');
  });

  it('counts over the seeds, also runs that it does not show', () => {
    const { name, plan, verdict } = failing;
    const others = [
      { name: `${name}-2`, plan: { ...plan, seed: '43' }, verdict, page: 'second/report.html' },
      { name: `${name}-3`, plan: { ...plan, seed: '44' }, verdict: { ...verdict, asExpected: false } },
    ];
    const { acted } = verdict.power.faults;
    const broke = new Set(verdict.findings.flatMap(({ faults }) => faults)).size;
    expect(broke).toBeGreaterThan(1);
    const matrix = plainText(renderReport([failing], { others }));
    expect(matrix).toContain('3 runs: 2 as expected, 1 not');
    expect(matrix).toContain(
      `redis-single/set-nx-px unsafe ${perThousandText({ hits: 3 * broke, trials: 3 * acted })} ✗ 2 of 3: unsafe expected`,
    );
    expect(matrix).toContain('2 of the runs are counted here');
    expect(renderReport([failing], { others })).toContain('href="second/report.html"');
  });

  it('says before that how often each lock was lost, if there are several', () => {
    const { name, plan, verdict } = failing;
    const overlaps = verdict.findings.filter(({ code }) => code === 'belief-overlap');
    const hits = new Set(overlaps.flatMap(({ faults }) => faults)).size;
    const { acted } = verdict.power.faults;
    const others = [
      { name: `${name}-2`, plan: { ...plan, seed: '43' }, verdict },
      { name: `${name}-3`, plan: { ...plan, recipe: 'other', fault: 'kill-server' }, verdict },
    ];
    const told = plainText(renderReport([failing], { others }));
    const held = percentText({ hits: 2 * hits, trials: 2 * acted });
    expect(told).toContain('Lock server lost: granted to two holder stopped: two believe');
    expect(told).toContain(`redis-single/other 0 % [0, 98] of 1 run, ${acted} faults`);
    expect(told).toContain(`redis-single/set-nx-px – ${held} of ${2 * acted} faults`);
    expect(told.indexOf(held)).toBeLessThan(told.indexOf('Each field: what was seen'));
    expect(plainText(renderReport([failing], { others: others.slice(0, 1) }))).not.toContain(
      'How often each',
    );
  });

  it('of many faults has those of each lock side by side, and names a workload only where it is another', () => {
    const { name, plan, verdict } = failing;
    const faults = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const others = [
      ...faults.map((fault) => ({ name: `${name}-${fault}`, plan: { ...plan, fault }, verdict })),
      { name: `${name}-cron`, plan: { ...plan, recipe: 'other', workload: 'cron' }, verdict },
    ];
    expect(renderReport([failing], { others: others.slice(0, 6) })).not.toContain('Under each fault');
    const matrix = plainText(renderReport([failing], { others })).split('Lock Under each fault')[1] ?? '';
    expect(matrix.match(/(?<=^| )(a|b|c|d|e|f|g|pause-holder) unsafe/g)).toHaveLength(8);
    expect(matrix).toMatch(/redis-single\/other pause-holder, cron unsafe/);
    expect(matrix).not.toContain('not tried');
  });

  it('counts what was not as expected, and what nobody expected anything of', () => {
    const { verdict } = calm;
    const odd = renderReport([
      failing,
      { ...calm, verdict: { ...verdict, expected: 'unsafe', asExpected: false, surprises: ['it held'] } },
      { ...calm, verdict: { ...verdict, expected: null } },
    ]);
    expect(odd).toContain('3 runs: 1 as expected, 1 not, 1 without an expectation');
    expect(odd).toContain('✗ not as expected');
    expect(odd).toContain('<li>it held</li>');
  });

  it('keeps anchors apart, also of the same finding', () => {
    const ids = idsOf(text);
    expect(new Set(ids).size).toBe(ids.length);
    const [first] = failing.verdict.findings;
    expect(ids).toContain(`/f/${first?.id}`);
    expect(ids).toContain(`/f/${first?.id}/2`);
  });

  it('says what each grade rests on', () => {
    expect(text).toMatch(
      /redis-single\/fenced-incr is SAFE WITH FENCING: .*but tokens kept their promise and the fenced store stayed clean \(it refused \d+ stale writes?\)/,
    );
    expect(text).toMatch(
      /redis-single\/set-nx-px is SAFE: no safety rule was broken in [\d,]+ grants and \d+/,
    );
  });
});

describe('little to show', () => {
  it('tells that nothing was found', () => {
    const text = renderReport([fakeRun({ pauseEverySeconds: 0 })]);
    expect(text).toContain('None: no rule was broken.');
    expect(text).toContain('No fault was injected.');
  });

  it('shows an empty history as inconclusive', () => {
    const empty = assembleHistory(failing.history.header, []);
    const text = renderReport([judged(empty)]);
    expect(text).toContain('is INCONCLUSIVE: ');
    expect(columnsIn(text).operations.id).toHaveLength(0);
  });

  it('names what is stuck beside the grade', () => {
    const calm = fakeRun({ pauseEverySeconds: 0 });
    const { history: recorded, verdict } = calm;
    const [operation] = recorded.operations;
    const liveness = [
      {
        id: 'abc',
        code: 'stuck-lock',
        lock: 'k1',
        processes: ['c1'],
        ops: [operation?.id ?? 0],
        at: recorded.end,
        faults: [],
        story: 'Nobody could take k1.',
        evidence: { dueNanos: 1_500_000_000 },
      },
    ] as const;
    const text = renderReport([{ ...calm, verdict: { ...verdict, liveness } }]);
    expect(text).toMatch(/is SAFE: no safety rule was broken in .*; beside that 1 stuck lock\./);
    expect(text).toContain('id="/f/abc"');
    expect(text).toContain('<dd>1.500 s</dd>');
  });

  it('says of a fault that it was not proved to act', () => {
    const history = fakeHistory(PAUSE_HOLDER);
    const faults = history.faults.map((fault) => ({ ...fault, acted: undefined, end: undefined }));
    const text = renderReport([judged({ ...history, faults })]);
    expect(text).toContain('no: does not count');
    expect(text).toContain('not in this history');
    expect(text).toContain('c1 was to be paused (fault ');
    expect(text).not.toMatch(/ (after|as) c\d was/);
  });

  it('says what a fault was about when it was not yet proved to act, and never that it still acted', () => {
    const history = fakeHistory(PAUSE_HOLDER);
    const faults = history.faults.map((fault) => ({ ...fault, acted: history.end, end: history.end }));
    const text = plainText(renderReport([judged({ ...history, faults })]));
    expect(text).toMatch(/both believed they held k\d for [\d.]+ m?s as c\d was being paused/);
    expect(`${text} ${plainText(page)}`).not.toMatch(/while c\d was|was paused from/);
    // However often c1 is paused, that is said once.
    expect(text).not.toMatch(/(as c\d was being paused),? (and )?\1/);
  });
});
