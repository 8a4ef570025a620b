// Does a right recipe keep what theory promises of it, whatever happens? Each recipe without a flaw runs under `swarm`, one
// seed after another, in this one process; what it must never show is counted, and how much memory the process takes.
// Usage: node bench/simulated-seeds.ts [seeds, 2000] [part of backend/recipe] [seconds of load, 6] [first seed, 1]

import { breaksPromise } from '../checkers/promises.ts';
import type { SafetyFinding } from '../checkers/verdict.ts';
import { backends } from '../harness/backends/index.ts';
import type { History } from '../harness/history/history.ts';
import { catalogue, settingsOf } from '../harness/plan/catalogue.ts';
import { parsePlan } from '../harness/plan/plan.ts';
import { vocabulary } from '../harness/plan/vocabulary.ts';
import { replayCommand } from '../harness/stored/stored-run.ts';
import { scenarioNamed } from '../harness/nemesis/schedule.ts';
import { refusal } from '../harness/stages/on-simulation.ts';
import { simulate } from '../harness/stages/simulated-run.ts';

const [seeds = '2000', only = '', seconds = '6', firstSeed = '1'] = process.argv.slice(2);
const REPORT_EVERY = 100;

/** What takes from a server what it had promised: its disk, or the time by which it keeps leases. */
const LOSE_PROMISES = ['restart-empty', 'clock-jump', 'clock-drift', 'clock-strobe'];
/** A majority has it on its disks, and leases are kept by clocks that nobody sets. */
const AGREED: ReadonlySet<string> = new Set(['etcd', 'zookeeper']);
/** One server, or each of several: nothing is lost while it keeps disk and time. */
const ON_DISK: ReadonlySet<string> = new Set(['redis-single', 'redlock', 'postgres']);

/** Whether theory says that this recipe never shows it. */
function isPromised(backend: string, finding: SafetyFinding, history: History): boolean {
  const { code } = finding;
  if (code === 'foreign-release' || code === 'not-linearizable') return true;
  if (code === 'double-grant' || code === 'token-regression' || breaksPromise(finding, history.header.meta)) {
    if (AGREED.has(backend)) return true;
    if (!ON_DISK.has(backend)) return false;
    const clients = new Set(history.operations.map(({ process }) => process.split('.')[0]));
    return !history.faults.some(
      ({ fault, targets }) => LOSE_PROMISES.includes(fault) && targets.some((target) => !clients.has(target)),
    );
  }
  return false;
}

const faults = scenarioNamed('swarm')?.faults ?? [];
for (const { name: backend, recipes } of backends)
  for (const { name: recipe, flaw } of recipes) {
    if (flaw !== undefined || !`${backend}/${recipe}`.includes(only)) continue;
    if (refusal({ backend, on: 'simulation' }, faults) !== undefined) continue;
    const cell = catalogue.find((each) => each.backend === backend && each.recipe === recipe);
    if (cell === undefined) continue;
    const names = { backend, recipe, workload: cell.workload, fault: 'swarm' };
    const seen = new Map<string, number>();
    let broken = 0;
    let operations = 0;
    let acted = 0;
    for (let nth = 0; nth < Number(seeds); nth++) {
      const seed = String(Number(firstSeed) + nth);
      const timeLimitMillis = `${seconds}s`;
      const plan = parsePlan(vocabulary, settingsOf(cell), names, {
        seed,
        on: 'simulation',
        timeLimitMillis,
      });
      const { verdict, history } = await simulate(plan);
      operations += history.operations.length;
      acted += verdict.power.faults.acted;
      for (const code of new Set(verdict.findings.map((finding) => finding.code)))
        seen.set(code, (seen.get(code) ?? 0) + 1);
      for (const finding of verdict.findings.filter((each) => isPromised(backend, each, history))) {
        broken += 1;
        process.stdout.write(
          `  ! ${finding.code}, seed ${seed}: ${finding.story}\n    ${replayCommand(plan)}\n`,
        );
      }
      if ((nth + 1) % REPORT_EVERY === 0) {
        const { rss, heapUsed } = process.memoryUsage();
        process.stderr.write(
          `${backend}/${recipe}: ${nth + 1} seeds, ${broken} broken promises, ${Math.round(rss / 2 ** 20)} MB, heap ${Math.round(heapUsed / 2 ** 20)} MB\n`,
        );
      }
    }
    const others = [...seen].map(([code, runs]) => `${code} in ${runs}`).join(', ');
    process.stdout.write(
      `${backend}/${recipe}: ${seeds} seeds, ${operations} operations, ${acted} faults acted: ${broken} broken promises${others === '' ? '' : `; runs with ${others}`}\n`,
    );
  }
