// The polynomial checkers against the definition and the search: on random histories, on ones close to a run of the model, and
// on longer ones of the kind a run records (`exhaustive.sweep.test.ts` has all small ones). Same verdict, same shortest refuted prefix.

import { describe, expect, it } from 'vitest';
import { Kind, NEVER, type Entries, type LockEntries } from '../entries.ts';
import type { Model } from '../model.ts';
import { casRegister } from '../models/register.ts';
import { fencedMutex } from '../models/fenced-mutex.ts';
import { fencedStore } from '../models/fenced-store.ts';
import { leaseMutex } from '../models/lease-mutex.ts';
import { mutex } from '../models/mutex.ts';
import { ownedMutex } from '../models/owned-mutex.ts';
import {
  attempts,
  bruteForce,
  chance,
  lockEntries,
  plausible,
  randomSpans,
  storeEntries,
  TEST_BUDGET,
  type AttemptsOptions,
  type Chance,
  type Part,
  type Span,
} from '../reference.fixture.ts';
import { decidePartition } from '../decide.ts';
import type { SearchLimits } from '../explore.ts';
import { search } from '../search.ts';
import { shortest, type Decision } from './decision.ts';
import { decideFencedMutex } from './fenced-mutex.ts';
import { decideFencedStore } from './fenced-store.ts';
import { decideLeaseMutex } from './lease-mutex.ts';
import { decideMutex } from './mutex.ts';
import { decideOwnedMutex } from './owned-mutex.ts';
import { decideRegister } from './register.ts';

interface Subject {
  readonly name: string;
  readonly alphabet: readonly Part[];
  readonly plausible: (random: Chance, count: number) => { parts: readonly Part[]; spans: readonly Span[] };
  /** Throws if the checker is wrong about this history. `truth`: who is asked. */
  readonly judge: (parts: readonly Part[], spans: readonly Span[], truth: 'definition' | 'search') => Verdict;
}

type Verdict = Decision['verdict'];

function subject<E extends Entries>(
  model: Model<E>,
  decide: (entries: E) => Decision<E>,
  build: (parts: readonly Part[], spans: readonly Span[]) => E,
  alphabet: readonly Part[],
): Subject {
  return {
    name: model.name,
    alphabet,
    plausible: (random, count) => plausible(random, { model, build, alphabet }, count),
    judge(parts, spans, truth) {
      const entries = build(parts, spans);
      const decision = decide(entries);
      const fail = (what: string): never => {
        throw new Error(`${model.name}: ${what}\n${JSON.stringify({ parts, spans, decision })}`);
      };
      /** `undefined`: the search ran out of steps. */
      const isValid = (part: E): boolean | undefined => {
        if (truth === 'definition') return bruteForce(part, model);
        const { verdict } = search(part, model, { limits: LIMITS });
        return verdict === 'unknown' ? undefined : verdict === 'valid';
      };
      if (decision.verdict === 'undecided' && decision.residue === undefined) return 'undecided';
      const valid = isValid(entries);
      if (valid === undefined) return 'undecided';
      if (decision.verdict === 'undecided') {
        const { verdict } = decidePartition(entries, model, LIMITS, () => decision);
        if (verdict !== 'unknown' && valid !== (verdict === 'valid'))
          return fail(`${verdict} by its residue, which is wrong`);
        return 'undecided';
      }
      if (valid !== (decision.verdict === 'valid')) return fail(`${decision.verdict}, which is wrong`);
      if (decision.verdict === 'valid') return 'valid';
      const searched = search(entries, model, { limits: LIMITS });
      if (searched.verdict === 'unknown') return 'undecided';
      if (searched.verdict === 'valid') return fail('the search disagrees');
      const withSearch = (part: E): Decision<E> => {
        const decided = decide(part);
        if (decided.verdict !== 'undecided') return decided;
        const result = search(part, model, { limits: LIMITS });
        if (result.verdict !== 'invalid') return { verdict: 'valid' };
        return { ...decision, refuted: result.refutation().refuted };
      };
      const { refuted, conflict, reason } = shortest(entries, withSearch, decision);
      const last = searched.refutation().refuted;
      if (entries.returned[refuted] !== entries.returned[last])
        return fail(`refuted by ${refuted}, but by the search with ${last}`);
      // (Blocks are also held together by exchanges that the conflict does not name.)
      if (ENOUGH.has(reason) && !entries.kind.includes(Kind.cas)) {
        // Of those with owners, all that these owners did.
        const owner =
          'owner' in entries && entries.owner instanceof Int32Array
            ? entries.owner
            : Int32Array.from(entries.id);
        const owners = new Set(conflict.map((entry) => owner[entry]));
        const others = entries.returned.map((stamp, entry) => (owners.has(owner[entry]) ? stamp : NEVER));
        if (new Set(conflict).size !== conflict.length)
          return fail(`the conflict has repetitions: ${conflict.join()}`);
        if (isValid({ ...entries, returned: others }) === true)
          return fail(`the conflict alone is none: ${conflict.join()} ${reason}`);
      }
      return 'invalid';
    },
  };
}

