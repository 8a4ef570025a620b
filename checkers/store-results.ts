// What became of each store: every defence that took part in a run is graded by itself, beside the grade of the lock.
// The answer to the question whether the lock is needed for correctness stands here: the same critical sections, and
// which defences held. Also what the record settles of writes that were never answered. Pure.

import type { History } from '../harness/history/history.ts';
import { registersOf, type Register } from './audit.ts';
import { breaksPromise } from './promises.ts';
import type { SafetyFinding, StoreResult, Settlement } from './verdict.ts';

/** A verdict lists no more settled writes of one store than this. */
const SETTLEMENTS_MAX = 1_000;

/** In order of the stores' first operations. `findings`: of all rules. O(n). */
export function storeResultsOf(history: History, findings: readonly SafetyFinding[]): readonly StoreResult[] {
  const ofStore = Map.groupBy(findings, ({ store }) => store);
  return [...Map.groupBy(registersOf(history), ({ store }) => store)].map(([name, registers]) => {
    const found = ofStore.get(name) ?? [];
    const writes = { accepted: 0, refused: 0, unanswered: 0 };
    for (const { outcome } of registers.flatMap((register) => register.writes))
      writes[outcome === 'ok' ? 'accepted' : outcome === 'fail' ? 'refused' : 'unanswered'] += 1;
    const settlements = registers.flatMap((register) => settlementsOf(history, register));
    const flaw = registers.find((register) => register.flaw !== undefined)?.flaw;
    const blind = registers.find(({ record }) => record === undefined);
    const unseen = blind === undefined ? undefined : `it left no record of ${blind.key}`;
    const reason = flaw ?? (writes.accepted === 0 ? 'no write was accepted' : unseen);
    const listed = settlements.slice(0, SETTLEMENTS_MAX);
    return {
      name,
      verdict: found.length > 0 ? 'invalid' : reason === undefined ? 'valid' : 'unknown',
      findings: countsOf(found.map(({ code }) => code)),
      brokenPromises: [
        ...new Set(
          found.filter((finding) => breaksPromise(finding, history.header.meta)).map(({ code }) => code),
        ),
      ],
      writes,
      settled: countsOf(settlements.map(({ outcome }) => outcome)),
      settlements: listed,
      ...(found.length === 0 && reason !== undefined && { reason }),
    };
  });
}

/**
 * What the record says of writes whose outcome their client never learned: `landed` and `refused` have a row; without
 * one a write can still take effect (`open`), unless it was sent before the store was sealed and read: then it `never`
 * does.
 */
function settlementsOf({ header }: History, { writes, record, sealedAt }: Register): Settlement[] {
  const uncertain = 2 * header.clockErrorNanos;
  const rows = new Map((record ?? []).map(({ row }) => [row.id, row.accepted]));
  return writes
    .filter(({ outcome }) => outcome === 'info')
    .map(({ id, process, key, invoked }) => {
      const accepted = rows.get(id);
      if (accepted !== undefined) return { op: id, process, key, outcome: accepted ? 'landed' : 'refused' };
      const over = record !== undefined && sealedAt !== undefined && invoked + uncertain < sealedAt;
      return { op: id, process, key, outcome: over ? 'never' : 'open' };
    });
}

function countsOf<Word extends string>(words: readonly Word[]): Readonly<Partial<Record<Word, number>>> {
  const counts: Partial<Record<Word, number>> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
