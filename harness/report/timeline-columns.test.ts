// The columns that the script of the page draws the timeline from: what is in them, how little they take, and that they come
// out of the page as they went in.

import { describe, expect, it } from 'vitest';
import { assembleHistory, type Operation } from '../history/history.ts';
import { grantsOf } from '../history/grants.ts';
import { millis, nanos } from '../history/op.ts';
import { fakeHistory, PAUSE_HOLDER } from '../testing/fake-history.ts';
import { fakeRun } from '../testing/fake-run.ts';
import { packedColumns } from './column-forms.ts';
import { columnsIn, failing, judged, unpack } from './page.fixture.ts';
import { renderReport } from './report.ts';
import { runViews } from './run-view.ts';
import { timelineColumns } from './timeline-columns.ts';

const page = renderReport([failing]);

describe('the columns of the timeline', () => {
  const columns = columnsIn(page);
  const { history } = failing;

  it('hold every operation of a client, with its times to the microsecond', () => {
    const clients = history.operations.filter(({ process }) => process !== 'coordinator');
    expect(columns.operations.id).toHaveLength(clients.length);
    for (const [index, operation] of clients.entries()) {
      expect(columns.operations.id[index]).toBe(operation.id);
      expect(
        Math.abs((columns.operations.invoked[index] ?? 0) - operation.invoked / 1e3),
      ).toBeLessThanOrEqual(0.5);
    }
  });

  it('take so little that a million operations fit into 10 MB with all that stands beside them', () => {
    const busy = fakeRun({
      tokens: true,
      clients: 20,
      locks: 8,
      thinkMillis: { min: 1, max: 3 },
      seconds: 4,
    });
    const [view] = runViews([busy]);
    const operations = busy.history.operations.length;
    expect(operations).toBeGreaterThan(15_000);
    expect((view === undefined ? 0 : packedColumns(timelineColumns(view)).length) / operations).toBeLessThan(
      9,
    );
  });

  it('come out of the page as they went in', () => {
    const odd = fakeHistory({ ...PAUSE_HOLDER, tokens: true, seconds: 4 });
    const operations = odd.operations.map((operation) =>
      operation.op === 'write' && operation.id % 3 === 0
        ? { ...operation, value: `v"${operation.id}` }
        : operation,
    );
    const run = judged({ ...odd, operations });
    const [view] = runViews([run]);
    const given = view && timelineColumns(view);
    const got = columnsIn(renderReport([run]));
    expect(given).toBeDefined();
    for (const [column, values] of Object.entries(given?.operations ?? {}))
      expect([column, Array.from(got.operations[column as 'id'])]).toEqual([column, Array.from(values)]);
    for (const [column, values] of Object.entries(given?.grants ?? {}))
      expect([column, Array.from(got.grants[column as 'row'])]).toEqual([column, Array.from(values)]);
    expect(got.words).toContain('v"' + operations.find(({ op, id }) => op === 'write' && id % 3 === 0)?.id);
  });

  it('put a hold in a second row exactly where it overlaps another', () => {
    const grants = grantsOf(history);
    const overlaps = grants.filter((grant) =>
      grants.some(
        (other) =>
          other !== grant &&
          other.lock === grant.lock &&
          other.hold.start <= grant.hold.start &&
          other.hold.end > grant.hold.start,
      ),
    );
    expect(overlaps.length).toBeGreaterThan(10);
    expect(Array.from(columns.grants.row).filter((row) => row > 0)).toHaveLength(overlaps.length);
    expect(columns.overlaps).toHaveLength(overlaps.length);
  });

  it('draws no overlap where one hold ends as the next begins', () => {
    const touching = assembleHistory(failing.history.header, [
      { type: 'invoke', id: 1, time: nanos(1000), process: 'c1', op: 'acquire', lock: 'k1' },
      { type: 'ok', id: 1, time: nanos(1400), process: 'c1', op: 'acquire' },
      { type: 'invoke', id: 2, time: nanos(1500), process: 'c2', op: 'acquire', lock: 'k1' },
      { type: 'invoke', id: 3, time: nanos(9_600), process: 'c1', op: 'release', lock: 'k1' },
      { type: 'ok', id: 2, time: nanos(9_700), process: 'c2', op: 'acquire' },
      { type: 'ok', id: 3, time: nanos(9_900), process: 'c1', op: 'release' },
    ]);
    const [view] = runViews([judged(touching)]);
    expect(view && timelineColumns(view).grants.row).toEqual([0, 0]);
    expect(view && timelineColumns(view).overlaps).toEqual([]);
  });

  it('finds the operations that a reader asks for', async () => {
    const model = unpack.unpacked({ textContent: /id="run-1-columns">([^<]*)</.exec(page)?.[1] ?? '' });
    const { operationFilter } = (await import(
      new URL('./page/operation-filter.js', import.meta.url).href
    )) as { operationFilter: (model: object, text: string) => (operation: number) => boolean };
    const found = (text: string): Operation[] => {
      const fits = operationFilter(model, text);
      return clientOperations.filter((_, index) => fits(index));
    };
    const clientOperations = history.operations.filter(({ process }) => process !== 'coordinator');
    expect(found('')).toHaveLength(clientOperations.length);
    const slow = clientOperations.filter(
      ({ lock, invoked, completed = 0, op }) => lock === 'k2' && op === 'read' && completed - invoked > 0.5e6,
    );
    expect(slow.length).toBeGreaterThan(0);
    expect(found('lock:k2 op:read dur>0.5ms')).toEqual(slow);
    expect(
      found('process:c3 type:fail').every(({ process, outcome }) => process === 'c3' && outcome === 'fail'),
    ).toBe(true);
    expect(found('error:busy at<2s').length).toBeGreaterThan(10);
    const [finding] = failing.verdict.findings;
    const near = found(`near:${finding?.id.slice(0, 6)}`).map(({ id }) => id);
    for (const id of finding?.ops ?? []) expect(near).toContain(id);
    expect(near.length).toBeLessThan(clientOperations.length / 10);
    expect(() => found('colour:red')).toThrow('colour: is no such word');
    expect(() => found('dur>soon')).toThrow('a time is written like 1s');
    expect(() => found('near:zzz')).toThrow('no finding');
  });

  it('say what each server was, until it said something else', () => {
    const servers = [
      { type: 'server', node: 'r1', time: nanos(1e9), role: 'primary', term: '3' },
      { type: 'server', node: 'r1', time: nanos(4e9), role: 'replica' },
    ] as const;
    const [view] = runViews([judged({ ...history, servers })]);
    expect(view && timelineColumns(view).roles).toMatchObject([
      { from: 1e6, until: 4e6, says: 'primary, term 3', leads: true },
      { from: 4e6, until: Math.round(history.end / 1e3), says: 'replica', leads: false },
    ]);
    const [pause] = history.faults;
    const killed = pause && {
      ...pause,
      fault: 'kill',
      targets: ['r1'],
      begin: nanos(2e9),
      acted: nanos(2.5e9),
    };
    const [hurt] = runViews([judged({ ...history, servers, faults: killed === undefined ? [] : [killed] })]);
    expect(hurt && timelineColumns(hurt).roles[0]?.until).toBe(2.5e6);
  });

  it('hatches every lane where the harness itself stood still', () => {
    const harness = [
      { type: 'harness', since: nanos(0), time: nanos(1e9), loopDelayMillis: millis(12) },
      { type: 'harness', since: nanos(1e9), time: nanos(2e9), loopDelayMillis: millis(700) },
    ] as const;
    const [view] = runViews([judged({ ...history, harness })]);
    const stalls = view && timelineColumns(view).faults.filter(({ id }) => id === 'lockpick');
    expect(stalls).toMatchObject([
      { begin: 1e6, acted: 1e6, end: 2e6, lanes: columns.lanes.map((_, lane) => lane) },
    ]);
  });

  it('folds a restarted client into the lane of the first', () => {
    const restarted = columnsIn(renderReport([fakeRun({ killAtSecond: 5 })]));
    expect(restarted.lanes.map(({ name }) => name)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5']);
    const [second] = restarted.processes.filter(({ name }) => name.endsWith('.2'));
    expect(second?.name).toBe(`${restarted.lanes[second?.lane ?? -1]?.name}.2`);
  });
});
