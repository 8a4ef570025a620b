// A made-up run for tests and measurements of the report: a made-up history with the verdict of the real rules. Not a test of locks.

import type { Expectation } from '../../checkers/verdict.ts';
import type { Trend } from '../comparison/trends.ts';
import { judge } from '../judge.ts';
import { fakeHistory, PAUSE_HOLDER, TTL_MILLIS, type FakeHistoryOptions } from './fake-history.ts';
import type { JudgedRun } from '../report/judged-run.ts';

/** A made-up run, judged for real. */
export function fakeRun(options: Partial<FakeHistoryOptions> = {}): JudgedRun {
  const complete = { ...PAUSE_HOLDER, ...options };
  const { seed, seconds, clients, locks, pauseEverySeconds, tokens } = complete;
  const history = fakeHistory(complete);
  const recipe = tokens ? 'fenced-incr' : 'set-nx-px';
  const fault = pauseEverySeconds > 0 ? 'pause-holder' : 'none';
  return {
    name: `20261129T171203Z-redis-single-${recipe}-${fault}-7f3c2a`,
    history,
    verdict: judge(history, EXPECTED[fault === 'none' ? 'none' : recipe], () => 0),
    plan: {
      backend: 'redis-single',
      recipe,
      workload: 'counter',
      fault,
      seed,
      ttlMillis: TTL_MILLIS,
      clients,
      locks,
      timeLimitMillis: seconds * 1000,
    },
    provenance: {
      started: '2026-11-29T17:12:03.000Z',
      versions: { lockpick: '0.1.0', node: '24.18.1', redis: '8.0.2' },
      images: {
        redis: { reference: 'lockpick/redis:8.0', digest: 'sha256:9f2c51f2e6d0c19b1f0d7f4ce88f7f4b1c22' },
      },
      host: { cpus: 2, memoryBytes: 8 * 2 ** 30, kernel: 'Linux 6.12.0', engine: 'Docker 28.1.0' },
      replayCommand: `npm run -s lockpick -- run redis-single/${recipe}/${fault} --seed ${seed}`,
      expectedBecause: 'a paused holder outlives its lease',
    },
  };
}

const NOTHING = { findings: [], oneOf: [], liveness: [], allowed: [] } as const;
const OVERLAPS = { ...NOTHING, allowed: ['belief-overlap', 'stale-write-landed', 'lost-update'] } as const;
const EXPECTED: Readonly<Record<'none' | 'set-nx-px' | 'fenced-incr', Expectation>> = {
  none: { grade: 'safe', ...NOTHING },
  'set-nx-px': { grade: 'unsafe', ...OVERLAPS },
  'fenced-incr': { grade: 'safe-with-fencing', ...OVERLAPS },
};

const pastRun = (day: number, broke: number) => ({
  run: `run-${day}`,
  started: `2026-11-${day}T01:17:00.000Z`,
  cell: 'redis-single/set-nx-px/pause-holder',
  simulated: false,
  asExpected: broke > 0,
  faults: { acted: 7, broke },
});

/** A cell that did worse than before. */
export const SOME_TREND: Trend = {
  cell: 'redis-single/set-nx-px/pause-holder',
  simulated: false,
  before: [pastRun(24, 5), pastRun(25, 6), pastRun(26, 4)],
  now: [pastRun(27, 0)],
  worse: ['as expected in 0 of 1 runs, before in 3 of 3'],
};
