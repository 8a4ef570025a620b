// JUnit, Markdown and GitHub from made-up runs: read back by a parser, within their limits, worst first, and whatever
// characters names and stories have. Finding folders from a made-up history that is judged again.

import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../checkers/verdict.ts';
import type { Unit } from '../comparison/comparison.ts';
import { planOf, SURROUNDINGS, verdictOf } from '../comparison/made-up-runs.fixture.ts';
import { summarise } from '../comparison/summary.ts';
import { encodeEvent, encodeHeader } from '../history/encode-event.ts';
import { parseHistory } from '../history/json-lines.ts';
import { ofGrade } from '../plan/cells/cell.ts';
import { exitCodeOf, judge } from '../judge.ts';
import { runDirectory } from '../stored/results.ts';
import { scriptedHistory } from './scripted-history.fixture.ts';
import { annotations, ANNOTATIONS_MAX, tellGitHub } from './github.ts';
import { historySlices, storyMarkdown } from './finding-folder.ts';
import { junitXml } from './junit.ts';
import { headline, MARKDOWN_BYTES_MAX, summaryMarkdown } from './markdown.ts';

const root = join(import.meta.dirname, '../..');
const cell = 'redis-single/set-nx-px/none';

function unit(seed: string, options?: Parameters<typeof verdictOf>[0], names = cell): Unit {
  const plan = planOf(names, seed);
  const run = {
    directory: runDirectory(`/out/run-${seed}`),
    plan,
    surroundings: SURROUNDINGS,
    verdict: verdictOf(options),
  };
  return { plan, run: options === undefined ? undefined : run };
}

const violation = (words: string) =>
  ({ outcome: 'violation', grade: 'unsafe', broken: ['double-grant'], surprises: [words] }) as const;

function summaryOf(units: readonly Unit[]) {
  return summarise({ profile: null, seed: '1', plans: units.map(({ plan }) => plan) }, units);
}

describe('junit.xml', () => {
  const nasty = 'a\u0000b\u001B[31m <&>"\']]> \uD800 \uFFFE é 🔒';
  const units = [
    unit('1', {}),
    unit('2', violation(nasty)),
    unit('3'),
    unit('4', { outcome: 'inconclusive', grade: 'inconclusive', surprises: ['too little'] }),
    unit('1', {}, 'redis-single/fenced-incr/pause-holder'),
  ];
  const xml = junitXml(units);
  const read: unknown = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '' }).parse(xml);

  it('is well formed whatever is in it', () => {
    expect(XMLValidator.validate(xml)).toBe(true);
    // eslint-disable-next-line no-control-regex -- these must not be in it
    expect(xml).not.toMatch(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE]/);
    expect(xml).toContain('é 🔒');
  });

  it('has a test for each seed, failed where the run was not as expected, in error where it is missing', () => {
    expect(read).toMatchObject({
      testsuites: {
        tests: '5',
        failures: '2',
        errors: '1',
        testsuite: [
          {
            name: cell,
            tests: '4',
            testcase: [{ name: 'seed 1' }, { failure: { type: 'violation' } }, { error: {} }, {}],
          },
          { name: 'redis-single/fenced-incr/pause-holder', tests: '1' },
        ],
      },
    });
  });

  it('says seed, digests and how to run it again, and no name twice', () => {
    expect(xml).toContain('<property name="seed" value="2"/>');
    expect(xml).toContain('<property name="on" value="docker"/>');
    expect(xml).toContain('<property name="image redis" value="redis:8 sha256:abc"/>');
    expect(xml).toMatch(/<system-out>[^<]*again: [^<]* run redis-single\/set-nx-px\/none --seed 2/);
    const twice = junitXml([unit('1', {}), { ...unit('1', {}), plan: planOf(cell, '1', { clients: 9 }) }]);
    const names = [...twice.matchAll(/<testcase name="([^"]*)"/g)].map(([, name]) => name);
    expect(names).toEqual(['seed 1', 'seed 1, settings 2']);
  });
});

