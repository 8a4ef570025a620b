// The two intervals of a grant: each way in which a hold and a tenure end, what proves a tenure for longer, and what
// makes both narrower. Times are in milliseconds here.

import { describe, expect, it } from 'vitest';
import { grantsOf, intersect, type Grant, type Interval } from './grants.ts';
import { parseHistory } from './json-lines.ts';
import { nanos } from './op.ts';

type Fields = Readonly<Record<string, unknown>>;
type Line = readonly [time: number, fields: Fields];

const ms = (millis: number): number => Math.round(millis * 1e6);

/** Lines of one process `c1` on `k1`, unless they say otherwise. */
function grants(lines: readonly Line[], meta: Fields = {}, header: Fields = {}): readonly Grant[] {
  const all = lines.map(([time, fields]) => ({
    process: 'c1',
    lock: 'k1',
    op: 'acquire',
    ...fields,
    time: ms(time),
  }));
  const text = [{ format: 'lockpick-history', version: 1, meta, ...header }, ...all];
  return grantsOf(parseHistory(text.map((line) => JSON.stringify(line)).join('\n')));
}

const asks = (id: number, time: number, fields: Fields = {}): Line => [
  time,
  { type: 'invoke', id, ...fields },
];
const gets = (id: number, time: number, fields: Fields = {}): Line => [time, { type: 'ok', id, ...fields }];
const RENEW = { op: 'renew', ttlMillis: 1000 };
const RELEASE = { op: 'release' };

/** c1 asks at 0 for 1 s and is granted at 10. */
const granted = [asks(1, 0, { ttlMillis: 1000 }), gets(1, 10, { validUntil: ms(990) })];
/** The same from a service without leases. */
const grantedForGood = [asks(1, 0), gets(1, 10)];
/** Somebody else is seen at 5 s: the history goes on. */
const goesOn: Line = [5000, { type: 'down', process: 'c9', reason: '' }];
/** A nanosecond past the last stamp, in milliseconds. */
const END = 5000 + 1e-6;

interface Ended {
  readonly start: number;
  readonly end: number;
  readonly endedBy: string;
}

function inMillis({ start, end, endedBy }: Grant['hold'] | Grant['tenure']): Ended {
  return { start: start / 1e6, end: end / 1e6, endedBy };
}

function hold(lines: readonly Line[], meta?: Fields, header?: Fields): Ended | undefined {
  const [grant] = grants(lines, meta, header);
  return grant && inMillis(grant.hold);
}

function tenure(lines: readonly Line[], meta?: Fields, header?: Fields): Ended | undefined {
  const [grant] = grants(lines, meta, header);
  return grant && inMillis(grant.tenure);
}

describe('a grant', () => {
  it('is an acquire that was answered ok', () => {
    const [grant, ...others] = grants([
      asks(1, 0, { ttlMillis: 1000 }),
      gets(1, 10, { token: '7' }),
      asks(2, 20, { process: 'c2' }),
      [30, { type: 'info', id: 2, process: 'c2', token: '8' }],
      asks(3, 40, { process: 'c3' }),
      [50, { type: 'fail', id: 3, process: 'c3', error: 'busy' }],
      asks(4, 60, { process: 'c4' }),
    ]);
    expect(grant).toMatchObject({ process: 'c1', lock: 'k1', token: 7n, acquire: { id: 1 }, renewals: [] });
    expect(others).toEqual([]);
  });

  it('comes in order of its answer, then of its id', () => {
    const found = grants([
      asks(1, 0, { lock: 'a' }),
      asks(3, 5, { lock: 'b' }),
      asks(2, 6, { lock: 'c' }),
      gets(1, 40),
      gets(3, 30),
      gets(2, 30),
    ]);
    expect(found.map(({ acquire }) => acquire.id)).toEqual([2, 3, 1]);
  });
});

/** Granted, and renewed for another second with an answer at `answered`. */
function renewed(answered: number): Line[] {
  return [...granted, asks(2, 500, RENEW), gets(2, answered, { ...RENEW, validUntil: ms(1490) }), goesOn];
}

/** Granted, and released long after the lease. */
function releasedLate(fields: Fields, type = 'ok'): Line[] {
  return [...granted, asks(2, 3000, RELEASE), [3100, { type, id: 2, ...RELEASE, ...fields }]];
}

