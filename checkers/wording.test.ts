// What is told of a fault says no more than its three stamps prove: that it was ordered, acted by then, was over by then.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FaultSpan } from '../harness/history/history.ts';
import { parseHistory } from '../harness/history/json-lines.ts';
import { nanos } from '../harness/history/op.ts';
import { judge } from '../harness/judge.ts';
import { granted, historyOf, released } from './scenario.fixture.ts';
import { doneTo, faultPhrase, list } from './wording.ts';

const pause: FaultSpan = {
  id: 'f7',
  fault: 'pause',
  targets: ['c3'],
  params: {},
  begin: nanos(4_250e6),
  acted: nanos(4_300e6),
  end: nanos(5_801e6),
  evidence: {},
};

describe('a fault', () => {
  it('was ordered, proved to act, and proved to be over', () => {
    expect(faultPhrase(pause)).toBe(
      'c3 was paused (fault f7: ordered at 4.250 s, proved by 4.300 s, over by 5.801 s)',
    );
    expect(faultPhrase({ ...pause, fault: 'partition', targets: ['c1', 'c2', 'r1'], end: undefined })).toBe(
      'c1, c2 and r1 were cut off (fault f7: ordered at 4.250 s, proved by 4.300 s, not over in this history)',
    );
    expect(doneTo(pause, 'under way')).toBe('c3 was being paused');
  });

  it('that was not proved to act was to be, and no more', () => {
    const unproved = { ...pause, acted: undefined };
    expect(faultPhrase(unproved)).toBe(
      'c3 was to be paused (fault f7: ordered at 4.250 s, not proved to act, over by 5.801 s)',
    );
    expect(doneTo(unproved, 'under way')).toBe('c3 was to be paused');
  });

  it('that empties a server has not started it again when that is proved', () => {
    expect(doneTo({ ...pause, fault: 'restart-empty', targets: ['r1'] })).toBe('r1 was killed and emptied');
  });

  it('that makes another lead names who does, not where it was ordered, and is never over', () => {
    const failover = { ...pause, fault: 'failover', targets: ['r1'], evidence: { promoted: 'r2' } };
    expect(faultPhrase(failover)).toBe(
      'r2 was made to lead (fault f7: ordered at 4.250 s, proved by 4.300 s)',
    );
    expect(doneTo({ ...failover, acted: undefined, evidence: {} })).toBe(
      'another server was to be made to lead',
    );
  });

  it('of another origin is told in its own words', () => {
    expect(doneTo({ ...pause, fault: 'meteor', targets: [] })).toBe('something was hit by meteor');
  });
});

describe('a story', () => {
  it('does not say that a clock was wrong before it was proved to be: it may have been so since the order', () => {
    const jump = { type: 'fault', id: 'f1', fault: 'clock-jump', targets: ['r1'] };
    const history = historyOf(
      [granted(1, 'c1', [3000, 3010]), granted(2, 'c2', [3535, 3541]), released(3, 'c1', [3700, 3710])],
      {},
      [
        { ...jump, phase: 'begin', time: 3530 },
        { ...jump, phase: 'acted', time: 3633 },
        { ...jump, phase: 'end', time: 4633 },
      ],
    );
    expect(judge(history, null, () => 0).findings[0]).toMatchObject({
      code: 'double-grant',
      at: 3541e6,
      faults: ['f1'],
      story: expect.stringContaining(
        'About that time r1 was given a wrong clock (fault f1: ordered at 3.530 s, proved by 3.633 s, over by 4.633 s). ',
      ),
    });
  });

  it('names no fault that its finding lacks', () => {
    const root = join(import.meta.dirname, '..');
    const files = globSync(['docs/verdicts/*.jsonl', 'checkers/histories/*/bad/*.jsonl'], { cwd: root });
    let named = 0;
    for (const file of files) {
      const verdict = judge(parseHistory(readFileSync(join(root, file), 'utf8')), null, () => 0);
      for (const { story, faults } of [...verdict.findings, ...verdict.liveness]) {
        const told = Array.from(story.matchAll(/\(fault ([^:]+):/g), ([, id = '']) => id);
        named += told.length;
        expect(faults, `${file}: ${story}`).toEqual(expect.arrayContaining(told));
      }
    }
    expect(named).toBeGreaterThan(10);
  });
});

it('lists words as people do', () => {
  expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(list)).toEqual(['', 'a', 'a and b', 'a, b and c']);
});
