// The keys of a simulated Redis and the commands on them that recipes use, as Redis 8.0 answers them. Scripts are known
// by their text, and each is a procedure here; a script that is not known is an error, never a guess. Time is what the
// caller says it is. Knows no network, no disk, no replicas.

import { DELETE_IF_OWNER, EXTEND_IF_OWNER } from '../../backends/redis/steps.ts';
import { GRANT_WITH_TOKEN } from '../../backends/redis/recipes/fenced-incr.ts';
import { GRANT_WITH_VOLATILE_TOKEN } from '../../backends/redis/recipes/token-on-volatile-key.ts';
import type { RedisReply } from '../../backends/redis/port.ts';
import { scriptsOfSharedLocks } from './shared-locks.ts';

export interface Entry {
  readonly value: string;
  /** Milliseconds since 1970; absent: never. */
  readonly expiresAt?: number;
}

/** An error reply: its code and what it says. */
export class RedisError extends Error {}

/** What a write did to one key; undefined: it is gone. */
export type Change = readonly [key: string, entry: Entry | undefined];

export interface Keyspace {
  readonly entries: Map<string, Entry>;
  /** Executes one command at a time of day, in whole milliseconds. Throws RedisError. */
  execute(nowMillis: number, name: string, args: readonly string[]): RedisReply;
  /** What a primary did to a key. */
  apply(change: Change): void;
  /** A replica does not see keys that have run out, and leaves it to its primary to delete them. */
  deletesExpired: boolean;
  /** What the last command changed, in order. */
  readonly changes: readonly Change[];
}

/** Commands that change keys, or may. */
export const WRITES: ReadonlySet<string> = new Set([
  'SET',
  'SETNX',
  'PEXPIRE',
  'DEL',
  'INCR',
  'EVAL',
  'DELIFEQ',
  'DELEX',
  'FLUSHALL',
]);

const WRONG_ARITY = (name: string): RedisError =>
  new RedisError(`ERR wrong number of arguments for '${name.toLowerCase()}' command`);
const SYNTAX = (): RedisError => new RedisError('ERR syntax error');
const NOT_AN_INTEGER = (): RedisError => new RedisError('ERR value is not an integer or out of range');

