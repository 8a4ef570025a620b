// The one sentence a run comes down to: "redis-single/set-nx-px is UNSAFE: two clients believed …". Pure.

import {
  SAFETY_CODES,
  type Finding,
  type FindingCode,
  type SafetyCode,
  type Verdict,
} from '../../checkers/verdict.ts';
import { list } from '../../checkers/wording.ts';
import { GRADE_MEANING, CODE_MEANING } from './meaning.ts';
import { beliefOverlap, circumstances, headline, lengthOf, type RunView } from './run-view.ts';
import { counted } from './words.ts';

/** Which finding stands for the rest: what broke exclusion first, then what came of it. */
const LEADING: readonly SafetyCode[] = ['double-grant', 'belief-overlap', 'foreign-release', ...SAFETY_CODES];

/** `<cell> is UNSAFE: …`: grade, worst finding, what else was found. */
export function verdictSentence(view: RunView): string {
  const { verdict } = view.run;
  const word = GRADE_MEANING[verdict.grade].word.toUpperCase();
  const stuck = countsByCode(verdict.liveness).map(([code, total]) =>
    counted(total, ...CODE_MEANING[code].counted),
  );
  const liveness = stuck.length === 0 ? '' : `; beside that ${list(stuck)}`;
  return `${view.cell} is ${word}: ${because(view, verdict)}${liveness}.`;
}

function because(view: RunView, verdict: Verdict): string {
  switch (verdict.grade) {
    case 'unsafe':
      return violations(view) ?? 'see the findings';
    case 'safe-with-fencing': {
      const refused = view.run.history.operations.filter(({ error }) => error === 'stale-token').length;
      return (
        `${violations(view) ?? 'exclusion failed'}; but tokens kept their promise and the fenced store stayed clean` +
        (refused === 0 ? '' : ` (it refused ${counted(refused, 'stale write')})`)
      );
    }
    case 'safe':
      return `no safety rule was broken in ${tried(verdict)}`;
    case 'inconclusive':
      return (
        verdict.power.warnings.find(({ decisive }) => decisive)?.message ??
        verdict.checkers.find(({ reason }) => reason !== undefined)?.reason ??
        'too little was tried'
      ).replace(/\.$/, '');
  }
}

/** How hard it was tried, in one clause. */
function tried({ power }: Verdict): string {
  const { grants, contendedHandoffs, faults } = power;
  return (
    `${counted(grants, 'grant')} and ${counted(contendedHandoffs, 'contended hand-off')}` +
    (faults.planned === 0
      ? ', without faults'
      : `, with ${counted(faults.acted, 'fault')} that acted, ${faults.hitHold} of them on a holder`)
  );
}

function violations(view: RunView): string | undefined {
  const { findings } = view.run.verdict;
  const code = LEADING.find((candidate) => findings.some((finding) => finding.code === candidate));
  const lead = findings
    .filter((finding) => finding.code === code)
    .reduce<Finding | undefined>((worst, finding) => {
      return worst === undefined || weight(view, finding) > weight(view, worst) ? finding : worst;
    }, undefined);
  if (lead === undefined) return undefined;
  const others = countsByCode(findings.filter((finding) => finding !== lead));
  const rest = others.map(([other, total]) => {
    const [one, many] = CODE_MEANING[other].counted;
    return other === code ? counted(total, `more ${one}`, `more ${many}`) : counted(total, one, many);
  });
  return `${headline(view, lead)}${circumstances(view, lead)}${rest.length === 0 ? '' : `; also ${list(rest)}`}`;
}

function weight(view: RunView, finding: Finding): number {
  const overlap = finding.code === 'belief-overlap' ? beliefOverlap(view, finding) : undefined;
  return overlap === undefined ? 0 : lengthOf(overlap);
}

/** How many findings of each code, in the order in which the codes first occur. */
export function countsByCode(findings: readonly Finding[]): [FindingCode, number][] {
  const counts = new Map<FindingCode, number>();
  for (const { code } of findings) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts];
}
