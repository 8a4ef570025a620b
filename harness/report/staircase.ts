// The tokens of a lock's grants around a finding, as a staircase that should only go up. SVG with a text that says the
// same. Pure.

import type { Finding } from '../../checkers/verdict.ts';
import { seconds } from '../../checkers/wording.ts';
import type { Grant } from '../history/grants.ts';
import { html, type Html } from './html.ts';
import type { RunView } from './run-view.ts';
import { name } from './words.ts';

const WIDTH = 760;
const LEFT = 92;
const STEP = 15;
const TOP = 14;
/** Before the first and after the last that the finding names. */
const NEIGHBOURS = 3;
const GRANTS_MAX = 14;

/** undefined: fewer than two grants of its lock carry a token. */
export function tokenStaircase(view: RunView, finding: Finding): Html | undefined {
  const grants = view.tokensOf(finding.lock ?? '');
  const named = finding.ops.flatMap((id) => {
    const grant = view.grantOf.get(id);
    return grant?.token === undefined || grant.lock !== finding.lock ? [] : grants.indexOf(grant);
  });
  const first = Math.max(Math.min(...named) - NEIGHBOURS, 0);
  const shown = named.length === 0 ? [] : grants.slice(first, Math.max(...named) + NEIGHBOURS + 1);
  const steps = shown.slice(0, GRANTS_MAX);
  if (steps.length < 2) return undefined;
  const ranks = [...new Set(steps.map(tokenOf))].toSorted((a, b) => (a < b ? -1 : 1));
  const width = (WIDTH - LEFT) / steps.length;
  const y = (grant: Grant): number => TOP + (ranks.length - 1 - ranks.indexOf(tokenOf(grant))) * STEP;
  const height = TOP + ranks.length * STEP + 22;
  const falls = (index: number): boolean => {
    const [before, grant] = [steps[index - 1], steps[index]];
    return before !== undefined && grant !== undefined && tokenOf(grant) <= tokenOf(before);
  };
  const words = steps.map(
    (grant, index) =>
      `${name(grant.process)} token ${tokenOf(grant)} at ${seconds(grant.hold.start)}${falls(index) ? ', which is not above the one before' : ''}`,
  );
  return html`<p class="caption">
      Tokens of ${name(finding.lock ?? '')}, grant by grant: each should be above the one before.
    </p>
    <svg class="diagram" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${words.join('; ')}">
      ${steps.map((grant, index) => {
        const x = LEFT + index * width;
        return html`<rect
            class="${falls(index) ? 'd-mark' : 'd-step'}"
            x="${x}"
            y="${y(grant)}"
            width="${width - 3}"
            height="4"
          /><text class="d-label" x="${x}" y="${y(grant) - 3}"
            >${falls(index) ? '▼ ' : ''}${name(String(tokenOf(grant)), 14)}</text
          ><text class="d-label" x="${x}" y="${height - 6}">${name(grant.process, 8)}</text>`;
      })}
      <text class="d-lane" x="${LEFT - 10}" y="${height - 6}">granted to</text>
      <text class="d-lane" x="${LEFT - 10}" y="${TOP + 4}">token</text>
    </svg>`;
}

function tokenOf({ token }: Grant): bigint {
  return token ?? 0n;
}
