// The fault `restart-empty` (amnesia): a server ends and comes back with nothing on its disk, as a node does that is
// replaced, or that had never written to disk. SIGKILL, then a new container at the same address. Proved by its end and
// by its answering again out of a container that has not lived before.

import { monotonicClock, monotonicOrigin } from '../../clock.ts';
import type { NodeFaultKind } from '../../contract/fault.ts';
import { millisSince, putInForce } from './scope.ts';
import { restartServer, type RestartOptions } from './restart.ts';

/** Acts in about 70 ms; heals, by starting it again, in about 0.5 s. */
export function restartEmptyFault(options: RestartOptions = {}): NodeFaultKind {
  const clock = monotonicClock(monotonicOrigin());
  return {
    name: 'restart-empty',
    summary: 'ends a server (SIGKILL) and starts it again later with nothing on its disk',
    inject: (node) => {
      const began = clock.now();
      return putInForce(
        async () => {
          const before = await node.state();
          await node.signal('SIGKILL');
          const seen = await node.state();
          if (before.kind === 'exited' || seen.kind !== 'exited') return undefined;
          await node.reset();
          return { state: 'exited', pid: before.pid, emptied: true, provedMillis: millisSince(clock, began) };
        },
        async () => {
          const returning = clock.now();
          await restartServer(node, { clock, exitedAt: began }, options);
          return { state: (await node.state()).kind, readyMillis: millisSince(clock, returning) };
        },
      );
    },
  };
}
