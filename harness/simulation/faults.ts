// Faults done to the simulated network, to disks and to clocks: what `nemesis/faults/` does with packet filters and with
// the shim. They read the same parameters, and are proved as those are: datagrams that should not arrive do not.

import type { FaultKind, NodeFaultKind } from '../contract/fault.ts';
import { LINK_FAULTS, type LinkFault } from '../contract/links.ts';
import type { Node } from '../contract/cluster.ts';
import { pairsOf } from '../nemesis/faults/grudge.ts';
import { badnessOf, CUTS, LINK_SUMMARY, type Badness } from '../nemesis/faults/network-kinds.ts';
import { grudgeBetween, type Network as Reach } from '../nemesis/faults/network.ts';
import { putInForce } from '../nemesis/faults/scope.ts';
import type { Disk } from './disk.ts';
import type { BadLink, Network } from './network.ts';
import type { SimulatedNode } from './node.ts';
import type { Scheduler } from './scheduler.ts';
import { EPOCH_MILLIS } from './wall-clock.ts';

const TRIALS = 20;
const TRIAL_MILLIS = 250;

export function simulatedCuts(reach: Reach, network: Network, scheduler: Scheduler): readonly FaultKind[] {
  return CUTS.map(({ name, summary, fixed }) => ({
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
  }));
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

/** As netem and tbf do it, for what TCP lets through of it. */
export function simulatedLinks(reach: Reach, network: Network, scheduler: Scheduler): readonly FaultKind[] {
  return LINK_FAULTS.map((fault) => ({
    name: fault,
    summary: LINK_SUMMARY[fault],
    hurts: 'network',
    inject: (targets: readonly Node[], { params = {} }) => {
      const pairs = pairsOf(grudgeBetween(targets, params, reach));
      const bad = badLink(fault, badnessOf(params));
      const undo: (() => void)[] = [];
      return putInForce(
        async () => {
          const before = await tryLinks(pairs, network, scheduler);
          for (const [listener, speaker] of pairs) undo.push(network.spoil(speaker, listener, bad));
          const seen = await tryLinks(pairs, network, scheduler);
          return hasActed(fault, bad, { before, seen }) ? { way: 'simulation', ...bad, ...seen } : undefined;
        },
        async () => {
          for (const step of undo.splice(0)) step();
          return { ...(await tryLinks(pairs, network, scheduler)) };
        },
      );
    },
  }));
}

function badLink(fault: LinkFault, { delayMillis, percent, kilobitPerSecond }: Badness): BadLink {
  switch (fault) {
    case 'delay':
      return { delayMillis };
    case 'loss':
      return { loss: percent / 100 };
    case 'duplicate':
      return { twice: percent / 100 };
    case 'reorder':
      return { delayMillis, overtaking: percent / 100 };
    case 'rate':
      // A message and what TCP and IP add to it: some 120 bytes.
      return { busyMillis: 960 / kilobitPerSecond };
  }
}

function hasActed(
  fault: LinkFault,
  { delayMillis = 0, busyMillis = 0 }: BadLink,
  { before, seen }: { readonly before: Trial; readonly seen: Trial },
): boolean {
  switch (fault) {
    case 'delay':
    case 'rate':
      // By half of what was asked for, at least; nothing that arrives too late to be waited for is slower still.
      if (before.heard === 0) return false;
      return seen.heard === 0 || seen.meanMillis >= before.meanMillis + (delayMillis + busyMillis) / 2;
    case 'loss':
      return seen.heard < seen.sent && seen.heard < before.heard;
    case 'duplicate':
      return seen.heard > seen.sent;
    case 'reorder':
      return seen.spreadMillis >= before.spreadMillis + delayMillis / 2;
  }
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
      const delayMillis = Number(spec.params?.['delayMillis'] ?? 0);
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

/** Nobody hears the node, and it hears nobody. */
export function walledOff(network: Network, node: string, names: readonly string[]): AsyncDisposable {
  const undo = names
    .filter((name) => name !== node)
    .flatMap((other) => [
      network.spoil(node, other, { cut: true }),
      network.spoil(other, node, { cut: true }),
    ]);
  return {
    [Symbol.asyncDispose]: async () => {
      for (const step of undo) step();
    },
  };
}

/** Settings as the shim takes them: nanoseconds, millionths, nanoseconds. Returns the right time of day. */
export function setWrong(
  { wall }: SimulatedNode,
  now: number,
  [offset = 0, rate = 0, phase = 0]: readonly number[],
): number {
  wall.set(now, { offsetMillis: offset / 1e6, rate: rate / 1e6, phaseMillis: phase / 1e6 });
  return EPOCH_MILLIS * 1e6 + now;
}
