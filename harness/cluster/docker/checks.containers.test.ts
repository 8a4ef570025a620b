// The doctor's questions, put to this machine; and what is said where no engine answers.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { surroundingsChecks } from './checks.ts';
import { leftByUs, stage } from './cluster.fixture.ts';

describe('surroundingsChecks', () => {
  it('finds what the other tests need, and leaves nothing', async () => {
    const { engine } = await stage();
    const checks = await surroundingsChecks();
    const statusOf = (name: string): string | undefined =>
      checks.find((check) => check.name.startsWith(name))?.status;
    for (const name of ['node', 'docker command', 'engine', 'images', 'partitions'])
      expect([name, statusOf(name)]).toEqual([name, 'ok']);
    for (const name of ['bad links', 'free memory', 'free disk', 'left behind'])
      expect([name, statusOf(name)]).not.toContain(undefined);
    for (const { status, fix } of checks) expect(status === 'ok' || fix !== undefined).toBe(true);
    expect(await leftByUs(engine)).toEqual([]);
  });
});

describe('findEngine', () => {
  it.each(['tcp://127.0.0.1:9', 'unix:///nonexistent/docker.sock'])(
    'says soon that %s does not answer',
    (host) => {
      const script = `
      const { findEngine } = await import(${JSON.stringify(join(import.meta.dirname, 'engine.ts'))});
      const began = performance.now();
      await findEngine().catch(({ code, message, remedy }) =>
        console.log(JSON.stringify({ code, message, remedy, tookMillis: performance.now() - began })));
    `;
      const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
        env: { ...process.env, DOCKER_HOST: host },
        encoding: 'utf8',
      });
      const { tookMillis, ...told } = JSON.parse(stdout) as { tookMillis: number };
      // Some milliseconds on an idle machine.
      expect(tookMillis).toBeLessThan(10_000);
      expect(told).toEqual({
        code: 'environment',
        message: `no Docker engine answers at ${host}`,
        remedy: expect.stringContaining('DOCKER_HOST'),
      });
    },
  );
});
