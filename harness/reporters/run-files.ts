// The files of one judged run beside its verdict (6.2): report, JUnit, Markdown, and a folder for each of the first
// findings.

import { join } from 'node:path';
import type { Finding } from '../../checkers/verdict.ts';
import { cellName } from '../plan/cell-name.ts';
import type { ReportName } from '../plan/choices.ts';
import { summarise } from '../comparison/summary.ts';
import type { Trend } from '../comparison/trends.ts';
import { renderReport } from '../report/report.ts';
import { readRunLines, writeFile } from '../stored/results.ts';
import { replayCommand, reportedRun, type StoredRun } from '../stored/stored-run.ts';
import { historySlices, storyMarkdown } from './finding-folder.ts';
import { junitXml } from './junit.ts';
import { summaryMarkdown } from './markdown.ts';

/** A run may have thousands of findings; the report has them all. */
const FOLDERS_MAX = 10;

/** `trends`: how its cell did before; a run that has just ended is reported without. */
export function writeRunFiles(
  run: StoredRun,
  reports: ReadonlySet<ReportName>,
  trends: readonly Trend[] = [],
): void {
  const { directory, plan } = run;
  const alone = { profile: null, seed: plan.seed, plans: [plan] };
  if (reports.has('html')) writeFile(directory.report, renderReport([reportedRun(run)], { trends }));
  if (reports.has('junit')) writeFile(directory.junit, junitXml([{ plan, run }]));
  if (!reports.has('markdown')) return;
  writeFile(directory.summary, summaryMarkdown(summarise(alone, [{ plan, run }]), { links: 'none' }));
  writeFindings(run);
}

function writeFindings({ directory, plan, history, verdict }: StoredRun): void {
  const shown = oneOfEachFirst([...verdict.findings, ...verdict.liveness]).slice(0, FOLDERS_MAX);
  if (shown.length === 0) return;
  const slices = historySlices(readRunLines(directory.history), history, shown);
  const replay = replayCommand(plan, directory);
  for (const [nth, finding] of shown.entries()) {
    const file = (name: string): string => join(directory.findings, finding.id, name);
    writeFile(
      file('story.md'),
      storyMarkdown(finding, { cell: cellName(plan), run: directory.name, replay }),
    );
    writeFile(file('history.jsonl'), slices[nth] ?? '');
    writeFile(file('replay.sh'), `#!/bin/sh\n# Makes the run again in which this was found.\n${replay}\n`);
  }
}

/** The first of each code, then the others in their order. */
function oneOfEachFirst(findings: readonly Finding[]): readonly Finding[] {
  const firsts = new Map(findings.toReversed().map((finding) => [finding.code, finding]));
  return [
    ...findings.filter((finding) => firsts.get(finding.code) === finding),
    ...findings.filter((finding) => firsts.get(finding.code) !== finding),
  ];
}
