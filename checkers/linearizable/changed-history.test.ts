// What may and what must happen to a verdict if a history is changed, for every model and whoever decides, checker or search:
// what says less is never worse, what only has other names is the same, one violation put in is found.

import { describe, expect, it } from 'vitest';
import { modelNamed } from './catalogue.ts';
import { decidePartition } from './decide.ts';
import { Kind, type Entries, type LockEntries } from './entries.ts';
import type { Model } from './model.ts';
import type { Decision } from './polynomial/decision.ts';
import { fencedMutex } from './models/fenced-mutex.ts';
import { leaseMutex } from './models/lease-mutex.ts';
import { mutex } from './models/mutex.ts';
import { ownedMutex } from './models/owned-mutex.ts';
import {
  attempts,
  chance,
  lockEntries,
  plausible,
  TEST_BUDGET,
  type Chance,
  type Made,
  type Part,
  type Span,
} from './reference.fixture.ts';
import { SEARCH_LIMITS } from './search.ts';
import { LOCK_SUBJECTS, STORE_SUBJECTS } from './subjects.fixture.ts';

interface Drawn {
  readonly parts: readonly Part[];
  readonly spans: readonly Span[];
}

interface Subject {
  readonly name: string;
  readonly draw: (random: Chance) => Drawn;
  readonly verdictOf: (drawn: Drawn) => string;
  readonly alphabet: readonly Part[];
}

