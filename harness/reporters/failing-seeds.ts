// The runs of a comparison that broke what was expected, as arguments of `lockpick run`, a line each: what CI keeps from
// night to night and runs again on every change. Pure.

import type { Summary } from '../comparison/summary.ts';
import { LOCKPICK } from '../terminal/invocation.ts';

export function failingSeeds({ cells }: Summary): string {
  const lines = cells.flatMap(({ units }) =>
    units.flatMap(({ outcome, replay }) =>
      outcome === 'violation' ? replay.replace(`${LOCKPICK} run `, '') : [],
    ),
  );
  return `# Arguments of \`lockpick run\`, a line for each run that was not as expected.\n${lines.map((line) => `${line}\n`).join('')}`;
}