describe('a hold', () => {
  it('begins when the acquire was answered and ends when the release is sent, whatever comes of it', () => {
    const released = { start: 10, end: 200, endedBy: 'release' };
    expect(hold([...granted, asks(2, 200, RELEASE), gets(2, 300, RELEASE)])).toEqual(released);
    expect(hold([...granted, asks(2, 200, RELEASE), [300, { type: 'info', id: 2, ...RELEASE }]])).toEqual(
      released,
    );
    expect(hold([...granted, asks(2, 200, RELEASE), goesOn])).toEqual(released);
  });

  it('ends when the client is told that the lock is gone', () => {
    expect(hold([...granted, [300, { type: 'lost', reason: 'not-owner' }], asks(2, 400, RELEASE)])).toEqual({
      start: 10,
      end: 300,
      endedBy: 'lost',
    });
  });

  it('ends at the deadline only of clients that look at it', () => {
    expect(hold([...granted, goesOn], { deadlineAware: true })).toMatchObject({
      end: 990,
      endedBy: 'deadline',
    });
    expect(hold([...granted, goesOn], { deadlineAware: false })).toMatchObject({
      end: END,
      endedBy: 'open',
    });
  });

  it('goes on to the deadline of the last renew that came in time', () => {
    expect(hold(renewed(510), { deadlineAware: true })).toMatchObject({ end: 1490 });
    expect(hold(renewed(1200), { deadlineAware: true })).toMatchObject({ end: 990 });
  });

  it('ends with its process', () => {
    expect(hold([...granted, [400, { type: 'down', reason: 'killed' }], goesOn])).toMatchObject({
      end: 400,
      endedBy: 'down',
    });
  });

  it('ends when its process asks for the lock again, whatever it is told', () => {
    for (const type of ['ok', 'fail', 'info'])
      expect(hold([...granted, asks(2, 300), [310, { type, id: 2 }], goesOn])).toMatchObject({
        end: 300,
        endedBy: 'asked-again',
      });
  });

  it('ends with the journal, if nothing ended it', () => {
    expect(hold([...granted, goesOn])).toMatchObject({ end: END, endedBy: 'open' });
  });

  it('is not believed past the last stamp of a process whose end is missing', () => {
    const cut = { end: 10, endedBy: 'cut-off' };
    expect(hold([...granted, goesOn], { closedByDown: true })).toMatchObject(cut);
    expect(tenure([...granted, goesOn], { closedByDown: true })).toMatchObject(cut);
    const seen = asks(2, 70, { op: 'read', key: 'k1' });
    expect(hold([...granted, seen, goesOn], { closedByDown: true })).toMatchObject({ ...cut, end: 70 });
    const ended: Line = [400, { type: 'down', reason: 'finished' }];
    expect(hold([...granted, ended, goesOn], { closedByDown: true })).toMatchObject({
      end: 400,
      endedBy: 'down',
    });
  });

  it('ends with the first `down` after it, where a name is used again', () => {
    const downs: Line[] = [100, 3000].map((at) => [at, { type: 'down', process: 'c1', reason: 'killed' }]);
    expect(hold([...granted, ...downs, goesOn])).toMatchObject({ end: 100, endedBy: 'down' });
    const earlier: Line = [1, { type: 'down', process: 'c1', reason: 'killed' }];
    expect(hold([earlier, ...granted, goesOn])).toMatchObject({ end: END, endedBy: 'open' });
  });

  it('is of one process and one lock', () => {
    const others = [
      asks(2, 100, { ...RELEASE, process: 'c2' }),
      asks(3, 110, { ...RELEASE, lock: 'k2' }),
      [120, { type: 'lost', lock: 'k2', reason: '' }],
      [130, { type: 'down', process: 'c1.2', reason: '' }],
    ] as const;
    expect(hold([...granted, ...others, goesOn])).toMatchObject({ end: END });
  });

  it('does not end by what happened before it began', () => {
    const before = [asks(9, -50, RELEASE), [5, { type: 'lost', reason: '' }]] as const;
    expect(hold([...before, ...granted, goesOn])).toMatchObject({ start: 10, end: END });
  });

  it('that begins and ends at one time is empty', () => {
    const found = hold([...granted, asks(2, 10, RELEASE)]);
    expect(found).toEqual({ start: 10, end: 10, endedBy: 'release' });
  });
});

