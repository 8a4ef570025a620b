// The scripts of semaphores, read-write and reentrant locks as procedures on the keys of a simulated Redis. Sorted sets and
// hashes are kept as the text of what is in them, so a change of one is a change of its key as any other.

import { COME_IN, DROP, GO_OUT } from '../../backends/redis/recipes/reentrant.ts';
import { JOIN, READ, WRITE } from '../../backends/redis/recipes/read-write.ts';
import { ADD, COUNT } from '../../backends/redis/recipes/semaphore-count-then-add.ts';
import { TAKE_PERMIT } from '../../backends/redis/recipes/semaphore.ts';
import { LEAVE } from '../../backends/redis/shares.ts';
import type { RedisReply } from '../../backends/redis/port.ts';
import type { Entry } from './keyspace.ts';

/** What commands do to keys that live. */
export interface Keys {
  readonly now: () => number;
  readonly live: (key: string) => Entry | undefined;
  readonly put: (key: string, entry: Entry | undefined) => void;
  readonly remove: (key: string) => number;
  readonly increment: (key: string) => number;
  /** SET NX PX; null: the key is there. */
  readonly take: (key: string, value: string, ttl: string) => RedisReply;
}

type Script = (keys: readonly string[], args: readonly string[]) => RedisReply;

interface Held {
  readonly owner: string;
  readonly token: number;
  readonly count: number;
}

function textOf({ owner, token, count }: Held): string {
  return [owner, token, count].join(' ');
}

export function scriptsOfSharedLocks(keys: Keys): readonly (readonly [text: string, script: Script])[] {
  const { now, live, put, remove, increment, take } = keys;

  /** Owners and the ends of their leases; those that are over are removed. */
  const purged = (key: string): Map<string, number> => {
    const all = (live(key)?.value.split('\n') ?? []).map((line): readonly [string, number] => {
      const [owner = '', end] = line.split(' ');
      return [owner, Number(end)];
    });
    const running = all.filter(([, end]) => end > now());
    if (running.length < all.length) keep(key, running);
    return new Map(running);
  };
  const keep = (key: string, running: readonly (readonly [string, number])[]): void =>
    put(
      key,
      running.length === 0 ? undefined : { value: running.map((share) => share.join(' ')).join('\n') },
    );
  const join = (key: string, owner: string, ttl: string): number => {
    keep(key, [...purged(key).set(owner, now() + Number(ttl))]);
    return 1;
  };
  const leave = (key: string, owner: string): number => {
    const running = purged(key);
    if (!running.delete(owner)) return 0;
    keep(key, [...running]);
    return 1;
  };
  const heldAt = (key: string): Held | undefined => {
    const entry = live(key);
    if (entry === undefined) return undefined;
    const [owner = '', token, count] = entry.value.split(' ');
    return { owner, token: Number(token), count: Number(count) };
  };

  return [
    [
      TAKE_PERMIT,
      ([key = ''], [owner = '', ttl = '', permits]) =>
        purged(key).size >= Number(permits) ? 0 : join(key, owner, ttl),
    ],
    [COUNT, ([key = '']) => purged(key).size],
    [ADD, ([key = ''], [owner = '', ttl = '']) => join(key, owner, ttl)],
    [LEAVE, ([key = ''], [owner = '']) => leave(key, owner)],
    [
      WRITE,
      ([key = '', counter = '', readers = ''], [owner = '', ttl = '']) =>
        purged(readers).size > 0 || take(key, owner, ttl) === null ? null : increment(counter),
    ],
    [
      READ,
      ([key = '', counter = '', readers = ''], [owner = '', ttl = '']) =>
        live(key) === undefined && join(readers, owner, ttl) === 1 ? increment(counter) : null,
    ],
    [
      JOIN,
      ([, counter = '', readers = ''], [owner = '', ttl = '']) => {
        join(readers, owner, ttl);
        return increment(counter);
      },
    ],
    [
      COME_IN,
      ([key = '', counter = ''], [owner = '', ttl = '']) => {
        const held = heldAt(key) ?? { owner, token: increment(counter), count: 0 };
        if (held.owner !== owner) return null;
        const value = textOf({ ...held, count: held.count + 1 });
        put(key, { value, expiresAt: now() + Number(ttl) });
        return held.token;
      },
    ],
    [
      GO_OUT,
      ([key = ''], [owner]) => {
        const held = heldAt(key);
        if (held === undefined || held.owner !== owner) return 0;
        if (held.count < 2) return remove(key);
        put(key, { ...live(key), value: textOf({ ...held, count: held.count - 1 }) });
        return 1;
      },
    ],
    [DROP, ([key = ''], [owner]) => (heldAt(key)?.owner === owner ? remove(key) : 0)],
  ];
}
