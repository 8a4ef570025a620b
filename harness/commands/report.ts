// `lockpick report`: makes the reports again from stored runs, which are judged again; several runs give one page.

import { dirname, join, resolve } from 'node:path';
import { summarise, summaryText } from '../comparison/summary.ts';
import { EXIT_CODE } from '../contract/errors.ts';
import { renderReport } from '../report/report.ts';
import { junitXml } from '../reporters/junit.ts';
import { summaryMarkdown } from '../reporters/markdown.ts';
import { writeRunFiles } from '../reporters/run-files.ts';
import { runDirectory, writeFile } from '../stored/results.ts';
import { textChoice, type Choices } from '../settings/settings.ts';
import { trendsIn } from './batch.ts';
import { judgeRun, reportedRun } from '../stored/stored-run.ts';
import { reportsOf } from './run.ts';

export function reportCommand(paths: readonly string[], choices: Choices): number {
  const runs = paths.map((path) => judgeRun(runDirectory(path)));
  const reports = choices.has('reporter') ? reportsOf(choices) : new Set(['html'] as const);
  const output = textChoice(choices, 'output');
  const [first] = runs;
  if (first === undefined) return EXIT_CODE.ok;
  const written: string[] = [];
  const write = (file: string, content: string): void => {
    writeFile(file, content);
    written.push(file);
  };
  const trends = trendsIn(
    [...new Set(runs.map(({ directory }) => dirname(resolve(directory.path))))],
    new Set(runs.map(({ directory }) => directory.name)),
  );
  if (runs.length === 1 && output === undefined) {
    writeRunFiles(first, reports, trends);
    written.push(reports.has('html') ? first.directory.report : first.directory.path);
  } else {
    const beside = output === undefined ? dirname(resolve(first.directory.path)) : dirname(output);
    const page = output ?? join(beside, 'report.html');
    const comparison = { profile: null, seed: first.plan.seed, plans: runs.map(({ plan }) => plan) };
    const summary = summarise(
      comparison,
      runs.map((run) => ({ plan: run.plan, run })),
    );
    if (reports.has('html'))
      write(
        page,
        renderReport(
          runs.map((run) => reportedRun(run)),
          { trends },
        ),
      );
    if (reports.has('junit'))
      write(join(beside, 'junit.xml'), junitXml(runs.map((run) => ({ plan: run.plan, run }))));
    if (reports.has('markdown'))
      write(join(beside, 'summary.md'), summaryMarkdown(summary, { links: 'none' }));
    if (reports.has('json')) write(join(beside, 'summary.json'), summaryText(summary));
  }
  process.stdout.write(`${written.join('\n')}\n`);
  return EXIT_CODE.ok;
}
