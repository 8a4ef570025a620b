// What GitHub Actions shows by itself when a command runs in it: up to ten annotations and the job summary. Format:
// GitHub's "Workflow commands for GitHub Actions"; it keeps ten errors a step and 1 MiB of summary.

import { appendFileSync } from 'node:fs';
import { messageOf } from '../contract/errors.ts';
import type { Summary, UnitSummary } from '../comparison/summary.ts';
import { summaryMarkdown } from './markdown.ts';

export const ANNOTATIONS_MAX = 10;

/** One workflow command a line, worst first. Pure. */
export function annotations({ cells }: Summary): readonly string[] {
  const wrong = cells.flatMap(({ cell, units }) =>
    units.filter(({ outcome }) => outcome !== 'ok').map((unit) => ({ cell, unit })),
  );
  const worstFirst = wrong.toSorted((a, b) => rank(a.unit) - rank(b.unit));
  const shown = worstFirst.length > ANNOTATIONS_MAX ? ANNOTATIONS_MAX - 1 : ANNOTATIONS_MAX;
  const lines = worstFirst
    .slice(0, shown)
    .map(({ cell, unit }) =>
      command(
        rank(unit) === 0 ? 'error' : 'warning',
        `${cell}, seed ${unit.seed}`,
        `${unit.surprises.join('; ') || 'there is no run of it that is done'}\n${unit.replay}`,
      ),
    );
  const more = worstFirst.length - lines.length;
  return more === 0
    ? lines
    : [...lines, command('warning', 'lockpick', `${more} more runs are not as expected`)];
}

function rank({ outcome }: UnitSummary): number {
  return outcome === 'violation' || outcome === 'threshold' ? 0 : 1;
}

function command(level: 'error' | 'warning', title: string, message: string): string {
  const property = escaped(title).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::${level} title=${property}::${escaped(message)}`;
}

function escaped(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** Annotations to stderr and the summary to the job's page, if this runs in GitHub Actions. */
export function tellGitHub(summary: Summary, environment: NodeJS.ProcessEnv): void {
  if (environment['GITHUB_ACTIONS'] !== 'true') return;
  for (const line of annotations(summary)) process.stderr.write(`${line}\n`);
  const page = environment['GITHUB_STEP_SUMMARY'];
  if (page === undefined || page === '') return;
  try {
    appendFileSync(page, `${summaryMarkdown(summary, { links: 'none' })}\n`);
  } catch (error) {
    process.stderr.write(`lockpick: no job summary: ${messageOf(error)}\n`);
  }
}
