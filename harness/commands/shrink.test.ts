// `lockpick shrink` from the command line: a run with many faults becomes one with few that shows the same and can be
// replayed; and what it refuses, in words.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const cli = join(import.meta.dirname, '..', 'cli.ts');
const out = mkdtempSync(join(tmpdir(), 'lockpick-shrink-test-'));
afterAll(() => rmSync(out, { recursive: true, force: true }));

function lockpick(...args: readonly string[]) {
  return lockpickInto(out, ...args);
}

function lockpickInto(results: string, ...args: readonly string[]) {
  const ended = spawnSync(process.execPath, [cli, ...args, '--out', results], { encoding: 'utf8' });
  return { ...ended, json: () => JSON.parse(ended.stdout) as Record<string, unknown> };
}

function check(path: string) {
  return spawnSync(process.execPath, [cli, 'check', path], { encoding: 'utf8' });
}

function run(cell: string, ...flags: readonly string[]): string {
  const common = ['--on', 'simulation', '--json', '--quiet', '--reporter', 'json'];
  return String(lockpick('run', cell, ...flags, ...common).json()['run']);
}

const TIME = 120_000;

describe('lockpick shrink', () => {
  let wrong: string;
  beforeAll(() => {
    const flags = ['--seed', '6', '--time-limit', '5s', '--expect', 'unsafe'];
    wrong = run('redis-single/del-unconditional/swarm', ...flags);
  }, TIME);

  it(
    'leaves few faults, clients and seconds, and a run that shows the same when it is replayed',
    () => {
      const shrunk = lockpick('shrink', wrong, '--json', '--quiet');
      expect(shrunk.status, shrunk.stderr).toBe(0);
      const { code, from, to, shrunk: path } = shrunk.json();
      expect(code).toBe('double-grant');
      expect(from).toMatchObject({ clients: 5, locks: 3, timeLimitMillis: 5_000 });
      expect(to).toMatchObject({ faults: 1, clients: 3, locks: 1 });
      expect(readFileSync(join(String(path), 'report.html'), 'utf8')).toContain('double-grant');
      const replayed = lockpick('replay', String(path), '--json', '--quiet');
      expect(replayed.json()).toMatchObject({ times: 1, reproduced: 1 });
      // Of the whole run this was expected, and so it is of what is left.
      const checked = check(String(path));
      expect(checked, checked.stdout).toMatchObject({ status: 0 });
    },
    TIME,
  );

  it(
    'leaves a violation where the whole run was one',
    () => {
      const flags = ['--seed', '6', '--time-limit', '5s'];
      const path = run('redis-single/del-unconditional/swarm', ...flags, '--expect', 'safe');
      const shrunk = String(lockpick('shrink', path, '--json', '--quiet').json()['shrunk']);
      expect(check(shrunk)).toMatchObject({
        status: 1,
        stdout: expect.stringMatching(/! double-grant occurred .* and was not expected/),
      });
      // Without anybody who expects anything it is one, too, and nothing is said of expectations.
      const { expect: _, ...plan } = JSON.parse(readFileSync(join(shrunk, 'plan.json'), 'utf8')) as Record<
        string,
        unknown
      >;
      writeFileSync(join(shrunk, 'plan.json'), JSON.stringify(plan));
      expect(check(shrunk)).toMatchObject({
        status: 1,
        stdout: expect.stringMatching(/! double-grant occurred \(\d+ ×\)$/m),
      });
    },
    TIME,
  );

  it(
    'says why there is nothing to shrink',
    () => {
      const safe = run('redis-single/fenced-incr/none', '--time-limit', '1s');
      expect(lockpick('shrink', safe)).toMatchObject({
        status: 64,
        stderr: expect.stringMatching(/has no finding, so there is nothing to keep → its grade is/),
      });
      expect(lockpick('shrink', join(out, 'no-such'))).toMatchObject({
        status: 64,
        stderr: expect.stringContaining('is neither a run nor a finding of one'),
      });
      expect(lockpick('shrink', join(wrong, 'findings', '7f3c'))).toMatchObject({
        status: 64,
        stderr: expect.stringContaining('has no finding 7f3c'),
      });
      expect(lockpickInto(join(wrong, 'plan.json'), 'shrink', wrong)).toMatchObject({
        status: 69,
        stderr: expect.stringMatching(/^lockpick: cannot write .*plan\.json: /),
      });
      const occupied = join(out, 'occupied');
      mkdirSync(join(occupied, 'latest'), { recursive: true });
      // Before the first try, of which it would tell.
      expect(lockpickInto(occupied, 'shrink', wrong)).toMatchObject({
        status: 69,
        stderr: expect.stringMatching(/^lockpick: cannot write .*latest: it is there and is no link/),
      });
    },
    TIME,
  );

  it('refuses a run in containers, and says what to do instead', () => {
    const path = join(out, 'in-containers');
    mkdirSync(path);
    const { on: _, ...plan } = JSON.parse(readFileSync(join(wrong, 'plan.json'), 'utf8')) as { on: string };
    writeFileSync(join(path, 'plan.json'), JSON.stringify(plan));
    writeFileSync(join(path, 'history.jsonl'), readFileSync(join(wrong, 'history.jsonl')));
    expect(lockpick('shrink', path)).toMatchObject({
      status: 64,
      stderr: expect.stringMatching(/recorded in containers.*→ .*replay .*--times 20/),
    });
  });
});
