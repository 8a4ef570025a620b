// A history of a minute in which one client overstays once, for tests of slices.

import {
  HISTORY_FORMAT,
  HISTORY_VERSION,
  millis,
  nanos,
  type Header,
  type HistoryEvent,
  type Nanos,
} from '../history/op.ts';

export function scriptedHistory(): { readonly header: Header; readonly events: readonly HistoryEvent[] } {
  const events: HistoryEvent[] = [];
  let id = 0;
  const turn = (process: string, lock: string, from: number, until: number): void => {
    const [acquire, release] = [++id, ++id];
    const ttlMillis = millis(1000);
    events.push(
      {
        type: 'invoke',
        id: acquire,
        time: at(from),
        process,
        op: 'acquire',
        lock,
        ttlMillis,
        owner: `o${id}`,
      },
      { type: 'ok', id: acquire, time: at(from + 0.01), process, op: 'acquire' },
      { type: 'invoke', id: release, time: at(until), process, op: 'release', lock },
      { type: 'ok', id: release, time: at(until + 0.01), process, op: 'release' },
    );
  };
  for (let second = 0; second < 60; second++) {
    turn(second % 2 === 0 ? 'c1' : 'c2', 'k1', second, second === 30 ? 31.5 : second + 0.5);
    turn('c3', 'k2', second, second + 0.5);
  }
  events.sort((a, b) => a.time - b.time);
  const header: Header = {
    format: HISTORY_FORMAT,
    version: HISTORY_VERSION,
    clock: 'shared',
    clockErrorNanos: 0,
    meta: { backend: 'redis-single', recipe: 'set-nx-px', ttlMillis: 1000 },
  };
  return { header, events };
}

function at(second: number): Nanos {
  return nanos(Math.round(second * 1e9));
}
