// The page as text: what it says, that nothing in a history can break out of it, and that it points nowhere but at
// itself. How it looks and moves is `report.browser.test.ts`.

import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { Trend } from '../comparison/trends.ts';
import { percentText, perThousandText } from '../comparison/interval.ts';
import { assembleHistory, type History, type Operation } from '../history/history.ts';
import { grantsOf } from '../history/grants.ts';
import { millis, nanos } from '../history/op.ts';
import { judge } from '../judge.ts';
import type { Verdict } from '../../checkers/verdict.ts';
import { fakeHistory, PAUSE_HOLDER } from '../testing/fake-history.ts';
import { packedColumns } from './column-forms.ts';
import { fakeRun, SOME_TREND } from '../testing/fake-run.ts';
import { hatchings } from './hatchings.ts';
import type { JudgedRun } from './judged-run.ts';
import { PAGE_SCRIPT, PAGE_STYLE } from './page-assets.ts';
import { renderReport } from './report.ts';
import { trendsSection } from './trends-section.ts';
import { runViews } from './run-view.ts';
import { timelineColumns, type TimelineColumns } from './timeline-columns.ts';

/** The page's module, which the compiler of these sources does not see. */
const unpack = (await import(new URL('./page/unpack.js', import.meta.url).href)) as {
  unpacked(element: { textContent: string }): Promise<{ columns: TimelineColumns }>;
};

const failing = fakeRun();
const page = renderReport([failing]);

/** A run like `failing` of another history. */
function judged(history: History, changes: Partial<JudgedRun> = {}): JudgedRun {
  return { ...failing, history, verdict: judge(history, null, () => 0), ...changes };
}

function idsOf(text: string): string[] {
  return [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id = '']) => id);
}

/** Without markup, blanks folded. */
function plainText(markup: string): string {
  return markup.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

/** Of each slice of the run the most holds of one lock at once, as its table says. */
function most(text: string): number[] {
  return [...text.matchAll(/<tr>\s*<td class="number">[\d.]+ s<\/td>([\s\S]*?)<\/tr>/g)].map(([, row = '']) =>
    Number([...row.matchAll(/<td class="number">\s*([^<]*?)\s*<\/td>/g)][6]?.[1]),
  );
}

/** What the page's own script gets out of the page. */
async function columnsIn(text: string): Promise<TimelineColumns> {
  const textContent = /id="run-1-columns">([^<]*)</.exec(text)?.[1] ?? '';
  const { columns } = await unpack.unpacked({ textContent });
  return columns;
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
  const [, tiles = ''] = /const TILES = \[([^\]]*)\]/.exec(PAGE_SCRIPT) ?? [];
  const drawn = Array.from(tiles.matchAll(/'([^']*)'/g), ([, tile]) => tile);
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

  it('joins the modules of the page into a script that uses no name twice', () => {
    expect(PAGE_SCRIPT).not.toMatch(/^\s*(import|export)\b/m);
    expect(() => new Script(`'use strict'; async () => { ${PAGE_SCRIPT} }`)).not.toThrow();
  });
});

