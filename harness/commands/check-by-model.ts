// The half of `lockpick check` in which a model judges: apart, so that a history judged by the rules loads no model.

import { ModelError } from '../../checkers/linearizable/catalogue.ts';
import type { ModelOptions } from '../../checkers/linearizable/check-model.ts';
import { monotonicClock, monotonicOrigin } from '../clock.ts';
import { HarnessError } from '../contract/errors.ts';
import { refusal } from '../stored/history-file.ts';
import type { Recorded } from '../history/recorded.ts';
import {
  exitCodeOfModel,
  modelReport,
  modelWords,
  readingWords,
  type ModelReport,
} from '../terminal/model-report.ts';
import type { Answer } from './check.ts';

/** `path` is what was asked for, `file` the history that it is or holds. Says on stderr how the history was read. */
export function answerByModel(path: string, file: string, recorded: Recorded, options: ModelOptions): Answer {
  const report = judgedByModel(file, recorded, options);
  process.stderr.write(readingWords(path, report));
  return { exitCode: exitCodeOfModel(report), json: report, words: modelWords(path, report, process.stdout) };
}

function judgedByModel(file: string, recorded: Recorded, options: ModelOptions): ModelReport {
  const clock = monotonicClock(monotonicOrigin());
  try {
    return modelReport(recorded, options, () => clock.now() / 1e6);
  } catch (error) {
    // No such model, or one that does not know these operations.
    if (error instanceof ModelError) throw new HarnessError('usage', `${file}: ${error.message}`);
    throw refusal(file, error);
  }
}
