// The golden histories of the models: `histories/<model>/good` must be valid, `bad` must blame exactly the operations that
// the file pins, whoever decides. In a history of ours the header pins them; in EDN, which has no ids, a comment names the
// line of the answer that no order explains. How to add one: checkers/README.md.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../verdict.ts';
import { parseRecorded, type Recorded } from '../../harness/history/recorded.ts';
import { MODEL_NAMES } from './catalogue.ts';
import { checkModel, type ModelOptions } from './check-model.ts';
import { decidePartition } from './decide.ts';
import { explain } from './explain.ts';
import { SEARCH_LIMITS } from './search.ts';

const root = join(import.meta.dirname, '../histories');

interface Pinned {
  readonly about: string;
  readonly model: string;
  readonly options?: ModelOptions;
  readonly expect?: readonly { readonly code: string; readonly ops: readonly number[] }[];
  readonly line?: number;
}

function golden(kind: 'good' | 'bad'): string[] {
  return MODEL_NAMES.flatMap((model) => globSync(`${model}/${kind}/*`, { cwd: root })).toSorted();
}

function read(file: string): { recorded: Recorded; pinned: Pinned; options: ModelOptions } {
  const text = readFileSync(join(root, file), 'utf8');
  const recorded = parseRecorded(text);
  const pinned: unknown =
    'history' in recorded ? recorded.history.header.meta : JSON.parse(text.slice(1, text.indexOf('\n')));
  const meant = pinned as Pinned;
  return { recorded, pinned: meant, options: { ...meant.options, model: meant.model } };
}

/** What the file pins: code and operations, or the line of the refuted answer. */
function blamed(recorded: Recorded, { code, ops }: Finding): unknown {
  if ('history' in recorded) return { code, ops };
  const { calls, lines } = recorded.calls;
  return lines[calls[ops.at(-1) ?? 0]?.returned ?? 0];
}

describe('golden histories of the models', () => {
  it.each(golden('good'))('%s', (file) => {
    const { recorded, pinned, options } = read(file);
    const { verdict, catalogued } = checkModel(recorded, options);
    expect(verdict).toBe('valid');
    expect(file.startsWith(`${catalogued.model.name}/`)).toBe(true);
    expect(pinned.about).toEqual(expect.any(String));
  });

  it.each(golden('bad'))('%s', (file) => {
    const { recorded, pinned, options } = read(file);
    const result = checkModel(recorded, options);
    expect(result.verdict).toBe('invalid');
    const { findings } = explain(recorded, result);
    expect(findings.map((finding) => blamed(recorded, finding))).toEqual(pinned.expect ?? [pinned.line]);
    expect(pinned.about).toEqual(expect.any(String));
  });

  it.each([...golden('good'), ...golden('bad')])('%s, by search alone', (file) => {
    const { recorded, options } = read(file);
    const { catalogued, partitions, verdict } = checkModel(recorded, options);
    const searched = partitions.map(({ entries }) => {
      if (catalogued.of === 'lock' && 'owner' in entries)
        return decidePartition(entries, catalogued.model, SEARCH_LIMITS).verdict;
      if (catalogued.of === 'store' && 'value' in entries)
        return decidePartition(entries, catalogued.model, SEARCH_LIMITS).verdict;
      return 'unknown';
    });
    const isValid = searched.every((found) => found === 'valid');
    expect(isValid ? 'valid' : 'invalid').toBe(verdict);
    expect(searched).not.toContain('unknown');
  });

  it.each(MODEL_NAMES)('has three of each for %s', (model) => {
    for (const kind of ['good', 'bad'] as const)
      expect(golden(kind).filter((file) => file.startsWith(`${model}/`)).length).toBeGreaterThanOrEqual(3);
  });
});
