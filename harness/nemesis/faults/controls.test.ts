// The pages that the shim reads, written by the very script that runs in a sandbox, and wrong clocks that no process
// shows: nothing is proved that was not seen.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Node } from '../../contract/cluster.ts';
import type { FaultSpec, NodeFaultKind } from '../../contract/fault.ts';
import { millis } from '../../history/op.ts';
import { clockFaults } from './clock.ts';
import { readCounters, setControls } from './controls.ts';
import { whereApplicable } from './not-applicable.ts';
import { faultInForce, onEach } from './scope.ts';

const SLOTS = [64, 128];
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockpick-controls-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** A node whose sandbox is this machine. */
function nodeHere(role: Node['spec']['role'] = 'server'): Node {
  const node: Partial<Node> = {
    name: 'n1',
    spec: { name: 'n1', role, image: 'none' },
    execInSandbox: async ([program = '', ...rest]) => {
      const moved = rest.map((word) => word.replace(/^\/lockpick-controls\//, `${folder}/`));
      const { status, stdout, stderr } = spawnSync(program, moved, { encoding: 'latin1' });
      return { exitCode: status ?? 1, stdout, stderr };
    },
  };
  return node as Node;
}

function emptyPage(name: string): string {
  const path = join(folder, name);
  writeFileSync(path, Buffer.alloc(4096));
  return path;
}

describe.skipIf(process.platform !== 'linux')('setControls', () => {
  it('fills the slot that does not count, then lets it count; and the other one in turn', async () => {
    const path = emptyPage('clock');
    const before = Date.now();
    const at = await setControls(nodeHere(), 'clock', [-4_000_000_000, 3]);
    expect((at ?? 0) / 1e6).toBeGreaterThanOrEqual(before);
    expect((at ?? 0) / 1e6).toBeLessThan(Date.now() + 1);
    await setControls(nodeHere(), 'clock', [255]);
    const page = readFileSync(path);
    expect(page.length).toBe(4096);
    expect(page.readBigInt64LE(0)).toBe(2n);
    const [even = 0, odd = 0] = SLOTS;
    expect(Number(page.readBigInt64LE(odd))).toBe(at);
    expect(page.readBigInt64LE(odd + 8)).toBe(-4_000_000_000n);
    expect(page.readBigInt64LE(odd + 16)).toBe(3n);
    expect(page.readBigInt64LE(even + 8)).toBe(255n);
    expect(page.readBigInt64LE(even + 16)).toBe(0n);
  });

  it('changes only the lowest byte of the number in front, also when that starts again', async () => {
    const path = emptyPage('clock');
    for (let round = 0; round < 257; round += 64) {
      const page = readFileSync(path);
      page[0] = 255;
      writeFileSync(path, page);
      await setControls(nodeHere(), 'clock', [round]);
      expect(readFileSync(path).readBigInt64LE(0)).toBe(0n);
    }
  });

  it('says that nothing in the node listens', async () => {
    expect(await setControls(nodeHere(), 'clock', [1])).toBeUndefined();
  });

  it('reads what the shim counts', async () => {
    const path = emptyPage('disk');
    const page = readFileSync(path);
    page.writeBigInt64LE(7n, 192);
    page.writeBigInt64LE(21_000_000n, 200);
    writeFileSync(path, page);
    expect(await readCounters(nodeHere(), 'disk')).toEqual([7, 21_000_000]);
  });
});

/** `clock-jump` on a process whose clock is so far ahead. */
function rig(aheadMillis: () => number): NodeFaultKind {
  const [jump] = clockFaults({ readTime: async () => Date.now() + aheadMillis() });
  if (jump === undefined) throw new Error('no kinds');
  return jump;
}

describe.skipIf(process.platform !== 'linux')('clock-jump', () => {
  const spec: FaultSpec = {
    fault: 'clock-jump',
    target: { kind: 'server' },
    durationMillis: millis(1),
    params: { byMillis: 60_000 },
  };

  it.each([
    ['not at all', 0],
    ['by too little', 30_000],
    ['by too much', 90_000],
    ['the other way', -60_000],
  ])('is not proved by a clock that moved %s', async (_how, seen) => {
    emptyPage('clock');
    let ahead = seen;
    const fault = await rig(() => ahead).inject(nodeHere(), spec);
    expect(fault.evidence).toBeUndefined();
    ahead = 0;
    await fault[Symbol.asyncDispose]();
    expect(fault.healed).toMatchObject({ differenceMillis: expect.any(Number) });
  });

  it('is not healed while the clock is wrong', async () => {
    emptyPage('clock');
    const fault = await rig(() => 60_000).inject(nodeHere(), spec);
    expect(fault.evidence).toMatchObject({ askedMillis: 60_000 });
    await expect(fault[Symbol.asyncDispose]()).rejects.toThrow(/still .* ahead/);
  });
});

describe('whereApplicable', () => {
  const kind = onEach({
    name: 'clock-jump',
    summary: '',
    inject: async () => faultInForce({ acted: true }, async () => ({})),
  });
  const spec: FaultSpec = { fault: 'clock-jump', target: { kind: 'server' }, durationMillis: millis(1) };

  it('does nothing to a server that the fault cannot hurt, and says why', async () => {
    await using fault = await whereApplicable(kind, { 'clock-jump': 'monotonic' }).inject([nodeHere()], spec);
    expect(fault.evidence).toBeUndefined();
    await fault[Symbol.asyncDispose]();
    expect(fault.healed).toEqual({ notApplicable: 'monotonic' });
  });

  it('lets it hurt clients, and servers of which nothing else is known', async () => {
    const reasons = { 'clock-jump': 'monotonic' };
    await using onClient = await whereApplicable(kind, reasons).inject([nodeHere('client')], spec);
    expect(onClient.evidence).toEqual({ acted: true });
    await using onServer = await whereApplicable(kind, { stall: 'no' }).inject([nodeHere()], spec);
    expect(onServer.evidence).toEqual({ acted: true });
  });
});

/** The C sources are compiled into an image; that they are free of warnings is known there. */
it.skipIf(spawnSync('gcc', ['--version']).status !== 0)('the shim shows the time that its page says', () => {
  const sources = join(import.meta.dirname, '../../../docker/shim');
  const library = join(folder, 'shim.so');
  const clock = readFileSync(join(sources, 'clock.c'), 'utf8').replace(
    '/lockpick-controls/clock',
    join(folder, 'clock'),
  );
  writeFileSync(join(folder, 'clock.c'), clock);
  const flags = '-O2 -fPIC -shared -nostdlib -ffreestanding -fno-stack-protector -fno-builtin -I';
  execFileSync('gcc', [...flags.split(' '), sources, '-o', library, join(folder, 'clock.c')]);
  const page = Buffer.alloc(4096);
  page.writeBigInt64LE(1n, 0);
  page.writeBigInt64LE(-86_400_000_000_000n, 128 + 8);
  writeFileSync(join(folder, 'clock'), page);
  const before = Date.now();
  const said = execFileSync('date', ['+%s%3N'], {
    env: { ...process.env, LD_PRELOAD: library },
    encoding: 'utf8',
  });
  const wouldBe = Number(said) + 86_400_000;
  expect(wouldBe).toBeGreaterThanOrEqual(before);
  expect(wouldBe).toBeLessThanOrEqual(Date.now());
});