/** Where the search gives up, nothing is compared. */
const LIMITS: SearchLimits = { stepsMax: 200_000, bytesMax: 2 ** 28 };

/** The reasons whose conflict is one whatever became of the operations of all other owners. */
const ENOUGH = new Set([
  'held-by-another',
  'point-inside-hold',
  'disowned-while-holding',
  'success-after-end',
  'read-before-write',
  'two-successors',
  'writes-interleave',
]);

const outcomes = [false, true];
const lockParts = (owners: readonly number[]): Part[] => [
  ...[Kind.acquire, Kind.release].flatMap((kind) =>
    owners.flatMap((owner) => outcomes.map((unknown) => ({ kind, owner, unknown }))),
  ),
  ...[Kind.renew, Kind.disowned].flatMap((kind) => owners.map((owner) => ({ kind, owner }))),
];
const tokens = (parts: readonly Part[]): Part[] =>
  parts.flatMap((part) =>
    part.kind === Kind.acquire && part.unknown !== true
      ? [part, ...[0, 1, 2].map((token) => ({ ...part, token }))]
      : [part],
  );
const leases = (parts: readonly Part[]): Part[] =>
  parts.flatMap((part) =>
    part.kind === Kind.acquire || part.kind === Kind.renew || part.kind === Kind.renewUnchecked
      ? [part, ...[2, 6].map((lease) => ({ ...part, lease }))]
      : [part],
  );
const plain: Part[] = [Kind.acquire, Kind.release].flatMap((kind) =>
  outcomes.map((unknown) => ({ kind, unknown })),
);
const tries = (owners: readonly number[]): Part[] => owners.map((owner) => ({ kind: Kind.busy, owner }));
const unchecked = (owners: readonly number[]): Part[] =>
  owners.flatMap((owner) => [
    { kind: Kind.renewUnchecked, owner },
    ...outcomes.map((unknown) => ({ kind: Kind.releaseUnchecked, owner, unknown })),
  ]);

const unknownRenewals = (owners: readonly number[]): Part[] =>
  owners.map((owner) => ({ kind: Kind.renew, owner, unknown: true }));

const storeOutcomes = (part: Part): Part[] => outcomes.map((unknown) => ({ ...part, unknown }));
/** Values from 1, each written by one letter only, so that most random histories write it once. */
const storeParts = (values: readonly number[]): Part[] => [
  { kind: Kind.read, value: 0 },
  ...values.flatMap((value) => [
    { kind: Kind.read, value },
    { kind: Kind.read, value },
    ...storeOutcomes({ kind: Kind.write, value }),
  ]),
];
const exchanges = (values: readonly number[]): Part[] =>
  values.flatMap((value) =>
    [0, ...values]
      .filter((expected) => expected !== value)
      .flatMap((expected) => storeOutcomes({ kind: Kind.cas, value, expected })),
  );
const fenced = (parts: readonly Part[]): Part[] =>
  parts.flatMap((part) => [0, 1, 2].map((token) => ({ ...part, token })));
const values = [1, 2, 3, 4];
const fencedParts: Part[] = [
  ...fenced(storeParts(values)),
  ...storeParts(values).filter(({ kind }) => kind === Kind.read),
  ...fenced([{ kind: Kind.stale }]),
];

