// Which server answers and in which version, as INFO says. Valkey also says which Redis it stands in for.

import type { Node } from '../../contract/cluster.ts';
import { millis } from '../../history/op.ts';
import { askOverTcp } from '../ask-over-tcp.ts';
import { versionIn } from '../version-in.ts';

const TIME_LIMIT = millis(5_000);

export async function askVersion(node: Node): Promise<string> {
  return versionInInfo(node, await askOverTcp(node, 'INFO server\r\nQUIT\r\n', TIME_LIMIT));
}

/** Throws HarnessError if `info` is not what INFO answers. */
export function versionInInfo(node: Pick<Node, 'name'>, info: string | undefined): string {
  const program = info?.includes('valkey_version:') === true ? 'valkey' : 'redis';
  return `${program} ${versionIn(node, info, new RegExp(`^${program}_version:(\\S+)`, 'm'))}`;
}
