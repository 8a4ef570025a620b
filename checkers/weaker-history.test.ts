// A valid history stays valid if less is known of it: an operation took longer, is not in it, or its success is unknown.
// Each weakening says how far it goes, and why not further.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyWorld } from './any-world.fixture.ts';
import { tell, toldHistory } from './ideal-lock.fixture.ts';
import { againstTheLock } from './lock-findings.fixture.ts';
import { nanos, type HistoryEvent } from '../harness/history/op.ts';

/** One event changed, or several dropped. */
type Weakening = (events: readonly HistoryEvent[], choice: number) => readonly HistoryEvent[];

/**
 * Widened up to the neighbouring events of its process. Further would not be weaker: a renew moved before the grant it
 * prolongs is a renew of the grant before.
 */
const widened: Weakening = (events, choice) => {
  const chosen = events[choice % events.length];
  if (chosen === undefined || !('id' in chosen) || chosen.type === 'fault') return events;
  const own = events.filter(
    (event) => event !== chosen && 'process' in event && event.process === chosen.process,
  );
  const times = own.map(({ time }) => time);
  const earlier = times.filter((time) => time <= chosen.time);
  const later = times.filter((time) => time >= chosen.time);
  const time = nanos(
    chosen.type === 'invoke'
      ? Math.max(...earlier, chosen.time - 30e6)
      : Math.min(...later, chosen.time + 30e6),
  );
  if (chosen.type === 'invoke' ? earlier.length === 0 : later.length === 0) return events;
  return events.map((event) => (event === chosen ? { ...chosen, time } : event));
};

/**
 * An acquire of unknown outcome, and the release that takes back what it may have left; or a renew of unknown outcome.
 * Not a release: its client stopped believing when it sent it, and without it seems to believe on. Nor an acquire alone:
 * what its release ended would seem to be the tenure of the grant before.
 */
const unknownDropped: Weakening = (events, choice) => {
  const unknown = events
    .filter(({ type }) => type === 'info')
    .filter((event) => 'op' in event && event.op !== 'release');
  const chosen = unknown[choice % unknown.length];
  if (chosen === undefined || !('id' in chosen) || chosen.type !== 'info') return events;
  const dropped = new Set([chosen.id]);
  if (chosen.op === 'acquire') {
    const position = events.indexOf(chosen);
    const next = events
      .slice(position + 1)
      .find((event) => event.type === 'invoke' && event.process === chosen.process);
    if (next?.type === 'invoke' && next.op === 'release') dropped.add(next.id);
  }
  return events.filter((event) => !('op' in event && dropped.has(event.id)));
};

/** The client did not learn that it succeeded. */
const forgotten: Weakening = (events, choice) => {
  const successes = events.filter(({ type }) => type === 'ok');
  const chosen = successes[choice % successes.length];
  if (chosen?.type !== 'ok') return events;
  const { id, time, op } = chosen;
  return events.map((event) =>
    event === chosen ? { type: 'info', id, time, op, process: chosen.process, error: 'timeout' } : event,
  );
};

describe('a valid history stays valid if less is known', () => {
  it.each<[what: string, weaken: Weakening]>([
    ['an operation took longer', widened],
    ['an operation of unknown outcome is not in it', unknownDropped],
    ['a success is unknown', forgotten],
  ])('%s', (_, weaken) => {
    fc.assert(
      fc.property(
        anyWorld({ deadlineAware: true, blindRelease: false }),
        fc.array(fc.nat(), { minLength: 1, maxLength: 8 }),
        (world, choices) => {
          const told = tell(world);
          const events = choices.reduce(weaken, told.events);
          expect(againstTheLock(toldHistory({ ...told, events }))).toEqual([]);
        },
      ),
      { numRuns: 200 },
    );
  });
});
