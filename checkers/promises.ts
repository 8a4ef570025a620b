// What each defence of a store promises to prevent (2.6 of the design), as data. The grade of the lock, the results of
// the stores and the expectation stand on this; which store runs which defence is in `store-fencing.ts`.

import type { HistoryMeta } from '../harness/history/op.ts';
import { defenceOf } from './store-fencing.ts';
import type { SafetyCode, SafetyFinding } from './verdict.ts';

/** The harm to what a lock protects. */
const HARM = ['lost-update', 'oversold', 'duplicate-effect'] as const satisfies readonly SafetyCode[];

/** These go by the tokens, so they keep their promise as long as the tokens do. */
const WITH_TOKENS: ReadonlyMap<string, readonly SafetyCode[]> = new Map<string, readonly SafetyCode[]>([
  ['fence-on-write', ['stale-write-accepted']],
  ['fence-on-read-and-write', ['stale-write-accepted', ...HARM]],
]);

/** These keep it whatever the lock does. */
const WITHOUT_LOCK: ReadonlySet<string> = new Set([
  'version-cas',
  'row-lock',
  'conditional-update',
  'unique-constraint',
  'serialized-queue',
]);

/** The store's defence should have prevented this, if the tokens were right. */
export function breaksPromise({ code, store }: SafetyFinding, meta: HistoryMeta): boolean {
  if (store === undefined) return false;
  const defence = defenceOf(store, meta);
  const promised = WITHOUT_LOCK.has(defence) ? HARM : WITH_TOKENS.get(defence);
  return promised?.some((prevented) => prevented === code) === true;
}

/** The store's defence should have prevented this whatever the lock and its tokens did. */
export function breaksAnyway(finding: SafetyFinding, meta: HistoryMeta): boolean {
  const { store } = finding;
  return store !== undefined && WITHOUT_LOCK.has(defenceOf(store, meta)) && breaksPromise(finding, meta);
}
