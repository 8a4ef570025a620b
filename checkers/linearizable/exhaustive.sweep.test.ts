// Every model on every small history there is: the definition, the search, the checker without search and both together
// agree; what is refuted is refuted by the shortest prefix, and by a conflict of which nothing can be left out. What takes
// seconds is tried here; LOCKPICK_EXHAUSTIVE=1 tries all of it (checkers/README.md says what that is and took).

import { describe, expect, it } from 'vitest';
import { modelNamed } from './catalogue.ts';
import { decidePartition } from './decide.ts';
import { Kind, type Entries } from './entries.ts';
import type { Decision } from './polynomial/decision.ts';
import { bruteForce, contradictionFault, type Made, type Part, type Span } from './reference.fixture.ts';
import { search, SEARCH_LIMITS } from './search.ts';
import { eventOrders, intervalOrders, lettersOf, smallHistories } from './small-histories.fixture.ts';
import { LOCK_SUBJECTS, STORE_SUBJECTS } from './subjects.fixture.ts';

const ALL = process.env['LOCKPICK_EXHAUSTIVE'] !== undefined;
/** Of the trial of everything. */
const HOURS = 3_600_000;

interface Subject {
  readonly name: string;
  readonly alphabet: readonly Part[];
  /** Owners or values that may change places. */
  readonly by: 'owner' | 'value';
  readonly names: readonly number[];
  /** Throws if anybody is wrong about this history. */
  readonly judge: (parts: readonly Part[], spans: readonly Span[], explained: boolean) => Verdict;
  /** There is a checker without search. */
  readonly isDecided: boolean;
  /** Throws if the checker without search contradicts the verdict, which is known. */
  readonly decideAgain: (parts: readonly Part[], spans: readonly Span[], verdict: Verdict) => void;
}

type Verdict = 'valid' | 'invalid';

function subject<E extends Entries>(
  { model, build, alphabet }: Made<E>,
  decide: ((entries: E) => Decision<E>) | undefined,
  names: Pick<Subject, 'by' | 'names'>,
): Subject {
  const fail = (what: string, shown: object): never => {
    throw new Error(`${model.name}: ${what}\n${JSON.stringify(shown)}`);
  };

  return {
    name: model.name,
    alphabet,
    ...names,
    isDecided: decide !== undefined,
    judge(parts, spans, explained) {
      const entries = build(parts, spans);
      const truth = bruteForce(entries, model) ? 'valid' : 'invalid';
      if (explained) {
        // Hardly any step is taken before windows are tried.
        const { verdict } = search(entries, model, { firstRoundSteps: 1 });
        if (verdict !== truth) return fail(`${verdict} by windows, which is wrong`, { parts, spans });
      }
      for (const how of decide === undefined ? [undefined] : [undefined, decide]) {
        const found = decidePartition(entries, model, SEARCH_LIMITS, how);
        const by = how === undefined ? 'by search' : 'with the checker';
        if (found.verdict !== truth) return fail(`${found.verdict} ${by}, which is wrong`, { parts, spans });
        const fault =
          explained && found.verdict === 'invalid'
            ? contradictionFault(entries, model, found.contradiction())
            : undefined;
        if (fault !== undefined) return fail(`${fault}, ${by}`, { parts, spans });
      }
      return truth;
    },
    decideAgain(parts, spans, verdict) {
      const decided = decide?.(build(parts, spans)).verdict ?? 'undecided';
      if (decided !== 'undecided' && decided !== verdict)
        fail(`${decided}, which is wrong`, { parts, spans });
    },
  };
}

const OWNERS = { by: 'owner', names: [0, 1] } as const;
const NAMES: Readonly<Record<string, Pick<Subject, 'by' | 'names'>>> = {
  mutex: { by: 'owner', names: [] },
  // Only the first owner has renewals of unknown outcome.
  'lease-mutex': { by: 'owner', names: [] },
  register: { by: 'value', names: [1, 2] },
  'cas-register': { by: 'value', names: [1, 2] },
  kv: { by: 'value', names: [] },
  'multi-register': { by: 'value', names: [] },
  'fenced-store': { by: 'value', names: [1, 2] },
};

