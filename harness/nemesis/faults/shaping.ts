// Queueing disciplines for packets to some peers, and to nobody else: an `htb` at the root tells peers apart, and behind a
// class of it stands what makes their link bad (`netem`, `tbf`). In the node's sandbox, so that it outlives the node's
// process. Several may be in force at once. Knows tc, no faults. Source: tc(8), tc-htb(8), tc-u32(8).

import type { Node } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import { millis } from '../../history/op.ts';

const TIME_LIMIT = millis(10_000);
const DEVICE = 'eth0';
/** Of an htb class that is not meant to limit anything. */
const UNLIMITED = '10gbit';
const NUMBERS = 0xfff;

/** The commands that put `discipline` (as tc takes it) before packets to these addresses; `number` tells it apart. */
export function shapeCommands(
  number: number,
  discipline: string,
  addresses: readonly string[],
): readonly string[] {
  const id = (1 + (number % NUMBERS)).toString(16);
  return [
    `tc qdisc show dev ${DEVICE} root | grep -q '^qdisc htb 1:' || tc qdisc add dev ${DEVICE} root handle 1: htb`,
    `tc class add dev ${DEVICE} parent 1: classid 1:${id} htb rate ${UNLIMITED}`,
    `tc qdisc add dev ${DEVICE} parent 1:${id} handle ${id}0: ${discipline}`,
    ...addresses.map(
      (address) =>
        `tc filter add dev ${DEVICE} parent 1: protocol ip prio 0x${id} u32 match ip dst ${address}/32 flowid 1:${id}`,
    ),
  ];
}

/** Takes back whatever part of it there is; the root goes with the last of them. */
export function unshapeCommands(number: number): readonly string[] {
  const id = (1 + (number % NUMBERS)).toString(16);
  return [
    `tc filter del dev ${DEVICE} parent 1: prio 0x${id} 2>/dev/null || true`,
    `tc class del dev ${DEVICE} classid 1:${id} 2>/dev/null || true`,
    `[ -n "$(tc class show dev ${DEVICE})" ] || tc qdisc del dev ${DEVICE} root 2>/dev/null || true`,
  ];
}

/** Takes about 70 ms. Throws HarnessError('environment'). */
export async function shape(
  node: Node,
  number: number,
  { discipline, addresses }: { readonly discipline: string; readonly addresses: readonly string[] },
): Promise<void> {
  await run(node, shapeCommands(number, discipline, addresses));
}

/** Safe to repeat. Throws HarnessError('environment'). */
export async function unshape(node: Node, number: number): Promise<void> {
  await run(node, unshapeCommands(number));
}

async function run(node: Node, commands: readonly string[]): Promise<void> {
  const { exitCode, stderr } = await node.execInSandbox(['sh', '-ec', commands.join('\n')], TIME_LIMIT);
  if (exitCode === 0) return;
  throw new HarnessError('environment', `the links of node ${node.name} could not be made bad`, {
    detail: stderr,
    remedy: 'lockpick doctor tells what this kernel can do to links',
  });
}
