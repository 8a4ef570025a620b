// A node's disk as a program sees it: what it has written outlives it, whether it was synced or not, because the
// operating system has it; kill takes nothing away, a new disk everything. A disk can be slow to sync.

import type { Entry } from './redis/keyspace.ts';

export interface Disk {
  /** The append-only file of a Redis server, as the keys that reading it would give. */
  readonly appended: Map<string, Entry>;
  /** Empties it. */
  wipe(): void;
  /** How much longer than usual a sync takes, in milliseconds. */
  syncDelayMillis: number;
  /** Syncs that took longer, and for how long altogether. */
  readonly held: { calls: number; nanos: number };
}

export function openDisk(): Disk {
  const appended = new Map<string, Entry>();
  return {
    appended,
    wipe() {
      appended.clear();
    },
    syncDelayMillis: 0,
    held: { calls: 0, nanos: 0 },
  };
}
