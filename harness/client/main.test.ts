// The client program as a process of its own: its clock, its refusals, and every way in which it must end.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { monotonicClock, monotonicOrigin } from '../clock.ts';
import type { ClientConfig } from '../contract/control.ts';
import { millis } from '../history/op.ts';
import { clientProcess, type ClientProcess } from './client-process.fixture.ts';

function start(): ClientProcess & { kill(signal: NodeJS.Signals): void } {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return Object.assign(clientProcess(child), { kill: (signal: NodeJS.Signals) => void child.kill(signal) });
}

const nowhere = { host: '127.0.0.1', port: 1 };
const config: ClientConfig = {
  process: 'c1',
  backend: 'redis-single',
  recipe: 'set-nx-px',
  workload: 'counter',
  servers: [{ name: 'r1', ...nowhere }],
  store: nowhere,
  defences: ['none'],
  locks: ['k1'],
  seed: '1',
  firstId: 1,
  idStep: 10,
  cutWrites: 0,
  ttlMillis: millis(1000),
  commandTimeLimitMillis: millis(200),
  thinkMillis: { min: millis(0), max: millis(0) },
  idleMillis: { min: millis(0), max: millis(0) },
  pollMillis: { min: millis(1), max: millis(1) },
  patienceMillis: millis(100),
};

describe('the client program', () => {
  it('tells the time of the run between the question and its arrival (I3), and quits with 0', async () => {
    const origin = monotonicOrigin();
    const clock = monotonicClock(origin);
    const client = start();
    for (const round of [1, 2]) {
      const asked = clock.now();
      client.send({ t: 'hello', origin: String(origin), round });
      const { time, round: answered } = await client.answer('hello');
      expect(answered).toBe(round);
      expect(time).toBeGreaterThanOrEqual(asked);
      expect(time).toBeLessThanOrEqual(clock.now());
    }
    client.send({ t: 'quit' });
    expect(await client.ended).toBe(0);
  });

  it('ends when the harness is gone', async () => {
    const client = start();
    client.closeStdin();
    expect(await client.ended).toBe(0);
  });

  it('ends on SIGTERM', async () => {
    const client = start();
    client.send({ t: 'hello', origin: '0', round: 1 });
    await client.answer('hello');
    client.kill('SIGTERM');
    expect(await client.ended).toBe(143);
  });

  it('answers after it was stopped and continued', async () => {
    const client = start();
    client.send({ t: 'hello', origin: '0', round: 1 });
    await client.answer('hello');
    client.kill('SIGSTOP');
    client.send({ t: 'hello', origin: '0', round: 2 });
    client.kill('SIGCONT');
    expect((await client.answer('hello')).round).toBe(2);
    client.send({ t: 'quit' });
    expect(await client.ended).toBe(0);
  });

  it('says so and ends with 69 when the store cannot be reached at setup', async () => {
    const client = start();
    client.send({ t: 'setup', config });
    expect(await client.answer('failed')).toMatchObject({
      code: 'environment',
      error: expect.stringContaining('127.0.0.1:1'),
    });
    expect(await client.ended).toBe(69);
  });

  it.each([
    ['a line that is no command', '{"t":"dance"}', 'not a command'],
    ['a line that is not JSON', 'dance', 'not valid JSON'],
    ['a start before setup', '{"t":"start"}', 'before setup'],
    [
      'a recipe that it does not know',
      JSON.stringify({ t: 'setup', config: { ...config, recipe: '?' } }),
      'knows no ?',
    ],
  ])('ends with 70 on %s', async (_what, line, error) => {
    const client = start();
    client.sendLine(line);
    expect(await client.answer('failed')).toMatchObject({
      code: 'internal',
      error: expect.stringContaining(error),
    });
    expect(await client.ended).toBe(70);
  });
});
