// Firewall chains of our own in a node's sandbox: each made in one transaction, removed without touching anybody else's
// rules. The sandbox owns the network namespace, so the rules outlive the node's process. Knows iptables, no faults.

import type { Node } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import { millis } from '../../history/op.ts';

const TIME_LIMIT = millis(10_000);

/** What the names of all our chains begin with. */
export const CHAIN_PREFIX = 'LOCKPICK-';

/**
 * Puts a chain in front of what the node receives and sends; `rules` as
 * iptables takes them after the chain. Takes about 60 ms. Throws HarnessError('environment').
 */
export async function closeFirewall(node: Node, chain: string, rules: readonly string[]): Promise<void> {
  const lines = [
    '*filter',
    `:${chain} - [0:0]`,
    ...rules.map((rule) => `-A ${chain} ${rule}`),
    `-I INPUT -j ${chain}`,
    `-I OUTPUT -j ${chain}`,
    'COMMIT',
  ];
  const quoted = lines.map((line) => `'${line}'`).join(' ');
  await run(node, `printf '%s\\n' ${quoted} | iptables-restore -w -n`);
}

/** Removes the chain, whatever part of it there is; safe to repeat. Throws HarnessError('environment'). */
export async function openFirewall(node: Node, chain: string): Promise<void> {
  const script = [
    `iptables -w -n -L ${chain} >/dev/null 2>&1 || exit 0`,
    `while iptables -w -D INPUT -j ${chain} 2>/dev/null; do :; done`,
    `while iptables -w -D OUTPUT -j ${chain} 2>/dev/null; do :; done`,
    `iptables -w -F ${chain} && iptables -w -X ${chain}`,
  ];
  await run(node, script.join('\n'));
}

/** How many packets each rule of the chain has met so far, in their order. */
export async function packetsMet(node: Node, chain: string): Promise<readonly number[]> {
  const listing = await run(node, `iptables -w -n -v -x -L ${chain}`);
  return listing
    .split('\n')
    .map((line) => /^\s*(\d+)\s+\d+\s+[A-Z]/.exec(line)?.[1])
    .filter((count) => count !== undefined)
    .map(Number);
}

/** Whether other chains of ours than this one are in force at the node, so that it may be deaf for their reasons. */
export async function hasOtherChains(node: Node, chain: string): Promise<boolean> {
  const rules = await run(node, 'iptables -w -S INPUT');
  return [...rules.matchAll(/-j (\S+)/g)].some(
    ([, target = '']) => target.startsWith(CHAIN_PREFIX) && target !== chain,
  );
}

async function run(node: Node, script: string): Promise<string> {
  const { exitCode, stdout, stderr } = await node.execInSandbox(['sh', '-c', script], TIME_LIMIT);
  if (exitCode === 0) return stdout;
  throw new HarnessError('environment', `the firewall of node ${node.name} did not take a rule`, {
    detail: stderr,
    remedy: 'lockpick doctor tells whether containers may change their firewall (NET_ADMIN)',
  });
}
