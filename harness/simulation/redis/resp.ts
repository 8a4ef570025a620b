// Replies of a simulated Redis as text of RESP2, for questions that are put to a server over TCP from its sandbox, and
// inline commands back into words. Clients of recipes get replies as values and need none of this.

import type { RedisReply } from '../../backends/redis/port.ts';

/** Errors are told apart from texts by their class, statuses by being `OK` or `PONG`. */
export function encodeReply(reply: RedisReply | Error): string {
  if (reply instanceof Error) return `-${reply.message}\r\n`;
  if (reply === null) return '$-1\r\n';
  if (typeof reply === 'number') return `:${reply}\r\n`;
  if (typeof reply === 'string')
    return reply === 'OK' || reply === 'PONG'
      ? `+${reply}\r\n`
      : `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`;
  return `*${reply.length}\r\n${reply.map(encodeReply).join('')}`;
}

/** Inline commands, a line each, as words. */
export function inlineCommands(text: string): readonly (readonly string[])[] {
  return text
    .split('\r\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '));
}
