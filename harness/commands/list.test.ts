// `lockpick list` against `lockpick run`: the same words are the same cells, over the whole catalogue.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cellName } from '../plan/cell-name.ts';
import { scenarioNamed } from '../nemesis/schedule.ts';
import { catalogue } from '../plan/catalogue.ts';
import { vocabulary } from '../plan/vocabulary.ts';
import type { Choices, Source } from '../settings/settings.ts';
import { containersRefuse } from '../stages/only-simulated.ts';
import { listCommand } from './list.ts';
import { whatRuns } from './run.ts';

function choices(values: Readonly<Record<string, unknown>>, from: Source = 'flag'): Choices {
  return new Map(Object.entries(values).map(([name, value]) => [name, { value, from, written: name }]));
}

let written = '';
beforeEach(() => {
  written = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => (written += String(text)) !== '');
});
afterEach(() => vi.restoreAllMocks());

/** Cell → how many seeds. */
async function listed(
  patterns: readonly string[],
  chosen: Choices = new Map(),
): Promise<Map<string, number>> {
  written = '';
  await listCommand(patterns, new Map([...chosen, ...choices({ json: true })]));
  const rows = JSON.parse(written) as { cell: string; seeds: number }[];
  return new Map(rows.map(({ cell, seeds }) => [cell, seeds]));
}

async function secondsOn(on: string): Promise<number> {
  written = '';
  await listCommand(['etcd/lease-queue/none'], choices({ json: true, on, timeLimit: '100s' }));
  const [row] = JSON.parse(written) as { estimatedSeconds: number }[];
  return row?.estimatedSeconds ?? 0;
}

/** Those that containers can have. */
const ALL = catalogue
  .filter(({ fault }) => containersRefuse(scenarioNamed(fault)?.faults ?? []) === undefined)
  .map((cell) => cellName(cell));

describe('list', () => {
  it('shows of each catalogued cell the cell, and nothing else', async () => {
    for (const name of ALL) expect([...(await listed([name])).keys()]).toEqual([name]);
    expect([...(await listed(ALL)).keys()]).toEqual(ALL);
  });

  const patterns = vocabulary.backends.flatMap(({ name, recipes }) => [
    [name],
    [`${name}/*`],
    ...recipes.flatMap((recipe) => [[`${name}/${recipe.name}`], [`${name}/${recipe.name}/pause-holder`]]),
  ]);
  it.each([...patterns, ['*'], ['redis-single', 'etcd/*', '*/none'], ['etcd/lease-queue/swarm']])(
    'shows of %s %s %s what run runs',
    async (...each) => {
      const named = each.filter((pattern) => pattern !== undefined);
      const asked = { seeds: '2', seed: '1' };
      const runs = whatRuns(named, choices(asked), undefined).then(
        ({ comparison }) => comparison.plans.map((plan) => cellName(plan)),
        (error: unknown) => error,
      );
      const shown = listed(named, choices(asked)).then(
        (rows) => [...rows].flatMap(([cell, seeds]) => Array<string>(seeds).fill(cell)),
        (error: unknown) => error,
      );
      expect(await shown).toEqual(await runs);
    },
  );

  it('shows all of them if nothing says what runs, and else what it says', async () => {
    expect(new Set((await listed([])).keys())).toEqual(new Set(ALL));
    expect((await listed([], choices({ ttl: '2s' }))).size).toBe(ALL.length);
    expect((await listed([], choices({ profile: 'nightly' }, 'config'))).get('etcd/lease-queue/none')).toBe(
      1,
    );
    expect((await listed([], choices({ profile: 'nightly' }))).get('etcd/lease-queue/none')).toBe(20);
    expect([...(await listed([], choices({ cells: ['etcd'] }, 'config'))).keys()]).toEqual([
      'etcd/etcd3-lock/pause-holder',
    ]);
    expect([...(await listed([], choices({ recipe: 'watchdog' }))).keys()]).toEqual([
      'redis-single/watchdog/pause-holder',
    ]);
  });

  it('has the faults of a lock in the order of the scenarios: none, of clients, of servers, of links, of clocks', async () => {
    const simulated = choices({ on: 'simulation' });
    const faults = [...(await listed(['redis-single/fenced-incr/*'], simulated)).keys()].map(
      (cell) => cell.split('/')[2],
    );
    expect([...new Set(faults)]).toEqual([
      'none',
      'pause-holder',
      'kill-holder',
      'pause-server',
      'kill-server',
      'lose-power',
      'clock-jump',
    ]);
  });

  it('estimates what a run takes where it runs', async () => {
    expect(await secondsOn('docker')).toBe(109);
    expect(await secondsOn('simulation')).toBe(2);
  });
});
