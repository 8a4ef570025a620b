// Does a right recipe keep what theory promises of it, whatever happens? Each recipe without a flaw runs under `swarm`, one
// seed after another, in this one process; what it must never show is counted, and how much memory the process takes.
// Usage: node bench/simulated-seeds.ts [seeds, 2000] [part of backend/recipe] [seconds of load, 5] [first seed, 1]

import { replayCommand } from '../harness/stored/stored-run.ts';
import { simulate } from '../harness/stages/simulated-run.ts';
import { brokenPromises, rightCells, swarmPlan } from '../harness/testing/swarm-seeds.ts';

const [seeds = '2000', only = '', seconds = '5', firstSeed = '1'] = process.argv.slice(2);
const REPORT_EVERY = 100;

for (const cell of rightCells) {
  const name = `${cell.backend}/${cell.recipe}`;
  if (!name.includes(only)) continue;
  const seen = new Map<string, number>();
  let broken = 0;
  let operations = 0;
  let acted = 0;
  for (let nth = 0; nth < Number(seeds); nth++) {
    const seed = String(Number(firstSeed) + nth);
    const plan = swarmPlan(cell, seed, `${seconds}s`);
    const run = await simulate(plan);
    operations += run.history.operations.length;
    acted += run.verdict.power.faults.acted;
    for (const code of new Set(run.verdict.findings.map((finding) => finding.code)))
      seen.set(code, (seen.get(code) ?? 0) + 1);
    for (const { code, story } of brokenPromises(cell, run)) {
      broken += 1;
      process.stdout.write(`  ! ${code}, seed ${seed}: ${story}\n    ${replayCommand(plan)}\n`);
    }
    if ((nth + 1) % REPORT_EVERY === 0) {
      const { rss, heapUsed } = process.memoryUsage();
      process.stderr.write(
        `${name}: ${nth + 1} seeds, ${broken} broken promises, ${Math.round(rss / 2 ** 20)} MB, heap ${Math.round(heapUsed / 2 ** 20)} MB\n`,
      );
    }
  }
  const others = [...seen].map(([code, runs]) => `${code} in ${runs}`).join(', ');
  process.stdout.write(
    `${name}: ${seeds} seeds, ${operations} operations, ${acted} faults acted: ${broken} broken promises${others === '' ? '' : `; runs with ${others}`}\n`,
  );
}