describe('a tenure under a lease', () => {
  it('counts from when the acquire was sent, less what the service clock may be fast', () => {
    expect(tenure([...granted, goesOn])).toEqual({ start: 10, end: 990, endedBy: 'lease' });
    expect(tenure([...granted, goesOn], { clockTolerance: 0 })).toMatchObject({ end: 1000 });
    expect(tenure([...granted, goesOn], { clockTolerance: 0.2 })).toMatchObject({ end: 800 });
  });

  it('ends when the release is sent', () => {
    expect(tenure([...granted, asks(2, 200, RELEASE)])).toMatchObject({ end: 200, endedBy: 'release' });
  });

  it('is not ended by a loss or a death: the service keeps its promise', () => {
    const lost: Line = [300, { type: 'lost', reason: 'not-owner' }];
    expect(tenure([...granted, lost, [400, { type: 'down', reason: '' }], goesOn])).toMatchObject({
      end: 990,
    });
  });

  it('counts anew from the sending of a renew that was answered ok', () => {
    const [grant] = grants([...granted, asks(2, 500, RENEW), gets(2, 600, RENEW), goesOn]);
    expect(grant?.tenure).toMatchObject({ end: ms(1490), endedBy: 'lease', provedBy: 2 });
    expect(grant?.leaseEnd).toBe(ms(1490));
  });

  it('does not count anew from a renew that failed, or may have', () => {
    for (const type of ['fail', 'info'])
      expect(
        tenure([...granted, asks(2, 500, RENEW), [600, { type, id: 2, ...RENEW }], goesOn]),
      ).toMatchObject({
        end: 990,
      });
    expect(tenure([...granted, asks(2, 500, RENEW), goesOn])).toMatchObject({ end: 990 });
  });

  it('takes the TTL of the acquire for a renew that names none', () => {
    expect(
      tenure([...granted, asks(2, 500, { op: 'renew' }), gets(2, 600, { op: 'renew' }), goesOn]),
    ).toMatchObject({
      end: 1490,
    });
  });

  it('may have been shortened by a renew for less', () => {
    const short = { op: 'renew', ttlMillis: 100 };
    for (const type of ['ok', 'info'])
      expect(
        tenure([...granted, asks(2, 500, short), [600, { type, id: 2, ...short }], goesOn]),
      ).toMatchObject({
        end: 599,
      });
  });

  it('is bridged by a late renew that was answered ok, if the recipe checks owners', () => {
    const late = [...granted, asks(2, 3000, RENEW), gets(2, 3100, RENEW), goesOn];
    expect(tenure(late)).toMatchObject({ start: 10, end: 3990 });
    expect(tenure(late, { ownerChecked: true })).toMatchObject({ end: 3990 });
    expect(tenure(late, { ownerChecked: false })).toMatchObject({ end: 990 });
  });

  it('is prolonged by a renew that asks nobody only if that was answered in time, since it was made by then', () => {
    expect(tenure(renewed(900), { ownerChecked: false })).toMatchObject({ end: 1490 });
    expect(tenure(renewed(1_200), { ownerChecked: false })).toMatchObject({ end: 990 });
    expect(tenure(renewed(1_200), { ownerChecked: true })).toMatchObject({ end: 1490 });
  });

  it('is bridged by a late release that ended it', () => {
    expect(tenure(releasedLate({ released: true }))).toMatchObject({ end: 3000, endedBy: 'release' });
    expect(grants(releasedLate({ released: true }))[0]?.tenure.provedBy).toBe(2);
    expect(tenure(releasedLate({ released: false }))).toMatchObject({ end: 990, endedBy: 'lease' });
    expect(tenure(releasedLate({}))).toMatchObject({ end: 990 });
    expect(tenure(releasedLate({}, 'info'))).toMatchObject({ end: 990 });
    expect(tenure(releasedLate({ released: true }), { ownerChecked: false })).toMatchObject({ end: 990 });
  });

  it('is not bridged by what may belong to a later attempt of the same process', () => {
    const late = [asks(3, 3000, RELEASE), gets(3, 3100, { ...RELEASE, released: true })];
    const unknown: Line = [2100, { type: 'info', id: 2 }];
    expect(tenure([...granted, asks(2, 2000), unknown, ...late])).toMatchObject({
      end: 990,
      endedBy: 'lease',
    });
    const renew = [asks(4, 2500, RENEW), gets(4, 2600, RENEW)];
    expect(tenure([...granted, asks(2, 2000), unknown, ...renew])).toMatchObject({ end: 990 });
    const busy: Line = [2100, { type: 'fail', id: 2, error: 'busy' }];
    expect(tenure([...granted, asks(2, 2000), busy, ...late])).toMatchObject({ end: 3000 });
  });

  it('may be ended by the release of a later grant of the same process', () => {
    const again = [asks(2, 100, { ttlMillis: 1000 }), gets(2, 110), asks(3, 200, RELEASE), goesOn];
    expect(grants([...granted, ...again]).map((grant) => inMillis(grant.tenure))).toEqual([
      { start: 10, end: 200, endedBy: 'release' },
      { start: 110, end: 200, endedBy: 'release' },
    ]);
  });

  it('ends when a later grant of the same process is lost', () => {
    const again = [
      asks(2, 100, { ttlMillis: 1000 }),
      gets(2, 110),
      [300, { type: 'lost', reason: '' }] as const,
      goesOn,
    ];
    expect(grants([...granted, ...again]).map((grant) => inMillis(grant.tenure))).toEqual([
      { start: 10, end: 300, endedBy: 'lost' },
      { start: 110, end: 1090, endedBy: 'lease' },
    ]);
  });

  it('gives a renew to the grant that its process had at the time', () => {
    const first = [...granted, asks(2, 100, RELEASE), gets(2, 110, RELEASE)];
    const between = [asks(3, 150, RENEW), gets(3, 160, RENEW)];
    const second = [
      asks(4, 200, { ttlMillis: 1000 }),
      gets(4, 210),
      asks(5, 300, RENEW),
      gets(5, 310, RENEW),
    ];
    expect(
      grants([...first, ...between, ...second]).map(({ renewals }) => renewals.map(({ id }) => id)),
    ).toEqual([[], [5]]);
  });
});

