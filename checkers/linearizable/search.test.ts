// The search against the definition: on every small history over small alphabets, on random ones, for every model. What it
// calls valid it must prove by an order; what it refutes must be refuted by the prefix it names and not before.

import { describe, expect, it } from 'vitest';
import { Kind, NEVER, prefix, type Entries } from './entries.ts';
import type { Model } from './model.ts';
import { casRegister, register } from './models/register.ts';
import { fencedMutex } from './models/fenced-mutex.ts';
import { fencedStore } from './models/fenced-store.ts';
import { kv } from './models/kv.ts';
import { leaseMutex } from './models/lease-mutex.ts';
import { multiRegister } from './models/multi-register.ts';
import { mutex } from './models/mutex.ts';
import { ownedMutex } from './models/owned-mutex.ts';
import { readWriteLock } from './models/read-write-lock.ts';
import { reentrantFencedMutex } from './models/reentrant-fenced-mutex.ts';
import { reentrantMutex } from './models/reentrant-mutex.ts';
import { semaphore } from './models/semaphore.ts';
import {
  bruteForce,
  chance,
  faultOf,
  lockEntries,
  overlaps,
  plausible,
  randomSpans,
  sequences,
  storeEntries,
  TEST_BUDGET,
  TRANSACTION_COUNT,
  type Chance,
  type Part,
  type Span,
} from './reference.fixture.ts';
import { search, type SearchResult } from './search.ts';

/** A model, and the operations histories are made of. */
interface Subject {
  readonly name: string;
  readonly alphabet: readonly Part[];
  readonly plausible: (random: Chance, count: number) => { parts: readonly Part[]; spans: readonly Span[] };
  /** Throws if the search is wrong about this history. */
  readonly judge: (parts: readonly Part[], spans: readonly Span[]) => 'valid' | 'invalid';
}

function subject<E extends Entries>(
  model: Model<E>,
  build: (parts: readonly Part[], spans: readonly Span[]) => E,
  alphabet: readonly Part[],
): Subject {
  return {
    name: model.name,
    alphabet,
    plausible: (random, count) => plausible(random, { model, build, alphabet }, count),
    judge(parts, spans) {
      const entries = build(parts, spans);
      const truth = bruteForce(entries, model);
      // The second time hardly any step is taken before windows are tried.
      const verdicts = [search(entries, model), search(entries, model, { firstRoundSteps: 1 })].map((found) =>
        judgeOne(entries, found, truth, { parts, spans }),
      );
      return verdicts[0] ?? 'valid';
    },
  };

  function judgeOne(entries: E, found: SearchResult, truth: boolean, shown: object): 'valid' | 'invalid' {
    const fail = (what: string): never => {
      throw new Error(`${model.name}: ${what}\n${JSON.stringify({ ...shown, found })}`);
    };
    if (found.verdict === 'unknown') return fail('gave up');
    if ((found.verdict === 'valid') !== truth) return fail(`${found.verdict}, which is wrong`);
    if (found.verdict === 'valid') {
      const fault = faultOf(entries, model, found.order().entries);
      return fault === undefined ? 'valid' : fail(`its order is no proof: ${fault}`);
    }
    const { refuted, orders, isShortest } = found.refutation();
    if (!isShortest) return fail('gave up looking for the shortest prefix');
    const at = entries.returned[refuted] ?? 0;
    if (bruteForce(prefix(entries, at), model)) return fail('the prefix it refutes is valid');
    const earlier = Math.max(...entries.returned.filter((stamp) => stamp < at), -1);
    if (!bruteForce(prefix(entries, earlier), model)) return fail('a shorter prefix is refuted already');
    // What an order must explain is all that returned earlier; what it may use is all that was invoked by then.
    const known = prefix(entries, at);
    const before = { ...known, returned: known.returned.map((stamp) => (stamp < at ? stamp : NEVER)) };
    for (const { entries: order } of orders) {
      const fault = faultOf(before, model, order);
      if (fault !== undefined) return fail(`an order of the prefix is no proof: ${fault}`);
    }
    return 'invalid';
  }
}

const owners = [0, 1];
const knownOrNot = [false, true];
const lockParts = (kinds: readonly Kind[]): Part[] =>
  kinds.flatMap((kind) => owners.flatMap((owner) => knownOrNot.map((unknown) => ({ kind, owner, unknown }))));
const answers = (kinds: readonly Kind[]): Part[] =>
  kinds.flatMap((kind) => owners.map((owner) => ({ kind, owner })));
const withToken = (part: Part): Part[] =>
  part.kind === Kind.acquire && part.unknown !== true
    ? [part, { ...part, token: 0 }, { ...part, token: 1 }]
    : [part];
