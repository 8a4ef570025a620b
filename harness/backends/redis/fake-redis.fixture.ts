// A Redis in memory for tests: one key space under a clock that the test moves, and just the commands the recipes send.
// Scripts are known by their text. What a command meets before it runs can be replaced by the test.

import type { Outcome } from '../../contract/lock-client.ts';
import { millis, nanos, nanosOf, type Nanos } from '../../history/op.ts';
import type { RedisPort, RedisReply } from './port.ts';
import { GRANT_WITH_TOKEN } from './recipes/fenced-incr.ts';
import { JOIN, READ, WRITE } from './recipes/read-write.ts';
import { COME_IN, DROP, GO_OUT } from './recipes/reentrant.ts';
import { ADD, COUNT } from './recipes/semaphore-count-then-add.ts';
import { TAKE_PERMIT } from './recipes/semaphore.ts';
import { GRANT_WITH_VOLATILE_TOKEN } from './recipes/token-on-volatile-key.ts';
import { LEAVE } from './shares.ts';
import { DELETE_IF_OWNER, EXTEND_IF_OWNER } from './steps.ts';

export interface FakeRedis {
  readonly port: RedisPort;
  /** Commands that not every server has. */
  readonly offered: Set<string>;
  readonly now: () => Nanos;
  elapse(milliseconds: number): void;
  /** Runs before each command; what it returns is the outcome instead of the command's own, which then does not run. */
  before: (name: string) => Outcome<never> | undefined;
  get(key: string): string | null;
  set(key: string, value: string): void;
  /** undefined: no key, or no expiry. */
  expiresAt(key: string): Nanos | undefined;
}

