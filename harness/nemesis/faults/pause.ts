// The fault `pause`: the node's process stands still and does not know it, as in a long garbage collection or a
// suspended virtual machine. SIGSTOP through the engine; with the parameter `freezer: true` the engine's own freezer,
// which also stops the children of a server that has any. Proved by the process's state, and by silence where asked.

import { monotonicClock, monotonicOrigin, type Clock } from '../../clock.ts';
import type { Node, NodeState } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import type { FaultSpec, NodeFaultKind } from '../../contract/fault.ts';
import { millis, type JsonRecord, type Millis } from '../../history/op.ts';
import { canBeProbed, millisSince, putInForce, stateWithin } from './scope.ts';

/** A signal arrives within microseconds, except at a thread that waits for a disk. */
const STOP_TIME_LIMIT = millis(1_000);
const RESUME_TIME_LIMIT = millis(5_000);
const RESUME_ATTEMPTS = 3;
const ANSWER_TIME_LIMIT = millis(30_000);
/** Longer than any server here takes for its probe; shorter than the pause itself. */
const SILENCE_MILLIS = 250;

type Held = 'stopped' | 'frozen';

/** Acts in about 20 ms; `inject` resolves when it is proved, for a node with a probe about 0.3 s later. */
export function pauseFault(): NodeFaultKind {
  const clock = monotonicClock(monotonicOrigin());
  return {
    name: 'pause',
    summary: 'stops the process (SIGSTOP, or the freezer) and lets it go on later, unaware',
    inject: (node, spec) => {
      const held: Held = spec.params?.['freezer'] === true ? 'frozen' : 'stopped';
      return putInForce(
        () => pause(node, spec, held, clock),
        () => resume(node, held, clock),
      );
    },
  };
}

/** The signal first, then the proof. undefined: it did not act, for the node was gone or went on all the same. */
async function pause(node: Node, spec: FaultSpec, held: Held, clock: Clock): Promise<JsonRecord | undefined> {
  const began = clock.now();
  await (held === 'frozen' ? node.freeze() : node.signal('SIGSTOP'));
  const deliveredMillis = millisSince(clock, began);
  const seen = await stateWithin(node, [held, 'exited'], { clock, timeLimit: STOP_TIME_LIMIT });
  if (seen.kind !== held) return undefined;
  const evidence = { state: held, pid: seen.pid, deliveredMillis, provedMillis: millisSince(clock, began) };
  if (!canBeProbed(node)) return evidence;
  const silenceMillis = Math.min(SILENCE_MILLIS, spec.durationMillis / 2);
  const probe = await node.probe(millis(silenceMillis));
  return probe === 'silent' ? { ...evidence, probe, silenceMillis } : undefined;
}

async function resume(node: Node, held: Held, clock: Clock): Promise<JsonRecord> {
  const began = clock.now();
  const seen = await letGo(node, held, clock);
  const resumedMillis = millisSince(clock, began);
  if (seen.kind === 'exited' || !(await answers(node, ANSWER_TIME_LIMIT)))
    return { state: 'exited', resumedMillis };
  return { state: seen.kind, resumedMillis, answeredMillis: millisSince(clock, began) };
}

/** Throws the first error, but only after every attempt. */
async function letGo(node: Node, held: Held, clock: Clock): Promise<NodeState> {
  let failure: unknown;
  for (let attempt = 0; attempt < RESUME_ATTEMPTS; attempt++) {
    try {
      await (held === 'frozen' ? node.thaw() : node.signal('SIGCONT'));
      const seen = await stateWithin(node, ['running', 'exited'], { clock, timeLimit: RESUME_TIME_LIMIT });
      if (seen.kind !== held) return seen;
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure ?? new HarnessError('environment', `node ${node.name} is still ${held} after the pause`);
}

/** false: it exited meanwhile, as when it was killed under the pause; that is for others to undo. */
async function answers(node: Node, timeLimit: Millis): Promise<boolean> {
  try {
    if (canBeProbed(node)) await node.ready(timeLimit);
    return true;
  } catch (error) {
    if ((await node.state()).kind === 'exited') return false;
    throw error;
  }
}
