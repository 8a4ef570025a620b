// The exit code of a command that judged several histories: first match wins, so that a violation is never masked (2.4).

import { EXIT_CODE } from '../contract/errors.ts';

const WORST_FIRST = [EXIT_CODE.violation, EXIT_CODE.threshold, EXIT_CODE.inconclusive] as const;

export function worstExitCode(codes: readonly number[]): number {
  return WORST_FIRST.find((code) => codes.includes(code)) ?? EXIT_CODE.ok;
}
