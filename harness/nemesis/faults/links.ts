// The faults `delay`, `loss`, `duplicate`, `reorder` and `rate`: links between nodes that are bad and not cut. By netem
// where the kernel has it, else by what it has (`contract/links.ts` decides). Proved by a trial of a link of each node
// whose packets suffer, while it is in force and when it is over.

import { setTimeout as delayed } from 'node:timers/promises';
import { monotonicClock, monotonicOrigin } from '../../clock.ts';
import type { ActiveFault, FaultKind } from '../../contract/fault.ts';
import {
  LINK_FAULTS,
  linkWayOf,
  type LinkAbilities,
  type LinkFault,
  type LinkWay,
} from '../../contract/links.ts';
import { CHAIN_PREFIX, closeFirewall, openFirewall } from './firewall.ts';
import { pairsOf, type Grudge } from './grudge.ts';
import { DATAGRAM_KILOBITS, tryLink, type LinkTrial } from './link-trial.ts';
import { grudgeBetween, nodesNamed, type Network } from './network.ts';
import { badnessOf, LINK_SUMMARY, type Badness } from './network-kinds.ts';
import { cut } from './partition.ts';
import { millisSince, putInForce } from './scope.ts';
import { shape, unshape } from './shaping.ts';

let count = 0;

/** Those that can be done there, by the way they are done. */
export function linkFaults(network: Network, can: LinkAbilities): readonly FaultKind[] {
  return LINK_FAULTS.flatMap((fault): FaultKind[] => {
    const way = linkWayOf(fault, can);
    if (way === undefined) return [];
    return [
      {
        name: fault,
        summary: `${LINK_SUMMARY[fault]} (by ${way})`,
        hurts: 'network',
        inject: (targets, { params = {} }) => {
          const badness = badnessOf(params);
          if (way !== 'hold')
            return makeBad({ fault, way, badness, grudge: grudgeBetween(targets, params, network) }, network);
          const oneWay = grudgeBetween(
            targets,
            { ...params, ...(params['way'] !== 'out' && { way: 'in' }) },
            network,
          );
          return heldBack(() => cut(targets, oneWay, network), badness.delayMillis);
        },
      },
    ];
  });
}

/** Packets are dropped and, `delayMillis` later, no more; what TCP sends again then arrives. */
async function heldBack(hold: () => Promise<ActiveFault>, delayMillis: number): Promise<ActiveFault> {
  const began = monotonicClock(monotonicOrigin());
  const startedAt = began.now();
  const active = await hold();
  const { evidence } = active;
  const over = new AbortController();
  const letGo = delayed(Math.max(0, delayMillis - millisSince(began, startedAt)), undefined, {
    signal: over.signal,
  })
    .then(() => active[Symbol.asyncDispose]())
    // Disposal is told of its error whenever it is asked for; an abort is no error.
    .catch(() => undefined);
  return {
    evidence: evidence === undefined ? undefined : { way: 'hold', delayMillis, ...evidence },
    get healed() {
      return active.healed;
    },
    [Symbol.asyncDispose]: async () => {
      over.abort();
      await letGo;
      await active[Symbol.asyncDispose]();
    },
  };
}

interface BadLinks {
  readonly fault: LinkFault;
  readonly way: Exclude<LinkWay, 'hold'>;
  readonly badness: Badness;
  /** Listener → speakers whose packets to it suffer. */
  readonly grudge: Grudge;
}

function makeBad(links: BadLinks, network: Network): Promise<ActiveFault> {
  const clock = monotonicClock(monotonicOrigin());
  const { fault, way, badness, grudge } = links;
  const number = (count += 1);
  const chain = `${CHAIN_PREFIX}LINK-${number}`;
  const bySpeaker = [...Map.groupBy(pairsOf(grudge), ([, speaker]) => speaker)].flatMap(([speaker, pairs]) =>
    nodesNamed([speaker], network).map((node) => ({
      node,
      listeners: nodesNamed(
        pairs.map(([listener]) => listener),
        network,
      ),
    })),
  );
  const trials = (): Promise<readonly (LinkTrial | undefined)[]> =>
    Promise.all(
      bySpeaker.flatMap(({ node, listeners }) =>
        listeners.slice(0, 1).map((listener) => tryLink(node, listener)),
      ),
    );
  return putInForce(
    async () => {
      const began = clock.now();
      await Promise.all(
        bySpeaker.map(({ node, listeners }) => {
          const addresses = listeners.map(({ address }) => address);
          return way === 'netem' || way === 'tbf'
            ? shape(node, number, { discipline: disciplineOf(fault, badness), addresses })
            : closeFirewall(
                node,
                chain,
                addresses.map((address) => ruleOf(way, badness, address)),
              );
        }),
      );
      const badMillis = millisSince(clock, began);
      const seen = await trials();
      const acted = seen.length > 0 && seen.every((trial) => trial !== undefined && isBad(links, trial));
      return acted ? { way, badMillis, ...badness, trial: { ...seen[0] } } : undefined;
    },
    async () => {
      await Promise.all(
        bySpeaker.map(({ node }) =>
          way === 'netem' || way === 'tbf' ? unshape(node, number) : openFirewall(node, chain),
        ),
      );
      const [after] = await trials();
      return { trial: after === undefined ? null : { ...after } };
    },
  );
}

/** As tc takes it. */
export function disciplineOf(fault: LinkFault, { delayMillis, percent, kilobitPerSecond }: Badness): string {
  switch (fault) {
    case 'delay':
      return `netem delay ${delayMillis}ms`;
    case 'loss':
      return `netem loss ${percent}%`;
    case 'duplicate':
      return `netem duplicate ${percent}%`;
    case 'reorder':
      // Those that are not delayed overtake those that are.
      return `netem delay ${delayMillis}ms reorder ${percent}%`;
    case 'rate':
      return `tbf rate ${kilobitPerSecond}kbit burst 4kb latency 2s`;
  }
}

/** As iptables takes it. */
export function ruleOf(way: 'statistic' | 'tee', { percent }: Badness, address: string): string {
  const some = `-d ${address} -m statistic --mode random --probability ${percent / 100}`;
  return `${some} -j ${way === 'tee' ? `TEE --gateway ${address}` : 'DROP'}`;
}

/** A part of what was asked for is enough, as packets are drawn by chance. A good link shows nothing of all this. */
function isBad({ fault, badness }: BadLinks, trial: LinkTrial): boolean {
  const { sent, received, distinct, overtaken, roundTripMillis, tookMillis } = trial;
  switch (fault) {
    case 'delay':
      return roundTripMillis >= badness.delayMillis / 2;
    case 'loss':
      return sent - distinct > (sent * badness.percent) / 300;
    case 'duplicate':
      return received - distinct > (sent * badness.percent) / 300;
    case 'reorder':
      return overtaken > 0;
    case 'rate':
      return (distinct * DATAGRAM_KILOBITS) / (tookMillis / 1_000) <= badness.kilobitPerSecond * 2;
  }
}
