// Where runs take place if the user leaves that open (`--on auto`): in containers if an engine answers, else simulated,
// which is said before anything else, because a simulated verdict is one on a model.

import { cellName } from '../plan/cell-name.ts';
import { findEngine } from '../cluster/docker/engine.ts';
import type { Comparison } from '../comparison/comparison.ts';
import { HarnessError } from '../contract/errors.ts';
import { PLACE_CHOICES } from '../plan/choices.ts';
import { knownAt } from '../plan/plan.ts';
import { inTheUsersWords, type Choices } from '../settings/settings.ts';
import { containersRefuse } from '../stages/only-simulated.ts';

/** With `auto` decided. Throws HarnessError('usage') if there is no such place. */
export async function placed(
  choices: Choices,
  tryEngine: () => Promise<unknown> = findEngine,
): Promise<Choices> {
  const on = choices.get('on');
  if (on === undefined) return choices;
  inTheUsersWords(choices, () => knownAt('on', 'place', { value: on.value, names: PLACE_CHOICES }));
  if (on.value !== 'auto') return choices;
  const decided = new Map(choices);
  decided.delete('on');
  try {
    await tryEngine();
  } catch (error) {
    if (!(error instanceof HarnessError) || error.code !== 'environment') throw error;
    process.stderr.write(
      `simulated, not run: ${error.message}, so servers, network and time are models of the real ones${
        error.remedy === undefined ? '' : ` (for containers: ${error.remedy})`
      }\n`,
    );
    decided.set('on', { ...on, value: 'simulation' });
  }
  return decided;
}

/**
 * Without what cannot be done where it should, which is told. Throws HarnessError('usage') if a plan's parts do not fit
 * together, if nothing is left, or if it was named, unless the place was left open: what was named is not left out.
 */
export async function possible(
  comparison: Comparison,
  chosen: Choices,
  patterns: readonly string[],
): Promise<Comparison> {
  const { plannedRun } = await import('../plan/planned-run.ts');
  // Of a batch, too, each is refused before the first one starts.
  const planned = await Promise.all(
    comparison.plans.map(async (plan) => ({ plan, faults: (await plannedRun(plan)).faults })),
  );
  const simulated = planned.some(({ plan }) => plan.on === 'simulation')
    ? (await import('../stages/on-simulation.ts')).refusal
    : undefined;
  const judged = planned.map(({ plan, faults }) => ({
    plan,
    refused: plan.on === 'simulation' ? simulated?.(plan, faults) : containersRefuse(faults),
  }));
  const left = judged.filter(({ refused }) => refused !== undefined);
  const plans = judged.filter(({ refused }) => refused === undefined).map(({ plan }) => plan);
  const [first] = left;
  if (first?.refused === undefined) return comparison;
  const unnamed = patterns.every((pattern) => pattern.includes('*'));
  if ((chosen.get('on')?.value !== 'auto' && !unnamed) || plans.length === 0) throw first.refused;
  for (const [message, of] of Map.groupBy(left, ({ refused }) => refused?.message ?? '')) {
    const names = [...new Set(of.map(({ plan }) => cellName(plan)))];
    process.stderr.write(`left out, because ${message}: ${names.join(', ')}\n`);
  }
  return { ...comparison, plans };
}
