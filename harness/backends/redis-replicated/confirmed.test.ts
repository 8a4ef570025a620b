// Grants that wait for replicas, with a server in memory: what WAIT answers decides, on the connection of the SET.

import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../contract/lock-client.ts';
import { millis } from '../../history/op.ts';
import { fakeRedis } from '../redis/fake-redis.fixture.ts';
import type { RedisPort, RedisReply } from '../redis/port.ts';
import { wait1 } from './recipes/wait-1.ts';
import { waitAll } from './recipes/wait-all.ts';
import { parseRole } from './roles.ts';

const group = { replicas: 2, waitMillis: millis(100) };
const request = { lock: 'k1', ttlMillis: millis(1000), owner: 'a' };

function rig(wait: Outcome<RedisReply>) {
  const redis = fakeRedis();
  const sequences: string[] = [];
  const port: RedisPort = {
    ...redis.port,
    sequence: async (...commands) => {
      sequences.push(commands.map((words) => words.join(' ')).join(' | '));
      return Promise.all(
        commands.map((words) => (words[0] === 'WAIT' ? Promise.resolve(wait) : redis.port.command(...words))),
      );
    },
  };
  return { redis, port, sequences };
}

describe('wait-1, wait-all', () => {
  it('sends SET and WAIT on one connection, for as many replicas as it asks for', async () => {
    for (const { recipe, asked } of [
      { recipe: wait1, asked: 1 },
      { recipe: waitAll, asked: 2 },
    ]) {
      const { redis, port, sequences } = rig({ kind: 'ok', value: asked });
      expect(await recipe.lockClient(port, redis.now, group).acquire(request)).toMatchObject({ kind: 'ok' });
      expect(sequences).toEqual([`SET lock:k1 a NX PX 1000 | WAIT ${asked} 100`]);
    }
  });

  it('takes the key back when too few replicas have it, or nobody knows', async () => {
    for (const wait of [
      { kind: 'ok', value: 1 },
      { kind: 'info', error: 'timeout' },
    ] as const) {
      const { redis, port } = rig(wait);
      const client = waitAll.lockClient(port, redis.now, group);
      expect(await client.acquire(request)).toEqual({ kind: 'fail', error: 'not-replicated' });
      expect(redis.get('lock:k1')).toBeNull();
    }
  });

  it('does not know when the key could not be taken back', async () => {
    const { redis, port } = rig({ kind: 'ok', value: 0 });
    redis.before = (name) => (name === 'EVAL' ? { kind: 'info', error: 'connection-lost' } : undefined);
    expect(await wait1.lockClient(port, redis.now, group).acquire(request)).toEqual({
      kind: 'info',
      error: 'connection-lost',
    });
  });

  it('does not take away what another holds', async () => {
    const { redis, port } = rig({ kind: 'ok', value: 0 });
    redis.set('lock:k1', 'other');
    expect(await wait1.lockClient(port, redis.now, group).acquire(request)).toEqual({
      kind: 'fail',
      error: 'busy',
    });
    expect(redis.get('lock:k1')).toBe('other');
  });
});

describe('parseRole', () => {
  it.each([
    ['role:master\r\nconnected_slaves:2\r\nmaster_repl_offset:42\r\n', { role: 'primary', position: 42 }],
    ['role:slave\r\nslave_repl_offset:7\r\nmaster_repl_offset:7\r\n', { role: 'replica', position: 7 }],
    ['-LOADING Redis is loading the dataset in memory\r\n', undefined],
    ['', undefined],
  ])('%j', (info, expected) => {
    expect(parseRole(info)).toEqual(expected);
  });
});