type Flavour = Pick<AttemptsOptions, 'tokens' | 'lease' | 'unchecked' | 'tries'>;

const owners = [0, 1, 2, 3];
const large: (Subject & { readonly flavours: readonly Flavour[] })[] = [
  { ...subject(mutex, decideMutex, lockEntries, plain), flavours: [{}] },
  {
    ...subject(ownedMutex, decideOwnedMutex, lockEntries, [...lockParts(owners), ...tries(owners)]),
    flavours: [{}, { tries: true }],
  },
  {
    ...subject(fencedMutex, decideFencedMutex, lockEntries, tokens(lockParts(owners))),
    flavours: [{ tokens: true }, { tokens: true, tries: true }],
  },
  {
    ...subject(
      leaseMutex,
      decideLeaseMutex,
      lockEntries,
      leases([...lockParts(owners), ...unchecked(owners), ...unknownRenewals(owners), ...tries([0])]),
    ),
    flavours: [
      { lease: 12 },
      { lease: 12, unchecked: true },
      { lease: 6 },
      { lease: 9, tries: true },
      { lease: 12, unchecked: true, tries: true },
    ],
  },
];

const stores = [
  subject(casRegister, decideRegister, storeEntries, [...storeParts(values), ...exchanges(values)]),
  subject(fencedStore, decideFencedStore, storeEntries, fencedParts),
];

function tally(): Record<Verdict, number> {
  return { valid: 0, invalid: 0, undecided: 0 };
}

/** Changes one thing: an outcome, a token, or when something was called or answered. */
function disturb(random: Chance, parts: Part[], spans: Span[]): void {
  const index = random.below(parts.length);
  const part = parts[index];
  const span = spans[index];
  if (part === undefined || span === undefined) return;
  const invoked = span.invoked + random.below(7) - 3;
  switch (random.below(4)) {
    case 0:
      parts[index] = { ...part, unknown: part.kind === Kind.acquire && part.unknown !== true };
      break;
    case 1:
      if (part.token !== undefined) parts[index] = { ...part, token: random.below(parts.length) };
      break;
    case 2:
      parts[index] = { ...part, kind: random.pick([Kind.acquire, Kind.release, part.kind]) };
      break;
    default:
      spans[index] = { invoked, returned: Math.max(invoked, span.returned + random.below(7) - 3) };
  }
}

/** Histories that write a value twice are left out: their verdict is `undecided` anyhow. */
function withoutRepetition(parts: readonly Part[], spans: readonly Span[]): { parts: Part[]; spans: Span[] } {
  const written = new Set<number>();
  const kept = [...parts.keys()].filter((index) => {
    const { kind, value = 0 } = parts[index] ?? { kind: Kind.read };
    if (kind !== Kind.write && kind !== Kind.cas) return true;
    const isNew = !written.has(value);
    written.add(value);
    return isNew;
  });
  return {
    parts: kept.flatMap((index) => parts[index] ?? []),
    spans: kept.flatMap((index) => spans[index] ?? []),
  };
}

describe.each(stores)('$name without search', ({ alphabet, plausible: draw, judge }) => {
  it('agrees with the definition on random histories', () => {
    const random = chance(19);
    const seen = tally();
    for (let round = 0; round < 4_000 * TEST_BUDGET; round++) {
      const count = 3 + random.below(6);
      const drawn = Array.from({ length: count }, () => random.pick(alphabet));
      const { parts, spans } = withoutRepetition(drawn, randomSpans(random, count));
      seen[judge(parts, spans, 'definition')]++;
    }
    expect(seen.invalid).toBeGreaterThan(100);
  });

  it('agrees with the definition on histories close to a run of the model', () => {
    const random = chance(23);
    const seen = tally();
    for (let round = 0; round < 6_000 * TEST_BUDGET; round++) {
      const drawn = draw(random, 5 + random.below(6));
      const { parts, spans } = withoutRepetition(drawn.parts, drawn.spans);
      seen[judge(parts, spans, 'definition')]++;
    }
    expect(seen.valid).toBeGreaterThan(100);
    expect(seen.invalid).toBeGreaterThan(100);
    expect(seen.undecided).toBeLessThan(seen.valid);
  });
});

