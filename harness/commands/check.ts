// `lockpick check`: judges stored histories. Pure reading: no Docker, and nothing heavy is loaded.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { HarnessError } from '../contract/errors.ts';
import { judgementWords } from '../final-words.ts';
import { runDirectory } from '../results.ts';
import { judgeFile, type Judgement } from '../judgement.ts';
import { worstExitCode } from './exit-code.ts';

export async function checkCommand(paths: readonly string[], flags: { json?: boolean }): Promise<number> {
  const judgements = await Promise.all(paths.map(async (path) => ({ path, ...(await judgePath(path)) })));
  for (const { path, verdict } of judgements)
    process.stdout.write(
      flags.json === true ? `${JSON.stringify(verdict)}\n` : judgementWords(path, verdict, process.stdout),
    );
  return worstExitCode(judgements.map(({ exitCode }) => exitCode));
}

/** A directory is a run, with its plan if it has one; anything else is a history. */
async function judgePath(path: string): Promise<Judgement> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new HarnessError('usage', `${path} does not exist`);
  if (!found.isDirectory()) return judgeFile(path, null);
  const directory = runDirectory(path);
  const hasPlan = statSync(directory.plan, { throwIfNoEntry: false }) !== undefined;
  if (!hasPlan) return judgeFile(join(path, 'history.jsonl'), null);
  const { judgeRun } = await import('../stored-run.ts');
  return judgeRun(directory);
}
