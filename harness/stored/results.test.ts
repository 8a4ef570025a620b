// What is read of the results directory by lines, whatever the pieces that it is read in.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readRunLines } from './results.ts';

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
