// The contradiction that is told of a refuted history: by the definition none of its answers can be left out, whoever decided.
// Where too many would be needed, it is told given what was answered before.

import { describe, expect, it } from 'vitest';
import { modelNamed } from './catalogue.ts';
import { coreOf } from './core.ts';
import { decidePartition } from './decide.ts';
import { Kind, NEVER, type Entries } from './entries.ts';
import { ownedMutex } from './models/owned-mutex.ts';
import type { Decision } from './polynomial/decision.ts';
import { decideMutex } from './polynomial/mutex.ts';
import {
  bruteForce,
  chance,
  contradictionFault,
  lockEntries,
  plausible,
  TEST_BUDGET,
  type Made,
  type Part,
} from './reference.fixture.ts';
import { SEARCH_LIMITS } from './search.ts';
import { LOCK_SUBJECTS, STORE_SUBJECTS } from './subjects.fixture.ts';

interface Subject {
  readonly name: string;
  /** Explains a random history if it is refuted, and says whether it was; throws if the explanation is wrong. */
  readonly explainOne: (random: ReturnType<typeof chance>) => boolean;
}

function subject<E extends Entries>(
  made: Made<E>,
  decide: ((entries: E) => Decision<E>) | undefined,
): Subject {
  const { model, build } = made;
  return {
    name: model.name,
    explainOne(random) {
      const { parts, spans } = plausible(random, made, 5 + random.below(5));
      const entries = build(parts, spans);
      if (bruteForce(entries, model)) return false;
      const found = decidePartition(entries, model, SEARCH_LIMITS, decide);
      const fault =
        found.verdict === 'invalid'
          ? contradictionFault(entries, model, found.contradiction())
          : found.verdict;
      if (fault !== undefined)
        throw new Error(`${model.name}: ${fault}\n${JSON.stringify({ parts, spans })}`);
      return true;
    },
  };
}

const named = (name: string) => modelNamed(name === 'semaphore' ? 'semaphore:2' : name);
const subjects: readonly Subject[] = [
  ...LOCK_SUBJECTS.map((made) => {
    const found = named(made.model.name);
    return subject(made, found.of === 'lock' ? found.decide : undefined);
  }),
  ...STORE_SUBJECTS.map((made) => {
    const found = named(made.model.name);
    return subject(made, found.of === 'store' ? found.decide : undefined);
  }),
];

describe.each(subjects)('what contradicts itself in a history of $name', ({ explainOne }) => {
  it('is the least that does', () => {
    const random = chance(53);
    let refuted = 0;
    for (let round = 0; round < 300 * TEST_BUDGET; round++) if (explainOne(random)) refuted++;
    expect(refuted).toBeGreaterThan(20);
  });
});

/** Lock and unlock so many times, one after the other, then lock twice. */
function lockedTwice(times: number) {
  const kinds = [...Array<Kind>(2 * times).keys()].map((index) =>
    index % 2 === 0 ? Kind.acquire : Kind.release,
  );
  const parts: Part[] = [...kinds, Kind.acquire, Kind.acquire].map((kind) => ({ kind }));
  return lockEntries(
    parts,
    parts.map((_, index) => ({ invoked: 2 * index, returned: 2 * index + 1 })),
  );
}

describe('a contradiction of too many answers', () => {
  // Whatever releases did not return may come between the two: so it takes all acquires there were.
  const entries = lockedTwice(40);
  const refutes = (part: typeof entries): boolean => decideMutex(part).verdict === 'invalid';

  it('is told given what was answered before', () => {
    const { conflict, given, isMinimal } = coreOf(entries, [80, 81], refutes);
    expect([conflict.at(-1), isMinimal]).toEqual([81, true]);
    expect(given).toBeGreaterThan(0);
    /** All of before, and these. */
    const only = (answers: readonly number[]): typeof entries => ({
      ...entries,
      returned: entries.returned.map((stamp, entry) =>
        entry < given || answers.includes(entry) ? stamp : NEVER,
      ),
    });
    expect(refutes(only(conflict))).toBe(true);
    for (const entry of conflict)
      expect(refutes(only(conflict.filter((other) => other !== entry)))).toBe(false);
  });

  it('is the guess, and may not be the least, if every check takes too long', () => {
    const { conflict, isMinimal } = coreOf(entries, [80, 81], () => undefined);
    expect(isMinimal).toBe(false);
    expect(conflict).toEqual(expect.arrayContaining([80, 81]));
  });

  it('is told whole if it is small', () => {
    const owned = lockEntries(
      [{ kind: Kind.acquire }, { kind: Kind.acquire, owner: 1 }, { kind: Kind.acquire, owner: 2 }],
      [0, 2, 4].map((invoked) => ({ invoked, returned: invoked + 1 })),
    );
    const found = coreOf(owned, [], (part) => !bruteForce(part, ownedMutex));
    expect(found).toMatchObject({ given: 0, isMinimal: true });
    expect(found.conflict).toHaveLength(2);
  });
});
