// `foreign-release`: each effect that proves it, each thing that would explain it otherwise, and no false blame in
// worlds that know whose release removed whose lock.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foreignRelease } from './foreign-release.ts';
import { grantColumnsOf } from '../harness/history/grants.ts';
import type { History } from '../harness/history/history.ts';
import { anyWorld } from './any-world.fixture.ts';
import { tell, toldHistory } from './ideal-lock.fixture.ts';
import { granted, historyOf, released, step, type Step } from './scenario.fixture.ts';
import type { Finding } from './verdict.ts';

function findings(history: History): readonly Finding[] {
  const result = foreignRelease(history, grantColumnsOf(history));
  return result.verdict === 'invalid' ? result.findings : [];
}

function ops(history: History): (readonly number[])[] {
  return findings(history).map((finding) => finding.ops);
}

/** c1's lease is over; c2 is granted the lock; c1 sends a release that does not say what it did. */
const late: readonly Step[] = [
  granted(1, 'c1', [0, 10]),
  granted(2, 'c2', [1100, 1110]),
  step(3, 'c1', 'release', [1200, 1210], { lock: 'k1' }),
];
/** c3 is granted the lock while c2 still has it. */
const takenOver = granted(4, 'c3', [1300, 1310]);
const letGo = step(5, 'c2', 'release', [1500, 1510], { lock: 'k1' });

function renew(id: number, process: string, span: Step['span'], gets: Step['gets']): Step {
  return step(id, process, 'renew', span, { lock: 'k1', ttlMillis: 1000 }, gets);
}

type Fields = NonNullable<Parameters<typeof historyOf>[2]>;

function faulted(fault: string, targets: readonly string[], from: number, to: number): Fields {
  return [
    { type: 'fault', id: 'f1', fault, targets, phase: 'begin', time: from },
    { type: 'fault', id: 'f1', fault, targets, phase: 'end', time: to },
  ];
}

describe('foreign-release', () => {
  it('shows in a grant to another', () => {
    expect(findings(historyOf([...late, takenOver, letGo]))).toMatchObject([
      {
        code: 'foreign-release',
        lock: 'k1',
        processes: ['c1', 'c2'],
        ops: [2, 3, 4],
        at: 1310e6,
        story:
          'c2 was granted k1 at 1.110 s (op 2) for 1 s and was to have it at least until 1.500 s. ' +
          "c1's own grant (op 1) was over. c1's release (op 3, 1.200 s to 1.210 s) touched it all the same. " +
          "Then c3 was granted k1 at 1.310 s (op 4) for 1 s, which c2's tenure forbids.",
      },
    ]);
  });

  it('shows in a renew that was refused', () => {
    const refused = renew(4, 'c2', [1300, 1310], { type: 'fail', error: 'not-owner' });
    expect(ops(historyOf([...late, refused]))).toEqual([[2, 3, 4]]);
    expect(
      ops(historyOf([...late, renew(4, 'c2', [1300, 1310], { type: 'fail', error: 'unavailable' })])),
    ).toEqual([]);
    // Sent before c1's release, so it may have been refused for another reason.
    expect(
      ops(historyOf([...late, renew(4, 'c2', [1190, 1310], { type: 'fail', error: 'not-owner' })])),
    ).toEqual([]);
    // By then the lease may be over.
    expect(
      ops(historyOf([...late, renew(4, 'c2', [2080, 2090], { type: 'fail', error: 'not-owner' })])),
    ).toEqual([]);
    // c2 released while its renew was on its way.
    expect(ops(historyOf([...late, refused, released(5, 'c2', [1305, 1320])]))).toEqual([]);
  });

  it('shows in a release that found nothing', () => {
    expect(ops(historyOf([...late, released(4, 'c2', [1300, 1310], { released: false })]))).toEqual([
      [2, 3, 4],
    ]);
    expect(ops(historyOf([...late, released(4, 'c2', [1300, 1310])]))).toEqual([]);
    expect(ops(historyOf([...late, released(4, 'c2', [2080, 2090], { released: false })]))).toEqual([]);
  });

  it('needs no effect where owners are not checked and the release says that it ended something', () => {
    const says = [...late.slice(0, 2), released(3, 'c1', [1200, 1210])];
    expect(ops(historyOf(says, { meta: { ownerChecked: false } }))).toEqual([[2, 3]]);
    expect(ops(historyOf(late, { meta: { ownerChecked: false } }))).toEqual([]);
    // With owners checked it proves that c1 still had it: then c2's grant is the fault.
    expect(ops(historyOf(says))).toEqual([]);
  });

  it('needs no effect of a second release either', () => {
    const twice = [granted(1, 'c1', [0, 10]), released(6, 'c1', [500, 510]), ...late.slice(1, 2)];
    const says = [...twice, released(3, 'c1', [1200, 1210])];
    expect(ops(historyOf(says, { meta: { ownerChecked: false } }))).toEqual([[2, 3]]);
    expect(ops(historyOf(says))).toEqual([]);
  });

  it('may be a renew', () => {
    const extended = [...late.slice(0, 2), renew(3, 'c1', [1200, 1210], {})];
    expect(ops(historyOf(extended, { meta: { ownerChecked: false } }))).toEqual([[2, 3]]);
    expect(ops(historyOf(extended))).toEqual([]);
  });

  it('names every request that could have done it, and says so', () => {
    const two = [
      granted(7, 'c4', [20, 25], { type: 'fail', error: 'busy' }),
      ...late,
      step(6, 'c1', 'release', [1250, 1260], { lock: 'k1' }),
      takenOver,
      letGo,
    ];
    expect(ops(historyOf(two))).toEqual([[2, 3, 6, 4]]);
    expect(findings(historyOf(two))[0]?.story).toContain("One of c1's release (op 3,");
    const own = renew(9, 'c2', [1250, 1260], { type: 'info', error: 'timeout' });
    expect(ops(historyOf([...late, own, takenOver, letGo]))).toEqual([[2, 3, 4]]);
    const unanswered = step(
      8,
      'c5',
      'release',
      [100, 200],
      { lock: 'k1' },
      { type: 'info', error: 'timeout' },
    );
    expect(ops(historyOf([unanswered, ...late, takenOver, letGo]))).toEqual([[2, 3, 8, 4]]);
    expect(findings(historyOf([unanswered, ...late, takenOver, letGo]))[0]?.story).toContain(
      'and 1 of unknown outcome sent before (op 8) touched it all the same',
    );
  });

  it('is the same if c1 was refused in between', () => {
    const asked = granted(6, 'c1', [1120, 1130], { type: 'fail', error: 'busy' });
    expect(ops(historyOf([asked, ...late, takenOver, letGo]))).toEqual([[2, 3, 4]]);
  });

  it('is of the grant that was in force, whatever c1 was granted before', () => {
    const twice = [
      granted(11, 'c1', [-3000, -2990]),
      step(12, 'c1', 'release', [-2900, -2890], { lock: 'k1' }),
      ...late,
      takenOver,
      letGo,
    ];
    expect(ops(historyOf(twice))).toEqual([[2, 3, 4]]);
  });
});

