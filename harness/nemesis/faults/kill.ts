// The faults `kill` and `power-loss`: the node's process ends at once, with whatever it had in memory, or of the whole
// machine what its disk had not. SIGKILL through the engine, or what a simulation does instead; healed by starting it
// again with its disk. A client comes back as a new process that must be greeted, which only the coordinator can do.
// Proved by the process's end, and by refusal where asked.

import { monotonicClock, monotonicOrigin, type Clock } from '../../clock.ts';
import type { Node } from '../../contract/cluster.ts';
import type { ActiveFault, NodeFaultKind } from '../../contract/fault.ts';
import { millis, type JsonRecord } from '../../history/op.ts';
import { restartServer, type RestartOptions } from './restart.ts';
import { canBeProbed, faultInForce, millisSince, putInForce } from './scope.ts';

const READY_TIME_LIMIT = millis(30_000);
/** A refusal comes at once; the time is for a busy machine. */
const REFUSAL_TIME_LIMIT = millis(5_000);

export interface KillOptions extends RestartOptions {
  /** Starts an exited client again and makes it join in. Without it a client is started like a server. */
  readonly restartClient?: (node: Node) => Promise<void>;
}

/** Ends the node's process, and tells what there is to tell of it. */
type End = (node: Node) => Promise<JsonRecord>;

const bySignal: End = async (node) => {
  await node.signal('SIGKILL');
  return {};
};

/** Acts in about 70 ms. */
export function killFault(options: KillOptions = {}): NodeFaultKind {
  return {
    name: 'kill',
    summary: 'ends the process (SIGKILL) and starts it again later',
    inject: (node) => endAndBringBack(node, bySignal, options),
  };
}

/** Only a simulation can take a machine's power: containers share a kernel, which keeps what was written and not synced. */
export function powerLossFault(end: End, options: KillOptions): NodeFaultKind {
  return {
    name: 'power-loss',
    summary:
      'takes the power: the process ends, what it wrote and did not sync is lost; starts it again later',
    inject: (node) => endAndBringBack(node, end, options),
  };
}

async function endAndBringBack(
  node: Node,
  end: End,
  { restartClient, ...restartOptions }: KillOptions,
): Promise<ActiveFault> {
  const clock = monotonicClock(monotonicOrigin());
  // A node that is already gone is not ours to bring back.
  const before = await node.state();
  if (before.kind === 'exited')
    return faultInForce(undefined, () => Promise.resolve({ state: 'exited before' }));
  const exitedAt = clock.now();
  const restart =
    node.spec.role === 'client' && restartClient !== undefined
      ? restartClient
      : (server: Node) => restartServer(server, { clock, exitedAt }, restartOptions);
  return putInForce(
    () => kill(node, before.pid, end, clock),
    () => bringBack(node, restart, clock),
  );
}

/** undefined: it did not act. */
async function kill(node: Node, pid: number, end: End, clock: Clock): Promise<JsonRecord | undefined> {
  const began = clock.now();
  const told = await end(node);
  const seen = await node.state();
  if (seen.kind !== 'exited') return undefined;
  const { exitCode } = seen;
  const evidence = { state: 'exited', pid, exitCode, ...told, provedMillis: millisSince(clock, began) };
  if (!canBeProbed(node)) return evidence;
  const probe = await node.probe(REFUSAL_TIME_LIMIT);
  return probe === 'refused' ? { ...evidence, probe } : undefined;
}

/** If somebody else started it meanwhile, it only has to be ready. */
async function bringBack(
  node: Node,
  restart: (node: Node) => Promise<void>,
  clock: Clock,
): Promise<JsonRecord> {
  const began = clock.now();
  const exited = (await node.state()).kind === 'exited';
  if (exited) await restart(node);
  else await node.ready(READY_TIME_LIMIT);
  return {
    state: (await node.state()).kind,
    startedBy: exited ? 'us' : 'others',
    readyMillis: millisSince(clock, began),
  };
}