const subjects: readonly Subject[] = [
  ...LOCK_SUBJECTS.map((made) => {
    const { name } = made.model;
    const found = modelNamed(name === 'semaphore' ? 'semaphore:2' : name);
    return subject(made, found.of === 'lock' ? found.decide : undefined, NAMES[name] ?? OWNERS);
  }),
  ...STORE_SUBJECTS.map((made) => {
    const { name } = made.model;
    const found = modelNamed(name);
    return subject(made, found.of === 'store' ? found.decide : undefined, NAMES[name] ?? OWNERS);
  }),
];

/** Without what only makes more of the same: answers to owners, second leases, what is left to the search anyway. */
function fewer(name: string): (part: Part) => boolean {
  const leftOut: readonly Kind[] = [
    Kind.renew,
    Kind.renewUnchecked,
    Kind.disowned,
    Kind.append,
    Kind.casFailed,
  ];
  return ({ kind, value, lease = 1, unknown, token }) =>
    !leftOut.includes(kind) &&
    lease === 1 &&
    !(kind === Kind.cas && unknown === true) &&
    !(kind === Kind.read && (value ?? 9) > 2) &&
    !(name === 'fenced-store' && (unknown === true || token === undefined));
}

interface Trial {
  readonly operations: number;
  readonly of: 'all' | 'fewer';
  /** What is refuted is also explained. */
  readonly explained: boolean;
  /** Of an interval order: all orders of events that give it, or one. */
  readonly orders: 'all orders' | 'one order';
}

const trial = (
  operations: number,
  of: Trial['of'],
  {
    explained = ALL,
    orders = ALL ? 'all orders' : 'one order',
  }: Partial<Pick<Trial, 'explained' | 'orders'>> = {},
): Trial => ({ operations, of, explained, orders });

function trialsOf({ name, isDecided }: Subject): Trial[] {
  const short = [1, 2].map((operations) =>
    trial(operations, 'all', { explained: true, orders: 'all orders' }),
  );
  const rough = { explained: false };
  switch (name) {
    case 'multi-register':
      return [...short, ...(ALL ? [trial(3, 'all'), trial(4, 'all', rough)] : [])];
    case 'lease-mutex':
      return [
        ...short,
        ...(ALL
          ? [trial(3, 'all'), trial(4, 'all', { ...rough, orders: 'one order' })]
          : [trial(3, 'fewer', { orders: 'all orders' })]),
      ];
    default:
      return [
        ...short,
        trial(3, 'all'),
        ...(ALL || isDecided ? [trial(4, ALL ? 'all' : 'fewer', rough)] : []),
      ];
  }
}

/** Judges every history of a trial, and says how many there were. */
function judgeAll(every: Subject, { operations, of, explained, orders }: Trial): number {
  const { alphabet, by, names, judge, decideAgain, name } = every;
  const letters = lettersOf(of === 'all' ? alphabet : alphabet.filter(fewer(name)), by, names);
  let count = 0;
  for (const history of smallHistories(letters, operations)) {
    const { parts, spans } = history;
    const verdict = judge(parts, spans, explained);
    count++;
    for (const order of eventOrders(history)) {
      // A lease lasts for so many stamps, so there each order of events is a history of its own.
      if (name === 'lease-mutex') {
        judge(parts, order, explained);
        count++;
      } else decideAgain(parts, order, verdict);
      if (orders === 'one order') break;
    }
  }
  return count;
}

describe('small histories', () => {
  it('are as many as there are interval orders', () => {
    expect([1, 2, 3, 4, 5].map((count) => intervalOrders(count).length)).toEqual([1, 2, 5, 15, 53]);
  });
});

describe.each(subjects.map((every) => ({ every, name: every.name, trials: trialsOf(every) })))(
  '$name',
  ({ every, name, trials }) => {
    it.each(trials)(
      'is judged right in every history of $operations operations, $of letters, $orders',
      (one) => {
        const count = judgeAll(every, one);
        expect(count).toBeGreaterThan(0);
        if (ALL)
          process.stdout.write(`${name}: ${count} histories of ${one.operations}, ${one.of} letters\n`);
      },
      HOURS,
    );
  },
);
