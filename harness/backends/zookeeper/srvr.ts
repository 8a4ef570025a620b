// What a server says of itself when asked by the four-letter command `srvr` on its client port: who leads, and which
// version it is.

import type { Backend, Roles } from '../../contract/backend.ts';
import { millis } from '../../history/op.ts';
import { askOverTcp } from '../ask-over-tcp.ts';
import { versionIn } from '../version-in.ts';

const TIME_LIMIT = millis(1_000);

export const askRole: Roles['ask'] = async (node) => {
  const answer = await askOverTcp(node, 'srvr', TIME_LIMIT);
  const role = answer === undefined ? undefined : /^Mode: (\w+)$/m.exec(answer)?.[1];
  const zxid = answer === undefined ? undefined : /^Zxid: 0x([0-9a-f]+)$/m.exec(answer)?.[1];
  if (role === undefined || zxid === undefined) return undefined;
  // The upper half is the epoch, which each new leader begins.
  const [epoch, counter] = [BigInt(`0x${zxid}`) >> 32n, BigInt(`0x${zxid}`) & 0xffffffffn];
  return { role, term: epoch.toString(), position: Number(counter) };
};

export const askVersion: Backend['version'] = async (node) => {
  const answer = await askOverTcp(node, 'srvr', TIME_LIMIT);
  return `zookeeper ${versionIn(node, answer, /^Zookeeper version: (\d+(?:\.\d+)*)/)}`;
};
