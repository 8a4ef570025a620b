// The plan's fields as command-line flags: one table for parsing, for `--help`, for `LOCKPICK_…` variables, and for
// writing the command that makes the same plan again. Light on purpose: `--help` loads it.

import { formatDuration } from '../plan/duration.ts';

interface PlanFlag {
  readonly field: string;
  readonly flag: string;
  readonly value: 'name' | 'names' | 'text' | 'n' | 'duration' | 'span';
  readonly says: string;
}

export const PLAN_FLAGS = [
  { field: 'backend', flag: 'backend', value: 'name', says: 'lock service, see `lockpick list`' },
  { field: 'variant', flag: 'variant', value: 'name', says: 'other settings or versions of its servers' },
  { field: 'recipe', flag: 'recipe', value: 'name', says: 'how it is used as a lock' },
  { field: 'fault', flag: 'fault', value: 'name', says: 'what is done to it' },
  { field: 'workload', flag: 'workload', value: 'name', says: 'what clients do under the lock' },
  {
    field: 'on',
    flag: 'on',
    value: 'name',
    says: 'where it runs: docker (containers, the default), simulation (virtual time, no engine), or auto',
  },
  {
    field: 'expect',
    flag: 'expect',
    value: 'name',
    says: 'the grade that is right here, safe, safe-with-fencing or unsafe, whatever the catalogue says',
  },
  {
    field: 'defences',
    flag: 'defences',
    value: 'names',
    says: 'of the store, e.g. none,version-cas; all that can be used if absent',
  },
  {
    field: 'cutWrites',
    flag: 'cut-writes',
    value: 'n',
    says: 'part of the writes that lose their connection to the store, 0 to 1',
  },
  { field: 'seed', flag: 'seed', value: 'text', says: 'root of all choices; drawn and recorded if absent' },
  {
    field: 'timeLimitMillis',
    flag: 'time-limit',
    value: 'duration',
    says: 'how long the load runs, e.g. 20s',
  },
  { field: 'ttlMillis', flag: 'ttl', value: 'duration', says: 'lease asked for, e.g. 1s' },
  { field: 'clients', flag: 'clients', value: 'n', says: 'client processes' },
  { field: 'locks', flag: 'locks', value: 'n', says: 'lock names' },
  { field: 'permits', flag: 'permits', value: 'n', says: 'how many may hold a semaphore at once' },
  { field: 'thinkMillis', flag: 'think', value: 'span', says: 'work under the lock, e.g. 30ms..80ms' },
  { field: 'idleMillis', flag: 'idle', value: 'span', says: 'pause between two sessions' },
  { field: 'pollMillis', flag: 'poll', value: 'span', says: 'wait between two tries for a busy lock' },
  {
    field: 'patienceMillis',
    flag: 'patience',
    value: 'duration',
    says: 'a session gives up acquiring after',
  },
  {
    field: 'commandTimeLimitMillis',
    flag: 'command-time-limit',
    value: 'duration',
    says: 'past this an operation is of unknown outcome',
  },
  {
    field: 'minContendedHandoffs',
    flag: 'min-contended-handoffs',
    value: 'n',
    says: 'below this a clean result is inconclusive',
  },
] as const satisfies readonly PlanFlag[];

/** The cell's name stands for these. */
const OF_THE_CELL: ReadonlySet<string> = new Set(['backend', 'variant', 'recipe', 'fault', 'workload']);

/** The option's name as commander has it: `time-limit` → `timeLimit`. */
export function optionName(flag: string): string {
  return flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The flags by which `plan` differs from `base`, which its cell and seed alone would give. */
export function differingFlags(
  plan: Readonly<Record<string, unknown>>,
  base: Readonly<Record<string, unknown>>,
): string[] {
  return PLAN_FLAGS.filter(({ field }) => !OF_THE_CELL.has(field) && field !== 'seed')
    .filter(({ field }) => JSON.stringify(plan[field]) !== JSON.stringify(base[field]))
    .map(({ field, flag, value }) => `--${flag} ${written(value, plan[field])}`);
}

function written(kind: PlanFlag['value'], value: unknown): string {
  if (kind === 'duration' && typeof value === 'number') return formatDuration(value);
  if (kind === 'span' && typeof value === 'object' && value !== null && 'min' in value && 'max' in value)
    return [...new Set([value.min, value.max])].map((end) => formatDuration(Number(end))).join('..');
  return String(value);
}
