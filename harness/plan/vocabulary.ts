// Everything that a plan may name, gathered from the registries.

import { backends } from '../backends/index.ts';
import { DEFAULT_VARIANT } from '../contract/backend.ts';
import { millis } from '../history/op.ts';
import { faultNames, scenarios } from '../nemesis/schedule.ts';
import { defences } from '../postgres-store/defences.ts';
import type { Vocabulary } from './plan.ts';
import { workloads } from '../../workloads/index.ts';

export const vocabulary: Vocabulary = {
  backends,
  workloads: workloads.map(({ name }) => name),
  defences: defences.map(({ name }) => name),
  scenarios: scenarios.map(({ name }) => name),
  faults: faultNames,
  images: [
    ...new Set([
      ...backends
        .flatMap((backend) =>
          [DEFAULT_VARIANT, ...(backend.variants ?? []).map(({ name }) => name)].flatMap((variant) =>
            backend.servers({ variant, ttlMillis: millis(0) }),
          ),
        )
        .map(({ image }) => image),
      'postgres',
      'client',
      'sandbox',
    ]),
  ],
};