describe('summary.md', () => {
  it('has what is wrong first, with the command that makes it again', () => {
    const text = summaryMarkdown(
      summaryOf([unit('1', {}, 'redis-single/fenced-incr/none'), unit('2', violation('it | was\nbad'))]),
      { links: 'relative' },
    );
    expect(text).toMatch(/^# lockpick: of 2 runs 1 not as expected\n/);
    expect(text).toContain(String.raw`- seed ${'`2`'}: it \| was bad ([report](run-2/report.html))`);
    expect(text).toContain('lockpick -- run redis-single/set-nx-px/none --seed 2');
    const rows = text.split('\n').filter((line) => line.startsWith('| ✖') || line.startsWith('| ✔'));
    expect(rows).toHaveLength(2);
    expect(rows[0]).toContain(cell);
    expect(rows[0]).toContain('0 of 1 [0.00, 0.97]');
  });

  it('tells of a cell without theory what was found', () => {
    const own = 'redis-single/set-nx-px/pause-releaser';
    const text = summaryMarkdown(summaryOf([unit('1', {}, own)]), { links: 'none' });
    expect(text).toContain(`| ✔ nothing found | \`${own}\` | – | 1 × safe |`);
    expect(summaryMarkdown(summaryOf([unit('1', violation('x'), own)]), { links: 'none' })).toContain(
      `## ✖ rule broken: \`${own}\``,
    );
  });

  it('says that all is well', () => {
    expect(headline(summaryOf([unit('1', {})]))).toBe('one run, as expected');
  });

  it('says which runs were simulated', () => {
    const real = unit('1', {});
    const simulated = { ...real, plan: planOf(cell, '2', { on: 'simulation' }) };
    expect(headline(summaryOf([simulated]))).toBe('one run, as expected, simulated');
    const both = summaryOf([real, simulated]);
    expect(headline(both)).toBe('all 2 runs as expected, some simulated');
    const text = summaryMarkdown(both, { links: 'none' });
    expect(text).toContain(`| \`${cell}\` |`);
    expect(text).toContain(`| \`${cell}\`, simulated |`);
  });

  it('stays below what GitHub takes, cut between lines, and says so', () => {
    const units = Array.from({ length: 3000 }, (_, index) => unit(String(index), violation('ü'.repeat(900))));
    const many = units.map(({ plan, run }, index) => {
      const other = { ...plan, clients: (index % 100) + 1, locks: Math.floor(index / 100) + 1 };
      return { plan: other, run };
    });
    const text = summaryMarkdown(summaryOf(many), { links: 'relative' });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MARKDOWN_BYTES_MAX);
    expect(Buffer.byteLength(text)).toBeGreaterThan(MARKDOWN_BYTES_MAX * 0.9);
    expect(text).toMatch(/\n\d+ more lines are left out; summary\.json has everything\.\n$/);
  });
});

describe('GitHub', () => {
  it('gets at most ten annotations, violations first, each on one line', () => {
    const weak = Array.from({ length: 20 }, (_, index) =>
      unit(`w${index}`, { outcome: 'inconclusive', grade: 'inconclusive', surprises: ['weak'] }),
    );
    const lines = annotations(summaryOf([...weak, unit('7', violation('50% , of:\nall'))]));
    expect(lines).toHaveLength(ANNOTATIONS_MAX);
    expect(lines[0]).toMatch(/^::error title=redis-single\/set-nx-px\/none%2C seed 7::50%25 , of:%0Aall%0A/);
    expect(lines.at(-1)).toBe('::warning title=lockpick::12 more runs are not as expected');
    expect(lines.join('')).not.toContain('\n');
    expect(annotations(summaryOf([unit('1', {})]))).toEqual([]);
    expect(annotations(summaryOf(weak.slice(0, 10)))).toHaveLength(10);
  });

  it('gets the summary on the page of the job, in Actions only', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lockpick-github-'));
    const page = join(folder, 'page.md');
    const summary = summaryOf([unit('1', {})]);
    tellGitHub(summary, { GITHUB_STEP_SUMMARY: page });
    expect(readdirSync(folder)).toEqual([]);
    tellGitHub(summary, { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: page });
    expect(readFileSync(page, 'utf8')).toContain('one run, as expected');
    rmSync(folder, { recursive: true });
  });
});

describe('a grade that its user calls right', () => {
  const { header, events } = scriptedHistory();
  const history = parseHistory(
    [encodeHeader(header), ...events.map((event) => encodeEvent(event))].join('\n'),
  );
  const exitWith = (grade: Parameters<typeof ofGrade>[0]) =>
    exitCodeOf(judge(history, ofGrade(grade), () => 0));

  it('is the only one that is exit code 0, whatever was found on the way', () => {
    expect(judge(history, null, () => 0)).toMatchObject({ grade: 'unsafe', asExpected: false });
    expect([exitWith('unsafe'), exitWith('safe'), exitWith('safe-with-fencing')]).toEqual([0, 1, 1]);
  });
});

