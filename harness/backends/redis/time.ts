// The wall clock of a Redis server, as the server itself reads it: by this clock its keys run out (EXPIRE, Redis 8.0).

import type { Node } from '../../contract/cluster.ts';
import { millis } from '../../history/op.ts';
import { askOverTcp } from '../ask-over-tcp.ts';

const TIME_LIMIT = millis(1_000);

/** In milliseconds since 1970; undefined: no answer. */
export async function readTime(server: Node): Promise<number | undefined> {
  const answer = await askOverTcp(server, 'TIME\r\nQUIT\r\n', TIME_LIMIT);
  const found = /^\*2\r\n\$\d+\r\n(\d+)\r\n\$\d+\r\n(\d+)\r\n/.exec(answer ?? '');
  return found === null ? undefined : Number(found[1]) * 1e3 + Number(found[2]) / 1e3;
}
