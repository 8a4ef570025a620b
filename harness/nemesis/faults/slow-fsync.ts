// The fault `slow-fsync`: what a server writes reaches its disk late: every fsync and fdatasync of its process takes so
// much longer, as on a disk that many share. By the shim, so for programs that call the C library. Proved by the
// shim's count of the calls that it held back: a server that never asks for its writes to be on disk is not slowed.

import { monotonicClock, monotonicOrigin, type Clock } from '../../clock.ts';
import type { Node } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import type { NodeFaultKind } from '../../contract/fault.ts';
import { millis, nanosOf, type JsonRecord } from '../../history/op.ts';
import { readCounters, setControls } from './controls.ts';
import { millisSince, putInForce } from './scope.ts';

const EFFECT_TIME_LIMIT = millis(3_000);
const POLL = millis(20);

/** Acts in about 80 ms; `inject` resolves when the first call was held back. */
export function slowFsyncFault(): NodeFaultKind {
  const clock = monotonicClock(monotonicOrigin());
  return {
    name: 'slow-fsync',
    summary: 'lets every fsync of a server take so much longer (parameter `delayMillis`)',
    hurts: 'resources',
    inject: (node, { params }) => {
      const delayMillis = params?.['delayMillis'];
      if (typeof delayMillis !== 'number' || !(delayMillis > 0))
        throw new HarnessError('internal', `a slow-fsync needs delayMillis, not ${JSON.stringify(params)}`);
      const began = clock.now();
      return putInForce(
        async () => {
          if ((await setControls(node, 'disk', [])) === undefined) return undefined;
          const before = await readCounters(node, 'disk');
          await setControls(node, 'disk', [Math.round(delayMillis * 1e6)]);
          const setMillis = millisSince(clock, began);
          const seen = await heldSince(node, before, clock);
          return seen && { delayMillis, setMillis, ...seen, provedMillis: millisSince(clock, began) };
        },
        async () => {
          if ((await setControls(node, 'disk', [])) === undefined) return { heldBack: null };
          const [heldBack] = await readCounters(node, 'disk');
          return { heldBack, delayMillis: 0 };
        },
      );
    },
  };
}

/** undefined: nothing was held back in time. */
async function heldSince(
  node: Node,
  [callsBefore, nanosBefore]: readonly [number, number],
  clock: Clock,
): Promise<JsonRecord | undefined> {
  const deadline = clock.now() + nanosOf(EFFECT_TIME_LIMIT);
  while (clock.now() < deadline) {
    const [calls, held] = await readCounters(node, 'disk');
    if (calls > callsBefore)
      return {
        heldBack: calls - callsBefore,
        meanMillis: Math.round((held - nanosBefore) / (calls - callsBefore) / 1e4) / 100,
      };
    await clock.sleep(POLL);
  }
  return undefined;
}
