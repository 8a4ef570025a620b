// Precedence, from parsed options to plans: flag > variable > config > the cell's own settings > default, and errors in
// the words of whoever wrote the wrong value.

import { Command } from 'commander';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { plansOf } from '../commands/plans.ts';
import { CONFIG_KEYS, configJsonSchema, configSchema } from './config.ts';
import { EXIT_CODE, HarnessError } from '../contract/errors.ts';
import { loadConfig } from './load-config.ts';
import {
  choicesFor,
  knownVariables,
  refuseUnknownVariables,
  withBatchFlags,
  withOutput,
  withPlanFlags,
  withProfile,
  withReporters,
} from './options.ts';
import { optionName, PLAN_FLAGS } from './plan-flags.ts';
import { choicesOf, type Choices, type ConfigLayer, type ParsedOption } from './settings.ts';

const root = join(import.meta.dirname, '../..');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockpick-settings-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function command(): Command {
  const made = withOutput(withReporters(withBatchFlags(withPlanFlags(new Command('run')))));
  return withProfile(made, 'standard')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
}

function option(name: string, value: unknown, source: 'cli' | 'env'): ParsedOption {
  const variable = `LOCKPICK_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
  return { name, flag: `--${name}`, variable, value, source };
}

function config(values: Readonly<Record<string, unknown>>): ConfigLayer {
  return { file: 'lockpick.config.ts', values, keys: CONFIG_KEYS };
}

const plans = (choices: Choices, ...patterns: string[]) =>
  plansOf({ patterns, choices, adapters: [], seed: '1' });

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function refusal(make: () => unknown): HarnessError {
  try {
    make();
  } catch (error) {
    if (error instanceof HarnessError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('precedence', () => {
  const flags = [option('ttl', '2s', 'cli')];
  const variables = [option('ttl', '3s', 'env'), option('clients', '7', 'env')];
  const file = config({ ttl: '4s', clients: 8, locks: 9 });

  it('is flag > variable > config > default', () => {
    const choices = choicesOf([...variables, ...flags], file);
    expect(plans(choices, 'redis-single')[0]).toMatchObject({ ttlMillis: 2000, clients: 7, locks: 9 });
    expect(plans(choicesOf(variables, file), 'redis-single')[0]).toMatchObject({ ttlMillis: 3000 });
    expect(plans(choicesOf([], file), 'redis-single')[0]).toMatchObject({ ttlMillis: 4000 });
    expect(plans(choicesOf([], undefined), 'redis-single')[0]).toMatchObject({ ttlMillis: 1000 });
  });

  it('puts what a user chose above what a cell brings along', () => {
    const cell = 'redis-single/get-then-del/pause-releaser';
    expect(plans(choicesOf([], undefined), cell)[0]).toMatchObject({
      commandTimeLimitMillis: 3000,
      locks: 1,
    });
    expect(plans(choicesOf([], file), cell)[0]).toMatchObject({ ttlMillis: 4000, locks: 9 });
  });

  it('leaves a cell alone that the command line names, whatever variables and config say', () => {
    const ambient = choicesOf(
      [option('backend', 'etcd', 'env'), option('fault', 'none', 'env')],
      config({ recipe: 'watchdog', cells: ['etcd'] }),
    );
    expect(plans(ambient, 'redis-single/set-nx-px/kill-server')[0]).toMatchObject({
      backend: 'redis-single',
      recipe: 'set-nx-px',
      fault: 'kill-server',
    });
    // What the pattern leaves open is theirs.
    expect(plans(ambient, 'redis-single')[0]).toMatchObject({ recipe: 'watchdog', fault: 'none' });
  });

  it('lets a flag win over the pattern, and choose among the cells of a * pattern', () => {
    const fault = choicesOf([option('fault', 'none', 'cli')], undefined);
    expect(plans(fault, 'redis-single/watchdog/kill-server')[0]).toMatchObject({ fault: 'none' });
    const chosen = plans(fault, 'redis-single/*');
    expect(chosen.length).toBeGreaterThan(2);
    expect(new Set(chosen.map((plan) => plan.fault))).toEqual(new Set(['none']));
    const nothing = choicesOf([option('recipe', 'redlock', 'cli')], undefined);
    expect(refusal(() => plans(nothing, 'redis-single/*')).message).toContain('no cell of');
  });

  it('takes cells and seeds from the config or a variable, and each plan once', () => {
    const choices = choicesOf(
      [option('seeds', '2', 'env')],
      config({ cells: ['etcd', 'etcd', 'redlock/*'] }),
    );
    const all = plans(choices);
    expect(all.filter(({ backend }) => backend === 'etcd').map(({ seed }) => seed)).toEqual(['1', '2']);
    expect(all.some(({ backend }) => backend === 'redlock')).toBe(true);
    expect(
      plans(choicesOf([option('backend', 'postgres', 'cli')], config({ cells: ['etcd'] })))[0],
    ).toMatchObject({
      backend: 'postgres',
    });
  });
});

describe('errors', () => {
  it.each([
    [choicesOf([option('ttl', '1ms', 'cli')], undefined), /^--ttl 1ms: must be 50ms to 10m/],
    [choicesOf([option('ttl', 'soon', 'env')], undefined), /^LOCKPICK_TTL=soon: "soon" is not a duration/],
    [choicesOf([], config({ clients: 0 })), /^lockpick\.config\.ts, clients: /],
    [choicesOf([option('fault', 'kill', 'env')], undefined), /^LOCKPICK_FAULT=kill: unknown fault "kill"/],
    [choicesOf([], config({ defences: ['x'] })), /^lockpick\.config\.ts, defences: unknown defence "x"$/],
    [choicesOf([option('defences', 'none,x', 'cli')], undefined), /^--defences none,x: unknown defence "x"$/],
    [choicesOf([option('seeds', '0', 'env')], undefined), /^LOCKPICK_SEEDS=0: must be a whole number/],
    [choicesOf([option('seeds', '', 'cli')], undefined), /^--seeds : must be a whole number/],
    [choicesOf([option('schedule', '', 'cli')], undefined), /^--schedule: is empty$/],
    [choicesOf([option('ttl', 'x'.repeat(9_999), 'cli')], undefined), /^--ttl x{200}…: /],
    [choicesOf([option('image', ['redis'], 'cli')], undefined), /^--image redis: write name=reference/],
    [choicesOf([option('image', ['rediss=x'], 'cli')], undefined), /^--image rediss=x: unknown image/],
    [choicesOf([], config({ image: { nope: 'x' } })), /^lockpick\.config\.ts, images: unknown image "nope"/],
  ])('%# names what was written', (choices, message) => {
    const error = refusal(() => plans(choices, 'redis-single'));
    expect(error.message).toMatch(message);
    expect(EXIT_CODE[error.code]).toBe(64);
  });
});

describe('the command line', () => {
  it('gives flags, lists of flags and variables their origin', async () => {
    process.env['LOCKPICK_CLIENTS'] = '7';
    try {
      const made = command();
      made.parse(['--ttl', '2s', '--image', 'redis=a', '--image', 'etcd=b', '--quiet', '--no-color'], {
        from: 'user',
      });
      const choices = await choicesFor(made);
      expect(choices.get('ttl')).toEqual({ value: '2s', from: 'flag', written: '--ttl 2s' });
      expect(choices.get('clients')).toMatchObject({ from: 'environment', written: 'LOCKPICK_CLIENTS=7' });
      expect(plans(choices, 'redis-single')[0]?.images).toEqual({ redis: 'a', etcd: 'b' });
      expect(choices.has('quiet')).toBe(true);
      expect(choices.has('json')).toBe(false);
    } finally {
      delete process.env['LOCKPICK_CLIENTS'];
    }
  });

  it('refuses a variable that nobody reads, and names the nearest', async () => {
    const program = new Command().addCommand(command());
    const refused = refuseUnknownVariables(program, { LOCKPICK_TLL: '1s', OTHER: 'x' });
    await expect(refused).rejects.toMatchObject({
      code: 'usage',
      message: 'unknown environment variable LOCKPICK_TLL',
      remedy: expect.stringContaining('LOCKPICK_TTL'),
    });
    await refuseUnknownVariables(program, { LOCKPICK_TTL: '1s', LOCKPICK_REQUIRE_ALL: '1' });
  });

  it('knows every variable that anything here reads', () => {
    const known = knownVariables(new Command().addCommand(command()));
    const files = globSync('{harness,checkers,workloads,bench,docker,.ci}/**/*', { cwd: root }).filter(
      (file) => /\.(ts|mjs|sh)$|^\.ci\/run$/.test(file),
    );
    const read = files
      .filter((file) => file !== 'harness/settings/settings.test.ts')
      .flatMap((file) => [
        ...readFileSync(join(root, file), 'utf8').matchAll(
          /(?:env\['|env\.|\$\{?|^|export )(LOCKPICK_[A-Z_]+[A-Z])/gm,
        ),
      ])
      .map(([, name]) => name);
    expect(read.length).toBeGreaterThan(2);
    expect(read.filter((name) => name !== undefined && !known.includes(name))).toEqual([]);
  });
});

describe('the config', () => {
  it('is TypeScript with types from lockpick, or JSON', async () => {
    const file = write(
      'a.config.ts',
      "import { defineConfig } from 'lockpick';\nexport default defineConfig({ ttl: '2s' as string, adapters: ['x'], images: { redis: 'r' } });",
    );
    const loaded = await loadConfig(file);
    expect(loaded?.values).toMatchObject({ ttl: '2s', adapter: ['x'], image: { redis: 'r' } });
    expect((await loadConfig(write('b.json', '{"seeds": 3}')))?.values).toMatchObject({ seeds: 3 });
  });

  it.each([
    ['export default { tll: "1s" }', /c\.mjs: unknown key "tll"$/],
    ['export default { ttl: 1 }', /c\.mjs, ttl: /],
    ['export default { think: "1s...2s" }', /c\.mjs, think: is not a span/],
    ['export default { reporters: ["xml"] }', /c\.mjs, reporters\.0: /],
    ['export const a = 1', /no default export/],
    ['export default {', /cannot be loaded/],
  ])('%s is refused with its file and key', async (text, message) => {
    await expect(loadConfig(write('c.mjs', text))).rejects.toThrow(message);
  });

  it.each([
    ['clients', -1],
    ['locks', 20_000],
    ['permits', 0],
    ['cutWrites', 2],
    ['minContendedHandoffs', -1],
  ])('has the bounds of the plan: %s', async (key, value) => {
    const file = write('bounds.json', JSON.stringify({ [key]: value }));
    const { message } = refusal(() =>
      plans(choicesOf([option(key, value, 'cli')], undefined), 'redis-single'),
    );
    await expect(loadConfig(file)).rejects.toThrow(message.replace(`--${key} ${value}`, `${file}, ${key}`));
  });

  it.each([
    ['a.json', '', 'write an object as JSON, {} at least'],
    ['b.json', '{"ttl":"1s",}', 'write an object as JSON, {} at least'],
    ['c.mjs', 'export default {', expect.stringContaining('must be correct')],
    ['d.mjs', 'import "no-such-package";', expect.stringContaining('each import must resolve')],
  ])('that cannot be read gets the remedy that fits: %s', async (name, text, remedy) => {
    await expect(loadConfig(write(name, text))).rejects.toMatchObject({ code: 'usage', remedy });
  });

  it('is refused if it was named and is not there, and else may be absent', async () => {
    await expect(loadConfig(join(folder, 'none.ts'))).rejects.toThrow('none.ts does not exist');
    await expect(loadConfig(folder)).rejects.toThrow('is no file');
    await expect(loadConfig('/dev/zero')).rejects.toThrow('is no file');
    expect(await loadConfig()).toBeUndefined();
  });

  it('has a key for every flag of a plan, and the values that the flag takes', () => {
    const keys = Object.keys(configSchema.shape);
    expect(keys).toEqual(expect.arrayContaining(PLAN_FLAGS.map(({ flag }) => optionName(flag))));
    const values = {
      ttl: '1.5s',
      think: '0..80ms',
      idle: '30ms',
      patience: '0',
      seed: 7,
      defences: ['none'],
    };
    expect(configSchema.parse(values)).toEqual(values);
  });

  it('has a JSON Schema for editors that is up to date (vitest -u writes it)', async () => {
    await expect(`${JSON.stringify(configJsonSchema(), null, 2)}\n`).toMatchFileSnapshot(
      join(root, 'docs/lockpick.config.schema.json'),
    );
  });
});
