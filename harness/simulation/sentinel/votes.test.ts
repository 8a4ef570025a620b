// Votes of Sentinels: one an epoch, and a leader needs a majority of all and the quorum.

import { describe, expect, it } from 'vitest';
import type { Instance } from './instance.ts';
import type { Kept } from './kept.ts';
import { NOBODY, openVotes, type Votes } from './votes.ts';

interface Sentinel {
  readonly kept: Kept;
  readonly votes: Votes;
}

function sentinel(identity: string, quorum = 2): Sentinel {
  const settings = { quorum, downAfterMillis: 1_000, failoverMillis: 5_000, parallelSyncs: 1 };
  const vote = { leader: '', epoch: 0 };
  const sentinels = new Map<string, string>();
  const kept: Kept = {
    name: 'g',
    primary: 'r1',
    settings,
    configEpoch: 0,
    currentEpoch: 0,
    vote,
    replicas: [],
    sentinels,
  };
  return { kept, votes: openVotes(kept, identity, { now: () => 10_000, votedFor: () => undefined }) };
}

function instance(parts: Partial<Instance>): Instance {
  return parts as Instance;
}

/** Whom another Sentinel can ask: it finds the primary down, and votes. */
function asked({ votes }: Sentinel): Instance {
  return instance({
    send(words, answer) {
      const [, , , , epoch = '', candidate = ''] = words;
      const { leader, epoch: voted } =
        candidate === NOBODY ? { leader: NOBODY, epoch: 0 } : votes.vote(Number(epoch), candidate);
      answer?.([1, leader, voted]);
    },
  });
}

const down = instance({ address: 'r1', downSince: 1 });

/** Three, each of which can ask the others. */
function three(quorum?: number): readonly [Sentinel, Sentinel, Sentinel] {
  const [a, b, c] = [sentinel('a', quorum), sentinel('b', quorum), sentinel('c', quorum)];
  const all = [a, b, c];
  for (const one of all)
    for (const [index, other] of all.entries())
      if (other !== one) one.votes.add('abc'.charAt(index), asked(other));
  return [a, b, c];
}

function stand({ kept, votes }: Sentinel, identity: string): number {
  kept.currentEpoch += 1;
  const epoch = kept.currentEpoch;
  votes.ask(down, identity, 'at once');
  return epoch;
}

describe('votes', () => {
  it('elect the one who asks first, and nobody else in that epoch', () => {
    const [a, b] = three();
    const epoch = stand(a, 'a');
    expect(a.votes.agreeing).toBe(3);
    expect(a.votes.elected(epoch)).toBe('a');
    expect(b.votes.vote(epoch, 'b')).toEqual({ leader: 'a', epoch });
    expect(b.votes.elected(epoch)).not.toBe('b');
  });

  it('elect another one in a later epoch', () => {
    const [a, b] = three();
    expect(a.votes.elected(stand(a, 'a'))).toBe('a');
    expect(b.votes.elected(stand(b, 'b'))).toBe('b');
  });

  it('elect nobody without a majority, or below the quorum', () => {
    const alone = sentinel('a', 1);
    for (const other of ['b', 'c']) alone.votes.add(other, instance({ send: () => undefined }));
    expect(alone.votes.elected(stand(alone, 'a'))).toBeUndefined();
    const [a] = three(4);
    expect(a.votes.elected(stand(a, 'a'))).toBeUndefined();
  });

  it('are not asked for while the primary is well, nor given to nobody', () => {
    const [a, b] = three();
    a.votes.ask({ ...down, downSince: 0 }, 'a', 'at once');
    expect(a.votes.agreeing).toBe(1);
    a.votes.ask(down, NOBODY, 'at once');
    expect(a.votes.agreeing).toBe(3);
    expect(b.kept.vote.epoch).toBe(0);
  });
});
