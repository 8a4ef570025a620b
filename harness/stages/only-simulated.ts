// What only a simulation can do to a server; what it cannot do is in `on-simulation.ts`. Pure.

import { HarnessError } from '../contract/errors.ts';

const POWER_LOSS = 'power-loss';

/** Why a plan that may have those kinds of faults cannot run in containers; undefined: it can. */
export function containersRefuse(faults: readonly string[]): HarnessError | undefined {
  return faults.includes(POWER_LOSS)
    ? new HarnessError(
        'usage',
        `the fault ${POWER_LOSS} is only simulated: containers share a kernel, which keeps what a server wrote, synced or not`,
        { remedy: 'add --on simulation' },
      )
    : undefined;
}