describe('hostile text', () => {
  const breakout = `</script><script>alert(1)</script><img src=x onerror="alert(2)">'"&`;

  it('cannot break out of the page', async () => {
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
    expect((await columnsIn(text)).lanes.map(({ name }) => name)).toContain(breakout);
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
    const page = plainText(renderReport([failing], { others }));
    const held = percentText({ hits: 2 * hits, trials: 2 * acted });
    expect(page).toContain('Lock server lost: granted to two holder stopped: two believe');
    expect(page).toContain(`redis-single/other 0 % [0, `);
    expect(page).toContain(`redis-single/set-nx-px – ${held} of ${2 * acted}`);
    expect(page.indexOf(held)).toBeLessThan(page.indexOf('Each field: what was seen'));
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

  it('shows an empty history as inconclusive', async () => {
    const empty = assembleHistory(failing.history.header, []);
    const text = renderReport([judged(empty)]);
    expect(text).toContain('is INCONCLUSIVE: ');
    expect((await columnsIn(text)).operations.id).toHaveLength(0);
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
  });
});

describe('the columns of the timeline', async () => {
  const columns = await columnsIn(page);
  const { history } = failing;

  it('hold every operation of a client, with its times to the microsecond', () => {
    const clients = history.operations.filter(({ process }) => process !== 'coordinator');
    expect(columns.operations.id).toHaveLength(clients.length);
    for (const [index, operation] of clients.entries()) {
      expect(columns.operations.id[index]).toBe(operation.id);
      expect(
        Math.abs((columns.operations.invoked[index] ?? 0) - operation.invoked / 1e3),
      ).toBeLessThanOrEqual(0.5);
    }
  });

  it('take so little that a million operations fit into 10 MB with all that stands beside them', () => {
    const busy = fakeRun({
      tokens: true,
      clients: 20,
      locks: 8,
      thinkMillis: { min: 1, max: 3 },
      seconds: 4,
    });
    const [view] = runViews([busy]);
    const operations = busy.history.operations.length;
    expect(operations).toBeGreaterThan(15_000);
    expect((view === undefined ? 0 : packedColumns(timelineColumns(view)).length) / operations).toBeLessThan(
      9,
    );
  });

  it('come out of the page as they went in', async () => {
    const odd = fakeHistory({ ...PAUSE_HOLDER, tokens: true, seconds: 4 });
    const operations = odd.operations.map((operation) =>
      operation.op === 'write' && operation.id % 3 === 0
        ? { ...operation, value: `v"${operation.id}` }
        : operation,
    );
    const run = judged({ ...odd, operations });
    const [view] = runViews([run]);
    const given = view && timelineColumns(view);
    const got = await columnsIn(renderReport([run]));
    expect(given).toBeDefined();
    for (const [column, values] of Object.entries(given?.operations ?? {}))
      expect([column, Array.from(got.operations[column as 'id'])]).toEqual([column, Array.from(values)]);
    for (const [column, values] of Object.entries(given?.grants ?? {}))
      expect([column, Array.from(got.grants[column as 'row'])]).toEqual([column, Array.from(values)]);
    expect(got.words).toContain('v"' + operations.find(({ op, id }) => op === 'write' && id % 3 === 0)?.id);
  });

  it('put a hold in a second row exactly where it overlaps another', () => {
    const grants = grantsOf(history);
    const overlaps = grants.filter((grant) =>
      grants.some(
        (other) =>
          other !== grant &&
          other.lock === grant.lock &&
          other.hold.start <= grant.hold.start &&
          other.hold.end > grant.hold.start,
      ),
    );
    expect(overlaps.length).toBeGreaterThan(10);
    expect(Array.from(columns.grants.row).filter((row) => row > 0)).toHaveLength(overlaps.length);
    expect(columns.overlaps).toHaveLength(overlaps.length);
  });

  it('draws no overlap where one hold ends as the next begins', () => {
    const touching = assembleHistory(failing.history.header, [
      { type: 'invoke', id: 1, time: nanos(1000), process: 'c1', op: 'acquire', lock: 'k1' },
      { type: 'ok', id: 1, time: nanos(1400), process: 'c1', op: 'acquire' },
      { type: 'invoke', id: 2, time: nanos(1500), process: 'c2', op: 'acquire', lock: 'k1' },
      { type: 'invoke', id: 3, time: nanos(9_600), process: 'c1', op: 'release', lock: 'k1' },
      { type: 'ok', id: 2, time: nanos(9_700), process: 'c2', op: 'acquire' },
      { type: 'ok', id: 3, time: nanos(9_900), process: 'c1', op: 'release' },
    ]);
    const [view] = runViews([judged(touching)]);
    expect(view && timelineColumns(view).grants.row).toEqual([0, 0]);
    expect(view && timelineColumns(view).overlaps).toEqual([]);
  });

  it('finds the operations that a reader asks for', async () => {
    const model = await unpack.unpacked({ textContent: /id="run-1-columns">([^<]*)</.exec(page)?.[1] ?? '' });
    const { operationFilter } = (await import(
      new URL('./page/operation-filter.js', import.meta.url).href
    )) as { operationFilter: (model: object, text: string) => (operation: number) => boolean };
    const found = (text: string): Operation[] => {
      const fits = operationFilter(model, text);
      return clientOperations.filter((_, index) => fits(index));
    };
    const clientOperations = history.operations.filter(({ process }) => process !== 'coordinator');
    expect(found('')).toHaveLength(clientOperations.length);
    const slow = clientOperations.filter(
      ({ lock, invoked, completed = 0, op }) => lock === 'k2' && op === 'read' && completed - invoked > 0.5e6,
    );
    expect(slow.length).toBeGreaterThan(0);
    expect(found('lock:k2 op:read dur>0.5ms')).toEqual(slow);
    expect(
      found('process:c3 type:fail').every(({ process, outcome }) => process === 'c3' && outcome === 'fail'),
    ).toBe(true);
    expect(found('error:busy at<2s').length).toBeGreaterThan(10);
    const [finding] = failing.verdict.findings;
    const near = found(`near:${finding?.id.slice(0, 6)}`).map(({ id }) => id);
    for (const id of finding?.ops ?? []) expect(near).toContain(id);
    expect(near.length).toBeLessThan(clientOperations.length / 10);
    expect(() => found('colour:red')).toThrow('colour: is no such word');
    expect(() => found('dur>soon')).toThrow('a time is written like 1s');
    expect(() => found('near:zzz')).toThrow('no finding');
  });

  it('say what each server was, until it said something else', () => {
    const servers = [
      { type: 'server', node: 'r1', time: nanos(1e9), role: 'primary', term: '3' },
      { type: 'server', node: 'r1', time: nanos(4e9), role: 'replica' },
    ] as const;
    const [view] = runViews([judged({ ...history, servers })]);
    expect(view && timelineColumns(view).roles).toMatchObject([
      { from: 1e6, until: 4e6, says: 'primary, term 3', leads: true },
      { from: 4e6, until: Math.round(history.end / 1e3), says: 'replica', leads: false },
    ]);
    const [pause] = history.faults;
    const killed = pause && {
      ...pause,
      fault: 'kill',
      targets: ['r1'],
      begin: nanos(2e9),
      acted: nanos(2.5e9),
    };
    const [hurt] = runViews([judged({ ...history, servers, faults: killed === undefined ? [] : [killed] })]);
    expect(hurt && timelineColumns(hurt).roles[0]?.until).toBe(2.5e6);
  });

  it('hatches every lane where the harness itself stood still', () => {
    const harness = [
      { type: 'harness', since: nanos(0), time: nanos(1e9), loopDelayMillis: millis(12) },
      { type: 'harness', since: nanos(1e9), time: nanos(2e9), loopDelayMillis: millis(700) },
    ] as const;
    const [view] = runViews([judged({ ...history, harness })]);
    const stalls = view && timelineColumns(view).faults.filter(({ id }) => id === 'lockpick');
    expect(stalls).toMatchObject([
      { begin: 1e6, acted: 1e6, end: 2e6, lanes: columns.lanes.map((_, lane) => lane) },
    ]);
  });

  it('folds a restarted client into the lane of the first', async () => {
    const restarted = await columnsIn(renderReport([fakeRun({ killAtSecond: 5 })]));
    expect(restarted.lanes.map(({ name }) => name)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5']);
    const [second] = restarted.processes.filter(({ name }) => name.endsWith('.2'));
    expect(second?.name).toBe(`${restarted.lanes[second?.lane ?? -1]?.name}.2`);
  });
});

const section = (trend: Trend): string => trendsSection([trend])?.markup ?? '';

describe('the cells over time', () => {
  it('stand on the page where any of them ran before', () => {
    expect(renderReport([failing])).not.toContain('Over time');
    expect(renderReport([failing], { trends: [SOME_TREND] })).toContain(section(SOME_TREND));
  });

  it('are said in words, in numbers and in a picture', () => {
    const text = plainText(section(SOME_TREND));
    expect(text).toMatch(/pause-holder ?: as expected in 0 of 1 runs, before in 3 of 3/);
    expect(text).toContain(
      'since 2026-11-24 3 of 3 [0.29, 1.00] 0 of 1 [0.00, 0.98] 15 of 21 [0.48, 0.89] 0 of 7',
    );
    expect(section(SOME_TREND)).toContain(
      'oldest runs first: 5 of 7, 6 of 7, 4 of 7, 0 of 7 (1 run not as expected)',
    );
    expect(plainText(section({ ...SOME_TREND, worse: [] }))).toContain(
      'Nothing is worse than chance explains in 1 cell against 3 earlier runs',
    );
  });
});
