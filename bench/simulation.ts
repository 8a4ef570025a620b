// How fast a simulated run is: recorded operations for each second of processor time, everything on: clients, recorder,
// journal, nemesis. Of classes of operations, because one of them may be one command to one server, ten to five, or a
// transaction that three members agree on. Of the first run of a process, and of the best of the next three, when the
// engine has compiled what it runs, as in most of many seeds. Usage: node bench/simulation.ts [seconds of load]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settingsOf } from '../harness/plan/catalogue.ts';
import { onSimulation } from '../harness/stages/on-simulation.ts';
import { parsePlan, type Plan } from '../harness/plan/plan.ts';
import { createRunDirectory } from '../harness/stored/results.ts';
import { run } from '../harness/run.ts';
import { vocabulary } from '../harness/plan/vocabulary.ts';

const CELLS = [
  { backend: 'redis-single', recipe: 'fenced-incr', fault: 'pause-holder', workload: 'mutex' },
  { backend: 'redis-single', recipe: 'fenced-incr', fault: 'pause-holder', workload: 'counter' },
  { backend: 'redlock', recipe: 'redlock', fault: 'pause-holder', workload: 'mutex' },
  { backend: 'etcd', recipe: 'lease-queue', fault: 'pause-holder', workload: 'mutex' },
];

const seconds = Number(process.argv[2] ?? 60);
const never = new AbortController().signal;
for (const cell of CELLS) {
  const names = { ...cell, variant: 'default' };
  const plan = parsePlan(vocabulary, names, settingsOf(names), {
    seed: '1',
    on: 'simulation',
    timeLimitMillis: `${seconds}s`,
  });
  const first = await rateOf(plan);
  const again = [await rateOf(plan), await rateOf(plan), await rateOf(plan)];
  const said = [first, Math.max(...again)].map((rate) => `${Math.round(rate).toLocaleString('en')}/s`);
  process.stdout.write(`${plan.backend}/${plan.recipe}/${plan.workload}: ${said.join(', again ')}\n`);
}

async function rateOf(plan: Plan): Promise<number> {
  const out = mkdtempSync(join(tmpdir(), 'lockpick-bench-'));
  try {
    const { parts, during } = await onSimulation().partsFor(plan);
    let operations = 0;
    const observer = {
      phase: () => undefined,
      event: ({ type }: { readonly type: string }) => {
        if (type === 'invoke') operations += 1;
      },
    };
    const directory = createRunDirectory(out, plan);
    const before = process.cpuUsage();
    await during(() => run(plan, parts, directory, observer, { wrapUp: never, abandon: never }));
    const { user, system } = process.cpuUsage(before);
    return operations / ((user + system) / 1e6);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}