describe.each(large)('$name without search', ({ alphabet, plausible: draw, judge, flavours }) => {
  it('agrees with the definition on random histories', () => {
    const random = chance(3);
    const seen = tally();
    for (let round = 0; round < 2_000 * TEST_BUDGET; round++) {
      const count = 3 + random.below(6);
      const parts = Array.from({ length: count }, () => random.pick(alphabet));
      seen[judge(parts, randomSpans(random, count), 'definition')]++;
    }
    expect(seen.invalid).toBeGreaterThan(100);
  });

  it('agrees with the definition on histories close to a run of the model', () => {
    const random = chance(5);
    const seen = tally();
    for (let round = 0; round < 2_000 * TEST_BUDGET; round++) {
      const { parts, spans } = draw(random, 4 + random.below(6));
      seen[judge(parts, spans, 'definition')]++;
    }
    expect(seen.valid).toBeGreaterThan(100);
    expect(seen.invalid).toBeGreaterThan(100);
  });

  it.each(flavours)('agrees with the definition on what clients record: %o', (flavour) => {
    const random = chance(13);
    const seen = tally();
    for (let round = 0; round < 3_000 * TEST_BUDGET; round++) {
      const { parts, spans } = attempts(random, {
        ...flavour,
        clients: 2 + random.below(3),
        operations: 4 + random.below(6),
        unknownPermille: 300,
        wrongPermille: 100,
      });
      for (let changes = random.below(3); changes > 0; changes--) disturb(random, parts, spans);
      seen[judge(parts, spans, 'definition')]++;
    }
    expect(seen.valid).toBeGreaterThan(100);
    expect(seen.invalid).toBeGreaterThan(100);
    expect(seen.undecided / (seen.valid + seen.invalid)).toBeLessThan(0.7);
  });

  // (Where renewals are unchecked and tries refused, long ones are left to the search.)
  const decided = flavours.filter((flavour) => flavour.unchecked !== true || flavour.tries !== true);
  it.each(decided)('agrees with the search on longer ones: %o', (flavour) => {
    const random = chance(17);
    const seen = tally();
    for (let round = 0; round < 150 * TEST_BUDGET; round++) {
      const { parts, spans } = attempts(random, {
        ...flavour,
        clients: 2 + random.below(6),
        operations: 20 + random.below(100),
        unknownPermille: 60,
        wrongPermille: random.below(2) * 20,
      });
      if (random.below(3) === 0) disturb(random, parts, spans);
      seen[judge(parts, spans, 'search')]++;
    }
    expect(seen.valid + seen.invalid).toBeGreaterThan(seen.undecided / 2);
  });
});

