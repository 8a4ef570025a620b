// What fault kinds share: a fault in force heals once, whoever asks and however often; and a node's state is waited for.

import type { Clock } from '../../clock.ts';
import type { Node, NodeState } from '../../contract/cluster.ts';
import { messageOf } from '../../contract/errors.ts';
import type { ActiveFault, FaultKind, NodeFaultKind } from '../../contract/fault.ts';
import { millis, nanosOf, type JsonRecord, type Millis, type Nanos } from '../../history/op.ts';

/**
 * Runs `act`, whose answer is the evidence (undefined: it did nothing). If it throws, heals at once, so that nothing is
 * left in force, and throws its error. `heal` undoes what was done and says what it saw; it runs once, and every
 * disposal waits for it and gets its error.
 */
export async function putInForce(
  act: () => Promise<JsonRecord | undefined>,
  heal: () => Promise<JsonRecord>,
): Promise<ActiveFault> {
  try {
    return faultInForce(await act(), heal);
  } catch (error) {
    try {
      await heal();
    } catch (healError) {
      throw new AggregateError([error, healError], messageOf(error), { cause: healError });
    }
    throw error;
  }
}

/** A fault whose evidence is known. */
export function faultInForce(evidence: JsonRecord | undefined, heal: () => Promise<JsonRecord>): ActiveFault {
  let healed: JsonRecord | undefined;
  let healing: Promise<void> | undefined;
  return {
    evidence,
    get healed() {
      return healed;
    },
    [Symbol.asyncDispose]: () => {
      healing ??= heal().then((seen) => void (healed = seen));
      return healing;
    },
  };
}

/** Injects `kind` into every target at once. What was seen on several nodes stands under their names. */
export function onEach(kind: NodeFaultKind): FaultKind {
  return {
    ...kind,
    inject: async (nodes, spec) => {
      const [only] = nodes;
      if (only !== undefined && nodes.length === 1) return kind.inject(only, spec);
      const attempts = await Promise.allSettled(
        nodes.map(async (node) => ({ node, fault: await kind.inject(node, spec) })),
      );
      const active = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
      const byName = (seen: (fault: ActiveFault) => JsonRecord | undefined): JsonRecord =>
        Object.fromEntries(active.map(({ node, fault }) => [node.name, seen(fault) ?? null]));
      return putInForce(
        async () => {
          for (const attempt of attempts) if (attempt.status === 'rejected') throw attempt.reason;
          return active.every(({ fault }) => fault.evidence !== undefined)
            ? byName(({ evidence }) => evidence)
            : undefined;
        },
        async () => {
          const healings = await Promise.allSettled(
            active.map(async ({ fault }) => fault[Symbol.asyncDispose]()),
          );
          for (const healing of healings) if (healing.status === 'rejected') throw healing.reason;
          return byName(({ healed }) => healed);
        },
      );
    },
  };
}

const POLL = millis(2);

/** The node's state as soon as it is one of `kinds`, or the one it is in when the time is up. */
export async function stateWithin(
  node: Node,
  kinds: readonly NodeState['kind'][],
  { clock, timeLimit }: { readonly clock: Clock; readonly timeLimit: Millis },
): Promise<NodeState> {
  const deadline = clock.now() + nanosOf(timeLimit);
  for (;;) {
    const seen = await node.state();
    if (kinds.includes(seen.kind) || clock.now() > deadline) return seen;
    await clock.sleep(POLL);
  }
}

/** Whether there is a question to put to the node; a client has none, only its state. */
export function canBeProbed({ spec }: Node): boolean {
  return spec.ready !== undefined || spec.port !== undefined;
}

/** Milliseconds since `began`, to the microsecond, for evidence. */
export function millisSince(clock: Clock, began: Nanos): number {
  return Math.round((clock.now() - began) / 1e3) / 1e3;
}
