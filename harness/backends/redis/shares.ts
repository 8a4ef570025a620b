// Steps for locks that several clients may hold: a sorted set of owners with the end of each lease as its score, by the
// server's own clock, because no two clients agree on the time. Leases that are over are removed before anybody is
// counted, in the same script.

import type { AcquireRequest, Grant, Outcome } from '../../contract/lock-client.ts';
import type { Nanos } from '../../history/op.ts';
import type { RedisPort } from './port.ts';
import { BUSY, leaseEnd, readReleaseReply, unexpected, wholeMillis } from './steps.ts';

/** Lua: `now` is the server's time in milliseconds, and the set at the key has only leases that still run. */
export function purge(key: string): string {
  return `local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('zremrangebyscore', ${key}, '-inf', now)
`;
}

export const LEAVE = `${purge('KEYS[1]')}return redis.call('zrem', KEYS[1], ARGV[1])`;

export function sharesKey(lock: string): string {
  return `shares:${lock}`;
}

/** Runs a script that takes the set, the owner, the TTL and `args`, and answers 1 for a grant and 0 for `busy`. */
export async function enter(
  redis: RedisPort,
  now: () => Nanos,
  {
    script,
    request,
    args,
  }: { readonly script: string; readonly request: AcquireRequest; readonly args: readonly number[] },
): Promise<Outcome<Grant>> {
  const validUntil = leaseEnd(now, request.ttlMillis);
  const ttl = wholeMillis(request.ttlMillis);
  const reply = await redis.command('EVAL', script, 1, sharesKey(request.lock), request.owner, ttl, ...args);
  if (reply.kind !== 'ok') return reply;
  if (reply.value === 1) return { kind: 'ok', value: { request, validUntil } };
  return reply.value === 0 ? BUSY : unexpected(reply.value);
}

/** Takes the owner out of the set; `released` tells whether its lease still ran. */
export async function leave(
  redis: RedisPort,
  { lock, owner }: AcquireRequest,
): Promise<Outcome<{ readonly released: boolean }>> {
  return readReleaseReply(await redis.command('EVAL', LEAVE, 1, sharesKey(lock), owner));
}