describe('lease-mutex without search', () => {
  it('knows that an unchecked renewal may come before the one that it overlaps, and do nothing', () => {
    const parts: Part[] = [
      { kind: Kind.acquire, owner: 1 },
      { kind: Kind.renew, owner: 1, lease: 6 },
      { kind: Kind.acquire, owner: 0, lease: 2 },
      { kind: Kind.renewUnchecked, owner: 1, lease: 6 },
    ];
    const spans = [
      [0, 2],
      [1, 5],
      [3, 7],
      [4, 6],
    ].map(([invoked = 0, returned = 0]) => ({ invoked, returned }));
    const entries = lockEntries(parts, spans);
    expect(bruteForce(entries, leaseMutex)).toBe(true);
    expect(decideLeaseMutex(entries).verdict).not.toBe('invalid');
  });

  it('knows that a renewal of unknown outcome may act in the next session of its owner', () => {
    const parts: Part[] = [
      { kind: Kind.acquire, owner: 0 },
      { kind: Kind.renew, owner: 0, unknown: true },
      { kind: Kind.acquire, owner: 0, lease: 6 },
      { kind: Kind.disowned, owner: 0 },
    ];
    const spans = parts.map((_, index) => ({ invoked: 2 * index, returned: 2 * index + 1 }));
    const entries = lockEntries(parts, spans);
    expect(bruteForce(entries, leaseMutex)).toBe(true);
    expect(decideLeaseMutex(entries).verdict).not.toBe('invalid');
  });

  it('knows that a renewal of unknown outcome may act last, and make the lease shorter', () => {
    const parts: Part[] = [
      { kind: Kind.acquire, owner: 0, lease: 1 },
      { kind: Kind.renew, owner: 0, lease: 4, unknown: true },
      { kind: Kind.renew, owner: 0, lease: 100 },
      { kind: Kind.acquire, owner: 1, lease: 1 },
    ];
    const spans = parts.map((_, index) => ({ invoked: 10 * index, returned: 10 * index + 1 }));
    const entries = lockEntries(parts, spans);
    expect(bruteForce(entries, leaseMutex)).toBe(true);
    expect(decideLeaseMutex(entries).verdict).not.toBe('invalid');
  });

  it('knows that an unchecked renewal prolongs a session that must have begun for a try to be refused', () => {
    const parts: Part[] = [
      { kind: Kind.acquire, owner: 0, unknown: true, lease: 12 },
      { kind: Kind.busy, owner: 1 },
      { kind: Kind.renewUnchecked, owner: 0, lease: 12 },
      { kind: Kind.acquire, owner: 2, lease: 12 },
    ];
    const spans = [
      [0, 0],
      [6, 6],
      [7, 7],
      [11, 15],
    ].map(([invoked = 0, returned = 0]) => ({ invoked, returned }));
    const entries = lockEntries(parts, spans);
    expect(bruteForce(entries, leaseMutex)).toBe(false);
    expect(decideLeaseMutex(entries).verdict).not.toBe('valid');
  });

  it('knows that an unchecked release ends an acquire of unknown outcome, which then serves no later try', () => {
    const parts: Part[] = [
      { kind: Kind.acquire, owner: 0, unknown: true, lease: 2 },
      { kind: Kind.busy, owner: 1 },
      { kind: Kind.releaseUnchecked, owner: 0 },
      { kind: Kind.busy, owner: 1 },
    ];
    const spans = parts.map((_, index) => ({ invoked: 2 * index, returned: 2 * index + 1 }));
    const entries = lockEntries(parts, spans);
    expect(bruteForce(entries, leaseMutex)).toBe(false);
    expect(decideLeaseMutex(entries).verdict).not.toBe('valid');
    const twoTries = lockEntries(parts.slice(0, 3), spans.slice(0, 3));
    expect(decideLeaseMutex(twoTries).verdict).not.toBe('invalid');
  });
});

/** Two tries are refused, each while nobody is known to hold the lock; `possible` acquires may have held it. */
function refusedTwice(possible: number): LockEntries {
  const unknown = Array.from({ length: possible }, (_, index): Part[] => [
    { kind: Kind.acquire, owner: 10 + index, unknown: true },
    { kind: Kind.release, owner: 10 + index, unknown: true },
  ]).flat();
  const known: Part[] = [
    { kind: Kind.busy, owner: 0 },
    { kind: Kind.acquire, owner: 1 },
    { kind: Kind.release, owner: 1 },
    { kind: Kind.busy, owner: 0 },
    { kind: Kind.acquire, owner: 2 },
  ];
  const parts = [...unknown, ...known];
  return lockEntries(
    parts,
    parts.map((_, index) => ({ invoked: 2 * index, returned: 2 * index + 1 })),
  );
}

describe('owned-mutex without search', () => {
  it.each([
    [0, false],
    [1, false],
    [2, true],
    [3, true],
  ])('lets each of %i acquires of unknown outcome explain one refused try: %s', (possible, isValid) => {
    const entries = refusedTwice(possible);
    expect(bruteForce(entries, ownedMutex)).toBe(isValid);
    expect(decideOwnedMutex(entries).verdict).toBe(isValid ? 'valid' : 'invalid');
  });

  it('knows that a second release of unknown outcome may end the next session of its owner', () => {
    const parts: Part[] = [
      { kind: Kind.acquire, owner: 0 },
      { kind: Kind.release, owner: 0 },
      { kind: Kind.release, owner: 0, unknown: true },
      { kind: Kind.acquire, owner: 0 },
      { kind: Kind.acquire, owner: 1 },
    ];
    const spans = parts.map((_, index) => ({ invoked: 2 * index, returned: 2 * index + 1 }));
    const entries = lockEntries(parts, spans);
    expect(bruteForce(entries, ownedMutex)).toBe(true);
    expect(decideOwnedMutex(entries).verdict).not.toBe('invalid');
  });
});

