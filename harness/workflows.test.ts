// The files that other machines read: workflows and manifests parse, the numbers in them agree, and every lockpick
// command in them is one.

import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { EXIT_CODE } from './contract/errors.ts';
import { initCommand } from './commands/init.ts';
import { loadConfig } from './settings/load-config.ts';

const root = join(import.meta.dirname, '..');
const project = mkdtempSync(join(tmpdir(), 'lockpick-init-'));
initCommand(project);
afterAll(() => rmSync(project, { recursive: true, force: true }));

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const files = [
  ...globSync('{.github/workflows,docs/kubernetes}/*.{yml,yaml}', { cwd: root }).map((file) =>
    join(root, file),
  ),
  join(project, '.github/workflows/lockpick.yml'),
];
const pages = globSync(
  ['*.md', '{bench,checkers,docker,results,workloads}/README.md', 'docs/**/*.md'],
  // Generated, and tested where it is made.
  { cwd: root, exclude: ['docs/backends.md'] },
);

const workflow = z.object({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  env: z.object({ SHARDS: z.number() }).optional(),
  jobs: z.record(
    z.string(),
    z.object({
      'runs-on': z.string(),
      needs: z.string().optional(),
      strategy: z.object({ matrix: z.object({ shard: z.array(z.number()) }) }).optional(),
      steps: z.array(z.object({ uses: z.string().optional(), run: z.string().optional() })).min(1),
    }),
  ),
});

/** Every document of the file; throws what the parser complains of. */
function documents(path: string): unknown[] {
  return parseAllDocuments(readFileSync(path, 'utf8')).map((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw problem;
    return document.toJS() as unknown;
  });
}

const helps = new Map<string, readonly string[]>();

/** The flags that the command's help names. Throws if there is no such command. */
function helpOf(command: string): readonly string[] {
  const known = helps.get(command);
  if (known !== undefined) return known;
  const cli = join(root, 'harness/cli.ts');
  const { status, stdout } = spawnSync(process.execPath, [cli, command, '--help'], { encoding: 'utf8' });
  expect(status, `lockpick ${command}`).toBe(0);
  expect(stdout).toMatch(new RegExp(`^Usage: lockpick ${command} `));
  const flags = stdout.match(/--[a-z-]+/g) ?? [];
  helps.set(command, flags);
  return flags;
}

function workflowNamed(path: string): z.output<typeof workflow> {
  return workflow.parse(documents(path)[0]);
}

describe.each(files)('%s', (path) => {
  it('parses', () => {
    expect(documents(path).length).toBeGreaterThan(0);
  });
});

describe.each([...files, ...pages.map((page) => join(root, page))])('the commands of %s', (path) => {
  it('are there, with the flags that they are given', () => {
    const text = readFileSync(path, 'utf8');
    const commands = text.matchAll(
      /(?:npx lockpick|lockpick --|`lockpick) ([a-z]+)((?:[^\n`]*\\\n)*[^\n`]*)/g,
    );
    for (const [, command = '', rest = ''] of commands)
      expect(helpOf(command)).toEqual(
        expect.arrayContaining([...rest.matchAll(/ (--[a-z-]+)/g)].map(([, flag]) => flag)),
      );
  });
});

describe('the workflows', () => {
  it.each(files.filter((file) => file.endsWith('.yml')))(
    '%s has jobs with steps that do something',
    (path) => {
      const { jobs } = workflowNamed(path);
      for (const { needs, steps } of Object.values(jobs)) {
        expect(Object.keys({ ...jobs, undefined: true })).toContain(String(needs));
        expect(steps.every(({ uses, run }) => (uses === undefined) !== (run === undefined))).toBe(true);
      }
    },
  );

  it('split the night into as many shards as they run, and merge them', () => {
    const { env, jobs } = workflowNamed(join(root, '.github/workflows/nightly.yml'));
    const shards = jobs['shard']?.strategy?.matrix.shard;
    expect(shards).toEqual(Array.from({ length: env?.SHARDS ?? 0 }, (_, index) => index + 1));
    expect(jobs['merge']?.needs).toBe('shard');
  });

  it('try again only what is not about a lock', () => {
    const text = read('.github/workflows/nightly.yml');
    const retried = [...text.matchAll(/"\$status" = (\d+)/g)].map(([, code]) => Number(code));
    expect(retried).toEqual([EXIT_CODE.environment, EXIT_CODE.internal]);
  });
});

describe('the Indexed Job', () => {
  const job = z.object({
    kind: z.literal('Job'),
    spec: z.object({
      completionMode: z.literal('Indexed'),
      completions: z.number(),
      podFailurePolicy: z.object({
        rules: z.array(
          z.object({ action: z.string(), onExitCodes: z.object({ values: z.array(z.number()) }).optional() }),
        ),
      }),
      template: z.object({
        spec: z.object({
          restartPolicy: z.literal('Never'),
          containers: z.array(z.object({ name: z.string(), args: z.array(z.string()) })),
        }),
      }),
    }),
  });
  const { spec } = job.parse(
    documents(join(root, 'docs/kubernetes/indexed-job.yaml')).find((each) => job.safeParse(each).success),
  );

  it('says of every exit code but success what becomes of the pod', () => {
    const { ok, ...others } = EXIT_CODE;
    const listed = spec.podFailurePolicy.rules.flatMap(({ onExitCodes }) => onExitCodes?.values ?? []);
    expect(listed.toSorted((a, b) => a - b)).toEqual(Object.values(others).toSorted((a, b) => a - b));
    expect(listed).not.toContain(ok);
  });

  it('counts shards from one to the number of its completions', () => {
    expect(spec.template.spec.containers[0]?.args[0]).toContain(
      `--shard "$((JOB_COMPLETION_INDEX + 1))/${spec.completions}"`,
    );
  });
});

describe('lockpick init', () => {
  it('writes a config that loads and refuses to write over it', async () => {
    const config = await loadConfig(join(project, 'lockpick.config.ts'));
    expect(config?.values).toMatchObject({ cells: ['redis-single/fenced-incr/pause-holder'], seeds: 1 });
    expect(() => initCommand(project)).toThrow(/lockpick\.config\.ts, lock-torture\.mjs.* are there already/);
  });
});