describe('no foreign-release', () => {
  it.each<[why: string, steps: readonly Step[]]>([
    ['without an effect', [...late, letGo]],
    [
      'if the release says that it was too late',
      [...late.slice(0, 2), released(3, 'c1', [1200, 1210], { released: false }), takenOver, letGo],
    ],
    [
      'if the release may not have happened',
      [...late.slice(0, 2), released(3, 'c1', [1200, 1210], { type: 'info' }), takenOver, letGo],
    ],
    [
      'if the release was sent before c2 was sure of its grant',
      [...late.slice(0, 2), step(3, 'c1', 'release', [1105, 1210], { lock: 'k1' }), takenOver, letGo],
    ],
    [
      'if it is the release of c2 itself',
      [...late.slice(0, 2), step(3, 'c2', 'release', [1200, 1210], { lock: 'k1' }), takenOver],
    ],
    [
      "if the release was answered after c2's own was sent",
      [...late.slice(0, 2), step(3, 'c1', 'release', [1200, 1510], { lock: 'k1' }), takenOver, letGo],
    ],
    [
      'if c1 may have been granted the lock after c2 asked',
      [granted(1, 'c1', [0, 1105]), ...late.slice(1), takenOver, letGo],
    ],
    [
      "if c1's lease was certain when c2 was granted the lock, and over when it released",
      [granted(1, 'c1', [0, 10]), granted(2, 'c2', [500, 510]), ...late.slice(2), takenOver, letGo],
    ],
    ['if the other grant came first', [...late, granted(4, 'c3', [1195, 1310]), letGo]],
    ["if c2's lease may be over", [...late, granted(4, 'c3', [2085, 2095])]],
    ['if c2 itself was granted the lock again', [...late, granted(4, 'c2', [1300, 1310]), letGo]],
    ['if c2 let go before', [...late, step(5, 'c2', 'release', [1305, 1330], { lock: 'k1' }), takenOver]],
    [
      "if c1's lease was certain when c2 was granted the lock: it released its own",
      [
        granted(1, 'c1', [0, 10]),
        granted(2, 'c2', [500, 510]),
        step(3, 'c1', 'release', [600, 610], { lock: 'k1' }),
        granted(4, 'c3', [700, 710]),
        step(5, 'c2', 'release', [900, 910], { lock: 'k1' }),
      ],
    ],
    [
      'if c1 was never granted the lock',
      [granted(1, 'c1', [0, 10], { type: 'info' }), ...late.slice(1), takenOver, letGo],
    ],
    [
      'if c1 may have been granted it again',
      [
        ...late.slice(0, 2),
        granted(6, 'c1', [1150, 1160], { type: 'info' }),
        ...late.slice(2),
        takenOver,
        letGo,
      ],
    ],
    [
      'if it is another lock',
      [...late.slice(0, 2), step(3, 'c1', 'release', [1200, 1210], { lock: 'k2' }), takenOver, letGo],
    ],
  ])('%s', (_, steps) => {
    expect(ops(historyOf(steps))).toEqual([]);
  });

  it('within the clock error', () => {
    const tight = [...late, granted(4, 'c3', [1203, 1310]), letGo];
    expect(ops(historyOf(tight))).toEqual([[2, 3, 4]]);
    expect(ops(historyOf(tight, { clockErrorNanos: 2e6 }))).toEqual([]);
  });

  it('without the requests that may have been as late, for all that the clocks tell', () => {
    const before = step(8, 'c5', 'release', [1080, 1097], { lock: 'k1' });
    const steps = [granted(7, 'c5', [-900, -890]), before, ...late, takenOver, letGo];
    expect(ops(historyOf(steps, { clockErrorNanos: 1e6 }))).toEqual([[2, 3, 4]]);
    expect(ops(historyOf(steps, { clockErrorNanos: 2e6 }))).toEqual([[2, 8, 3, 4]]);
  });

  it('from a refusal, where there is no lease that kept the session', () => {
    const forGood = [
      step(1, 'c1', 'acquire', [0, 10], { lock: 'k1' }),
      step(6, 'c1', 'release', [500, 510], { lock: 'k1' }),
      step(2, 'c2', 'acquire', [1100, 1110], { lock: 'k1' }),
      step(3, 'c1', 'release', [1200, 1210], { lock: 'k1' }),
    ];
    expect(ops(historyOf([...forGood, released(4, 'c2', [1300, 1310], { released: false })]))).toEqual([]);
    expect(ops(historyOf([...forGood, takenOver, letGo]))).toEqual([[2, 3, 4]]);
  });

  it.each([
    ['kill', ['r1'], 1150, 1400],
    ['restart-empty', ['r1'], 1220, 1250],
    ['clock-jump', ['r1', 'c1'], 900, 1000],
    ['partition', [], 1150, 1400],
    ['partition', ['r1'], 0, 100],
  ])('if a server may have forgotten it, or two answered: %s of %o', (fault, targets, from, to) => {
    const history = historyOf([...late, takenOver, letGo], {}, faulted(fault, targets, from, to));
    expect(ops(history)).toEqual([]);
  });

  it.each([
    ['pause', ['r1'], 1150, 1250],
    ['pause', ['c1'], 100, 1190],
    ['kill', ['c9'], 1150, 1250],
    ['partition', ['c1'], 100, 1190],
    ['kill', ['r1'], 1320, 1400],
  ])('is not said of %s of %o, which explains nothing', (fault, targets, from, to) => {
    const seen = granted(9, 'c9', [0, 5], { type: 'fail', error: 'busy' });
    const history = historyOf([seen, ...late, takenOver, letGo], {}, faulted(fault, targets, from, to));
    expect(ops(history)).toEqual([[2, 3, 4]]);
  });

  it('has the faults that its story names, though they were over before the grant was asked for', () => {
    const history = historyOf([...late, takenOver, letGo], {}, faulted('pause', ['c1'], 100, 500));
    const [finding] = findings(history);
    expect(finding?.story).toContain('c1 was to be paused (fault f1: ordered at 0.100 s');
    expect(finding?.faults).toEqual(['f1']);
  });
});

describe('in a world where releases are blind', () => {
  it('blames at least one request that did it', () => {
    let blamed = 0;
    fc.assert(
      fc.property(anyWorld({ blindRelease: true, deadlineAware: false }), (world) => {
        const told = tell(world);
        const history = toldHistory(told);
        const unanswered = history.operations.filter(
          ({ op, outcome }) => (op === 'release' || op === 'renew') && outcome === 'info',
        );
        for (const finding of findings(history)) {
          blamed += 1;
          // Of those of unknown outcome it names some and counts the others.
          const counted = unanswered.filter(
            ({ lock, invoked }) => lock === finding.lock && invoked < finding.at + 6e6,
          );
          expect(Number(finding.evidence['unanswered'])).toBeLessThanOrEqual(counted.length);
          const suspects = [...finding.ops, ...counted.map(({ id }) => id)];
          expect(suspects.some((id) => told.foreign.has(id))).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
    expect(blamed).toBeGreaterThan(10);
  });
});