/**
 * Blocks, each with a session that nothing is unclear about, one whose acquire was never answered, and a try that was
 * refused while only the second can have held the lock. In those of `after`, another try was refused when it had been
 * released. `possible`: acquires, and releases of the same owners, that may have happened at any time.
 */
function blocks(count: number, after: readonly number[], possible: number): LockEntries {
  const made = Array.from({ length: count }, (_, block): [Part, number, number][] => [
    [{ kind: Kind.acquire, owner: 2 * block }, 0, 1],
    [{ kind: Kind.release, owner: 2 * block }, 2, 3],
    [{ kind: Kind.acquire, owner: 2 * block + 1, unknown: true }, 5, 5],
    [{ kind: Kind.busy, owner: 2 * count }, 10, 12],
    [{ kind: Kind.release, owner: 2 * block + 1 }, 20, 30],
    ...(after.includes(block)
      ? [[{ kind: Kind.busy, owner: 2 * count }, 40, 42] as [Part, number, number]]
      : []),
  ]);
  const rows = [
    ...Array.from({ length: possible }, (_, index): [Part, number, number][] =>
      [Kind.acquire, Kind.release].map((kind) => [
        { kind, owner: 2 * count + 1 + index, unknown: true },
        -1,
        -1,
      ]),
    ).flat(),
    ...made.flatMap((block, index) =>
      block.map(([part, from, to]): [Part, number, number] => [part, 100 * index + from, 100 * index + to]),
    ),
  ];
  return lockEntries(
    rows.map(([part]) => part),
    rows.map(([, invoked, returned]) => ({ invoked, returned })),
  );
}

describe('what is left to a search', () => {
  it('is the gaps that depend on each other, each by itself', () => {
    const entries = blocks(200, [], 0);
    const decision = decideOwnedMutex(entries);
    const { residue } = decision.verdict === 'undecided' ? decision : {};
    expect(residue?.parts.length).toBe(200);
    // The sessions on both sides, the one in between, and the try.
    expect(Math.max(...(residue?.parts.map(({ positions }) => positions.length) ?? []))).toBe(7);
    const { verdict, steps } = decidePartition(entries, ownedMutex, LIMITS, decideOwnedMutex);
    expect(verdict).toBe('valid');
    expect(steps).toBeLessThan(200 * 20);
  });

  it.each([
    [[25], 0, 'invalid'],
    [[25], 1, 'valid'],
    [[4, 25], 1, 'invalid'],
    [[4, 25], 2, 'valid'],
    [[4, 5, 25], 2, 'invalid'],
  ])(
    'is searched together where tries of blocks %j compete for %i possible sessions: %s',
    (after, possible, expected) => {
      const entries = blocks(30, after, possible);
      const found = decidePartition(entries, ownedMutex, LIMITS, decideOwnedMutex);
      expect(found.verdict).toBe(expected);
      const last = Math.max(...after);
      const contradiction = found.verdict === 'invalid' ? found.contradiction() : undefined;
      const at = contradiction && entries.returned[contradiction.refuted];
      expect(at).toBe(expected === 'invalid' ? 100 * last + 42 : undefined);
      expect(contradiction?.isShortest ?? true).toBe(true);
    },
  );
});

/** `held`: a session of which everything is known. `point`: one whose acquire was never answered. */
const held = (owner: number, at: number): [Part, number, number][] => [
  [{ kind: Kind.acquire, owner }, at, at + 1],
  [{ kind: Kind.release, owner }, at + 2, at + 3],
];
const point = (owner: number, asked: number, from: number, to: number): [Part, number, number][] => [
  [{ kind: Kind.acquire, owner, unknown: true }, asked, asked],
  [{ kind: Kind.release, owner }, from, to],
];
const refused = (from: number, to: number): [Part, number, number] => [
  { kind: Kind.busy, owner: 99 },
  from,
  to,
];

