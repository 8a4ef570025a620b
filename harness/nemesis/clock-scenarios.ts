// Scenarios in which a wall clock is wrong: of the server that leads, of a majority of servers that know nothing of each
// other, of a client. Pure functions of plan and seed, as those in `schedule.ts`.

import type { FaultSpec, Step, TargetSelector } from '../contract/fault.ts';
import { millis, type JsonRecord } from '../history/op.ts';
import { periodic, type Scenario, type ScheduleBasis } from './timing.ts';

/** Past the end of any lease, whenever it began. */
const JUMP_OF_TTL = 2;
/** Four seconds a second: a lease is over in a quarter of its time. */
const FAST_RATE = 3;

/** Whoever decides about leases. */
function deciders({ service }: ScheduleBasis): TargetSelector {
  return service.leads ? { kind: 'lead' } : { kind: 'servers', count: 'majority' };
}

interface Repeated {
  readonly target: (basis: ScheduleBasis) => TargetSelector;
  readonly params: (basis: ScheduleBasis) => JsonRecord;
  /** Of the TTL: how long the clock is wrong, and then right. */
  readonly wrong: number;
  readonly right: number;
}

function scenario(
  name: string,
  fault: string,
  summary: string,
  { target, params, wrong, right }: Repeated,
): Scenario {
  return {
    name,
    summary,
    faults: [fault],
    steps: (basis, random) => {
      const lastsMillis = basis.ttlMillis * wrong;
      const everyMillis = lastsMillis + basis.ttlMillis * right;
      return periodic(basis, random, { everyMillis, lastsMillis }, (atMillis): Step[] => {
        const spec: FaultSpec = {
          fault,
          target: target(basis),
          durationMillis: millis(Math.round(lastsMillis)),
          params: params(basis),
        };
        return [{ kind: 'at', atMillis, spec }];
      });
    },
  };
}

export const clockScenarios: readonly Scenario[] = [
  scenario(
    'clock-jump',
    'clock-jump',
    'the clock of the leading server, or of a majority of independent ones, jumps ahead by 2 × TTL and back',
    {
      target: deciders,
      params: ({ ttlMillis }) => ({ byMillis: ttlMillis * JUMP_OF_TTL }),
      wrong: 0.5,
      right: 1,
    },
  ),
  scenario('clock-back', 'clock-jump', 'the same clocks are set back by 2 × TTL, and right again later', {
    target: deciders,
    params: ({ ttlMillis }) => ({ byMillis: ttlMillis * -JUMP_OF_TTL }),
    wrong: 0.5,
    right: 1,
  }),
  scenario('clock-drift', 'clock-drift', 'the same clocks run four times too fast for 2 × TTL', {
    target: deciders,
    params: () => ({ rate: FAST_RATE }),
    wrong: 2,
    right: 1,
  }),
  scenario(
    'clock-strobe',
    'clock-strobe',
    'the same clocks are 2 × TTL ahead and right in turn, for a quarter of a TTL each',
    {
      target: deciders,
      params: ({ ttlMillis }) => ({ byMillis: ttlMillis * JUMP_OF_TTL, phaseMillis: ttlMillis / 4 }),
      wrong: 2,
      right: 1,
    },
  ),
  scenario(
    'clock-jump-client',
    'clock-jump',
    'the clock of a client chosen at random jumps ahead by 2 × TTL, and back',
    {
      target: () => ({ kind: 'random-client' }),
      params: ({ ttlMillis }) => ({ byMillis: ttlMillis * JUMP_OF_TTL }),
      wrong: 1,
      right: 0.5,
    },
  ),
];
