// A cluster on a real engine: comes up whole or not at all, and leaves nothing behind.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HarnessError } from '../../contract/errors.ts';
import { millis } from '../../history/op.ts';
import { client, leftByUs, postgres, redis, stage } from './cluster.fixture.ts';
import { startCluster } from './docker-cluster.ts';
import { ensureImages } from './images.ts';

let on: Awaited<ReturnType<typeof stage>>;

beforeAll(async () => {
  on = await stage();
});

afterEach(async () => {
  const left = await leftByUs(on.engine);
  if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`);
});

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not throw');
}

/** Ample: what is asked for answers at once, or when a busy machine gets to it. */
const WITHIN = millis(30_000);

describe('startCluster', () => {
  it('gives a ready cluster, in the order of the specs, with addresses, names and files', async () => {
    const content = 'naïve\n'.repeat(1_000);
    await using cluster = await startCluster(
      [
        { ...redis('r1'), files: [{ path: '/data/note', content }] },
        postgres('store'),
        client('c1', 'console.log(line)'),
      ],
      on,
    );
    expect([...cluster.nodes.keys()]).toEqual(['r1', 'store', 'c1']);
    const r1 = cluster.node('r1');
    expect(await r1.probe(WITHIN)).toBe('answers');
    expect(await cluster.node('store').probe(WITHIN)).toBe('answers');
    expect(await r1.execInSandbox(['hostname', '-i'], WITHIN)).toMatchObject({
      exitCode: 0,
      stdout: `${r1.address}\n`,
    });
    expect((await r1.execInSandbox(['hostname'], WITHIN)).stdout).toBe('r1\n');
    expect((await r1.exec(['cat', '/data/note'], WITHIN)).stdout).toBe(content);
    const byName = ['bash', '-c', '</dev/tcp/r1/6379'];
    expect(await cluster.node('c1').execInSandbox(byName, WITHIN)).toMatchObject({ exitCode: 0 });
    expect(cluster.images['redis']?.digest).toMatch(/^sha256:/);
    expect(() => cluster.node('r9')).toThrow(HarnessError);
  });

  it('keeps address, firewall rules and files of a node that is killed and started', async () => {
    await using cluster = await startCluster(
      [{ ...redis('r1'), files: [{ path: '/data/note', content: 'kept' }] }, redis('r2')],
      on,
    );
    const [r1, r2] = [cluster.node('r1'), cluster.node('r2')];
    const knock = (seconds: string): string[] => [
      'timeout',
      seconds,
      'bash',
      '-c',
      `</dev/tcp/${r1.address}/6379`,
    ];
    expect((await r2.execInSandbox(knock('20'), WITHIN)).exitCode).toBe(0);
    const rule = ['iptables', '-A', 'INPUT', '-s', r2.address, '-j', 'DROP'];
    expect((await r1.execInSandbox(rule, WITHIN)).exitCode).toBe(0);
    expect((await r2.execInSandbox(knock('0.5'), WITHIN)).exitCode).toBe(124);

    await r1.signal('SIGKILL');
    await r1.start();
    await r1.ready(WITHIN);
    expect(await r1.execInSandbox(['hostname', '-i'], WITHIN)).toMatchObject({ stdout: `${r1.address}\n` });
    expect((await r1.exec(['cat', '/data/note'], WITHIN)).stdout).toBe('kept');
    expect((await r2.execInSandbox(knock('0.5'), WITHIN)).exitCode).toBe(124);

    await r1.execInSandbox(['iptables', '-D', 'INPUT', '-s', r2.address, '-j', 'DROP'], WITHIN);
    expect((await r2.execInSandbox(knock('20'), WITHIN)).exitCode).toBe(0);
  });

  it('runs beside another cluster, and is removed alone', async () => {
    await using one = await startCluster([redis('r1')], on);
    await using two = await startCluster([redis('r1')], on);
    expect(one.node('r1').address).not.toBe(two.node('r1').address);
    await one[Symbol.asyncDispose]();
    await one[Symbol.asyncDispose]();
    expect(await leftByUs(on.engine)).toEqual([two.session]);
    expect(await two.node('r1').probe(WITHIN)).toBe('answers');
  });

  it('writes the log of every node', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'lockpick-logs-'));
    try {
      await using cluster = await startCluster([redis('r1'), client('c1', 'console.error(line)')], on);
      const stream = await cluster.node('c1').connect();
      stream.send('for the log');
      await expect.poll(async () => cluster.node('c1').logs()).toContain('for the log');
      await cluster.collectLogs(join(directory, 'logs'));
      expect(readFileSync(join(directory, 'logs', 'r1.log'), 'utf8')).toContain(
        'Ready to accept connections',
      );
      expect(readFileSync(join(directory, 'logs', 'c1.log'), 'utf8')).toBe('for the log\n');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

describe('a start that fails', () => {
  it('tells the last words of a server that exits at once', async () => {
    const broken = { ...redis('r2'), command: ['--port', 'nonsense'] };
    const error = await errorOf(startCluster([redis('r1'), broken, client('c1', '')], on));
    expect(error).toBeInstanceOf(HarnessError);
    expect(error).toMatchObject({ code: 'environment' });
    expect(String(error)).toMatch(
      /node r2 exited with code 1 before it was ready:[^]*FATAL CONFIG FILE ERROR/,
    );
  });

  it('tells the last words of a server that does not answer', async () => {
    const deaf = { ...redis('r1'), port: 6380 };
    // Long enough for its last words.
    const error = await errorOf(startCluster([deaf], { ...on, readyTimeLimit: millis(10_000) }));
    expect(error).toMatchObject({ code: 'environment' });
    expect(String(error)).toMatch(
      /node r1 was not ready within 10000 ms \(running, refused\):[^]*Ready to accept/,
    );
  });

  it('tells that a program is not there', async () => {
    const error = await errorOf(startCluster([{ ...client('c1', ''), command: ['no-such-program'] }], on));
    expect(error).toMatchObject({ code: 'environment' });
    expect(String(error)).toContain('no-such-program');
  });

  it('tells that an image cannot be had', async () => {
    const error = await errorOf(
      ensureImages(on.engine, { names: ['redis'], overrides: { redis: 'localhost:1/no/such:image' } }),
    );
    expect(error).toMatchObject({ code: 'environment', remedy: expect.stringContaining('docker pull') });
    expect(String(error)).toContain('localhost:1/no/such:image');
  });

  it('ends with the reason of its signal', async () => {
    const specs = [redis('r1'), client('c1', ''), client('c2', '')];
    for (const afterMillis of [0, 150, 400, 800]) {
      const reason = new Error(`interrupted after ${afterMillis} ms`);
      const interrupt = new AbortController();
      const timer = setTimeout(() => interrupt.abort(reason), afterMillis);
      // Deaf, so that the start lasts until it is ended.
      const start = startCluster([...specs, { ...redis('r2'), port: 1 }], {
        ...on,
        signal: interrupt.signal,
      });
      expect(await errorOf(start)).toBe(reason);
      clearTimeout(timer);
      expect(await leftByUs(on.engine)).toEqual([]);
    }
  });
});
