// The fault `stall`: a server stands still for a moment, shorter than a lease, and answers late what it was asked
// meanwhile: a fork of a large process, a slow disk, a neighbour on the same machine. It is a `pause` of which the
// latency is measured: a question that was put in front of it and answered behind it.

import { monotonicClock, monotonicOrigin } from '../../clock.ts';
import { HarnessError } from '../../contract/errors.ts';
import type { NodeFaultKind } from '../../contract/fault.ts';
import { millis } from '../../history/op.ts';
import { pauseFault } from './pause.ts';
import { faultInForce, millisSince } from './scope.ts';

const ANSWER_TIME_LIMIT = millis(30_000);

/** Acts in about 20 ms; for servers. */
export function stallFault(): NodeFaultKind {
  const clock = monotonicClock(monotonicOrigin());
  const pause = pauseFault();
  return {
    name: 'stall',
    summary: 'stops a server (SIGSTOP) for less than a lease; its answers come late',
    inject: async (node, spec) => {
      if (node.spec.role === 'client')
        throw new HarnessError('internal', `node ${node.name} answers nobody and cannot stall`);
      const stopped = await pause.inject(node, spec);
      const asked = clock.now();
      // In a node that is not stopped it would show nothing.
      const answered =
        stopped.evidence &&
        node.probe(ANSWER_TIME_LIMIT).then(
          (answer) => ({ answer, latencyMillis: millisSince(clock, asked) }),
          () => ({ answer: 'none' }),
        );
      return faultInForce(stopped.evidence, async () => {
        await stopped[Symbol.asyncDispose]();
        return { ...stopped.healed, ...(await answered) };
      });
    },
  };
}
