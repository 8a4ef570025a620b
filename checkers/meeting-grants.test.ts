// Runs of grants that meet: none is left out that another one met, and of a lock that keeps its promise there is none.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { grantColumnsOf, grantsOf, type Grant } from '../harness/history/grants.ts';
import type { History } from '../harness/history/history.ts';
import { anyWorld } from './any-world.fixture.ts';
import { tell, toldHistory } from './ideal-lock.fixture.ts';
import { meetingGrants } from './meeting-grants.ts';
import { granted, historyOf, released } from './scenario.fixture.ts';

function runsOf(history: History, permits = 1): number[][] {
  return [...meetingGrants(grantColumnsOf(history), permits)].map((run) =>
    run.map(({ acquire }) => acquire.id),
  );
}

/** Grants of the same lock, the one itself among them, that were in force or believed in when this one was answered. */
function there(all: readonly Grant[], { lock, hold: { start } }: Grant): readonly Grant[] {
  return all.filter(
    (other) =>
      other.lock === lock && other.hold.start <= start && Math.max(other.hold.end, other.tenure.end) > start,
  );
}

describe('runs of grants that meet', () => {
  it('are none where one follows the other, even at the same instant', () => {
    const history = historyOf([
      granted(1, 'c1', [0, 10]),
      released(2, 'c1', [50, 60]),
      granted(3, 'c2', [20, 50]),
      released(4, 'c2', [80, 90]),
    ]);
    expect(runsOf(history)).toEqual([]);
  });

  it('end where nothing is in force any more', () => {
    const history = historyOf([
      granted(1, 'c1', [0, 10]),
      granted(2, 'c2', [20, 30]),
      released(3, 'c2', [40, 50]),
      released(4, 'c1', [60, 70]),
      granted(5, 'c1', [80, 90]),
      released(6, 'c1', [91, 92]),
      granted(7, 'c1', [93, 94]),
      granted(8, 'c3', [95, 96]),
    ]);
    expect(runsOf(history)).toEqual([
      [1, 2],
      [7, 8],
    ]);
  });

  it('of a semaphore have more than it has permits at once', () => {
    const history = historyOf([1, 2, 3].map((id) => granted(id, `c${id}`, [10 * id, 10 * id + 1])));
    expect(runsOf(history, 2)).toEqual([[1, 2, 3]]);
    expect(runsOf(history, 3)).toEqual([]);
  });

  it('leave out no grant that was answered while too many others were there', () => {
    fc.assert(
      fc.property(anyWorld(), fc.integer({ min: 1, max: 3 }), (world, permits) => {
        const history = toldHistory(tell(world));
        const all = grantsOf(history);
        const inRuns = new Set(runsOf(history, permits).flat());
        for (const grant of all) {
          const others = there(all, grant).filter((other) => other !== grant);
          if (others.length < permits) continue;
          for (const { acquire } of [grant, ...others]) expect(inRuns).toContain(acquire.id);
        }
      }),
      { numRuns: 300 },
    );
  });
});
