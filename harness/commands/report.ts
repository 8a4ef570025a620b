// `lockpick report`: makes the HTML page again from stored runs, one or several on a page.

import { dirname, join, resolve } from 'node:path';
import { EXIT_CODE } from '../contract/errors.ts';
import { renderReport } from '../report/report.ts';
import { runDirectory, writeFile } from '../results.ts';
import { judgeRun, reportedRun, type StoredRun } from '../stored-run.ts';

export function reportCommand(paths: readonly string[], flags: { output?: string }): number {
  const runs = paths.map((path) => judgeRun(runDirectory(path)));
  const [first] = runs;
  const beside = first === undefined ? '.' : dirname(resolve(first.directory.path));
  const fallback =
    runs.length === 1 && first !== undefined ? first.directory.report : join(beside, 'report.html');
  const output = flags.output ?? fallback;
  writeReport(runs, output);
  process.stdout.write(`${output}\n`);
  return EXIT_CODE.ok;
}

/** One page for these runs. */
export function writeReport(runs: readonly StoredRun[], path: string): void {
  writeFile(path, renderReport(runs.map((run) => reportedRun(run))));
}