export function fakeRedis(): FakeRedis {
  const entries = new Map<string, { value: string; expiresAt?: Nanos }>();
  let time = nanos(0);

  const live = (key: string) => {
    const entry = entries.get(key);
    if (entry?.expiresAt === undefined || entry.expiresAt > time) return entry;
    entries.delete(key);
    return undefined;
  };
  const commands: Record<string, (...args: string[]) => RedisReply> = {
    GET: (key = '') => live(key)?.value ?? null,
    SET: (key = '', value = '', ...options) => {
      const ttl = options.at(-1);
      const ifAbsent = options[0] === 'NX';
      if (options.join(' ') !== `${ifAbsent ? 'NX ' : ''}PX ${ttl}`)
        throw new Error(`SET with ${options.join(' ')}`);
      if (ifAbsent && live(key) !== undefined) return null;
      entries.set(key, { value, expiresAt: later(Number(ttl)) });
      return 'OK';
    },
    SETNX: (key = '', value = '') => {
      if (live(key) !== undefined) return 0;
      entries.set(key, { value });
      return 1;
    },
    PEXPIRE: (key = '', ttl = '') => {
      const entry = live(key);
      if (entry === undefined) return 0;
      entry.expiresAt = later(Number(ttl));
      return 1;
    },
    DELIFEQ: (key = '', owner = '') => (call('GET', key) === owner ? call('DEL', key) : 0),
    DELEX: (key = '', condition = '', owner = '') => {
      if (condition !== 'IFEQ') throw new Error(`DELEX with ${condition}`);
      return call('DELIFEQ', key, owner);
    },
    DEL: (key = '') => (live(key) !== undefined && entries.delete(key) ? 1 : 0),
    INCR: (key = '') => {
      const value = Number(live(key)?.value ?? '0') + 1;
      const expiresAt = live(key)?.expiresAt;
      entries.set(key, { value: String(value), ...(expiresAt !== undefined && { expiresAt }) });
      return value;
    },
    EVAL: (script = '', count = '', ...rest) => {
      const run = scripts.get(script);
      if (run === undefined) throw new Error('a script that the fake does not know');
      return run(rest.slice(0, Number(count)), rest.slice(Number(count)));
    },
  };
  /** Sorted sets by key: owner → end of its lease; and hashes by key. */
  const shares = new Map<string, Map<string, Nanos>>();
  const running = (key: string): Map<string, Nanos> => {
    const left = new Map([...(shares.get(key) ?? [])].filter(([, end]) => end > time));
    shares.set(key, left);
    return left;
  };
  const join = (key: string, owner: string, ttl: string): number => {
    running(key).set(owner, later(Number(ttl)));
    return 1;
  };
  const hashes = new Map<string, { owner: string; token: RedisReply; count: number; expiresAt: Nanos }>();
  const liveHash = (key: string) => {
    const hash = hashes.get(key);
    return hash !== undefined && hash.expiresAt > time ? hash : undefined;
  };
  const drop = (key: string): number => (hashes.delete(key) ? 1 : 0);
  const call = (name: string, ...args: string[]): RedisReply => {
    const command = commands[name];
    if (command === undefined) throw new Error(`the fake knows no ${name}`);
    return command(...args);
  };
  const scripts = new Map<string, (keys: string[], args: string[]) => RedisReply>([
    [DELETE_IF_OWNER, ([key = ''], [owner]) => (call('GET', key) === owner ? call('DEL', key) : 0)],
    [
      EXTEND_IF_OWNER,
      ([key = ''], [owner, ttl = '']) => (call('GET', key) === owner ? call('PEXPIRE', key, ttl) : 0),
    ],
    [
      GRANT_WITH_TOKEN,
      ([key = '', tokenKey = ''], [owner = '', ttl = '']) =>
        call('SET', key, owner, 'NX', 'PX', ttl) === null ? null : call('INCR', tokenKey),
    ],
    [
      GRANT_WITH_VOLATILE_TOKEN,
      ([key = '', tokenKey = ''], [owner = '', ttl = '']) => {
        if (call('SET', key, owner, 'NX', 'PX', ttl) === null) return null;
        const token = call('INCR', tokenKey);
        call('PEXPIRE', tokenKey, ttl);
        return token;
      },
    ],
    [
      TAKE_PERMIT,
      ([key = ''], [owner = '', ttl = '', permits]) =>
        running(key).size >= Number(permits) ? 0 : join(key, owner, ttl),
    ],
    [COUNT, ([key = '']) => running(key).size],
    [ADD, ([key = ''], [owner = '', ttl = '']) => join(key, owner, ttl)],
    [LEAVE, ([key = ''], [owner = '']) => (running(key).delete(owner) ? 1 : 0)],
    [
      WRITE,
      ([key = '', tokenKey = '', readers = ''], [owner = '', ttl = '']) =>
        running(readers).size > 0 || call('SET', key, owner, 'NX', 'PX', ttl) === null
          ? null
          : call('INCR', tokenKey),
    ],
    [
      READ,
      (keys, args) => (live(keys[0] ?? '') === undefined ? call('EVAL', JOIN, '3', ...keys, ...args) : null),
    ],
    [
      JOIN,
      ([, tokenKey = '', readers = ''], [owner = '', ttl = '']) => {
        join(readers, owner, ttl);
        return call('INCR', tokenKey);
      },
    ],
    [
      COME_IN,
      ([key = '', tokenKey = ''], [owner = '', ttl = '']) => {
        const held = liveHash(key);
        if (held !== undefined && held.owner !== owner) return null;
        const { token, count } = held ?? { token: call('INCR', tokenKey), count: 0 };
        hashes.set(key, { owner, token, count: count + 1, expiresAt: later(Number(ttl)) });
        return token;
      },
    ],
    [
      GO_OUT,
      ([key = ''], [owner]) => {
        const held = liveHash(key);
        if (held === undefined || held.owner !== owner) return 0;
        held.count -= 1;
        return held.count < 1 ? drop(key) : 1;
      },
    ],
    [DROP, ([key = ''], [owner]) => (liveHash(key)?.owner === owner ? drop(key) : 0)],
  ]);
  const later = (milliseconds: number): Nanos => nanos(time + nanosOf(millis(milliseconds)));

  const fake: FakeRedis = {
    port: {
      command: async (name, ...args) =>
        fake.before(name) ?? { kind: 'ok', value: call(name, ...args.map(String)) },
      offers: async (name) => fake.offered.has(name),
      sequence: (...sent) => Promise.all(sent.map((words) => fake.port.command(...words))),
      [Symbol.asyncDispose]: async () => {},
    },
    offered: new Set(),
    now: () => time,
    elapse: (milliseconds) => {
      time = later(milliseconds);
    },
    before: () => undefined,
    get: (key) => live(key)?.value ?? null,
    set: (key, value) => {
      entries.set(key, { value });
    },
    expiresAt: (key) => live(key)?.expiresAt,
  };
  return fake;
}
