// The Redlock algorithm as published ("Distributed Locks with Redis", Redis documentation; S. Sanfilippo 2014): ask
// every server at once for the same key with the same value, count the votes, and keep the lock only if a majority gave
// it while time is left: TTL less the time the voting took, less an allowance for clocks that run apart. Otherwise give
// back on all servers, also on those that did not answer. Waiting and trying again with jitter is the session's part.

import type { Acquired, AcquireRequest, LockClient, Outcome } from '../../contract/lock-client.ts';
import { nanos, nanosOf, type Millis, type Nanos, type Vote } from '../../history/op.ts';
import { outcomeOf } from '../redis/errors.ts';
import { BUSY, deleteIfOwner, setIfAbsent } from '../redis/steps.ts';
import { NO_MAJORITY, NO_VALIDITY } from './errors.ts';
import type { RedlockNode } from './port.ts';

export interface VotingRules {
  /** Votes that make a grant. */
  readonly quorum: number;
  /** Looks at the clock after the votes are in. */
  readonly checksValidity: boolean;
}

/** Half of the servers and one more. */
export function majorityOf(nodes: readonly RedlockNode[]): number {
  return Math.floor(nodes.length / 2) + 1;
}

/** What clocks may drift apart during one TTL: 1 % and 2 ms, as in the implementations of the algorithm's author. */
function driftNanos(ttlMillis: Millis): number {
  return nanosOf(ttlMillis) * 0.01 + 2e6;
}

export function votingClient(
  nodes: readonly RedlockNode[],
  now: () => Nanos,
  { quorum, checksValidity }: VotingRules,
): Omit<LockClient, keyof AsyncDisposable> {
  const acquire = async (request: AcquireRequest): Promise<Acquired> => {
    const began = now();
    const votes = await Promise.all(nodes.map((node) => askForVote(node, now, request)));
    const granted = votes.filter(({ answer }) => answer === GRANTED).length;
    const validUntil = nanos(Math.floor(began + nanosOf(request.ttlMillis) - driftNanos(request.ttlMillis)));
    const inTime = !checksValidity || now() < validUntil;
    if (granted >= quorum && inTime) return { kind: 'ok', value: { request, validUntil }, votes };
    await giveBack(nodes, request);
    return { ...refusal(votes, granted >= quorum), votes };
  };
  const release = async (request: AcquireRequest): Promise<Outcome<{ readonly released: boolean }>> => {
    const answers = await giveBack(nodes, request);
    const count = (released: boolean): number =>
      answers.filter((answer) => answer.kind === 'ok' && answer.value.released === released).length;
    // On so many servers was it ours until now that nobody else can have had a majority, or could somebody have.
    const majority = majorityOf(nodes);
    if (count(true) >= majority) return { kind: 'ok', value: { released: true } };
    if (count(false) >= majority) return { kind: 'ok', value: { released: false } };
    return { kind: 'info', error: NO_MAJORITY.error };
  };
  return { acquire, release: ({ request }) => release(request), abandon: release };
}

const GRANTED = 'granted';

async function askForVote(
  { name, redis }: RedlockNode,
  now: () => Nanos,
  request: AcquireRequest,
): Promise<Vote> {
  const outcome = await setIfAbsent(redis, now, request);
  return { node: name, answer: outcome.kind === 'ok' ? GRANTED : outcome.error, at: now() };
}

function giveBack(
  nodes: readonly RedlockNode[],
  request: AcquireRequest,
): Promise<Outcome<{ readonly released: boolean }>[]> {
  return Promise.all(nodes.map(({ redis }) => deleteIfOwner(redis, request)));
}

/** Definite whatever single servers may do later: without a grant this client never acts on their votes. */
function refusal(votes: readonly Vote[], hadQuorum: boolean): Outcome<never> {
  if (hadQuorum) return outcomeOf(NO_VALIDITY);
  return votes.some(({ answer }) => answer === 'busy') ? BUSY : outcomeOf(NO_MAJORITY);
}
