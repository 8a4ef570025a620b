// `lockpick check`: judges stored histories. Pure reading: no Docker, and nothing heavy is loaded.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { HarnessError } from '../contract/errors.ts';
import { judgementWords } from '../final-words.ts';
import { runDirectory } from '../results.ts';
import { judgeFile, judgeRun, type Judgement } from '../stored-run.ts';
import { worstExitCode } from './exit-code.ts';

export function checkCommand(paths: readonly string[], flags: { json?: boolean }): number {
  const judgements = paths.map((path) => ({ path, ...judgePath(path) }));
  for (const { path, verdict } of judgements)
    process.stdout.write(
      flags.json === true ? `${JSON.stringify(verdict)}\n` : judgementWords(path, verdict, process.stdout),
    );
  return worstExitCode(judgements.map(({ exitCode }) => exitCode));
}

/** A directory is a run, with its plan if it has one; anything else is a history. */
function judgePath(path: string): Judgement {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new HarnessError('usage', `${path} does not exist`);
  if (!found.isDirectory()) return judgeFile(path, undefined);
  const directory = runDirectory(path);
  const hasPlan = statSync(directory.plan, { throwIfNoEntry: false }) !== undefined;
  return hasPlan ? judgeRun(directory) : judgeFile(join(path, 'history.jsonl'), undefined);
}
