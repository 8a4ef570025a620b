// The fault `cpu-starve`: a node gets next to no processor time, as on an overbooked machine. A quota of the node's
// control group, through the engine; lifted by taking the quota away. Proved by the kernel's count of how often and how
// long the group was denied the processor: a node that wants none is not starved, and that is no effect.

import { monotonicClock, monotonicOrigin, type Clock } from '../../clock.ts';
import type { Node } from '../../contract/cluster.ts';
import type { NodeFaultKind } from '../../contract/fault.ts';
import { millis, nanosOf, type JsonRecord } from '../../history/op.ts';
import { notApplicable } from './not-applicable.ts';
import { millisSince, putInForce } from './scope.ts';

/** Of one processor: 2 ms of every 100. The kernel grants no less than 1. */
const SHARE = 0.02;
const EFFECT_TIME_LIMIT = millis(3_000);
const POLL = millis(50);

/** Acts in about 30 ms; `inject` resolves when the node was first denied the processor. */
export function cpuStarveFault(): NodeFaultKind {
  const clock = monotonicClock(monotonicOrigin());
  return {
    name: 'cpu-starve',
    summary: 'grants a process next to no processor time (parameter `share` of one processor: 0.02)',
    hurts: 'resources',
    inject: async (node, { params }) => {
      if ((await node.state()).kind === 'exited') return notApplicable('it has exited before');
      const share = typeof params?.['share'] === 'number' ? params['share'] : SHARE;
      const began = clock.now();
      const before = await node.throttling();
      return putInForce(
        async () => {
          await node.limitProcessor(share);
          const setMillis = millisSince(clock, began);
          const seen = await deniedSince(node, before, clock);
          return seen && { share, setMillis, ...seen, provedMillis: millisSince(clock, began) };
        },
        async () => {
          await node.limitProcessor(undefined);
          if ((await node.state()).kind === 'exited') return { state: 'exited' };
          // Free again: what is counted does not grow any more.
          const lifted = await node.throttling();
          await clock.sleep(POLL);
          const later = await node.throttling();
          return {
            deniedMillis: Math.round(lifted.throttledMillis - before.throttledMillis),
            deniedAfterwards: later.throttledPeriods - lifted.throttledPeriods,
          };
        },
      );
    },
  };
}

/** undefined: it was not denied anything in time. */
async function deniedSince(
  node: Node,
  before: Awaited<ReturnType<Node['throttling']>>,
  clock: Clock,
): Promise<JsonRecord | undefined> {
  const deadline = clock.now() + nanosOf(EFFECT_TIME_LIMIT);
  while (clock.now() < deadline) {
    const now = await node.throttling();
    const periods = now.throttledPeriods - before.throttledPeriods;
    if (periods > 0)
      return {
        deniedPeriods: periods,
        deniedMillis: Math.round(now.throttledMillis - before.throttledMillis),
      };
    await clock.sleep(POLL);
  }
  return undefined;
}
