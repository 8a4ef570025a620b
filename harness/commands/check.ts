// `lockpick check`: judges stored histories. Pure reading: no Docker, and nothing heavy is loaded.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_CODE, HarnessError, messageOf } from '../contract/errors.ts';
import { judgementWords } from '../final-words.ts';
import { runDirectory } from '../results.ts';
import { judgeFile, type Judgement } from '../judgement.ts';
import { worstExitCode } from './exit-code.ts';

export async function checkCommand(paths: readonly string[], flags: { json?: boolean }): Promise<number> {
  const exitCodes: number[] = [];
  let refused: unknown;
  for (const path of paths)
    try {
      const { verdict, exitCode } = await judgePath(path);
      exitCodes.push(exitCode);
      process.stdout.write(
        flags.json === true ? `${JSON.stringify(verdict)}\n` : judgementWords(path, verdict, process.stdout),
      );
    } catch (error) {
      // The others are judged all the same: a violation is never masked by a file that cannot be read.
      if (refused !== undefined) process.stderr.write(`lockpick: ${messageOf(error)}\n`);
      refused ??= error;
    }
  const exitCode = worstExitCode(exitCodes);
  if (refused === undefined) return exitCode;
  if (exitCode === EXIT_CODE.ok) throw refused;
  process.stderr.write(`lockpick: ${messageOf(refused)}\n`);
  return exitCode;
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
