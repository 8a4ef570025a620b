// What was found against what theory expects of a cell (5.2 of the design), in words, and how bad each difference is.
// An expected finding that is not reproduced is as bad as one that was not expected: then either theory is wrong about
// the cell, or lockpick does not see. Unless the run has other settings than the cell, of which nobody has proved that
// they show it, or the machine did not keep up, so that what was planned came late: then it is inconclusive. Pure.

import type { Expectation, Finding, FindingCode, Grade, StoreResult, Verdict } from './verdict.ts';

/** A difference, and what the run answers because of it (2.4). */
export interface Surprise {
  readonly outcome: Exclude<Verdict['outcome'], 'ok'>;
  readonly words: string;
}

export interface Found {
  readonly grade: Grade;
  readonly findings: readonly Finding[];
  readonly liveness: readonly Finding[];
  readonly stores: readonly StoreResult[];
  /** Of `findings` those that their store's defence promises to prevent whatever the lock does; never expected. */
  readonly broken: readonly Finding[];
  /** How often a queue was none. */
  readonly queueJumps: number;
  /** Why less was found out than was asked. */
  readonly doubts: readonly string[];
  /** How much the machine kept everybody waiting, if that is too much to rely on what did not occur. */
  readonly starved: string | undefined;
}

/** Of a history that is of no catalogued cell; it may have any grade that needs no finding. */
const CLEAN = { findings: [], oneOf: [], liveness: [], allowed: [] } satisfies Omit<Expectation, 'grade'>;

/** In order of `Verdict.outcome`, worst first. `expectation` null: nothing should be found. */
export function surprisesOf(found: Found, expectation: Expectation | null): readonly Surprise[] {
  const { grade, findings, liveness, stores, broken, queueJumps, doubts, starved } = found;
  const expected: Omit<Expectation, 'grade'> = expectation ?? CLEAN;
  const expectedGrade = expectation?.grade ?? grade;
  const occurred = new Set<FindingCode>([...findings, ...liveness].map(({ code }) => code));
  const missing = [...expected.findings, ...expected.liveness].filter((code) => !occurred.has(code));
  const noneOf = expected.oneOf.length > 0 && !expected.oneOf.some((code) => occurred.has(code));
  const known = new Set<FindingCode>([...expected.findings, ...expected.oneOf, ...expected.allowed]);
  const otherGrade = `the grade is ${grade}; ${expectedGrade} was expected`;
  const lacking = [
    ...missing.map((code) => `${code} was expected and did not occur`),
    ...missingInStores(stores, expectation?.stores ?? {}),
    ...(expectation?.queueJumps === true && queueJumps === 0
      ? ['a queue jump was expected and did not occur']
      : []),
    ...(noneOf ? [`one of ${expected.oneOf.join(', ')} was expected and none occurred`] : []),
    ...(isBetter(grade, expectedGrade) ? [otherGrade] : []),
  ];
  const wrong = [
    ...(broken.length === 0
      ? []
      : [`${countsByStore(broken)}, whose defence keeps that out whatever the lock does`]),
    ...unexpected(findings, known, expectation),
    ...(grade !== expectedGrade && grade !== 'inconclusive' && !isBetter(grade, expectedGrade)
      ? [otherGrade]
      : []),
  ];
  const { changed = [] } = expectation ?? {};
  const why =
    changed.length === 0
      ? starved
      : `that it must is shown of the cell's own settings, not with ${changed.join(' ')}`;
  const [violations, unproved] = why === undefined ? [[...wrong, ...lacking], []] : [wrong, lacking];
  return [
    ...violations.map((words): Surprise => ({ outcome: 'violation', words })),
    ...unexpected(liveness, new Set(expected.liveness), expectation).map((words): Surprise => ({
      outcome: 'threshold',
      words,
    })),
    ...(queueJumps === 0 || expectation?.queueJumps === true ? [] : [queueJumps]).map((count): Surprise => ({
      outcome: 'threshold',
      words: `the queue was jumped ${count} ×`,
    })),
    ...unproved.map((words): Surprise => ({
      outcome: 'inconclusive',
      words: `${words}; ${why}`,
    })),
    ...(expectation?.grade === 'inconclusive' ? [] : doubts).map((words): Surprise => ({
      outcome: 'inconclusive',
      words,
    })),
  ];
}

const BEST_FIRST: readonly Grade[] = ['safe', 'safe-with-fencing', 'unsafe'];

/** Not of one that is inconclusive. */
function isBetter(a: Grade, b: Grade): boolean {
  return BEST_FIRST.includes(a) && BEST_FIRST.indexOf(a) < BEST_FIRST.indexOf(b);
}

/** What theory says must be found in a store, and was not. */
function missingInStores(
  stores: readonly StoreResult[],
  expected: NonNullable<Expectation['stores']>,
): string[] {
  return Object.entries(expected).flatMap(([name, codes]) => {
    const findings = stores.find((store) => store.name === name)?.findings ?? {};
    return codes
      .filter((code) => findings[code] === undefined)
      .map((code) => `${code} was expected in store ${name} and did not occur`);
  });
}

function countsByStore(findings: readonly Finding[]): string {
  const counts = Map.groupBy(findings, ({ code, store }) => `${code} occurred in store ${store}`);
  return [...counts].map(([words, all]) => `${words} (${all.length} ×)`).join(', ');
}

/** Where theory says nothing, nothing is called against it. */
function unexpected(
  findings: readonly Finding[],
  known: ReadonlySet<FindingCode>,
  expectation: Expectation | null,
): string[] {
  const counts = Map.groupBy(
    findings.filter(({ code }) => !known.has(code)),
    ({ code }) => code,
  );
  const judged = expectation === null ? '' : ' and was not expected';
  return [...counts].map(([code, all]) => `${code} occurred (${all.length} ×)${judged}`);
}