function subject<E extends Entries>(
  { model, build, alphabet }: Made<E>,
  decide?: (entries: E) => Decision<E>,
): Subject {
  return {
    name: model.name,
    draw: (random) => plausible(random, { model, build, alphabet }, 4 + random.below(5)),
    verdictOf: ({ parts, spans }) =>
      decidePartition(build(parts, spans), model, SEARCH_LIMITS, decide).verdict,
    alphabet,
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

function withPart({ parts, spans }: Drawn, index: number, part: Part): Drawn {
  return { parts: parts.with(index, part), spans };
}

const weaker: Readonly<Record<string, (random: Chance, drawn: Drawn, alphabet: readonly Part[]) => Drawn>> = {
  'an interval is wider'(random, { parts, spans }) {
    const index = random.below(parts.length);
    const { invoked = 0, returned = 0 } = spans[index] ?? {};
    const wider = { invoked: invoked - random.below(9), returned: returned + random.below(9) };
    return { parts, spans: spans.with(index, wider) };
  },
  'an outcome is unknown'(random, drawn) {
    const index = random.below(drawn.parts.length);
    const { token, ...part } = drawn.parts[index] ?? { kind: Kind.read };
    // Whoever did not get the answer did not get the token either; of a store it was shown by the caller.
    const shown = part.kind === Kind.acquire || token === undefined ? {} : { token };
    return withPart(drawn, index, { ...part, ...shown, unknown: true });
  },
  'an operation of unknown outcome is added'(random, { parts, spans }, alphabet) {
    const unknown = alphabet.filter((part) => part.unknown === true);
    const invoked = random.below(3 * parts.length);
    return {
      parts: [...parts, random.pick(unknown)],
      spans: [...spans, { invoked, returned: invoked }],
    };
  },
};

const same: Readonly<Record<string, (random: Chance, drawn: Drawn) => Drawn>> = {
  'equal stamps come in another order'(random, { parts, spans }) {
    const order = [...parts.keys()];
    for (let last = order.length - 1; last > 0; last--) {
      const other = random.below(last + 1);
      [order[last], order[other]] = [order[other] ?? 0, order[last] ?? 0];
    }
    return {
      parts: order.flatMap((index) => parts[index] ?? []),
      spans: order.flatMap((index) => spans[index] ?? []),
    };
  },
  'owners have other names': (_random, { parts, spans }) => ({
    parts: parts.map((part) => (part.owner === undefined ? part : { ...part, owner: 3 - part.owner })),
    spans,
  }),
  'time is another scale': (_random, { parts, spans }) => ({
    parts: parts.map((part) => (part.lease === undefined ? part : { ...part, lease: 7 * part.lease })),
    spans: spans.map(({ invoked, returned }) => ({ invoked: 7 * invoked, returned: 7 * returned })),
  }),
};

describe.each(subjects)('a history of $name', ({ draw, verdictOf, alphabet }) => {
  it.each(Object.keys(weaker))('is not worse if %s', (name) => {
    const random = chance(29);
    let valid = 0;
    for (let round = 0; round < 500 * TEST_BUDGET; round++) {
      const drawn = draw(random);
      if (drawn.parts.length === 0 || verdictOf(drawn) !== 'valid') continue;
      valid++;
      const changed = weaker[name]?.(random, drawn, alphabet) ?? drawn;
      if (verdictOf(changed) !== 'valid') throw new Error(JSON.stringify({ drawn, changed }));
    }
    expect(valid).toBeGreaterThan(50);
  });

  it.each(Object.keys(same))('is the same if %s', (name) => {
    const random = chance(31);
    const seen = { valid: 0, invalid: 0, unknown: 0 };
    for (let round = 0; round < 300 * TEST_BUDGET; round++) {
      const drawn = draw(random);
      const changed = same[name]?.(random, drawn) ?? drawn;
      const verdict = verdictOf(drawn);
      if (verdictOf(changed) !== verdict) throw new Error(JSON.stringify({ verdict, drawn, changed }));
      if (verdict === 'valid' || verdict === 'invalid') seen[verdict]++;
    }
    expect(Math.min(seen.valid, seen.invalid)).toBeGreaterThan(20);
  });
});

function verdictBy(model: Model<LockEntries>, { parts, spans }: Drawn): string {
  const found = named(model.name);
  const decide = found.of === 'lock' ? found.decide : undefined;
  return decidePartition(lockEntries(parts, spans), model, SEARCH_LIMITS, decide).verdict;
}

function recorded(random: Chance, unknownPermille: number, lease?: number): Drawn {
  return attempts(random, {
    clients: 3,
    operations: 60,
    tokens: true,
    unknownPermille,
    wrongPermille: 0,
    ...(lease !== undefined && { lease }),
  });
}

describe('one violation put into what clients record', () => {
  it.each([
    [mutex, 0, undefined],
    [ownedMutex, 100, undefined],
    [fencedMutex, 100, undefined],
    [leaseMutex, 100, 40],
  ] as const)('is found: a grant inside a hold, %o', (model, unknownPermille, lease) => {
    const random = chance(37);
    let injected = 0;
    for (let round = 0; round < 60 * TEST_BUDGET; round++) {
      const { parts, spans } = recorded(random, unknownPermille, lease);
      expect(verdictBy(model, { parts, spans })).toBe('valid');
      const granted = parts.findIndex(
        (part, index) =>
          part.kind === Kind.acquire &&
          part.unknown !== true &&
          parts.some(
            ({ kind, owner, unknown }, other) =>
              kind === Kind.release &&
              unknown !== true &&
              owner === part.owner &&
              (spans[other]?.invoked ?? 0) > (spans[index]?.returned ?? 0) + 2,
          ),
      );
      if (granted === -1) continue;
      injected++;
      const at = (spans[granted]?.returned ?? 0) + 1;
      const intruder: Part = { kind: Kind.acquire, owner: 1000, ...(lease !== undefined && { lease }) };
      const changed = { parts: [...parts, intruder], spans: [...spans, { invoked: at, returned: at }] };
      if (verdictBy(model, changed) !== 'invalid') throw new Error(JSON.stringify(changed));
    }
    expect(injected).toBeGreaterThan(20);
  });

  it('is found: two tokens that were given out the other way round', () => {
    const random = chance(41);
    let swapped = 0;
    for (let round = 0; round < 60 * TEST_BUDGET; round++) {
      const { parts, spans } = recorded(random, 100);
      const granted = [...parts.keys()].filter((index) => parts[index]?.token !== undefined);
      const [first, second] = granted.slice(random.below(granted.length - 1));
      if (first === undefined || second === undefined) continue;
      if ((spans[first]?.returned ?? 0) >= (spans[second]?.invoked ?? 0)) continue;
      swapped++;
      const tokens = parts.map((part, index) => {
        if (index !== first && index !== second) return part;
        const { token = 0 } = parts[index === first ? second : first] ?? {};
        return { ...part, token };
      });
      const changed = { parts: tokens, spans };
      if (verdictBy(fencedMutex, changed) !== 'invalid') throw new Error(JSON.stringify(changed));
    }
    expect(swapped).toBeGreaterThan(20);
  });
});
