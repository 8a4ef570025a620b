// Every cell that can be simulated shows in simulation what theory expects of it, and gives the same history to the byte
// in another process (I6).

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from 'vitest';
import { cellName } from '../plan/cell-name.ts';
import { replayCommand } from '../stored/stored-run.ts';
import { planOfCell, simulatedCells } from './simulated-cells.fixture.ts';
import { simulate } from './simulated-run.ts';

const SEED = '1';

/** Cell → what its history is in another process, which goes through them at the same time and ends with these tests. */
function hashesElsewhere(): ReadonlyMap<string, PromiseWithResolvers<string>> {
  const program = join(import.meta.dirname, 'simulated-cells.fixture.ts');
  const child = spawn(process.execPath, [program, SEED], { stdio: ['ignore', 'pipe', 'inherit'] });
  const hashes = new Map(simulatedCells.map((cell) => [cellName(cell), Promise.withResolvers<string>()]));
  afterAll(() => void child.kill());
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [name = '', hash = ''] = line.split(' ');
    hashes.get(name)?.resolve(hash);
  });
  child.on('close', (code) => {
    for (const { promise, reject } of hashes.values()) {
      promise.catch(() => undefined);
      reject(new Error(`the other process ended with ${code}`));
    }
  });
  return hashes;
}

describe('a simulated cell', () => {
  const elsewhere = hashesElsewhere();

  it.each(simulatedCells.map((cell) => ({ name: cellName(cell), cell })))(
    '$name shows what theory expects, the same in two processes',
    async ({ name, cell }) => {
      const plan = planOfCell(cell, SEED);
      const { verdict, hash } = await simulate(plan);
      expect(verdict.asExpected, `${verdict.surprises.join('; ')}: ${replayCommand(plan)}`).toBe(true);
      expect(await elsewhere.get(name)?.promise).toBe(hash);
    },
    240_000,
  );
});
