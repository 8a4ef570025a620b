// Made-up runs on disk for tests of comparisons and reporters: real plans, and verdicts that say what a test needs.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SafetyCode, Verdict } from '../../checkers/verdict.ts';
import { nanos } from '../history/op.ts';
import { parsePlan, type Plan, type PlanInput } from '../plan/plan.ts';
import { storedPlanText, type Surroundings } from '../stored/stored-run.ts';
import { vocabulary } from '../plan/vocabulary.ts';

export function planOf(names: string, seed: string, settings: PlanInput = {}): Plan {
  const [backend, recipe, fault, workload] = names.split('/');
  return parsePlan(vocabulary, { backend, recipe, fault, workload, seed, ...settings });
}

export const SURROUNDINGS: Surroundings = {
  started: '2026-05-01T00:00:00.000Z',
  versions: { lockpick: '0.0.0' },
  images: { redis: { reference: 'redis:8', digest: 'sha256:abc' } },
  host: { cpus: 2, memoryBytes: 1, kernel: 'k', engine: 'e' },
};

/** `broken`: for each acted fault the codes that were found while it lasted. */
export function verdictOf(
  options: {
    readonly outcome?: Verdict['outcome'];
    readonly grade?: Verdict['grade'];
    readonly acted?: number;
    readonly broken?: readonly SafetyCode[];
    readonly surprises?: readonly string[];
  } = {},
): Verdict {
  const { outcome = 'ok', grade = 'safe', acted = 4, broken = [], surprises = [] } = options;
  return {
    schemaVersion: 1,
    verdict: broken.length > 0 ? 'invalid' : 'valid',
    grade,
    expected: grade,
    asExpected: outcome === 'ok',
    findings: broken.map((code, index) => ({
      id: `f${index}`,
      code,
      lock: 'k1',
      processes: ['c1', 'c2'],
      ops: [index, index + 1],
      at: nanos(1_000_000_000 * (index + 1)),
      faults: [`fault${index}`],
      story: `c1 and c2 at ${index}`,
      evidence: {},
    })),
    liveness: [],
    stores: [],
    measures: {},
    power: {
      grants: 100,
      contendedHandoffs: 50,
      expiries: 0,
      faults: { planned: acted, acted, hitHold: acted },
      rateBound: null,
      warnings: [],
    },
    checkers: [],
    surprises,
    outcome,
  };
}

/** Writes what makes a directory a run that is done. */
export function storeRun(out: string, name: string, plan: Plan, verdict: Verdict | object): void {
  const path = join(out, name);
  mkdirSync(join(path, 'logs'), { recursive: true });
  writeFileSync(join(path, 'plan.json'), storedPlanText(plan, SURROUNDINGS));
  writeFileSync(join(path, 'verdict.json'), JSON.stringify(verdict));
}