describe('a tenure without a lease', () => {
  it('goes on until the release is sent, the process ends, or the history does', () => {
    expect(tenure([...grantedForGood, asks(2, 4000, RELEASE)])).toMatchObject({
      end: 4000,
      endedBy: 'release',
    });
    const down: Line = [4000, { type: 'down', reason: '' }];
    expect(tenure([...grantedForGood, down, goesOn])).toMatchObject({ end: 4000, endedBy: 'down' });
    expect(tenure([...grantedForGood, goesOn])).toMatchObject({ end: END, endedBy: 'open' });
    expect(grants([...grantedForGood, goesOn])[0]?.leaseEnd).toBeUndefined();
  });

  it('that was taken away ended at some time after it was last proved', () => {
    const lost: Line = [4000, { type: 'lost', reason: 'session-expired' }];
    expect(tenure([...grantedForGood, lost, goesOn])).toEqual({ start: 10, end: 10, endedBy: 'lost' });
    const renew = { op: 'renew' };
    const proved = [asks(2, 300, renew), gets(2, 310, renew)];
    expect(tenure([...grantedForGood, ...proved, lost, goesOn])).toMatchObject({ end: 300, endedBy: 'lost' });
  });

  it('of a process that entered again may be ended by either release', () => {
    const again = [
      asks(2, 100),
      gets(2, 110),
      asks(3, 200, RELEASE),
      gets(3, 210, RELEASE),
      asks(4, 900, RELEASE),
    ];
    expect(grants([...grantedForGood, ...again]).map(({ tenure: { end } }) => end / 1e6)).toEqual([200, 200]);
  });
});

describe('a clock error', () => {
  it('narrows both intervals at both ends', () => {
    const released = [...granted, asks(2, 200, RELEASE)];
    const header = { clockErrorNanos: ms(3) };
    expect(hold(released, {}, header)).toMatchObject({ start: 13, end: 197 });
    expect(tenure(released, {}, header)).toMatchObject({ start: 13, end: 197 });
    expect(tenure([...granted, goesOn], {}, header)).toMatchObject({ start: 13, end: 987 });
    expect(grants([...granted, goesOn], {}, header)[0]?.leaseEnd).toBe(ms(987));
  });

  it('may leave nothing of them', () => {
    const found = hold([...granted, asks(2, 12, RELEASE)], {}, { clockErrorNanos: ms(3) });
    expect(found).toMatchObject({ start: 13, end: 9 });
  });

  it('does not move the end of the history', () => {
    expect(hold([...granted, goesOn], {}, { clockErrorNanos: ms(3) })).toMatchObject({ end: END });
  });
});

describe('hostile stamps', () => {
  it('do not end the judging', () => {
    const far = Number.MAX_SAFE_INTEGER / 1e6;
    const lines = [asks(1, far - 10, { ttlMillis: 1e9 }), gets(1, far - 1)];
    expect(grants(lines)).toHaveLength(1);
    expect(grants(granted, {}, { clockErrorNanos: Number.MAX_SAFE_INTEGER })).toHaveLength(1);
  });
});

describe('a lock that was entered again and lost', () => {
  it('leaves nothing of the outer hold that a later release could be meant for', () => {
    const found = grants(
      [
        asks(1, 0, { owner: 'o1' }),
        gets(1, 10),
        asks(2, 20, { owner: 'o1' }),
        gets(2, 30),
        [40, { type: 'lost', reason: 'expired' }],
        asks(3, 50, RELEASE),
        gets(3, 60, RELEASE),
        asks(4, 70, RELEASE),
        gets(4, 80, RELEASE),
      ],
      { kind: 'reentrant' },
    );
    expect(found.map((grant) => [grant.hold.endedBy, grant.release?.id])).toEqual([
      ['lost', undefined],
      ['lost', 3],
    ]);
  });
});

function span(start: number, end: number): Interval {
  return { start: nanos(start), end: nanos(end) };
}

describe('intersect', () => {
  it.each([
    [span(0, 10), span(5, 15), true],
    [span(0, 10), span(2, 3), true],
    [span(0, 10), span(10, 20), false],
    [span(0, 10), span(11, 20), false],
    [span(0, 10), span(5, 5), false],
    [span(0, 10), span(8, 3), false],
  ])('%o and %o: %s', (a, b, expected) => {
    expect(intersect(a, b)).toBe(expected);
    expect(intersect(b, a)).toBe(expected);
  });
});