/** `offered`: commands that not every server has. */
export function openKeyspace(stored: Iterable<Change>, offered: ReadonlySet<string>): Keyspace {
  const entries = new Map<string, Entry>();
  for (const [key, entry] of stored) if (entry !== undefined) entries.set(key, entry);
  let changes: Change[] = [];
  let now = 0;
  let deletesExpired = true;

  /** Redis 8.0, db.c, keyIsExpired: a key lives to the end of the millisecond in which it runs out. */
  const live = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    if (entry?.expiresAt === undefined || now <= entry.expiresAt) return entry;
    if (deletesExpired) put(key, undefined);
    return undefined;
  };
  const put = (key: string, entry: Entry | undefined): void => {
    if (entry === undefined) entries.delete(key);
    else entries.set(key, entry);
    changes.push([key, entry]);
  };
  const remove = (key: string): number => {
    if (live(key) === undefined) return 0;
    put(key, undefined);
    return 1;
  };
  const expire = (key: string, ttl: string): number => {
    const entry = live(key);
    if (entry === undefined) return 0;
    const expiresAt = now + integer(ttl);
    // Redis 8.0, expire.c: an expiry in the past deletes.
    put(key, expiresAt <= now ? undefined : { value: entry.value, expiresAt });
    return 1;
  };
  const set = (key: string, value: string, options: readonly string[]): RedisReply => {
    let ifAbsent = false;
    let ttl: number | undefined;
    for (let index = 0; index < options.length; index++) {
      const option = options[index]?.toUpperCase();
      if (option === 'NX') ifAbsent = true;
      else if (option === 'PX' && options[index + 1] !== undefined) {
        ttl = integer(options[index + 1] ?? '');
        if (ttl <= 0) throw new RedisError("ERR invalid expire time in 'set' command");
        index += 1;
      } else throw SYNTAX();
    }
    if (ifAbsent && live(key) !== undefined) return null;
    put(key, ttl === undefined ? { value } : { value, expiresAt: now + ttl });
    return 'OK';
  };
  const increment = (key: string): number => {
    const entry = live(key);
    const value = integer(entry?.value ?? '0') + 1;
    put(key, { ...entry, value: String(value) });
    return value;
  };
  const removeIf = (key: string, owner: string): number => (live(key)?.value === owner ? remove(key) : 0);

  const scripts = new Map<string, (keys: readonly string[], args: readonly string[]) => RedisReply>([
    [DELETE_IF_OWNER, ([key = ''], [owner = '']) => removeIf(key, owner)],
    [EXTEND_IF_OWNER, ([key = ''], [owner, ttl = '']) => (live(key)?.value === owner ? expire(key, ttl) : 0)],
    [
      GRANT_WITH_TOKEN,
      ([key = '', counter = ''], [owner = '', ttl = '']) =>
        set(key, owner, ['NX', 'PX', ttl]) === null ? null : increment(counter),
    ],
    [
      GRANT_WITH_VOLATILE_TOKEN,
      ([key = '', counter = ''], [owner = '', ttl = '']) => {
        if (set(key, owner, ['NX', 'PX', ttl]) === null) return null;
        const token = increment(counter);
        expire(counter, ttl);
        return token;
      },
    ],
    ...scriptsOfSharedLocks({
      now: () => now,
      live,
      put,
      remove,
      increment,
      take: (key, value, ttl) => set(key, value, ['NX', 'PX', ttl]),
    }),
  ]);

  /** Command → how many arguments at least and at most, and what it does. */
  const commands: Readonly<Record<string, Procedure>> = {
    GET: [1, 1, ([key = '']) => live(key)?.value ?? null],
    SET: [2, 5, ([key = '', value = '', ...options]) => set(key, value, options)],
    SETNX: [2, 2, ([key = '', value = '']) => (set(key, value, ['NX']) === null ? 0 : 1)],
    PEXPIRE: [2, 2, ([key = '', ttl = '']) => expire(key, ttl)],
    PTTL: [1, 1, ([key = '']) => timeLeft(live(key), now)],
    EXISTS: [1, 1, ([key = '']) => (live(key) === undefined ? 0 : 1)],
    DEL: [1, 1, ([key = '']) => remove(key)],
    INCR: [1, 1, ([key = '']) => increment(key)],
    DBSIZE: [0, 0, () => entries.size],
    PING: [0, 0, () => 'PONG'],
    TIME: [0, 0, () => [String(Math.floor(now / 1e3)), String((now % 1e3) * 1e3)]],
    EVAL: [
      2,
      Infinity,
      ([script = '', count = '', ...rest]) => {
        const run = scripts.get(script);
        if (run === undefined) throw new RedisError('ERR this simulation does not know the script');
        const keys = integer(count);
        return run(rest.slice(0, keys), rest.slice(keys));
      },
    ],
    ...(offered.has('DELIFEQ') && {
      DELIFEQ: [2, 2, ([key = '', owner = '']) => removeIf(key, owner)] satisfies Procedure,
    }),
  };

  return {
    entries,
    get changes() {
      return changes;
    },
    get deletesExpired() {
      return deletesExpired;
    },
    set deletesExpired(does) {
      deletesExpired = does;
    },
    apply([key, entry]) {
      if (entry === undefined) entries.delete(key);
      else entries.set(key, entry);
    },
    execute(nowMillis, name, args) {
      now = nowMillis;
      changes = [];
      const command = commands[name];
      if (command === undefined)
        throw new RedisError(`ERR unknown command '${name}', with args beginning with: `);
      const [least, most, run] = command;
      if (args.length < least || args.length > most) throw WRONG_ARITY(name);
      return run(args);
    },
  };
}

type Procedure = readonly [least: number, most: number, run: (args: readonly string[]) => RedisReply];

function integer(text: string): number {
  if (!/^-?\d{1,16}$/.test(text)) throw NOT_AN_INTEGER();
  return Number(text);
}

function timeLeft(entry: Entry | undefined, now: number): number {
  if (entry === undefined) return -2;
  return entry.expiresAt === undefined ? -1 : entry.expiresAt - now;
}
