// Users' adapters: the example of the documentation loads and is bundled into the client, and every kind of wrong one
// is refused with its file and field.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadAdapter, loadAdapters, recipeOf } from './adapters.ts';
import { cellOf } from '../plan/catalogue.ts';
import { bundleClient } from '../client/bundle.ts';
import { plansOf } from '../commands/plans.ts';
import { HarnessError } from '../contract/errors.ts';
import { parsePlan } from '../plan/plan.ts';
import { vocabulary } from '../plan/vocabulary.ts';

const root = join(import.meta.dirname, '../..');
const example = join(root, 'docs/examples/my-lock.ts');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockpick-adapter-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(text: string, name = 'lock.ts'): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const fields = {
  name: "'mine'",
  backend: "'redis-single'",
  summary: "'s'",
  polls: 'true',
  ownerChecked: 'true',
  open: '() => { throw 1; }',
};

function written(changes: Readonly<Record<string, string>>): string {
  const all = Object.entries({ ...fields, ...changes }).filter(([, value]) => value !== '');
  return file(
    `import type { Adapter } from 'lockpick';\nexport const adapter = { ${all.map(([key, value]) => `${key}: ${value}`).join(', ')} };`,
  );
}

async function programText(adapter?: string): Promise<string> {
  const files = await bundleClient(adapter);
  return files.map(({ content }) => Buffer.from(content).toString()).join('\n');
}

async function refusal(path: string): Promise<HarnessError> {
  try {
    await loadAdapter(path);
  } catch (error) {
    if (error instanceof HarnessError) return error;
    throw error;
  }
  throw new Error('the adapter was accepted');
}

describe('an adapter', () => {
  it('is loaded with its driver, and its recipe is that of its plans', async () => {
    const { adapter } = await loadAdapter(example);
    expect(adapter).toMatchObject({ name: 'my-lock', backend: 'redis-single', polls: true });
    const plan = parsePlan(vocabulary, {
      backend: 'redis-single',
      recipe: 'my-lock',
      adapter: example,
      seed: '1',
    });
    expect(await recipeOf(plan)).toBe(adapter);
    await expect(recipeOf({ ...plan, recipe: 'other' })).rejects.toThrow('is now redis-single/my-lock');
  });

  it('says what is right of its cells, unless a flag does', async () => {
    const adapters = [await loadAdapter(example)];
    const plans = plansOf({ patterns: ['redis-single/my-lock/*'], choices: new Map(), adapters, seed: '1' });
    const graded = plans.map((plan) => [plan.fault, cellOf(plan)?.expected.grade]);
    expect(graded.map(([fault]) => fault).join(' ')).toBe(
      'none pause-holder kill-holder partition-holder pause-releaser kill-acquirer ' +
        'pause-server kill-server lose-power stall-server cpu-starve disk-full slow-fsync lose-replies ' +
        'clock-jump clock-back clock-drift clock-strobe clock-jump-client',
    );
    expect(graded).toContainEqual(['pause-holder', 'unsafe']);
    expect(graded).toContainEqual(['none', 'safe']);
    expect(graded).toContainEqual(['pause-server', undefined]);
    const choices = new Map([
      [
        'expect',
        { value: 'safe-with-fencing', from: 'flag', written: '--expect safe-with-fencing' },
      ] as const,
    ]);
    const [plan] = plansOf({ patterns: ['redis-single/my-lock/pause-holder'], choices, adapters, seed: '1' });
    expect(plan === undefined ? undefined : cellOf(plan)?.expected.grade).toBe('safe-with-fencing');
  });

  it('may be CommonJS', async () => {
    const all = Object.entries(fields).map(([key, value]) => `${key}: ${value}`);
    const path = file(`exports.adapter = { ${all.join(', ')} };`, 'lock.cjs');
    expect((await loadAdapter(path)).adapter.name).toBe('mine');
  });

  it('is in the client program, which is without it otherwise', async () => {
    const marker = 'SET NX PX with a random secret, removed by compare-and-delete';
    expect(await programText(example)).toContain(marker);
    expect(await programText()).not.toContain(marker);
  });

  it('of the documentation bundles against the library it is for', async () => {
    const page = readFileSync(join(root, 'docs/test-your-own-lock.md'), 'utf8');
    const code = /```ts\n(\/\/ my-redlock\.ts\n[\s\S]*?)```/.exec(page)?.[1];
    for (const name of ['redlock', 'ioredis']) {
      mkdirSync(join(folder, 'node_modules', name), { recursive: true });
      writeFileSync(
        join(folder, 'node_modules', name, 'index.js'),
        'module.exports = class {}; module.exports.Redis = class {};',
      );
    }
    const { adapter } = await loadAdapter(file(code ?? '', 'my-redlock.ts'));
    expect(adapter).toMatchObject({ name: 'redlock-4.2.0', backend: 'redis-single' });
  });

  it.each([
    [{ name: "'My Lock'" }, /field `name`: must be small letters/],
    [{ name: '' }, /field `name`/],
    [{ backend: "'redis-singel'" }, /^the adapter .*, field `backend`: unknown backend "redis-singel"$/],
    [{ polls: "'yes'" }, /field `polls`/],
    [{ open: '7' }, /field `open`: must be a function/],
    [{ renewAt: '3' }, /field `renewAt`/],
    [{ tokensource: "'x'" }, /^the adapter .*: unknown field "tokensource"$/],
    [{ name: "'set-nx-px'" }, /name of a built-in recipe/],
    [
      { expected: "{ 'pause-holdr': 'unsafe' }" },
      /^the adapter .*, field `expected`: unknown fault "pause-holdr"$/,
    ],
    [{ expected: "{ none: 'good' }" }, /field `expected\.none`/],
  ] satisfies [Readonly<Record<string, string>>, RegExp][])(
    'with %j is refused',
    async (changes, message) => {
      const path = written(changes);
      const error = await refusal(path);
      expect(error.code).toBe('usage');
      expect(error.message).toMatch(message);
      expect(error.message).toContain(path);
      expect(error.remedy).toBeDefined();
    },
  );

  it('that is missing, does not build, throws, or exports nothing is refused', async () => {
    expect((await refusal(join(folder, 'none.ts'))).message).toContain('none.ts does not exist');
    expect((await refusal(file("import 'no-such-package'", 'a.ts'))).message).toMatch(
      /a\.ts cannot be loaded: [\s\S]*no-such-package/,
    );
    expect((await refusal(file('const x: = 1', 'b.ts'))).message).toMatch(/b\.ts cannot be loaded/);
    expect((await refusal(file("throw new Error('at once')", 'c.ts'))).message).toMatch(/at once/);
    expect((await refusal(file('export default 1', 'd.ts'))).message).toContain('nothing named `adapter`');
  });

  it('has a name of its own among others', async () => {
    const first = written({});
    const second = join(folder, 'second.ts');
    writeFileSync(second, readFileSync(first));
    await expect(loadAdapters([first, second])).rejects.toThrow('are both named mine');
  });
});
