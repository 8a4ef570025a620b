// A run, or one finding of it, as a user names it by its path; and the schedule that it recorded. `replay` and `shrink`
// begin here.

import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { HarnessError } from '../contract/errors.ts';
import type { PlannedSchedule } from '../contract/fault.ts';
import type { Finding } from '../../checkers/verdict.ts';
import type { History } from '../history/history.ts';
import { issueField, issueWords } from '../plan/issue-words.ts';
import { scheduleSchema } from '../plan/schedule-format.ts';
import { runDirectory, type RunDirectory } from './results.ts';
import type { StoredRun } from './stored-run.ts';

/** `<run>`, or `<run>/findings/<id>`. Throws HarnessError('usage') if it is neither. */
export function located(path: string): {
  readonly directory: RunDirectory;
  readonly finding: string | undefined;
} {
  const directory = runDirectory(path);
  if (existsSync(directory.plan)) return { directory, finding: undefined };
  const folder = resolve(path);
  const parent = runDirectory(dirname(dirname(folder)));
  if (basename(dirname(folder)) === 'findings' && existsSync(parent.plan))
    return { directory: parent, finding: basename(folder) };
  throw new HarnessError('usage', `${path} is neither a run nor a finding of one: it has no plan.json`, {
    remedy: 'give results/<run> or results/<run>/findings/<id>',
  });
}

/** Throws HarnessError('usage') if the run has no such finding. */
export function findingOf({ verdict, directory }: StoredRun, id: string): Finding {
  const found = [...verdict.findings, ...verdict.liveness].find((finding) => finding.id === id);
  if (found === undefined)
    throw new HarnessError('usage', `${directory.path} has no finding ${id}`, {
      remedy: 'judged again it has others: see `lockpick check`',
    });
  return found;
}

/** As the header recorded it. Throws HarnessError('usage') if it did not, or not in this format. */
export function scheduleIn({ header }: History, { history }: RunDirectory): PlannedSchedule {
  const parsed = scheduleSchema.safeParse(header.meta['schedule'], { error: issueWords });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new HarnessError(
    'usage',
    `${history}, line 1: ${issueField(issue, ['meta', 'schedule'])}: ${issue?.message ?? 'is wrong'}`,
    { remedy: 'it was recorded by another version; --as-recorded replays its faults at their times' },
  );
}
