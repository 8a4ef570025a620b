// What is left when a run is killed, and what may be removed of it.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { millis } from '../../history/op.ts';
import { client, redis, stage } from './cluster.fixture.ts';
import { startCluster } from './docker-cluster.ts';
import type { Engine } from './engine.ts';
import {
  listSessions,
  removeSessionNamed,
  SESSION_LABEL,
  sweepDeadSessions,
  type Session,
} from './session.ts';

let engine: Engine;
let owner: ChildProcess;
let name: string;

async function session(): Promise<Session | undefined> {
  return (await listSessions(engine, name))[0];
}

async function runningContainers(): Promise<number> {
  const filters = { label: [`${SESSION_LABEL}=${name}`] };
  return (await engine.docker.listContainers({ filters })).length;
}

beforeAll(async () => {
  ({ engine } = await stage());
  owner = spawn(process.execPath, [join(import.meta.dirname, 'hanging-owner.fixture.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line]: unknown[] = owner.stdout === null ? [] : await once(owner.stdout, 'data');
  name = String(line).trim();
});

afterAll(async () => {
  owner.kill('SIGKILL');
  await removeSessionNamed(engine, name);
});

describe('a session of another process', () => {
  it('is left alone while that lives', async () => {
    await sweepDeadSessions(engine);
    expect(await session()).toMatchObject({ life: 'alive', owner: { pid: owner.pid } });
    expect((await session())?.containers).toHaveLength(4);
  });

  it('is removed when that was killed, and a live one beside it stays', async () => {
    await using ours = await startCluster([redis('r1'), client('c1', '')], await stage());
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(await session()).toMatchObject({ life: 'dead' });
    // Its clients see the end of their stdin and go by themselves; servers stay.
    await expect.poll(runningContainers).toBe(3);

    const [first, second] = await Promise.all([sweepDeadSessions(engine), sweepDeadSessions(engine)]);
    expect([...first, ...second].join()).toContain(
      `session ${name} of process ${owner.pid} (dead): 4 containers, 1 networks`,
    );
    expect(await session()).toBeUndefined();
    expect((await listSessions(engine, ours.session))[0]?.containers).toHaveLength(4);
    expect(await ours.node('r1').probe(millis(30_000))).toBe('answers');
  });
});
