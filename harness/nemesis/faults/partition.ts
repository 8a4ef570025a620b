// The fault `partition`: the node and some servers stop hearing each other. Silent DROP of packets from and to their
// addresses, in a firewall chain of its own in the node's sandbox, so that killing and starting the node keeps the cut.
// Proved from both ends: connecting times out instead of being answered or refused, and the rules have counted packets.

import { monotonicClock, monotonicOrigin } from '../../clock.ts';
import type { Node } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import type { FaultSpec, NodeFaultKind } from '../../contract/fault.ts';
import { millis, type JsonRecord } from '../../history/op.ts';
import { closeFirewall, droppedPackets, openFirewall } from './firewall.ts';
import { millisSince, putInForce } from './scope.ts';

const KNOCK_TIME_LIMIT = millis(10_000);
/** A connection to a live node takes far less; one to a cut-off node hangs for minutes. */
const SILENCE_SECONDS = '0.3';
/** Nobody listens there: a node that can be reached refuses at once. */
const CLOSED_PORT = 9;
/** `timeout` ended it by SIGKILL. */
const TIMED_OUT = 137;

/** Acts in about 60 ms; `inject` resolves when it is proved, some 0.5 s later. */
export function partitionFault(servers: readonly Node[]): NodeFaultKind {
  const clock = monotonicClock(monotonicOrigin());
  let count = 0;
  return {
    name: 'partition',
    summary: 'drops every packet between the node and others (parameter `from`: `servers` or `one-server`)',
    hurts: 'network',
    inject: async (node, spec) => {
      const peers = peersOf(node, spec, servers);
      const from = peers.map(({ name }) => name);
      const chain = `LOCKPICK-${(count += 1)}`;
      const began = clock.now();
      const act = async (): Promise<JsonRecord | undefined> => {
        await closeFirewall(
          node,
          chain,
          peers.flatMap(({ address }) => [`-s ${address} -j DROP`, `-d ${address} -j DROP`]),
        );
        const cutMillis = millisSince(clock, began);
        const unheard = await Promise.all(peers.map((peer) => silent(node, peer)));
        const packets = await droppedPackets(node, chain);
        return unheard.every(Boolean) && packets > 0 ? { from, cutMillis, packets } : undefined;
      };
      return putInForce(act, async () => {
        await openFirewall(node, chain);
        const heard = await Promise.all(peers.map((peer) => hears(node, peer)));
        return { from, heardAgain: heard.every(Boolean) };
      });
    },
  };
}

function peersOf(node: Node, { params }: FaultSpec, servers: readonly Node[]): readonly Node[] {
  const others = servers.filter(({ name }) => name !== node.name);
  const from = params?.['from'];
  if (from === 'servers') return others;
  if (from === 'one-server') return others.slice(0, 1);
  throw new HarnessError('internal', `a partition from ${JSON.stringify(from)} is not known`);
}

/** Whether neither end gets an answer of the other, not even a refusal. */
async function silent(a: Node, b: Node): Promise<boolean> {
  const heard = await Promise.all([hears(a, b), hears(b, a)]);
  return !heard.some(Boolean);
}

/** Whether a knock at `to` is answered or refused. */
async function hears(from: Node, to: Node): Promise<boolean> {
  const knock = `</dev/tcp/${to.address}/${to.spec.port ?? CLOSED_PORT}`;
  const { exitCode } = await from.execInSandbox(
    ['timeout', '-s', 'KILL', SILENCE_SECONDS, 'bash', '-c', knock],
    KNOCK_TIME_LIMIT,
  );
  return exitCode !== TIMED_OUT;
}
