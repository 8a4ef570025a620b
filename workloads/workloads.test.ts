// The session scripts, one turn at a time: what is read and written under which lock, what is sent again, what is not.

import { describe, expect, it } from 'vitest';
import { counter } from './counter.ts';
import { cron } from './cron.ts';
import { fakeSession, type FakeScript } from './fake-session.fixture.ts';
import { fencedRegister } from './fenced-register.ts';
import { workloads } from './index.ts';
import { inventory } from './inventory.ts';
import { manyLocks } from './many-locks.ts';
import { nested } from './nested.ts';
import { readersWriters } from './readers-writers.ts';
import type { Workload } from '../harness/contract/workload.ts';
import { defences as storeDefences } from '../harness/postgres-store/defences.ts';

async function turn(workload: Workload, script: FakeScript): Promise<readonly string[]> {
  const session = fakeSession(script);
  await workload.run(session);
  return session.calls;
}

const buy = (script: Partial<FakeScript> = {}): Promise<readonly string[]> =>
  turn(inventory, { defences: ['none'], stock: '5', ...script });

describe('a critical section', () => {
  it('is the same for every defence', async () => {
    expect(await turn(counter, { defences: ['none', 'version-cas'] })).toEqual([
      'acquire k1',
      'read none k1',
      'read version-cas k1',
      'write none k1 1 from 0',
      'write version-cas k1 1 from 0',
      'release k1',
    ]);
  });

  it('writes nothing if its client was told that the lock is lost, and still lets go', async () => {
    expect(await turn(counter, { defences: ['none'], lost: true })).toEqual([
      'acquire k1',
      'read none k1',
      'release k1',
    ]);
  });

  it.each(workloads.filter(({ name }) => name !== 'cron'))(
    'does not begin without the lock: $name',
    async (workload) => {
      expect(await turn(workload, { defences: ['none'], busy: 9 })).toHaveLength(1);
    },
  );
});

describe('inventory', () => {
  it('takes one unit for one order', async () => {
    expect(await buy()).toEqual(['acquire k1', 'read none k1', 'write none k1 4 from 0 for 1', 'release k1']);
  });

  it('sends an unanswered order again in a section of its own, and finds that it was applied', async () => {
    expect(await buy({ outcomes: ['info'] })).toEqual([
      'acquire k1',
      'read none k1',
      'write none k1 4 from 0 for 1',
      'release k1',
      'acquire k1',
      'read none k1',
      'release k1',
    ]);
  });

  it('sends it only to the stores that did not answer, and not what was refused', async () => {
    const calls = await buy({
      defences: ['none', 'version-cas', 'row-lock'],
      outcomes: ['ok', 'info', 'fail'],
    });
    expect(calls.slice(calls.indexOf('release k1') + 1)).toEqual([
      'acquire k1',
      'read version-cas k1',
      'release k1',
    ]);
  });

  it('delivers one in ten again though it was answered', async () => {
    const calls = await buy({ integers: [1] });
    expect(calls.filter((call) => call === 'acquire k1')).toHaveLength(2);
    expect(calls.filter((call) => call.startsWith('write'))).toHaveLength(1);
  });

  it('buys nothing when all is sold', async () => {
    expect(await buy({ stock: '0' })).toEqual(['acquire k1', 'read none k1', 'release k1']);
  });
});

describe('cron', () => {
  it('waits for the tick and runs each job once', async () => {
    const session = fakeSession({ defences: ['unique-constraint'] });
    await cron.run(session);
    expect(session.now()).toBeGreaterThanOrEqual(1e9);
    expect(session.calls.filter((call) => call.startsWith('write'))).toEqual([
      'write unique-constraint k1 1 from 0 for 1',
      'write unique-constraint k2 1 from 0 for 1',
    ]);
    await cron.run(session);
    expect(session.calls.filter((call) => call.endsWith('for 2'))).toHaveLength(2);
  });

  it('looks again while somebody else runs the job, until the next tick', async () => {
    const calls = await turn(cron, { defences: ['unique-constraint'], busy: 5 });
    expect(calls.filter((call) => call.startsWith('busy'))).toHaveLength(5);
    expect(calls.filter((call) => call.startsWith('write'))).toHaveLength(2);
    const late = await turn(cron, { defences: ['unique-constraint'], busy: 1000 });
    expect(late.some((call) => call.startsWith('acquire'))).toBe(false);
  });

  it('lets a job be that has been run, and gives the lock back', async () => {
    const session = fakeSession({ defences: ['unique-constraint'] });
    const held = await session.acquire('k1');
    if (held === undefined) throw new Error('not granted');
    await session.write('unique-constraint', 'k1', held, { value: '1', base: '0', order: '1' });
    await cron.run(session);
    expect(session.calls.filter((call) => call.startsWith('write unique-constraint k1'))).toHaveLength(1);
    expect(session.calls).toContain('release k1');
  });
});

describe('many-locks', () => {
  it('takes a hot lock every other turn', async () => {
    const script = { defences: [], locks: ['k1', 'k2', 'k3', 'k4', 'k5'], picksLast: true };
    expect((await turn(manyLocks, { ...script, integers: [0] }))[0]).toBe('acquire k3');
    expect((await turn(manyLocks, { ...script, integers: [1] }))[0]).toBe('acquire k5');
  });
});

describe('fenced-register', () => {
  it('writes a value of its own', async () => {
    const session = fakeSession({ defences: ['none'] });
    await fencedRegister.run(session);
    await fencedRegister.run(session);
    expect(session.calls.filter((call) => call.startsWith('write'))).toEqual([
      'write none k1 1 from 0',
      'write none k1 2 from 1',
    ]);
  });
});

describe('every workload', () => {
  it('names defences that there are, and those that need an addition only where it makes one', () => {
    const names = storeDefences.map(({ name }) => name);
    for (const { defences = names } of workloads)
      expect(names).toEqual(expect.arrayContaining([...defences]));
    for (const { name } of storeDefences.filter(({ relative }) => relative === true))
      for (const workload of [fencedRegister, cron]) expect(workload.defences).not.toContain(name);
  });
});

describe('nested', () => {
  it('counts after the inner release, and not without the inner lock', async () => {
    const calls = await turn(nested, { defences: ['none'] });
    expect(calls).toEqual([
      'acquire k1',
      'reenter k1',
      'release k1',
      'read none k1',
      'write none k1 1 from 0',
      'release k1',
    ]);
  });
});

describe('readers-writers', () => {
  it('shares the lock to read, and has it alone to write', async () => {
    expect(await turn(readersWriters, { defences: ['none'], integers: [2] })).toEqual([
      'share k1',
      'read none k1',
      'release k1',
    ]);
    expect(await turn(readersWriters, { defences: ['none'], integers: [1] })).toEqual([
      'acquire k1',
      'read none k1',
      'write none k1 1 from 0',
      'release k1',
    ]);
  });
});
