// The grade of a lock (2.4 of the design) from what was found and how hard it was tried.
//
// Where the design leaves it open: `expired-grant` and `late-loss-notice` show a client that believed without a tenure,
// like `belief-overlap`. A fencing token makes that harmless and nothing else does, so they grade as that does: without
// a token `unsafe`, with one `safe-with-fencing`. Harm to a store (`lost-update`, `oversold`, `duplicate-effect`) counts
// beyond that only where the store's defence promises to prevent it; one that checks tokens on writes alone lets it
// through by design (2.6).

import { breaksPromise } from './promises.ts';
import type { HistoryMeta } from '../harness/history/op.ts';
import type { Grants } from '../harness/history/grants.ts';
import type { Grade, Power, SafetyCode, SafetyFinding } from './verdict.ts';

/** Fencing does not help against these: it is what they break, or they harm what it protects. */
const BEYOND_FENCING: ReadonlySet<SafetyCode> = new Set([
  'token-regression',
  'stale-write-accepted',
  'foreign-release',
  'not-linearizable',
]);

export interface GradeBasis {
  readonly meta: HistoryMeta;
  readonly grants: Pick<Grants, 'size' | 'token'>;
  readonly findings: readonly SafetyFinding[];
  readonly power: Power;
  /** A checker of safety could not tell. */
  readonly unknown: boolean;
}

/** A violation is never masked by an unknown: what was found decides first, except that nothing unproved is praised. */
export function gradeOf({ meta, grants, findings, power, unknown }: GradeBasis): Grade {
  if (findings.some((finding) => beyondFencing(finding, meta))) return 'unsafe';
  const tokens = meta.tokens ?? (grants.size > 0 && grants.token.every((position) => position !== 0));
  if (findings.length > 0 && !tokens) return 'unsafe';
  if (unknown) return 'inconclusive';
  if (findings.length > 0) return 'safe-with-fencing';
  return power.warnings.some(({ decisive }) => decisive) ? 'inconclusive' : 'safe';
}

function beyondFencing(finding: SafetyFinding, meta: HistoryMeta): boolean {
  return BEYOND_FENCING.has(finding.code) || breaksPromise(finding, meta);
}
