// The rule `stale-write-landed`: a write under a grant that another one had followed, and everything that is not that.

import { describe, expect, it } from 'vitest';
import { grantColumnsOf } from '../harness/history/grants.ts';
import { granted, historyOf, released, step, type Step } from './scenario.fixture.ts';
import { staleWrite } from './stale-write.ts';

function write(id: number, process: string, span: Step['span'], more: Record<string, unknown> = {}): Step {
  const { store = 'none', ...gets } = more;
  return step(id, process, 'write', span, { store, key: 'k1', value: `v${id}`, base: '0' }, gets);
}

/** The final read; `rows` are [id, process, version, accepted] in the store's order. */
function audit(rows: readonly (readonly [number, string, number, boolean?])[]): Step {
  const list = rows.map(([id, process, version, accepted = true], index) => ({
    seq: String(index),
    id,
    process,
    base: '0',
    version: String(version),
    value: `v${id}`,
    accepted,
  }));
  return step(99, 'c0', 'read', [9000, 9010], { store: 'none', key: 'k1' }, { audit: list });
}

function found(steps: readonly Step[], header: Record<string, unknown> = {}): number[][] | string {
  const history = historyOf(steps, header);
  const result = staleWrite(history, grantColumnsOf(history));
  switch (result.verdict) {
    case 'valid':
      return [];
    case 'unknown':
      return result.reason;
    case 'invalid':
      return result.findings.map(({ ops }) => [...ops]);
  }
}

/** `c1` sends write 3 at `sent` and never hears of it; write 4, sent at `theirs`, is before it in the record. */
function landedLate(grants: readonly Step[], sent: number, theirs: number): number[][] | string {
  return found([
    ...grants,
    write(3, 'c1', [sent]),
    write(4, 'c2', [theirs, theirs + 10]),
    audit([
      [4, 'c2', 0],
      [3, 'c1', 1],
    ]),
  ]);
}

const first = granted(1, 'c1', [0, 10]);
const second = granted(2, 'c2', [1100, 1110]);

