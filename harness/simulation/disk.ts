// A node's disk as a program sees it: what it has written outlives it, whether it was synced or not, because the
// operating system has it. Kill takes nothing away, a new disk everything, and a loss of power what was not synced: of
// servers that sync before they answer, nothing that anybody knows of. A disk can be slow to sync.

import type { Command } from './etcd/store.ts';
import { emptyRaftDisk, wipeRaftDisk, type RaftDisk } from './raft/log.ts';
import { openAppendOnlyFile, type AppendOnlyFile } from './redis/append-only-file.ts';
import type { Kept } from './sentinel/kept.ts';
import type { TreeCommand } from './zookeeper/tree.ts';

export interface Disk {
  /** Of a Redis server. */
  readonly appended: AppendOnlyFile;
  /** What a member of an etcd cluster must not forget. */
  readonly etcd: RaftDisk<Command>;
  /** What a server of a ZooKeeper ensemble must not forget. */
  readonly zooKeeper: RaftDisk<TreeCommand>;
  /** The configuration file of a Sentinel. */
  readonly sentinel: { kept: Kept | undefined };
  /** Empties it. */
  wipe(): void;
  /** At that time, in nanoseconds. Returns how much was lost. */
  losePower(now: number): number;
  /** How much longer than usual a sync takes, in milliseconds. */
  syncDelayMillis: number;
  /** Syncs that took longer, and for how long altogether. */
  readonly held: { calls: number; nanos: number };
}

export function openDisk(): Disk {
  const appended = openAppendOnlyFile();
  const etcd = emptyRaftDisk<Command>();
  const zooKeeper = emptyRaftDisk<TreeCommand>();
  const sentinel: Disk['sentinel'] = { kept: undefined };
  return {
    appended,
    etcd,
    zooKeeper,
    sentinel,
    wipe() {
      appended.rewrite([]);
      sentinel.kept = undefined;
      wipeRaftDisk(etcd);
      wipeRaftDisk(zooKeeper);
    },
    losePower: (now) => appended.losePower(now),
    syncDelayMillis: 0,
    held: { calls: 0, nanos: 0 },
  };
}

/** What a sync takes that would take so long on a healthy disk. One that is held back is counted. */
export function syncMillis(disk: Disk, healthyMillis: number): number {
  const { syncDelayMillis, held } = disk;
  const takes = healthyMillis + syncDelayMillis;
  if (syncDelayMillis > 0) {
    held.calls += 1;
    held.nanos += takes * 1e6;
  }
  return takes;
}
