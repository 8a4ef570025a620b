// How a simulated Sentinel agrees with the others: whether they too find the primary down, and whom it and they have voted
// for. A vote is given once an epoch and kept on disk. Source: Redis 8.0, sentinel.c (sentinelVoteLeader,
// sentinelGetLeader, sentinelAskMasterStateToOtherSentinels).

import type { Instance } from './instance.ts';
import type { Kept } from './kept.ts';

/** Asked with it, nobody votes. */
export const NOBODY = '*';

export interface Votes {
  /** The other Sentinels. */
  readonly instances: readonly Instance[];
  has(peer: string): boolean;
  add(peer: string, instance: Instance): void;
  /** How many find the primary down, this one included. */
  readonly agreeing: number;
  /** The primary is another one. */
  reset(): void;
  /** `candidate`: who wants a vote, or NOBODY. */
  ask(primary: Instance, candidate: string, how: 'at once' | 'periodically'): void;
  /** Votes, if it has not voted in that epoch or a later one; what its vote is. */
  vote(epoch: number, candidate: string): Kept['vote'];
  /** Who has the votes of a majority, and of the quorum; undefined: nobody. Votes itself, for whoever has most. */
  elected(epoch: number): string | undefined;
}

interface Peer {
  readonly instance: Instance;
  /** What it said last. */
  isDown: boolean;
  vote: Kept['vote'];
  saidAt: number;
}

const ASK_PERIOD = 1_000;
const NO_VOTE: Kept['vote'] = { leader: '', epoch: 0 };

/** `votedFor` is told of each vote. */
export function openVotes(
  kept: Kept,
  identity: string,
  { now, votedFor }: { readonly now: () => number; readonly votedFor: (candidate: string) => void },
): Votes {
  const peers = new Map<string, Peer>();

  const vote: Votes['vote'] = (epoch, candidate) => {
    kept.currentEpoch = Math.max(kept.currentEpoch, epoch);
    if (kept.vote.epoch < epoch && kept.currentEpoch <= epoch) {
      kept.vote = { leader: candidate, epoch: kept.currentEpoch };
      votedFor(candidate);
    }
    return kept.vote;
  };

  return {
    get instances() {
      return [...peers.values()].map(({ instance }) => instance);
    },
    has: (peer) => peers.has(peer),
    add: (peer, instance) =>
      void peers.set(peer, { instance, isDown: false, vote: NO_VOTE, saidAt: -Infinity }),
    get agreeing() {
      return 1 + [...peers.values()].filter(({ isDown }) => isDown).length;
    },
    reset() {
      for (const peer of peers.values()) peer.isDown = false;
    },
    ask(primary, candidate, how) {
      for (const peer of peers.values()) {
        const elapsed = now() - peer.saidAt;
        if (elapsed > ASK_PERIOD * 5) {
          peer.isDown = false;
          peer.vote = NO_VOTE;
        }
        if (primary.downSince === 0 || (how === 'periodically' && elapsed < ASK_PERIOD)) continue;
        const words = [primary.address, '6379', String(kept.currentEpoch), candidate];
        peer.instance.send(['SENTINEL', 'IS-MASTER-DOWN-BY-ADDR', ...words], (reply) => {
          if (!Array.isArray(reply)) return;
          const [isDown, leader, epoch] = reply;
          peer.saidAt = now();
          peer.isDown = isDown === 1;
          if (typeof leader === 'string' && leader !== NOBODY) peer.vote = { leader, epoch: Number(epoch) };
        });
      }
    },
    vote,
    elected(epoch) {
      const counts = new Map<string, number>();
      const count = (leader: string): void => void counts.set(leader, (counts.get(leader) ?? 0) + 1);
      for (const { vote: theirs } of peers.values())
        if (theirs !== NO_VOTE && theirs.epoch === kept.currentEpoch) count(theirs.leader);
      const [first] = [...counts].toSorted(([, a], [, b]) => b - a);
      const mine = vote(epoch, first?.[0] ?? identity);
      if (mine.epoch === epoch) count(mine.leader);
      const needed = Math.max(Math.floor((peers.size + 1) / 2) + 1, kept.settings.quorum);
      return [...counts].find(([, votes]) => votes >= needed)?.[0];
    },
  };
}