describe('stale-write-landed', () => {
  it('finds a write under a grant that another one had followed', () => {
    expect(found([first, second, write(3, 'c1', [1200, 1210])])).toEqual([[1, 2, 3]]);
  });

  it('finds a compare-and-set as well, and by the lock that the write names', () => {
    const shelf = { store: 'none', key: 'shelf', lock: 'k1', value: '9', base: '0' };
    expect(found([first, second, step(3, 'c1', 'cas', [1200, 1210], shelf)])).toEqual([[1, 2, 3]]);
    expect(found([first, second, step(3, 'c1', 'cas', [1200, 1210], { ...shelf, lock: 'k2' })])).toEqual([]);
  });

  it('says nothing of the new holder, nor of a write sent before it was granted', () => {
    expect(found([first, second, write(3, 'c2', [1200, 1210])])).toEqual([]);
    expect(found([first, second, write(3, 'c1', [1105, 1210])])).toEqual([]);
    expect(found([first, second, write(3, 'c1', [1110, 1210])])).toEqual([]);
  });

  it('says nothing where the other one was answered first, or at once', () => {
    expect(found([granted(1, 'c1', [0, 1120]), second, write(3, 'c1', [1200, 1210])])).toEqual([]);
    expect(found([granted(1, 'c1', [0, 1110]), second, write(3, 'c1', [1200, 1210])])).toEqual([]);
  });

  describe('with a grant that had been asked for before', () => {
    const late = write(3, 'c1', [1400, 1410]);

    it('finds it if that one was in force after the first: answered within its lease', () => {
      expect(found([first, granted(2, 'c2', [9, 900]), late])).toEqual([[1, 2, 3]]);
      expect(found([first, granted(2, 'c2', [10, 900]), late])).toEqual([[1, 2, 3]]);
    });

    it('finds it if its own release or renewal proves that', () => {
      const waiting = granted(2, 'c2', [9, 1110]);
      expect(found([first, waiting, late])).toEqual([]);
      expect(found([first, waiting, released(4, 'c2', [1300, 1310]), late])).toEqual([[1, 2, 3]]);
      const gone = released(4, 'c2', [1300, 1310], { released: false });
      expect(found([first, waiting, gone, late])).toEqual([]);
      const renewed = step(4, 'c2', 'renew', [1300, 1310], { lock: 'k1', ttlMillis: 1000 });
      expect(found([first, waiting, renewed, late])).toEqual([[1, 2, 3]]);
    });

    it('finds it where there are no leases', () => {
      const [one, two] = [first, granted(2, 'c2', [9, 1110])].map((grant) => ({
        ...grant,
        asks: { lock: 'k1' },
      }));
      expect(found([one ?? first, two ?? first, late])).toEqual([[1, 2, 3]]);
    });

    it('finds the next one of the same process, if that one counts', () => {
      const again = granted(4, 'c2', [1150, 1160]);
      expect(found([first, granted(2, 'c2', [9, 1110]), again, late])).toEqual([[1, 4, 3]]);
    });

    it('says nothing of the rightful holder, whose predecessor is answered late', () => {
      expect(
        found([granted(1, 'c1', [0, 1310]), granted(2, 'c2', [1020, 1030]), write(3, 'c2', [1400, 1410])]),
      ).toEqual([]);
    });

    it('says nothing if the tokens say that the writer has the newer grant', () => {
      const tokens = (mine: string, theirs: string): number[][] | string =>
        found([
          granted(1, 'c1', [0, 10], { token: mine }),
          granted(2, 'c2', [9, 900], { token: theirs }),
          late,
        ]);
      expect(tokens('8', '7')).toEqual([]);
      expect(tokens('7', '8')).toEqual([[1, 2, 3]]);
      expect(tokens('7', '7')).toEqual([[1, 2, 3]]);
      // Asked for after the first was answered: the tokens are wrong then, not the order.
      expect(
        found([granted(1, 'c1', [0, 10], { token: '8' }), granted(2, 'c2', [11, 900], { token: '7' }), late]),
      ).toEqual([[1, 2, 3]]);
    });
  });

  it('goes by the last grant of the writer', () => {
    const again = granted(4, 'c1', [2200, 2210]);
    expect(found([first, second, again, write(5, 'c1', [2300, 2310])])).toEqual([]);
    expect(found([first, second, again, write(5, 'c1', [2210, 2310])])).toEqual([]);
    const third = granted(6, 'c2', [3300, 3310]);
    expect(found([first, second, again, third, write(7, 'c1', [3400, 3410])])).toEqual([[4, 6, 7]]);
  });

  it('names the first of several that followed', () => {
    const third = granted(4, 'c3', [2200, 2210]);
    expect(found([first, second, third, write(5, 'c1', [3000, 3010])])).toEqual([[1, 2, 5]]);
    // Asked for in one order, answered in another.
    const slow = granted(5, 'c3', [1050, 2200]);
    expect(found([first, slow, second, write(6, 'c1', [3000, 3010])])).toEqual([[1, 2, 6]]);
    expect(found([first, slow, second, write(6, 'c2', [3000, 3010])])).toEqual([]);
  });

  it('asks for a grant of the same lock', () => {
    const other = step(2, 'c2', 'acquire', [1100, 1110], { lock: 'k2', ttlMillis: 1000 });
    expect(found([first, other, write(3, 'c1', [1200, 1210])])).toEqual([]);
  });

  it('says nothing of who writes without the lock', () => {
    expect(found([second, write(3, 'c1', [1200, 1210])])).toEqual([]);
    expect(found([first, released(4, 'c1', [500, 510]), second, write(3, 'c1', [1200, 1210])])).toEqual([]);
    // At one stamp the write may have come first.
    expect(found([first, second, released(4, 'c1', [1200, 1210]), write(3, 'c1', [1200, 1210])])).toEqual([
      [1, 2, 3],
    ]);
  });

  it('says nothing of who has asked again and was not granted', () => {
    for (const type of ['fail', 'info']) {
      const again = granted(4, 'c1', [1150, 1160], { type });
      expect(found([first, second, again, write(5, 'c1', [1200, 1210])])).toEqual([]);
    }
    const atOnce = granted(4, 'c1', [1200, 1210], { type: 'fail' });
    expect(found([first, second, atOnce, write(5, 'c1', [1200, 1210])])).toEqual([]);
    const pending = granted(4, 'c1', [1150, 1300]);
    expect(found([first, second, pending, write(5, 'c1', [1200, 1210])])).toEqual([]);
  });

  it('finds the write of a client that was told that the lock is lost, or knows its deadline', () => {
    const lost = { type: 'lost', time: 1150, process: 'c1', lock: 'k1', reason: 'renewal' };
    const history = historyOf([first, second, write(3, 'c1', [1200, 1210])], {}, [lost]);
    expect(staleWrite(history, grantColumnsOf(history)).verdict).toBe('invalid');
    const deadline = granted(1, 'c1', [0, 10], { validUntil: 900e6 });
    expect(
      found([deadline, second, write(3, 'c1', [1200, 1210])], { meta: { deadlineAware: true } }),
    ).toEqual([[1, 2, 3]]);
  });

  it('takes a restarted client for another process', () => {
    const restarted = granted(2, 'c1.2', [1100, 1110]);
    expect(found([first, restarted, write(3, 'c1.2', [1200, 1210])])).toEqual([]);
    expect(found([first, restarted, write(3, 'c1', [1200, 1210])])).toEqual([[1, 2, 3]]);
  });

  it('counts an unanswered write only if the record says that it landed', () => {
    const unanswered = write(3, 'c1', [1200], {});
    expect(found([first, second, unanswered])).toEqual([]);
    for (const type of ['info', 'fail'])
      expect(found([first, second, write(3, 'c1', [1200, 1210], { type })])).toEqual([]);
    expect(found([first, second, unanswered, audit([])])).toEqual([]);
    expect(found([first, second, unanswered, audit([[3, 'c1', 0, false]])])).toEqual([]);
    expect(found([first, second, unanswered, audit([[3, 'c1', 0]])])).toEqual([[1, 2, 3]]);
  });

  describe('by the record, of a write that landed late', () => {
    it('finds one that was sent in time', () => {
      expect(landedLate([first, second], 500, 1150)).toEqual([[1, 2, 3, 4]]);
      expect(landedLate([first, second], 10, 1150)).toEqual([[1, 2, 3, 4]]);
    });

    it('needs no other write to prove it of one that was sent late', () => {
      expect(landedLate([first, second], 1200, 1250)).toEqual([[1, 2, 3]]);
    });

    it('says nothing if what was before it may itself have been before the grant', () => {
      expect(landedLate([first, second], 500, 1110)).toEqual([]);
    });

    it('says nothing if it was sent under no grant', () => {
      expect(landedLate([granted(1, 'c1', [0, 600]), second], 500, 1150)).toEqual([]);
    });

    it('names another process, not the writer that was granted the lock again', () => {
      const own = granted(5, 'c1', [600, 610]);
      const other = granted(6, 'c2', [1700, 1710]);
      expect(landedLate([first, own, other], 500, 1750)).toEqual([[1, 6, 3, 4]]);
      expect(landedLate([first, granted(7, 'c1', [550, 900]), own, other], 500, 1750)).toEqual([
        [1, 6, 3, 4],
      ]);
      const over = granted(7, 'c3', [9, 1200]);
      expect(landedLate([first, over, granted(5, 'c1', [1300, 1310]), other], 500, 1750)).toEqual([
        [1, 6, 3, 4],
      ]);
      const waiting = granted(7, 'c3', [590, 2000]);
      expect(landedLate([first, waiting, own, other], 500, 2100)).toEqual([[1, 6, 3, 4]]);
      const early = granted(8, 'c2', [595, 620]);
      expect(landedLate([first, waiting, own, early], 500, 2100)).toEqual([[1, 8, 3, 4]]);
    });
  });

  it('judges stores without a defence only', () => {
    expect(found([first, second, write(3, 'c1', [1200, 1210], { store: 'fence-on-write' })])).toEqual([]);
    expect(found([first, second, write(3, 'c1', [1200, 1210], { store: 'unfenced' })])).toEqual([[1, 2, 3]]);
    expect(
      found([first, second, write(3, 'c1', [1200, 1210], { store: 'shelf' })], {
        meta: { stores: { shelf: 'none' } },
      }),
    ).toEqual([[1, 2, 3]]);
  });

  it('widens intervals by the error of the clock', () => {
    const header = { clockErrorNanos: 1_000_000 };
    const less = { clockErrorNanos: 999_999 };
    // The write, 2 ms after the other grant.
    const closeWrite = [first, granted(2, 'c2', [100, 114]), write(3, 'c1', [116, 118])];
    expect(found(closeWrite, less)).toEqual([[1, 2, 3]]);
    expect(found(closeWrite, header)).toEqual([]);
    // The other grant, asked for and answered 2 ms after the first, or only asked for.
    const closeGrant = [first, granted(2, 'c2', [8, 12]), write(3, 'c1', [216, 218])];
    expect(found(closeGrant, less)).toEqual([[1, 2, 3]]);
    expect(found(closeGrant, header)).toEqual([]);
    const closeAsked = [first, granted(2, 'c2', [12, 1200]), write(3, 'c1', [1216, 1218])];
    expect(found(closeAsked, less)).toEqual([[1, 2, 3]]);
    expect(found(closeAsked, header)).toEqual([]);
  });

  it('is not sure where the record is flawed', () => {
    expect(found([first, write(3, 'c1', [200, 210]), audit([[3, 'c2', 0]])])).toMatch(/contradicts op 3/);
    expect(found([first, second, write(3, 'c1', [1200, 1210]), audit([[3, 'c2', 0]])])).toEqual([[1, 2, 3]]);
  });
});
