// How a server that ended comes back: not before whoever runs it would start it again, and, where the service has roles
// that the harness hands out, behind a closed firewall until it follows the server that leads by now; else it would
// come back believing that it leads still. Used by `kill` and `restart-empty`.

import type { Clock } from '../../clock.ts';
import type { Node } from '../../contract/cluster.ts';
import { millis, nanosOf, type Nanos } from '../../history/op.ts';
import { closeFirewall, openFirewall } from './firewall.ts';

const READY_TIME_LIMIT = millis(30_000);
const CHAIN = 'LOCKPICK-RETURN';
/** The node's own network namespace still reaches it: the ready probe, and commands run there. */
const ONLY_LOOPBACK = ['-i lo -j RETURN', '-o lo -j RETURN', '-j DROP'];

export interface RestartOptions {
  /** Makes a server that came back follow the one that leads now. */
  readonly rejoin?: (node: Node) => Promise<void>;
  /** Lets nobody but itself reach the node, until it is disposed. Default: by its firewall. */
  readonly wallOff?: (node: Node) => Promise<AsyncDisposable>;
}

/** Starts it and waits until it is ready. `exitedAt`: on `clock`. */
export async function restartServer(
  node: Node,
  { clock, exitedAt }: { readonly clock: Clock; readonly exitedAt: Nanos },
  { rejoin, wallOff = byFirewall }: RestartOptions,
): Promise<void> {
  const { restartDelayMillis = millis(0) } = node.spec;
  const remaining = exitedAt + nanosOf(restartDelayMillis) - clock.now();
  if (remaining > 0) await clock.sleep(millis(remaining / 1e6));
  if (rejoin === undefined) return startAndWait(node);
  await using _alone = await wallOff(node);
  await startAndWait(node);
  await rejoin(node);
}

async function byFirewall(node: Node): Promise<AsyncDisposable> {
  await closeFirewall(node, CHAIN, ONLY_LOOPBACK);
  return { [Symbol.asyncDispose]: () => openFirewall(node, CHAIN) };
}

async function startAndWait(node: Node): Promise<void> {
  await node.start();
  await node.ready(READY_TIME_LIMIT);
}
