// The append-only file of a simulated Redis, as the keys that reading it would give: what the operating system has of it,
// and which of that the disk has not yet. A process that is killed loses nothing; a machine whose power goes loses what
// was not synced. Knows no server and no process.

import type { Change, Entry } from './keyspace.ts';

/** `appendfsync` of Redis. */
export type SyncPolicy = 'always' | 'everysec' | 'no';

/** Redis 8.0, aof.c, flushAppendOnlyFile: with `everysec` a second after the last sync, or at once if that is past. */
const SYNC_EVERY_NANOS = 1e9;
/** With `no` it is left to Linux: vm.dirty_expire_centisecs. */
const DIRTY_NANOS = 30e9;

export interface AppendOnlyFile {
  readonly entries: ReadonlyMap<string, Entry>;
  /** `now`: in nanoseconds. With `always` the writer says when it is on disk. */
  write(changes: readonly Change[], now: number, policy: SyncPolicy): void;
  /** All that is written is on disk. */
  synced(): void;
  /** Puts another file in its place, which is on disk. */
  rewrite(entries: Iterable<readonly [string, Entry]>): void;
  /** Returns how many keys are again what they were before. */
  losePower(now: number): number;
}

export function openAppendOnlyFile(): AppendOnlyFile {
  const entries = new Map<string, Entry>();
  /** Key → what the disk has of it. */
  const before = new Map<string, Entry | undefined>();
  /** Of what is not on disk. */
  let syncsAt = -Infinity;

  const put = (key: string, entry: Entry | undefined): void => {
    if (entry === undefined) entries.delete(key);
    else entries.set(key, entry);
  };
  const syncIfDue = (now: number): void => {
    if (now >= syncsAt) before.clear();
  };
  return {
    entries,
    write(changes, now, policy) {
      syncIfDue(now);
      if (before.size === 0) syncsAt = nextSync(policy, now, syncsAt);
      for (const [key, entry] of changes) {
        if (!before.has(key)) before.set(key, entries.get(key));
        put(key, entry);
      }
    },
    synced: () => before.clear(),
    rewrite(all) {
      entries.clear();
      before.clear();
      for (const [key, entry] of all) entries.set(key, entry);
    },
    losePower(now) {
      syncIfDue(now);
      const lost = before.size;
      for (const [key, entry] of before) put(key, entry);
      before.clear();
      return lost;
    },
  };
}

function nextSync(policy: SyncPolicy, now: number, last: number): number {
  switch (policy) {
    case 'always':
      return Infinity;
    case 'everysec':
      return Math.max(now, last + SYNC_EVERY_NANOS);
    case 'no':
      return now + DIRTY_NANOS;
  }
}
