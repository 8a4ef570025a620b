// What a member says of itself over HTTP on its client port: who leads, and which version it is.

import type { Backend, Roles } from '../../contract/backend.ts';
import { millis } from '../../history/op.ts';
import { askOverTcp } from '../ask-over-tcp.ts';
import { versionIn } from '../version-in.ts';

const TIME_LIMIT = millis(1_000);
const QUESTION = 'POST /v3/maintenance/status HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}';

export const askRole: Roles['ask'] = async (node) => {
  const answer = await askOverTcp(node, QUESTION, TIME_LIMIT);
  if (answer?.startsWith('HTTP/1.0 200') !== true) return undefined;
  const member = numberNamed('member_id', answer);
  const leader = numberNamed('leader', answer);
  const term = numberNamed('raftTerm', answer);
  const applied = numberNamed('raftAppliedIndex', answer);
  return {
    role: leader === undefined ? 'candidate' : leader === member ? 'leader' : 'follower',
    ...(term !== undefined && { term }),
    ...(applied !== undefined && { position: Number(applied) }),
  };
};

/** 64-bit numbers are decimal text in its JSON, and a field that is 0 is left out. */
function numberNamed(name: string, json: string): string | undefined {
  return new RegExp(`"${name}":\\s*"(\\d+)"`).exec(json)?.[1];
}

export const askVersion: Backend['version'] = async (node) => {
  const answer = await askOverTcp(node, 'GET /version HTTP/1.0\r\n\r\n', TIME_LIMIT);
  return `etcd ${versionIn(node, answer, /"etcdserver":"([^"]+)"/)}`;
};
