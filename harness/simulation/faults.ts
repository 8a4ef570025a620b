// The faults of the network, done to the simulated one: what `nemesis/faults/partition.ts` and `links.ts` do with packet
// filters. They read the same parameters, and are proved as those are: datagrams that should not arrive do not.

import type { FaultKind, FaultSpec, NodeFaultKind } from '../contract/fault.ts';
import type { Node } from '../contract/cluster.ts';
import type { JsonRecord } from '../history/op.ts';
import { pairsOf } from '../nemesis/faults/grudge.ts';
import { grudgeBetween, type Network as Reach } from '../nemesis/faults/network.ts';
import { putInForce } from '../nemesis/faults/scope.ts';
import type { Disk } from './disk.ts';
import type { BadLink, Network } from './network.ts';
import type { Scheduler } from './scheduler.ts';

const TRIALS = 20;
const TRIAL_MILLIS = 250;

/** `partition`, `reply-lost`, `reply-late`. */
export function simulatedCuts(reach: Reach, network: Network, scheduler: Scheduler): readonly FaultKind[] {
  const replies = { shape: 'sides', way: 'in' };
  const kind = (name: string, summary: string, fixed: JsonRecord = {}): FaultKind => ({
    name,
    summary,
    hurts: 'network',
    inject: (targets, { params = {} }) => {
      const grudge = grudgeBetween(targets, { ...params, ...fixed }, reach);
      const pairs = pairsOf(grudge);
      const undo: (() => void)[] = [];
      return putInForce(
        async () => {
          for (const [listener, speaker] of pairs) undo.push(network.spoil(speaker, listener, { cut: true }));
          const heard = await heardAmong(pairs, network, scheduler);
          if (heard > 0 || pairs.length === 0) return undefined;
          const deaf = Object.fromEntries(
            [...grudge].map(([listener, speakers]) => [listener, [...speakers]]),
          );
          return { packets: pairs.length * TRIALS, deaf };
        },
        async () => {
          for (const step of undo.splice(0)) step();
          return { heardAgain: true };
        },
      );
    },
  });
  return [
    kind('partition', 'drops every packet between the nodes and others, both ways or one way, in some shape'),
    kind(
      'reply-lost',
      'requests reach the servers; replies do not arrive while they are waited for',
      replies,
    ),
    kind('reply-late', 'requests reach the servers; replies arrive when the fault is over', replies),
  ];
}

/** How many of the datagrams sent over these links arrive. */
function heardAmong(
  pairs: readonly (readonly [listener: string, speaker: string])[],
  network: Network,
  scheduler: Scheduler,
): Promise<number> {
  let heard = 0;
  for (const [listener, speaker] of pairs)
    for (let trial = 0; trial < TRIALS; trial++) network.datagram(speaker, listener, () => (heard += 1));
  return new Promise((resolve) => {
    scheduler.at(scheduler.now + TRIAL_MILLIS * 1e6, () => resolve(heard));
  });
}

/** `delay`, `loss`, `duplicate`, `reorder`, `rate`: as netem and tbf do it, for what TCP lets through of it. */
export function simulatedLinks(reach: Reach, network: Network, scheduler: Scheduler): readonly FaultKind[] {
  const kind = (name: string, summary: string, badness: (spec: FaultSpec) => BadLink): FaultKind => ({
    name,
    summary,
    hurts: 'network',
    inject: (targets: readonly Node[], spec) => {
      const pairs = pairsOf(grudgeBetween(targets, spec.params ?? {}, reach));
      const bad = badness(spec);
      const undo: (() => void)[] = [];
      return putInForce(
        async () => {
          for (const [listener, speaker] of pairs) undo.push(network.spoil(speaker, listener, bad));
          const heard = await heardAmong(pairs, network, scheduler);
          return pairs.length === 0
            ? undefined
            : { way: 'simulation', ...bad, sent: pairs.length * TRIALS, heard };
        },
        async () => {
          for (const step of undo.splice(0)) step();
          return {};
        },
      );
    },
  });
  return [
    kind('delay', 'packets take `delayMillis` longer', (spec) => ({
      delayMillis: number(spec, 'delayMillis', 200),
    })),
    kind('loss', '`percent` of the packets are lost', (spec) => ({
      loss: number(spec, 'percent', 20) / 100,
    })),
    kind('reorder', '`percent` of the packets overtake others', (spec) => ({
      delayMillis: number(spec, 'delayMillis', 200),
      overtaking: number(spec, 'percent', 20) / 100,
    })),
    kind('rate', 'links carry `kilobitPerSecond` and no more', (spec) => ({
      // A message and what TCP and IP add to it: some 120 bytes.
      busyMillis: 960 / number(spec, 'kilobitPerSecond', 256),
    })),
  ];
}

/** How long a server may take until it first asks for its writes to be on disk. */
const SYNC_TIME_LIMIT_MILLIS = 3_000;
const SYNC_POLL_MILLIS = 20;

/** `slow-fsync`: every sync of a server's disk takes so much longer. */
export function simulatedSlowFsync(diskOf: (node: Node) => Disk, scheduler: Scheduler): NodeFaultKind {
  const wait = (): Promise<void> =>
    new Promise((resolve) => {
      scheduler.at(scheduler.now + SYNC_POLL_MILLIS * 1e6, resolve);
    });
  return {
    name: 'slow-fsync',
    summary: 'lets every fsync of a server take so much longer (parameter `delayMillis`)',
    hurts: 'resources',
    inject: (node, spec) => {
      const disk = diskOf(node);
      const delayMillis = number(spec, 'delayMillis', 0);
      const before = { ...disk.held };
      return putInForce(
        async () => {
          disk.syncDelayMillis = delayMillis;
          const deadline = scheduler.now + SYNC_TIME_LIMIT_MILLIS * 1e6;
          while (disk.held.calls === before.calls && scheduler.now < deadline) await wait();
          const heldBack = disk.held.calls - before.calls;
          if (heldBack === 0) return undefined;
          return { delayMillis, heldBack, meanMillis: (disk.held.nanos - before.nanos) / heldBack / 1e6 };
        },
        async () => {
          disk.syncDelayMillis = 0;
          return { heldBack: disk.held.calls - before.calls, delayMillis: 0 };
        },
      );
    },
  };
}

function number({ params }: FaultSpec, name: string, fallback: number): number {
  const value = params?.[name];
  return typeof value === 'number' ? value : fallback;
}
