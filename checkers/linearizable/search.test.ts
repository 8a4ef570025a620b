// The search against the definition, on random histories of every model (`exhaustive.sweep.test.ts` has all small ones). What it calls
// valid it must prove by an order; what it refutes must be refuted by the prefix it names and not before.

import { describe, expect, it } from 'vitest';
import { Kind, NEVER, prefix, type Entries } from './entries.ts';
import {
  bruteForce,
  chance,
  faultOf,
  plausible,
  randomSpans,
  storeEntries,
  TEST_BUDGET,
  type Made,
  type Chance,
  type Part,
  type Span,
} from './reference.fixture.ts';
import { kv } from './models/kv.ts';
import { casRegister, register } from './models/register.ts';
import { search, type SearchResult } from './search.ts';
import { LOCK_SUBJECTS, STORE_SUBJECTS } from './subjects.fixture.ts';

/** A model, and the operations histories are made of. */
interface Subject {
  readonly name: string;
  readonly alphabet: readonly Part[];
  readonly plausible: (random: Chance, count: number) => { parts: readonly Part[]; spans: readonly Span[] };
  /** Throws if the search is wrong about this history. */
  readonly judge: (parts: readonly Part[], spans: readonly Span[]) => 'valid' | 'invalid';
}

function subject<E extends Entries>({ model, build, alphabet }: Made<E>): Subject {
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

const subjects: readonly Subject[] = [
  ...LOCK_SUBJECTS.map((made) => subject(made)),
  ...STORE_SUBJECTS.map((made) => subject(made)),
];

describe.each(subjects)('search of $name', ({ alphabet, judge, plausible: draw }) => {
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

describe('windows', () => {
  it('refute the end of a history whose beginning has too many orders to try', () => {
    // Each time that 1 is read, one of 16 detours from 0 to 1 was taken, and none can be taken twice.
    const unknown = Array.from({ length: 16 }, (_, index): Part[] => [
      { kind: Kind.cas, expected: 0, value: 10 + index, unknown: true },
      { kind: Kind.cas, expected: 10 + index, value: 1, unknown: true },
    ]);
    const known = Array.from({ length: 8 }, (): Part[] => [
      { kind: Kind.read, value: 1 },
      { kind: Kind.cas, expected: 1, value: 0 },
    ]);
    const end: Part[] = [
      { kind: Kind.write, value: 4 },
      { kind: Kind.write, value: 5 },
      { kind: Kind.read, value: 4 },
    ];
    const parts = [...unknown.flat(), ...known.flat(), ...end];
    const entries = storeEntries(
      parts,
      parts.map((_, index) => ({ invoked: 2 * index, returned: 2 * index + 1 })),
    );
    const found = search(entries, casRegister, { limits: { stepsMax: 100_000, bytesMax: 2 ** 28 } });
    expect(found.verdict).toBe('invalid');
    const refutation = found.verdict === 'invalid' ? found.refutation() : undefined;
    expect(refutation?.refuted).toBe(parts.length - 1);
  });
});

/** Of a register or a text: what each operation does, and from when to when. */
function stored(...operations: readonly (readonly [part: Part, invoked: number, returned: number])[]) {
  return storeEntries(
    operations.map(([part]) => part),
    operations.map(([, invoked, returned]) => ({ invoked, returned })),
  );
}

describe('of two ways to the same state', () => {
  it('the one in which an earlier write can have been overwritten is not given up for the other', () => {
    const one: Part = { kind: Kind.write, value: 1 };
    const entries = stored(
      [one, 0, 0],
      [one, 0, 2],
      [{ kind: Kind.write, value: 2 }, 1, 2],
      [{ kind: Kind.read, value: 1 }, 10, 10],
    );
    expect(bruteForce(entries, register)).toBe(true);
    expect(search(entries, register).verdict).toBe('valid');
  });

  it('the one in which more has been appended is no worse than the other', () => {
    const entries = stored(
      [{ kind: Kind.append, value: 2 }, 0, 9],
      [{ kind: Kind.write, value: 2 }, 2, 8],
      [{ kind: Kind.append, value: 1, unknown: true }, 1, 14],
      [{ kind: Kind.read, value: 2 }, 9, 14],
      [{ kind: Kind.read, value: 4 }, 6, 6],
    );
    expect(bruteForce(entries, kv)).toBe(true);
    expect(search(entries, kv).verdict).toBe('valid');
  });
});

describe('of two equal appends', () => {
  it('the one that was overwritten unseen does not go first', () => {
    const parts: Part[] = [
      { kind: Kind.append, value: 2 },
      { kind: Kind.write, value: 1 },
      { kind: Kind.append, value: 2 },
      { kind: Kind.read, value: 3 },
      { kind: Kind.read, value: 3 },
    ];
    const spans = [
      [0, 9],
      [1, 2],
      [3, 10],
      [5, 8],
      [11, 12],
    ].map(([invoked = 0, returned = 0]) => ({ invoked, returned }));
    const entries = storeEntries(parts, spans);
    expect(bruteForce(entries, kv)).toBe(true);
    expect(search(entries, kv).verdict).toBe('valid');
  });
});
