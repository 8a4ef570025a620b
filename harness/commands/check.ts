// `lockpick check`: judges stored histories. Without a model, ours are judged by every rule; with one, or if they are of
// another tool, by that model. Pure reading: no Docker, and nothing heavy is loaded; the models only if one judges.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelOptions } from '../../checkers/linearizable/check-model.ts';
import type { Verdict } from '../../checkers/verdict.ts';
import { EXIT_CODE, HarnessError, messageOf } from '../contract/errors.ts';
import { judgementWords } from '../terminal/final-words.ts';
import { isDirectory, readRecorded } from '../stored/history-file.ts';
import { judgeHistory } from '../stored/judgement.ts';
import { printableLines } from '../terminal/printable.ts';
import { runDirectory } from '../stored/results.ts';
import { worstExitCode } from './exit-code.ts';

export interface CheckFlags {
  readonly json?: boolean;
  readonly model?: string;
  readonly initial?: string;
  readonly failedRelease?: 'held' | 'unknown' | 'released';
  readonly failedCas?: 'evidence' | 'ignored';
  readonly budget?: string;
}

export interface Answer {
  readonly exitCode: number;
  readonly json: object;
  readonly words: string;
}

export async function checkCommand(paths: readonly string[], flags: CheckFlags): Promise<number> {
  const options = modelOptions(flags);
  const exitCodes: number[] = [];
  let refused: unknown;
  for (const path of paths)
    try {
      const { exitCode, json, words } = await answerTo(path, options);
      exitCodes.push(exitCode);
      process.stdout.write(flags.json === true ? `${JSON.stringify(json)}\n` : words);
    } catch (error) {
      // The others are judged all the same: a violation is never masked by a file that cannot be read.
      if (refused !== undefined) process.stderr.write(`lockpick: ${printableLines(messageOf(error))}\n`);
      refused ??= error;
    }
  const exitCode = worstExitCode(exitCodes);
  if (refused === undefined) return exitCode;
  if (exitCode === EXIT_CODE.ok) throw refused;
  process.stderr.write(`lockpick: ${printableLines(messageOf(refused))}\n`);
  return exitCode;
}

function modelOptions({ model, initial, failedRelease, failedCas, budget }: CheckFlags): ModelOptions {
  if (budget !== undefined && !/^[1-9]\d{0,14}$/.test(budget))
    throw new HarnessError('usage', `--budget ${budget} is not a number of steps`, {
      remedy: 'name a whole number from 1 on',
    });
  return {
    ...(model !== undefined && { model }),
    ...(initial !== undefined && { initial }),
    ...(failedRelease !== undefined && { failedRelease }),
    ...(failedCas !== undefined && { failedCas }),
    ...(budget !== undefined && { steps: Number(budget) }),
  };
}

/** A directory is a run, with its plan if it has one; anything else is a history. */
async function answerTo(path: string, options: ModelOptions): Promise<Answer> {
  const directory = runDirectory(path);
  const isFolder = isDirectory(path);
  const isRun = isFolder && existsSync(directory.plan);
  if (isFolder && !isRun && existsSync(join(path, 'latest')))
    throw new HarnessError('usage', `${path} holds runs and is none`, {
      remedy: `name one of them, such as ${join(path, 'latest')}`,
    });
  if (isRun && options.model === undefined) {
    refuseWithoutModel(path, options);
    const { judgeRun } = await import('../stored/stored-run.ts');
    const { verdict, exitCode } = judgeRun(directory);
    return ruled(path, verdict, exitCode);
  }
  const file = isFolder ? join(path, 'history.jsonl') : path;
  const recorded = await readRecorded(file);
  if (recorded.format === 'lockpick-history' && options.model === undefined) {
    refuseWithoutModel(path, options);
    const { verdict, exitCode } = judgeHistory(recorded.history, null);
    return ruled(path, verdict, exitCode);
  }
  const { answerByModel } = await import('./check-by-model.ts');
  return answerByModel(path, file, recorded, options);
}

function ruled(path: string, verdict: Verdict, exitCode: number): Answer {
  return { exitCode, json: verdict, words: judgementWords(path, verdict, process.stdout) };
}

/** The rules take no options, and one that does nothing would be taken for one that did. */
function refuseWithoutModel(path: string, options: ModelOptions): void {
  if (Object.keys(options).length > 0)
    throw new HarnessError('usage', `${path} is judged by the rules, which have no such option`, {
      remedy: 'name a model with --model, such as lease-mutex',
    });
}
