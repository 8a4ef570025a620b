// Whether a second run shows what a first one did. Interleavings differ on real containers, so operations, clients and
// locks do too; what stays is who is to blame (2.3 of the design). Pure.

import type { FindingCode, Verdict } from '../../checkers/verdict.ts';

/** Who is to blame for a finding; `harm` and `lease` are what comes of no fencing and what is inherent to leases. */
type Blamed = 'service' | 'recipe' | 'client' | 'tokens' | 'store' | 'lease' | 'harm' | 'availability' | 'us';

const BLAMED: Readonly<Record<FindingCode, Blamed>> = {
  'double-grant': 'service',
  'not-linearizable': 'service',
  'foreign-release': 'recipe',
  'expired-grant': 'client',
  'late-loss-notice': 'client',
  'token-regression': 'tokens',
  'stale-write-accepted': 'store',
  oversold: 'store',
  'duplicate-effect': 'store',
  'belief-overlap': 'lease',
  'stale-write-landed': 'harm',
  'lost-update': 'harm',
  'stuck-lock': 'availability',
  'not-reacquired': 'availability',
  starved: 'availability',
  'orphan-state': 'availability',
  'fault-had-no-effect': 'us',
  'harness-stalled': 'us',
  'clock-uncertain': 'us',
  'too-little-load': 'us',
};

/** What a replay is compared by. */
export interface Shown {
  readonly grade: Verdict['grade'];
  /** Of findings, safety and liveness; each once. */
  readonly codes: readonly FindingCode[];
}

export function shownBy({ grade, findings, liveness }: Verdict): Shown {
  return { grade, codes: [...new Set([...findings, ...liveness].map(({ code }) => code))] };
}

/**
 * Everybody whom `first` blames is blamed by `second`, too, and by one of the same codes: a stale write and a lost update
 * are one harm, and chance decides which of them a run shows. A run without findings is shown again by one of the same
 * grade without any.
 */
export function reproduces(first: Shown, second: Shown): boolean {
  if (first.codes.length === 0) return second.codes.length === 0 && second.grade === first.grade;
  return blamed(first.codes).every((party) =>
    second.codes.some((code) => BLAMED[code] === party && first.codes.includes(code)),
  );
}

/** Codes of `second` that blame somebody whom `first` did not. */
export function surprising(first: Shown, second: Shown): readonly FindingCode[] {
  const known = blamed(first.codes);
  return second.codes.filter((code) => !known.includes(BLAMED[code]));
}

function blamed(codes: readonly FindingCode[]): readonly Blamed[] {
  return [...new Set(codes.map((code) => BLAMED[code]))];
}
