// The command as people run it, on real containers: what is on disk and on the screen after success, failure, Ctrl-C and
// SIGTERM, and that nothing of ours is left on the engine after any of them, kill -9 included.

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findEngine } from './cluster/docker/engine.ts';
import { ensureImages } from './cluster/docker/images.ts';
import { listSessions } from './cluster/docker/session.ts';
import { foreignRedisImage } from './testing/foreign-image.fixture.ts';

const cli = join(import.meta.dirname, 'cli.ts');
let out: string;
beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), 'lockpick-cli-'));
});
afterEach(() => rmSync(out, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function lockpick(...args: readonly string[]): {
  child: ChildProcess;
  ended: Promise<Ended>;
  said: (text: string) => Promise<void>;
} {
  const child = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  const said = async (text: string): Promise<void> => {
    while (!stderr.includes(text)) {
      if (child.exitCode !== null) throw new Error(`ended before it said ${text}: ${stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return { child, ended, said };
}

/** Sessions on the engine whose owner is that process. */
async function leftBy(pid: number | undefined): Promise<string[]> {
  const sessions = await listSessions(await findEngine());
  return sessions.filter(({ owner }) => owner?.pid === pid).map(({ name }) => name);
}

/** Of a run in which no lease is to run out, though a client may stand still for a while on a busy machine. */
const LONG_LEASE = ['--ttl', '5s'];

/** One of each sort, in force together long past any signal of a test. */
const LONG_FAULTS = ['kill', 'pause', 'partition', 'clock-jump'] as const;

/** The file of a schedule that has them all in force half a second after the load began. */
function ofLongFaults(): string {
  const targets = { kill: 'c1', pause: 'c2', partition: 'c3', 'clock-jump': 'r1' };
  const params = { kill: {}, pause: {}, partition: { from: 'servers' }, 'clock-jump': { byMillis: 60_000 } };
  const steps = LONG_FAULTS.map((fault, index) => ({
    kind: 'at',
    atMillis: 300 + index,
    spec: {
      fault,
      target: { kind: 'nodes', names: [targets[fault]] },
      durationMillis: 50_000,
      params: params[fault],
    },
  }));
  const path = join(out, 'schedule.json');
  writeFileSync(path, JSON.stringify({ steps }));
  return path;
}

/** Of each fault of a run its kind and the phases that the journal has, in order. */
function faultPhases(run: string): string[] {
  const phases = new Map<string, string>();
  // The last line may not be whole yet.
  for (const line of readFileSync(join(out, run, 'history.jsonl'), 'utf8')
    .split('\n')
    .slice(0, -1)) {
    if (!line.includes('"type":"fault"')) continue;
    const { id, fault, phase } = JSON.parse(line) as { id: string; fault: string; phase: string };
    phases.set(id, `${phases.get(id) ?? fault} ${phase}`);
  }
  return [...phases.values()];
}

const runDirectories = (): string[] => readdirSync(out).filter((name) => name.includes('redis-single'));

/** Until the journals in `out` are as `enough` wants them, however long a busy machine takes for that. */
async function untilRecorded(child: ChildProcess, enough: () => boolean): Promise<void> {
  while (!enough()) {
    if (child.exitCode !== null) throw new Error('the run ended before enough of it was recorded');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** All the long faults of the only run. */
function inForce(): boolean {
  const phases = runDirectories().flatMap(faultPhases);
  return phases.filter((of) => of.endsWith(' begin acted')).length === LONG_FAULTS.length;
}

/** So many that whoever judges the journal of the only run has something to say. */
const GRANTS = 100;

function grantedOften(): boolean {
  const [run = ''] = runDirectories();
  const journal = readFileSync(join(out, run, 'history.jsonl'), 'utf8');
  return journal.split('\n').filter((line) => /"type":"ok".*"op":"acquire"/.test(line)).length >= GRANTS;
}

describe('lockpick run', () => {
  it('ends with a verdict, its files, and an empty engine; the servers’ image may be another one', async () => {
    using foreign = await foreignRedisImage();
    const { child, ended } = lockpick(
      'run',
      'redis-single/set-nx-px/none',
      ...LONG_LEASE,
      '--image',
      `redis=${foreign.reference}`,
      '--seed',
      '5',
      '--time-limit',
      '3s',
      '--out',
      out,
      '--json',
    );
    const { code, stdout, stderr } = await ended;
    expect(code, stderr).toBe(0);
    const verdict: unknown = JSON.parse(stdout);
    expect(verdict).toMatchObject({ schemaVersion: 1, verdict: 'valid', grade: 'safe', asExpected: true });
    expect(verdict).toMatchObject({ plan: { seed: '5', ttlMillis: 5000 } });
    const [run = ''] = runDirectories();
    expect(readdirSync(join(out, run)).toSorted()).toEqual(
      [
        'history.jsonl',
        'junit.xml',
        'logs',
        'plan.json',
        'report.html',
        'summary.md',
        'verdict.json',
      ].toSorted(),
    );
    expect(readdirSync(join(out, run, 'logs'))).toContain('r1.log');
    expect(JSON.parse(readFileSync(join(out, run, 'plan.json'), 'utf8'))).toMatchObject({
      images: { redis: foreign.reference },
      surroundings: {
        images: { redis: { reference: foreign.reference, digest: expect.stringMatching(/^sha256:/) } },
      },
    });
    const [header = ''] = readFileSync(join(out, run, 'history.jsonl'), 'utf8').split('\n');
    expect(JSON.parse(header)).toMatchObject({
      meta: { serverVersions: { r1: expect.stringMatching(/^redis \d+\.\d+\.\d+$/) } },
    });
    expect(readFileSync(join(out, run, 'report.html'), 'utf8')).toMatch(/Server r1<[^]{0,40}redis \d/);
    expect(readFileSync(join(out, 'latest', 'verdict.json'), 'utf8')).toContain('"grade": "safe"');
    expect(readFileSync(join(out, 'history.jsonl'), 'utf8').trim().split('\n')).toHaveLength(1);
    expect(await leftBy(child.pid)).toEqual([]);
  });

  it("tests a user's own lock library, resumes what is done, and keeps of it what it was told to", async () => {
    const adapter = join(import.meta.dirname, '../docs/examples/my-lock.ts');
    const cell = 'redis-single/my-lock/none';
    const args = [
      '--adapter',
      adapter,
      ...LONG_LEASE,
      '--seed',
      '5',
      '--seeds',
      '2',
      '--time-limit',
      '3s',
      '--out',
      out,
      '--json',
    ];
    const first = await lockpick('run', cell, ...args, '--shard', '1/2', '--keep', 'on-failure').ended;
    expect(first.code, first.stderr).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject({ grade: 'safe', plan: { recipe: 'my-lock', adapter } });
    const [run = ''] = runDirectories();
    expect(readdirSync(join(out, run)).toSorted()).toEqual(
      ['junit.xml', 'plan.json', 'summary.md', 'verdict.json'].toSorted(),
    );
    expect(readFileSync(join(out, 'summary.json'), 'utf8')).toContain('"missing": 0');

    const second = await lockpick('run', cell, ...args, '--resume').ended;
    expect(second.code, second.stderr).toBe(0);
    expect(second.stderr).toContain('1 of 2 runs are done already');
    expect(second.stdout.trim().split('\n')).toHaveLength(1);
    expect(runDirectories()).toHaveLength(2);
    expect(readFileSync(join(out, 'summary.md'), 'utf8')).toMatch(/^# lockpick: all 2 runs as expected\n/);
  });

  it('leaves nothing on the engine when a server does not come up, and says why with its last lines', async () => {
    const { postgres } = await ensureImages(await findEngine(), { names: ['postgres'] });
    const { child, ended } = lockpick(
      'run',
      'redis-single',
      '--image',
      `redis=${postgres?.reference}`,
      '--time-limit',
      '3s',
      '--out',
      out,
    );
    const { code, stderr } = await ended;
    expect(code).toBe(69);
    expect(stderr).toMatch(
      /^lockpick: node r1 exited with code 1 before it was ready:[^]*FATAL: .*appendonly/m,
    );
    expect(await leftBy(child.pid)).toEqual([]);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    '%s: stops early, heals what is in force, judges what was recorded, removes everything, exits with %d',
    async (signal, expected) => {
      const { child, ended, said } = lockpick(
        'run',
        'redis-single/set-nx-px',
        '--schedule',
        ofLongFaults(),
        '--seed',
        '5',
        '--time-limit',
        '60s',
        '--out',
        out,
      );
      await said('running');
      await untilRecorded(child, inForce);
      child.kill(signal);
      const { code, stdout, stderr } = await ended;
      expect(code, stderr).toBe(expected);
      expect(stdout).toContain('redis-single/set-nx-px/fixed');
      const [run = ''] = runDirectories();
      expect(faultPhases(run)).toEqual(LONG_FAULTS.map((fault) => `${fault} begin acted end`));
      expect(existsSync(join(out, run, 'verdict.json'))).toBe(true);
      expect(existsSync(join(out, run, 'report.html'))).toBe(true);
      expect(await leftBy(child.pid)).toEqual([]);
    },
  );

  it('a second Ctrl-C only heals and removes: no verdict', async () => {
    const { child, ended, said } = lockpick(
      'run',
      'redis-single/set-nx-px',
      '--schedule',
      ofLongFaults(),
      '--time-limit',
      '60s',
      '--out',
      out,
    );
    await said('running');
    await untilRecorded(child, inForce);
    child.kill('SIGINT');
    await said('SIGINT');
    child.kill('SIGINT');
    const { code } = await ended;
    expect(code).toBe(130);
    const [run = ''] = runDirectories();
    expect(faultPhases(run).map((phases) => phases.split(' ').at(-1))).toEqual(LONG_FAULTS.map(() => 'end'));
    expect(existsSync(join(out, run, 'verdict.json'))).toBe(false);
    expect(await leftBy(child.pid)).toEqual([]);
  });

  it('a container that somebody removes ends the run with what was recorded, and nothing else of it stays', async () => {
    const { child, ended, said } = lockpick(
      'run',
      'redis-single/set-nx-px/none',
      ...LONG_LEASE,
      '--time-limit',
      '60s',
      '--out',
      out,
    );
    await said('running');
    await untilRecorded(child, grantedOften);
    const [session = ''] = await leftBy(child.pid);
    const { docker } = await findEngine();
    await docker.getContainer(`lockpick-${session}-c1`).remove({ force: true });
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(69);
    expect(stderr).toMatch(/client c1 died by itself → was its container removed/);
    const [run = ''] = runDirectories();
    expect(stderr).toContain(`check ${join(out, run)}`);
    const check = await lockpick('check', join(out, run)).ended;
    expect(check.code, check.stdout).toBe(0);
    expect(await leftBy(child.pid)).toEqual([]);
  });

  it('kill -9: what is left is judgeable, and the next start removes the containers', async () => {
    const { child, ended, said } = lockpick(
      'run',
      'redis-single/set-nx-px/none',
      ...LONG_LEASE,
      '--time-limit',
      '60s',
      '--out',
      out,
    );
    await said('running');
    await untilRecorded(child, grantedOften);
    child.kill('SIGKILL');
    await ended;
    expect(await leftBy(child.pid)).toHaveLength(1);

    const [run = ''] = runDirectories();
    const check = await lockpick('check', join(out, run), '--json').ended;
    expect(check.code, check.stderr).toBe(0);
    expect(JSON.parse(check.stdout)).toMatchObject({ verdict: 'valid', findings: [] });

    const next = await lockpick('run', 'redis-single/set-nx-px/none', '--time-limit', '1s', '--out', out)
      .ended;
    expect(next.stderr).toContain('dead session');
    expect(await leftBy(child.pid)).toEqual([]);
  });

  it('kill -9: `lockpick clean --dead` removes it as well, and spares the living', async () => {
    const living = lockpick('run', 'redis-single/set-nx-px/none', '--time-limit', '60s', '--out', out);
    await living.said('running');
    const dead = lockpick('run', 'redis-single/set-nx-px/none', '--time-limit', '60s', '--out', out);
    await dead.said('running');
    dead.child.kill('SIGKILL');
    await dead.ended;
    const clean = await lockpick('clean', '--dead').ended;
    expect(clean.code, clean.stderr).toBe(0);
    expect(await leftBy(dead.child.pid)).toEqual([]);
    expect(await leftBy(living.child.pid)).toHaveLength(1);
    living.child.kill('SIGINT');
    expect((await living.ended).code).toBe(130);
    expect(await leftBy(living.child.pid)).toEqual([]);
  });
});