function entriesOf(rows: readonly (readonly [Part, number, number])[]): LockEntries {
  return lockEntries(
    rows.map(([part]) => part),
    rows.map(([, invoked, returned]) => ({ invoked, returned })),
  );
}

describe('gaps depend on each other', () => {
  it.each([
    ['each has a session for its try', [], true],
    ['one session is wanted by two tries', [refused(60, 61)], false],
  ] as const)('if a session can be in the one or the other: %s', (_, more, isValid) => {
    // The first point may be in the first gap or the second, the second one in the second or the third.
    const entries = entriesOf([
      ...held(0, 0),
      ...point(10, 20, 50, 190),
      ...held(1, 100),
      ...point(11, 130, 160, 290),
      refused(140, 150),
      ...held(2, 200),
      refused(240, 250),
      ...held(3, 300),
      ...more,
    ]);
    expect(bruteForce(entries, ownedMutex)).toBe(isValid);
    const found = decidePartition(entries, ownedMutex, LIMITS, decideOwnedMutex);
    expect(found.verdict).toBe(isValid ? 'valid' : 'invalid');
  });

  it('if a session can begin at the very stamp at which the one before ends', () => {
    const entries = entriesOf([
      [{ kind: Kind.acquire, owner: 10, unknown: true }, 20, 20],
      [{ kind: Kind.renew, owner: 10 }, 40, 102],
      [{ kind: Kind.release, owner: 10 }, 50, 150],
      ...held(1, 100),
      refused(110, 120),
    ]);
    expect(bruteForce(entries, ownedMutex)).toBe(true);
    expect(decidePartition(entries, ownedMutex, LIMITS, decideOwnedMutex).verdict).toBe('valid');
  });

  it.each([
    [1, false],
    [3, true],
  ])('if a session that may have happened has a token, %i, on all there are', (token, isValid) => {
    const entries = entriesOf([
      [{ kind: Kind.acquire, owner: 10, token, unknown: true }, -2, -2],
      [{ kind: Kind.release, owner: 10, unknown: true }, -1, -1],
      [{ kind: Kind.acquire, owner: 0, token: 2 }, 0, 1],
      [{ kind: Kind.release, owner: 0 }, 2, 3],
      ...held(1, 10),
      refused(20, 21),
      ...held(2, 30),
      ...point(11, 40, 50, 60),
      refused(45, 46),
    ]);
    expect(bruteForce(entries, fencedMutex)).toBe(isValid);
    const found = decidePartition(entries, fencedMutex, LIMITS, decideFencedMutex);
    expect(found.verdict).toBe(isValid ? 'valid' : 'invalid');
  });
});

describe('fenced-mutex without search', () => {
  it('knows that who needs one instant only does not find it while another holds the lock', () => {
    // The second has to come after the first, which ends at 9; the third could come before it, but not before the second.
    const parts: Part[] = [
      { kind: Kind.acquire, owner: 0 },
      { kind: Kind.release, owner: 0 },
      { kind: Kind.acquire, owner: 1, token: 2 },
      { kind: Kind.release, owner: 1 },
      { kind: Kind.acquire, owner: 2, token: 3 },
      { kind: Kind.release, owner: 2 },
    ];
    const spans = [
      [3, 4],
      [9, 11],
      [0, 10],
      [5, 15],
      [0, 8],
      [2, 12],
    ].map(([invoked = 0, returned = 0]) => ({ invoked, returned }));
    const entries = lockEntries(parts, spans);
    expect(bruteForce(entries, fencedMutex)).toBe(false);
    expect(decideFencedMutex(entries).verdict).toBe('invalid');
    const otherWay = lockEntries(
      parts.map((part) => (part.token === undefined ? part : { ...part, token: 5 - part.token })),
      spans,
    );
    expect(bruteForce(otherWay, fencedMutex)).toBe(true);
    expect(decideFencedMutex(otherWay).verdict).toBe('valid');
  });
});
