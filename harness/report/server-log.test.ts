// Where lines of server logs stand on the run's clock: the wall times of each program, and lines without one.

import { expect, it } from 'vitest';
import { logAround, timedLines, wallTimeIn } from './server-log.ts';

const ZERO = '2026-11-29T19:54:30.000Z';

it.each([
  ['1:C 29 Nov 2026 19:54:34.382 * Redis is starting', 4.382],
  ['2026-11-29 19:54:32.258 UTC [1] LOG:  starting PostgreSQL', 2.258],
  ['{"level":"warn","ts":"2026-11-29T19:54:35.985465Z","caller":"embed"}', 5.985],
  ['19:54:29.500 [main] INFO QuorumPeerConfig - Reading', -0.5],
])('finds the time in %s', (line, seconds) => {
  const wall = wallTimeIn(line, Date.parse(ZERO));
  expect(((wall ?? Number.NaN) - Date.parse(ZERO)) / 1000).toBeCloseTo(seconds, 6);
});

it('takes a time without a day to be of the nearer one', () => {
  expect(wallTimeIn('00:00:01.000 [main] up', Date.parse('2026-11-29T23:59:59.000Z'))).toBe(
    Date.parse('2026-11-30T00:00:01.000Z'),
  );
});

it('places no line that says no time, and none of a run that does not say when it began', () => {
  const logs = [{ node: 'r1', text: 'NOTE: Picked up options\n1:M 29 Nov 2026 19:54:31.000 * Ready' }];
  expect(timedLines(logs, ZERO).map(({ at }) => at)).toEqual([1e9]);
  expect(timedLines(logs, '')).toEqual([]);
});

it('shows what was printed within two seconds, and nothing if that is nothing', () => {
  const logs = [1, 3, 5.5].map((at) => ({ node: `r${at}`, at: at * 1e9, text: `line at ${at}` }));
  const shown = logAround(logs, 3.4e9)?.markup ?? '';
  expect(shown).toContain('line at 3');
  expect(shown).not.toContain('line at 1');
  expect(shown).not.toContain('line at 5.5');
  expect(logAround(logs, 9e9)).toBeUndefined();
});
