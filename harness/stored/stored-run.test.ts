// The replay command: pasted into a shell it gives the same plan, whatever was chosen to make it.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { catalogue } from '../plan/catalogue.ts';
import { cellName } from '../plan/cell-name.ts';
import { plansOf } from '../commands/plans.ts';
import { shellWord } from '../terminal/invocation.ts';
import { choicesFor, withPlanFlags } from '../settings/options.ts';
import { parsePlan, type Plan } from '../plan/plan.ts';
import { runDirectory } from './results.ts';
import { readStoredPlan, replayCommand, storedPlanText } from './stored-run.ts';
import { vocabulary } from '../plan/vocabulary.ts';

/** What a shell makes of the command, then what lockpick makes of that. */
async function planOfCommand(text: string): Promise<Plan | undefined> {
  const words = execFileSync('sh', ['-c', `printf '%s\\0' ${text}`], { encoding: 'utf8' }).split('\0');
  const command = withPlanFlags(new Command('run')).argument('<cell>');
  command.parse(words.slice(words.indexOf('--') + 2, -1), { from: 'user' });
  const choices = await choicesFor(command);
  const seed = String(choices.get('seed')?.value);
  return plansOf({ patterns: command.args, choices, adapters: [], seed })[0];
}

function planWith(cell: (typeof catalogue)[number], settings: object): Plan {
  const { backend, variant, recipe, fault, workload } = cell;
  return parsePlan(vocabulary, { backend, variant, recipe, fault, workload }, cell.settings, settings);
}

describe('a stored plan', () => {
  it('that is wrong is refused with the name of its file', () => {
    const [cell] = catalogue;
    if (cell === undefined) throw new Error('no cell');
    const path = mkdtempSync(join(tmpdir(), 'lockpick-stored-'));
    const directory = runDirectory(path);
    const host = { cpus: 1, memoryBytes: 1, kernel: '', engine: '' };
    const text = storedPlanText(planWith(cell, { seed: '1' }), {
      started: '',
      versions: {},
      images: {},
      host,
    });
    writeFileSync(directory.plan, text.replace(`"${cell.backend}"`, '"reddis"'));
    expect(() => readStoredPlan(directory)).toThrow(`${directory.plan}: unknown backend "reddis"`);
    for (const [wrong, words] of [
      ['[]', 'it must be an object'],
      ['{"backend":"etcd"}', 'surroundings is missing'],
      [text.replace('"cpus": 1', '"cpus": "1"'), 'surroundings.host.cpus must be a number'],
    ] as const) {
      writeFileSync(directory.plan, wrong);
      expect(() => readStoredPlan(directory)).toThrow(`${directory.plan} is not the plan of a run: ${words}`);
    }
    rmSync(path, { recursive: true });
  });
});

describe('the replay command', () => {
  it('gives the plan of every catalogued cell', async () => {
    for (const cell of catalogue.filter((_, index) => index % 7 === 0)) {
      const choices = new Map<string, never>();
      const [plan] = plansOf({ patterns: [cellName(cell)], choices, adapters: [], seed: '42' });
      if (plan === undefined) throw new Error('no plan');
      expect(await planOfCommand(replayCommand(plan))).toEqual(plan);
    }
  });

  it('gives the plan whatever settings, seed and images it has', async () => {
    const settings = fc.record(
      {
        ttlMillis: fc.integer({ min: 50, max: 600_000 }),
        timeLimitMillis: fc.integer({ min: 1000, max: 3_600_000 }),
        clients: fc.integer({ min: 1, max: 100 }),
        thinkMillis: fc
          .tuple(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 0, max: 500 }))
          .map(([min, more]) => ({ min, max: min + more })),
        expect: fc.constantFrom('safe', 'unsafe'),
        images: fc.constantFrom({}, { redis: "it's a:reference", client: 'x@sha256:00' }),
      },
      { requiredKeys: [] },
    );
    const seed = fc
      .string({ minLength: 1, maxLength: 20 })
      .filter((text) => /^[^\0-]/.test(text) && !text.includes('\0'));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...catalogue), settings, seed, async (cell, chosen, text) => {
        const plan = planWith(cell, { ...chosen, seed: text });
        expect(await planOfCommand(replayCommand(plan))).toEqual(plan);
      }),
      { numRuns: 40 },
    );
  });
});

describe('shellWord', () => {
  it('is one word of a shell, to the letter', () => {
    const texts = ['plain-1.0/x:y=z', "it's", 'a b', '$HOME', '`ls`', '*', '"', String.raw`\n`, 'é'];
    const words = execFileSync('sh', ['-c', `printf '%s\\0' ${texts.map(shellWord).join(' ')}`], {
      encoding: 'utf8',
    });
    expect(words.split('\0').slice(0, -1)).toEqual(texts);
  });
});