const withLease = (part: Part): Part[] =>
  part.kind === Kind.acquire || part.kind === Kind.renew
    ? [1, 3].map((lease) => ({ ...part, lease }))
    : [part];

const lockBasics = [
  ...lockParts([Kind.acquire, Kind.release]),
  ...answers([Kind.renew, Kind.disowned, Kind.busy]),
];
const values = [1, 2];
const storeBasics: Part[] = [
  ...[0, 1, 2].map((value) => ({ kind: Kind.read, value })),
  { kind: Kind.read },
  ...values.flatMap((value) => knownOrNot.map((unknown) => ({ kind: Kind.write, value, unknown }))),
];
const casParts: Part[] = [0, 1, 2].flatMap((expected) => [
  ...values.flatMap((value) => knownOrNot.map((unknown) => ({ kind: Kind.cas, expected, value, unknown }))),
  { kind: Kind.casFailed, expected },
]);

const subjects: Subject[] = [
  subject(mutex, lockEntries, [
    ...knownOrNot.flatMap((unknown) => [Kind.acquire, Kind.release].map((kind) => ({ kind, unknown }))),
    { kind: Kind.busy },
  ]),
  subject(ownedMutex, lockEntries, lockBasics),
  subject(reentrantMutex(2), lockEntries, lockBasics),
  subject(
    fencedMutex,
    lockEntries,
    lockBasics.flatMap((part) => withToken(part)),
  ),
  subject(
    reentrantFencedMutex(2),
    lockEntries,
    lockBasics.flatMap((part) => withToken(part)),
  ),
  subject(
    leaseMutex,
    lockEntries,
    [...lockBasics, ...answers([Kind.renewUnchecked, Kind.releaseUnchecked])].flatMap((part) =>
      withLease(part),
    ),
  ),
  subject(semaphore(2), lockEntries, lockBasics),
  subject(readWriteLock, lockEntries, [
    ...lockBasics,
    ...lockParts([Kind.acquireShared]),
    ...answers([Kind.busyShared]),
  ]),
  subject(register, storeEntries, storeBasics),
  subject(casRegister, storeEntries, [...storeBasics, ...casParts]),
  subject(kv, storeEntries, [
    ...storeBasics,
    ...[3, 4, 5].map((value) => ({ kind: Kind.read, value })),
    ...values.flatMap((value) => knownOrNot.map((unknown) => ({ kind: Kind.append, value, unknown }))),
  ]),
  subject(
    multiRegister,
    storeEntries,
    Array.from({ length: TRANSACTION_COUNT }, (_, value) => value).flatMap((value) =>
      knownOrNot.map((unknown) => ({ kind: Kind.transaction, value, unknown })),
    ),
  ),
  subject(fencedStore, storeEntries, [
    ...[0, 1].flatMap((token) => storeBasics.map((part) => ({ ...part, token }))),
    ...storeBasics,
    ...[0, 1].map((token) => ({ kind: Kind.stale, token })),
  ]),
];

describe.each(subjects)('search of $name', ({ alphabet, judge, plausible: draw }) => {
  it('agrees with the definition on every history of up to 3 operations, or a spread of them', () => {
    const seen = { valid: 0, invalid: 0 };
    for (const count of [1, 2, 3]) {
      const shapes = overlaps(count);
      // Full alphabets cubed are many: every n-th, n coprime to the alphabet, still meets every pair of operations.
      const stride = Math.max(
        1,
        Math.floor((alphabet.length ** count * shapes.length) / (8_000 * TEST_BUDGET)),
      );
      let index = 0;
      for (const parts of sequences(alphabet, count))
        for (const spans of shapes) if (index++ % stride === 0) seen[judge(parts, spans)]++;
    }
    expect(seen.valid).toBeGreaterThan(0);
    expect(seen.invalid).toBeGreaterThan(0);
  });

  it('agrees with the definition on random histories of up to 8 operations', () => {
    const random = chance(7);
    const seen = { valid: 0, invalid: 0 };
    for (let round = 0; round < 1_500 * TEST_BUDGET; round++) {
      const count = 4 + random.below(5);
      const parts = Array.from({ length: count }, () => random.pick(alphabet));
      seen[judge(parts, randomSpans(random, count))]++;
    }
    expect(seen.invalid).toBeGreaterThan(0);
  });

  it('agrees with the definition on histories close to a run of the model', () => {
    const random = chance(11);
    const seen = { valid: 0, invalid: 0 };
    for (let round = 0; round < 1_500 * TEST_BUDGET; round++) {
      const { parts, spans } = draw(random, 5 + random.below(5));
      seen[judge(parts, spans)]++;
    }
    const rounds = seen.valid + seen.invalid;
    expect(seen.valid / rounds).toBeGreaterThan(0.1);
    expect(seen.invalid / rounds).toBeGreaterThan(0.1);
  });
});
