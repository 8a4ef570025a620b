// From what the user chose to the plans of a command: cells × seeds. The order is that of the cells, and of the seeds
// within a cell; shards are cut from it.

import type { LoadedAdapter } from '../settings/adapters.ts';
import { SEEDS, type ProfileName } from '../plan/choices.ts';
import { PROFILES, TELLING } from '../comparison/profiles.ts';
import { HarnessError, sayingWhere } from '../contract/errors.ts';
import { FIXED } from '../nemesis/schedule.ts';
import { parsePlan, type Plan, type PlanInput } from '../plan/plan.ts';
import { readRunJson } from '../stored/results.ts';
import {
  chosenFields,
  inTheUsersWords,
  listChoice,
  textChoice,
  wholeNumber,
  type Choices,
} from '../settings/settings.ts';
import { vocabulary } from '../plan/vocabulary.ts';
import { planLayers, type Naming } from './cells.ts';

/** What runs if nothing is named. */
const DEFAULT_BACKEND = 'redis-single';

export interface Selection {
  /** From the command line; empty: what the config, a profile or the defaults say. */
  readonly patterns: readonly string[];
  readonly choices: Choices;
  readonly adapters: readonly LoadedAdapter[];
  readonly profile?: ProfileName;
  /** The first seed. */
  readonly seed: string;
}

/** Each plan once. Throws HarnessError('usage') in the user's words. */
export function plansOf(selection: Selection): readonly Plan[] {
  const { choices, adapters, profile: profileName, seed } = selection;
  const profile = profileName === undefined ? undefined : PROFILES[profileName];
  const seeds = wholeNumber(choices, 'seeds', { ...SEEDS, fallback: profile?.seeds ?? 1 });
  const {
    backend: _b,
    variant: _v,
    recipe: _r,
    fault: _f,
    workload: _w,
    seed: _s,
    ...settings
  } = chosenFields(choices, 'flag', 'environment', 'config');
  const images = imagesOf(choices);
  const overrides: PlanInput = {
    ...settings,
    ...(images !== undefined && { images }),
    ...scheduleOf(choices),
  };
  const naming: Naming = {
    flags: chosenFields(choices, 'flag'),
    ambient: chosenFields(choices, 'environment', 'config'),
    adapters,
  };
  return inTheUsersWords(choices, () => {
    const layers = layersOf(selection, naming);
    const plans = layers.flatMap((layer) =>
      Array.from({ length: seeds }, (_, index) =>
        parsePlan(vocabulary, layer, overrides, { seed: seedAt(seed, index) }),
      ),
    );
    return [...new Map(plans.map((plan) => [JSON.stringify(plan), plan])).values()];
  });
}

function layersOf({ patterns, choices, profile, adapters }: Selection, naming: Naming): readonly PlanInput[] {
  if (patterns.length > 0) return patterns.flatMap((pattern) => planLayers(pattern, naming));
  if (profile !== undefined) return profileLayers(profile, naming);
  const { backend = naming.ambient.backend } = naming.flags;
  const configured = listChoice(choices, 'cells');
  if (configured.length > 0 && naming.flags.backend === undefined)
    return configured.flatMap((pattern) => planLayers(pattern, naming));
  if (adapters.length > 0 && backend === undefined)
    return adapters.flatMap(({ adapter }) => planLayers(`${adapter.backend}/${adapter.name}/*`, naming));
  return planLayers(typeof backend === 'string' ? backend : DEFAULT_BACKEND, naming);
}

/** Of adapters every fault of their servers, beside what the profile has. */
function profileLayers(name: ProfileName, naming: Naming): readonly PlanInput[] {
  const own = naming.adapters.flatMap(({ adapter }) =>
    planLayers(`${adapter.backend}/${adapter.name}/*`, naming),
  );
  if (PROFILES[name].cells === 'all') return [...planLayers('*', { ...naming, adapters: [] }), ...own];
  return TELLING.flatMap(({ cell, timeLimitMillis }) =>
    planLayers(cell, naming).map((layer) => ({ ...layer, timeLimitMillis })),
  );
}

/** The `index`-th seed: 42, 43, … for a number, `text`, `text+1`, … for a text. */
function seedAt(first: string, index: number): string {
  if (index === 0) return first;
  return /^\d{1,15}$/.test(first) ? String(Number(first) + index) : `${first}+${index}`;
}

/** The schedule of the file that was chosen, and the fault that carries it out. */
function scheduleOf(choices: Choices): PlanInput {
  const path = textChoice(choices, 'schedule');
  if (path === undefined) return {};
  const fault = choices.get('fault');
  if (fault?.from === 'flag' && fault.value !== FIXED)
    throw new HarnessError('usage', `${fault.written}: --schedule takes its place; give one of the two`);
  return {
    fault: FIXED,
    schedule: sayingWhere(choices.get('schedule')?.written ?? path, () =>
      readRunJson(path, { remedy: 'docs/schedules.md describes the format' }),
    ),
  };
}

function imagesOf(choices: Choices): unknown {
  const choice = choices.get('image');
  if (choice === undefined || !Array.isArray(choice.value)) return choice?.value;
  const pairs: readonly unknown[] = choice.value;
  return Object.fromEntries(
    pairs.map((pair) => {
      const text = String(pair);
      const at = text.indexOf('=');
      if (at < 1 || at === text.length - 1)
        throw new HarnessError('usage', `${choice.written}: write name=reference, e.g. redis=redis:8.4`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}
