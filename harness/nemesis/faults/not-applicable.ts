// A fault that cannot hurt where a plan wants it: it is said so, with the reason, in the history and in what is judged
// from that. Never skipped in silence (I7): a run whose faults could not act says nothing about them.

import type { ActiveFault, FaultKind } from '../../contract/fault.ts';
import { faultInForce } from './scope.ts';

/** A fault that does nothing, and says why. */
export function notApplicable(reason: string): ActiveFault {
  return faultInForce(undefined, () => Promise.resolve({ notApplicable: reason }));
}

/** `kind`, except on servers if `reasons` has one why it cannot hurt these. */
export function whereApplicable(kind: FaultKind, reasons: Readonly<Record<string, string>>): FaultKind {
  const reason = reasons[kind.name];
  if (reason === undefined) return kind;
  return {
    ...kind,
    inject: (nodes, spec) =>
      nodes.some((node) => node.spec.role === 'server')
        ? Promise.resolve(notApplicable(reason))
        : kind.inject(nodes, spec),
  };
}
