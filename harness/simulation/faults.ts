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
          const { sent, heard } = await tryLinks(pairs, network, scheduler);
          if (heard > 0 || sent === 0) return undefined;
          const deaf = Object.fromEntries(
            [...grudge].map(([listener, speakers]) => [listener, [...speakers]]),
          );
          return { packets: sent, deaf };
        },
        async () => {
          for (const step of undo.splice(0)) step();
          const { heard } = await tryLinks(pairs, network, scheduler);
          return { heardAgain: heard > 0 };
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

/** What became of datagrams that were sent at once, `TRIALS` over each link. */
interface Trial {
  readonly sent: number;
  readonly heard: number;
  readonly meanMillis: number;
  /** Between the first that arrived and the last. */
  readonly spreadMillis: number;
}

async function tryLinks(
  pairs: readonly (readonly [listener: string, speaker: string])[],
  network: Network,
  scheduler: Scheduler,
): Promise<Trial> {
  const began = scheduler.now;
  const tookMillis: number[] = [];
  for (const [listener, speaker] of pairs)
    for (let trial = 0; trial < TRIALS; trial++)
      network.datagram(speaker, listener, () => tookMillis.push((scheduler.now - began) / 1e6));
  await new Promise<void>((resolve) => {
    scheduler.at(began + TRIAL_MILLIS * 1e6, resolve);
  });
  const heard = tookMillis.length;
  return {
    sent: pairs.length * TRIALS,
    heard,
    meanMillis: tookMillis.reduce((sum, took) => sum + took, 0) / Math.max(1, heard),
    // In order of arrival.
    spreadMillis: (tookMillis.at(-1) ?? 0) - (tookMillis[0] ?? 0),
  };
}

/** `delay`, `loss`, `duplicate`, `reorder`, `rate`: as netem and tbf do it, for what TCP lets through of it. */
export function simulatedLinks(reach: Reach, network: Network, scheduler: Scheduler): readonly FaultKind[] {
  const kind = (
    name: string,
    summary: string,
    badness: (spec: FaultSpec) => BadLink,
    acted: (bad: Trial, good: Trial, link: BadLink) => boolean,
  ): FaultKind => ({
    name,
    summary,
    hurts: 'network',
    inject: (targets: readonly Node[], spec) => {
      const pairs = pairsOf(grudgeBetween(targets, spec.params ?? {}, reach));
      const bad = badness(spec);
      const undo: (() => void)[] = [];
      return putInForce(
        async () => {
          const before = await tryLinks(pairs, network, scheduler);
          for (const [listener, speaker] of pairs) undo.push(network.spoil(speaker, listener, bad));
          const seen = await tryLinks(pairs, network, scheduler);
          return acted(seen, before, bad) ? { way: 'simulation', ...bad, ...seen } : undefined;
        },
        async () => {
          for (const step of undo.splice(0)) step();
          return { ...(await tryLinks(pairs, network, scheduler)) };
        },
      );
    },
  });
  return [
    kind(
      'delay',
      'packets take `delayMillis` longer',
      (spec) => ({ delayMillis: number(spec, 'delayMillis', 200) }),
      isSlower,
    ),
    kind(
      'loss',
      '`percent` of the packets are lost',
      (spec) => ({ loss: number(spec, 'percent', 20) / 100 }),
      ({ sent, heard }, before) => heard < sent && heard < before.heard,
    ),
    kind(
      'reorder',
      '`percent` of the packets overtake others',
      (spec) => ({
        delayMillis: number(spec, 'delayMillis', 200),
        overtaking: number(spec, 'percent', 20) / 100,
      }),
      ({ spreadMillis }, before, { delayMillis = 0 }) =>
        spreadMillis >= before.spreadMillis + delayMillis / 2,
    ),
    kind(
      'rate',
      'links carry `kilobitPerSecond` and no more',
      // A message and what TCP and IP add to it: some 120 bytes.
      (spec) => ({ busyMillis: 960 / number(spec, 'kilobitPerSecond', 256) }),
      isSlower,
    ),
  ];
}

/** By half of what was asked for, at least; nothing that arrives too late to be waited for is slower still. */
function isSlower(
  { heard, meanMillis }: Trial,
  before: Trial,
  { delayMillis = 0, busyMillis = 0 }: BadLink,
): boolean {
  if (before.heard === 0) return false;
  return heard === 0 || meanMillis >= before.meanMillis + (delayMillis + busyMillis) / 2;
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