describe('the folder of a finding', () => {
  const { header, events } = scriptedHistory();
  const text = `${[encodeHeader(header), ...events.map((event) => encodeEvent(event))].join('\n')}\n{"torn`;
  const history = parseHistory(text);
  const { findings } = judge(history, null, () => 0);

  it('has a slice of the history that is a history in which the same is found', () => {
    const [finding] = findings;
    if (finding === undefined) throw new Error('nothing was found');
    const slice = sliceOf(text, finding);
    expect(slice.split('\n').length).toBeLessThan(text.split('\n').length / 2);
    expect(judge(parseHistory(slice), null, () => 0).findings.map(({ id }) => id)).toContain(finding.id);
  });

  it.each(globSync('checkers/histories/*/bad/*.jsonl', { cwd: root }))(
    'of %s finds the same again',
    (path) => {
      const whole = readFileSync(join(root, path), 'utf8');
      const parsed = parseHistory(whole);
      const { findings: all, liveness } = judge(parsed, null, () => 0);
      for (const each of [...all, ...liveness]) {
        const again = judge(parseHistory(sliceOf(whole, each)), null, () => 0);
        expect([...again.findings, ...again.liveness].map(({ id }) => id)).toContain(each.id);
      }
    },
  );

  it('has the end of what is held, and the whole record of the store, however far away they are', () => {
    const whole = [
      '{"format":"lockpick-history","version":1,"clock":"shared","clockErrorNanos":0,"meta":{"stock":"3"}}',
      ...sale(1, 1, 'c1', 2, 0),
      at('invoke', 4, 60, 'c1', '"op":"acquire","lock":"k"'),
      at('ok', 4, 61, 'c1', '"op":"acquire"'),
      at('invoke', 5, 62, 'c2', '"op":"acquire","lock":"k"'),
      at('ok', 5, 63, 'c2', '"op":"acquire"'),
      ...sale(2, 64, 'c1', 1, 1),
      ...sale(3, 66, 'c2', 1, 1),
      at('invoke', 6, 100, 'c2', '"op":"release","lock":"k"'),
      at('ok', 6, 101, 'c2', '"op":"release"'),
      at('invoke', 7, 102, 'c1', '"op":"release","lock":"k"'),
      at('ok', 7, 103, 'c1', '"op":"release"'),
      at('invoke', 8, 110, 'c3', '"op":"read","store":"none","key":"k"'),
      at(
        'ok',
        8,
        111,
        'c3',
        `"op":"read","value":"1","version":"3","sealed":true,"audit":[${[row(1, 'c1', 2, 0), row(2, 'c1', 1, 1), row(3, 'c2', 1, 1)].join()}]`,
      ),
    ].join('\n');
    const parsed = parseHistory(whole);
    const { findings: found } = judge(parsed, null, () => 0);
    expect(found.map(({ code }) => code)).toEqual(expect.arrayContaining(['double-grant', 'oversold']));
    for (const each of found) {
      const again = judge(parseHistory(sliceOf(whole, each)), null, () => 0);
      expect(again.findings.find(({ id }) => id === each.id)).toEqual(each);
    }
  });

  it('tells the story, its operations and the command', () => {
    const [finding] = findings;
    if (finding === undefined) throw new Error('nothing was found');
    const story = storyMarkdown(finding, { cell, run: 'r', replay: 'run it' });
    expect(story).toContain(finding.story);
    expect(story).toContain(finding.ops.map((op) => `#${op}`).join(', '));
    expect(story).toContain('    run it\n');
    expect(story).toContain(`lockpick explain ${finding.code}`);
  });
});

/** Of a whole history what a finding is about. */
function sliceOf(text: string, finding: Finding): string {
  return historySlices(text.split('\n'), parseHistory(text), [finding])[0] ?? '';
}

/** A line of a history at a full second. */
function at(type: string, id: number, second: number, process: string, more: string): string {
  return `{"type":"${type}","id":${id},"time":${second}000000000,"process":"${process}",${more}}`;
}

/** A unit sold: what the store then has, computed from a version. */
function sale(id: number, second: number, process: string, value: number, base: number): string[] {
  const sold = `"op":"write","store":"none","key":"k","value":"${value}","base":"${base}","order":"${id}"`;
  return [
    at('invoke', id, second, process, sold),
    at('ok', id, second + 1, process, `"op":"write","version":"${id}"`),
  ];
}

/** The store's own record of a sale. */
function row(id: number, process: string, value: number, base: number): string {
  return `{"seq":"${id}","id":${id},"process":"${process}","base":"${base}","version":"${id - 1}","value":"${value}","order":"${id}","accepted":true}`;
}
