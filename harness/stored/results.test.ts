// The results directory: what is read of it by lines, whatever the pieces that it is read in, and what is said where
// nothing can be written.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  appendTrend,
  copyRun,
  createRunDirectory,
  doneRuns,
  markLatest,
  readRunFile,
  readRunJson,
  readRunLines,
  runDirectory,
  writeAtomically,
  writeFile,
} from './results.ts';
import { parsePlan } from '../plan/plan.ts';
import { vocabulary } from '../plan/vocabulary.ts';

const folder = mkdtempSync(join(tmpdir(), 'lockpick-lines-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the lines of a file', () => {
  it.each([
    ['none', ''],
    ['a torn last one', 'one\ntwo\n{"torn'],
    ['blank ones', '\n\none\n'],
    // Three bytes each, so that some character lies across each border of pieces, whatever their size.
    ['those longer than a piece', `${'€'.repeat(1_500_000)}\n${'a€'.repeat(700_000)}\nend\n`],
  ])('are all there: %s', (_, text) => {
    const path = join(folder, 'file');
    writeFileSync(path, text);
    const lines = [...readRunLines(path)];
    expect(lines.join('\n') === text.replace(/\n$/, '')).toBe(true);
  });

  it('that is missing or no file are one error, which names it', () => {
    expect(() => [...readRunLines(join(folder, 'none'))]).toThrow(/none does not exist$/);
    expect(() => [...readRunLines(folder)]).toThrow(`cannot read ${folder}: `);
  });
});

it('JSON may begin with a byte-order mark', () => {
  const path = join(folder, 'marked.json');
  writeFileSync(path, '\uFEFF{"steps":[]}');
  expect(readRunJson(path)).toEqual({ steps: [] });
});

it('a file without an end is an error, not a wait', () => {
  expect(() => readRunFile('/dev/zero')).toThrow(
    /^cannot read \/dev\/zero: it is longer than \d+ characters$/,
  );
  expect(() => [...readRunLines('/dev/zero')]).toThrow(/^cannot read \/dev\/zero: a line is longer than/);
});

describe('a place where nothing can be written', () => {
  const file = join(folder, 'in-the-way');
  const dangling = join(folder, 'dangling');
  writeFileSync(file, '');
  symlinkSync(join(folder, 'nowhere', 'at-all'), dangling);
  const run = join(folder, 'a-run');
  mkdirSync(run);

  it.each([
    // Where Node's recursive mkdir never comes to an end.
    ['/proc/x', 'ENOENT'],
    ['/proc/x/y/z', 'ENOENT'],
    ['/dev/null/x', 'ENOTDIR'],
    [file, ''],
    [join(file, 'x'), 'ENOTDIR'],
    [dangling, ''],
    [join(folder, 'x'.repeat(300)), 'ENAMETOOLONG'],
  ])('is one error at once that names it and what to do: %s', (out, why) => {
    const ways = [
      () => writeFile(join(out, 'report.html'), ''),
      () => writeAtomically(join(out, 'verdict.json'), ''),
      () => appendTrend(out, {}),
      () => copyRun(runDirectory(run), out),
      () => markLatest(join(out, 'x'), runDirectory(run)),
    ];
    for (const write of ways)
      expect(write).toThrow(
        expect.objectContaining({
          code: 'environment',
          message: expect.stringMatching(new RegExp(`^cannot write ${out}/.*: .*${why}`)),
          remedy: expect.stringContaining('choose another'),
        }),
      );
  });
});

it('a file where runs should be is one error', () => {
  const file = join(folder, 'no-folder');
  writeFileSync(file, '');
  expect(() => doneRuns(file)).toThrow(`cannot read ${file}: `);
});

describe('the link to the latest run', () => {
  it('is replaced by the next one, and nothing else in its place is', () => {
    const out = join(folder, 'out');
    for (const name of ['one', 'two']) {
      mkdirSync(join(out, name), { recursive: true });
      markLatest(out, runDirectory(join(out, name)));
      expect(readlinkSync(join(out, 'latest'))).toBe(name);
    }
    expect(readdirSync(out).toSorted()).toEqual(['latest', 'one', 'two']);

    const other = join(folder, 'other');
    mkdirSync(join(other, 'latest'), { recursive: true });
    expect(() => markLatest(other, runDirectory(join(other, 'one')))).toThrow(
      /other\/latest: it is there and is no link/,
    );
    expect(existsSync(join(other, 'latest'))).toBe(true);

    // It is said before the run whose end would fail.
    const plan = parsePlan(vocabulary, { backend: 'redis-single', seed: '1' });
    expect(() => createRunDirectory(other, plan)).toThrow(
      expect.objectContaining({
        code: 'environment',
        message: `cannot write ${join(other, 'latest')}: it is there and is no link`,
        remedy: 'move it away, or choose another directory',
      }),
    );
    expect(readdirSync(other)).toEqual(['latest']);
  });
});
