// The steps that recipes are put together from: take a key if it is free, delete or extend it if it is still ours.
// Each is one command, so each is atomic in Redis. Recipes that are wrong on purpose use other commands instead.

import type { AcquireRequest, Grant, Outcome } from '../../contract/lock-client.ts';
import { nanos, nanosOf, type Millis, type Nanos } from '../../history/op.ts';
import type { Command, RedisPort, RedisReply } from './port.ts';

export const BUSY = { kind: 'fail', error: 'busy' } as const;
export const NOT_OWNER = { kind: 'fail', error: 'not-owner' } as const;

export function lockKey(lock: string): string {
  return `lock:${lock}`;
}

/** PX takes whole milliseconds; never less than was asked for. */
export function wholeMillis(ttlMillis: Millis): number {
  return Math.ceil(ttlMillis);
}

/** How long a lease asked for now may be relied upon: counted from before the request left. */
export function leaseEnd(now: () => Nanos, ttlMillis: Millis): Nanos {
  return nanos(now() + nanosOf(ttlMillis));
}

/** A reply that the command is not known to give: nothing can be concluded. */
export function unexpected(reply: RedisReply): Outcome<never> {
  return { kind: 'info', error: `unexpected reply: ${JSON.stringify(reply).slice(0, 100)}` };
}

/** `SET … NX PX`: takes the lock if nobody has it. */
export function setCommand({ lock, owner, ttlMillis }: AcquireRequest): Command {
  return ['SET', lockKey(lock), owner, 'NX', 'PX', wholeMillis(ttlMillis)];
}

/** What the reply to `setCommand` means: the grant, or `busy`. */
export function readSetReply(reply: Outcome<RedisReply>, grant: Grant): Outcome<Grant> {
  if (reply.kind !== 'ok') return reply;
  if (reply.value === 'OK') return { kind: 'ok', value: grant };
  return reply.value === null ? BUSY : unexpected(reply.value);
}

/** One attempt with `setCommand`: the grant without a token, or `busy`. */
export async function setIfAbsent(
  redis: RedisPort,
  now: () => Nanos,
  request: AcquireRequest,
): Promise<Outcome<Grant>> {
  const validUntil = leaseEnd(now, request.ttlMillis);
  return readSetReply(await redis.command(...setCommand(request)), { request, validUntil });
}

export const DELETE_IF_OWNER = `if redis.call('get', KEYS[1]) == ARGV[1] then
  return redis.call('del', KEYS[1])
end
return 0`;

/**
 * Removes the lock if its value is still the request's owner; `released` tells whether it was. By the command that the
 * server offers for it (DELIFEQ of Valkey 9, DELEX of Redis 8.4), else by a script; all three are one atomic step.
 */
export async function deleteIfOwner(
  redis: RedisPort,
  request: AcquireRequest,
): Promise<Outcome<{ readonly released: boolean }>> {
  return readReleaseReply(
    await redis.command(...(await deleteCommand(redis, lockKey(request.lock), request.owner))),
  );
}

/** What the answer to a release means that counts what it ended: 1 or 0. */
export function readReleaseReply(reply: Outcome<RedisReply>): Outcome<{ readonly released: boolean }> {
  if (reply.kind !== 'ok') return reply;
  if (reply.value === 1 || reply.value === 0) return { kind: 'ok', value: { released: reply.value === 1 } };
  return unexpected(reply.value);
}

async function deleteCommand(redis: RedisPort, key: string, owner: string): Promise<Command> {
  if (await redis.offers('DELIFEQ')) return ['DELIFEQ', key, owner];
  if (await redis.offers('DELEX')) return ['DELEX', key, 'IFEQ', owner];
  return ['EVAL', DELETE_IF_OWNER, 1, key, owner];
}

export const EXTEND_IF_OWNER = `if redis.call('get', KEYS[1]) == ARGV[1] then
  return redis.call('pexpire', KEYS[1], ARGV[2])
end
return 0`;

/** Restarts the lease if the lock's value is still the request's owner; else `not-owner`. */
export async function extendIfOwner(
  redis: RedisPort,
  now: () => Nanos,
  request: AcquireRequest,
): Promise<Outcome<{ readonly validUntil: Nanos }>> {
  const validUntil = leaseEnd(now, request.ttlMillis);
  const reply = await redis.command(
    'EVAL',
    EXTEND_IF_OWNER,
    1,
    lockKey(request.lock),
    request.owner,
    wholeMillis(request.ttlMillis),
  );
  if (reply.kind !== 'ok') return reply;
  if (reply.value === 1) return { kind: 'ok', value: { validUntil } };
  return reply.value === 0 ? NOT_OWNER : unexpected(reply.value);
}
