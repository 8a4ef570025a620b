// A node's disk as a program sees it: what it has written outlives it, whether it was synced or not, because the
// operating system has it; kill takes nothing away, a new disk everything. A disk can be slow to sync.

import type { RaftDisk } from './etcd/raft.ts';
import type { Entry } from './redis/keyspace.ts';

export interface Disk {
  /** The append-only file of a Redis server, as the keys that reading it would give. */
  readonly appended: Map<string, Entry>;
  /** What a member of an etcd cluster must not forget. */
  readonly raft: RaftDisk;
  /** Empties it. */
  wipe(): void;
  /** How much longer than usual a sync takes, in milliseconds. */
  syncDelayMillis: number;
  /** Syncs that took longer, and for how long altogether. */
  readonly held: { calls: number; nanos: number };
}

export function openDisk(): Disk {
  const appended = new Map<string, Entry>();
  const raft: RaftDisk = { term: 0, votedFor: undefined, log: [] };
  return {
    appended,
    raft,
    wipe() {
      appended.clear();
      raft.term = 0;
      raft.votedFor = undefined;
      raft.log.length = 0;
    },
    syncDelayMillis: 0,
    held: { calls: 0, nanos: 0 },
  };
}
