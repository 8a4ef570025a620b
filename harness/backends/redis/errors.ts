// What each error of Redis or of the connection to it means for the operation: data, from which the documentation is
// generated. "Definite" means that the command has not run and never will. Whatever is not in the table is `info` (I4).
// A reply code is definite only if it stays so for a command inside a Lua script, where earlier commands of the script
// are not undone.

import type { ErrorMeaning, Outcome } from '../../contract/lock-client.ts';

const SCRIPT_REFUSAL =
  'Redis 8.0, src/script.c, scriptVerifyWriteCommandAllow: a script is refused at its first write or not at all';

/** No connection could be opened in time, or the open one was seen to be closed before the command was written. */
export const NOT_CONNECTED: ErrorMeaning = {
  match: 'not connected',
  error: 'unavailable',
  definite: true,
  meaning: 'There was no connection, so no byte of the command left this process.',
  source: 'ours: backends/redis/port-over.ts',
};

export const TIMED_OUT: ErrorMeaning = {
  match: 'time limit',
  error: 'timeout',
  definite: false,
  meaning: 'The command was sent and not answered in time; it may have run, or run later.',
  source: 'ours: backends/redis/port-over.ts',
};

const CONNECTION_LOST: ErrorMeaning = {
  match: 'connection lost',
  error: 'connection-lost',
  definite: false,
  meaning: 'The connection broke with the command in flight; it may have run, or run later.',
  source: 'ours: backends/redis/port-over.ts',
};

export const READ_ONLY: ErrorMeaning = {
  match: 'READONLY ',
  error: 'read-only',
  definite: true,
  meaning: 'The server is a replica and takes no writes.',
  source: SCRIPT_REFUSAL,
};

/** Matched against the start of an error's message, case-sensitively. */
const MATCHED: readonly ErrorMeaning[] = [
  {
    match: "Stream isn't writeable and enableOfflineQueue options is false",
    error: 'unavailable',
    definite: true,
    meaning: 'The server had closed the connection; the driver did not write the command.',
    source: 'ioredis 6.0.0, Redis.sendCommand',
  },
  {
    match: 'LOADING ',
    error: 'loading',
    definite: true,
    meaning: 'The server reads its data from disk after a start and serves no keys yet.',
    source: 'Redis 8.0, src/server.c, processCommand',
  },
  READ_ONLY,
  {
    match: 'MASTERDOWN ',
    error: 'primary-down',
    definite: true,
    meaning: 'A replica that lost its primary refuses to serve stale data (replica-serve-stale-data no).',
    source: 'Redis 8.0, src/server.c, processCommand',
  },
  {
    match: 'NOREPLICAS ',
    error: 'too-few-replicas',
    definite: true,
    meaning: 'Fewer replicas are in step than min-replicas-to-write asks for; checked before the write.',
    source: SCRIPT_REFUSAL,
  },
  {
    match: 'MISCONF ',
    error: 'disk-error',
    definite: true,
    meaning: 'The server could not save to disk and refuses writes until it can.',
    source: SCRIPT_REFUSAL,
  },
  {
    match: 'OOM ',
    error: 'out-of-memory',
    definite: true,
    meaning:
      'Memory is above maxmemory and nothing may be evicted; a script is refused before its first write.',
    source: 'Redis 8.0, src/script.c, scriptVerifyOOM',
  },
  {
    match: 'CLUSTERDOWN ',
    error: 'cluster-down',
    definite: true,
    meaning: 'The cluster does not serve the slot of the key.',
    source: 'Redis 8.0, src/cluster.c, clusterRedirectClient',
  },
  {
    match: 'BUSY ',
    error: 'busy-script',
    definite: true,
    meaning: 'A script of somebody else runs for too long; the command was refused.',
    source: 'Redis 8.0, src/server.c, processCommand',
  },
  {
    match: 'NOSCRIPT ',
    error: 'no-script',
    definite: true,
    meaning: 'EVALSHA named a script that the server does not have.',
    source: 'Redis 8.0, src/eval.c, evalGenericCommand',
  },
  {
    match: 'NOAUTH ',
    error: 'not-authenticated',
    definite: true,
    meaning: 'The server wants a password before any command.',
    source: 'Redis 8.0, src/server.c, processCommand',
  },
  {
    match: 'ERR unknown command ',
    error: 'unknown-command',
    definite: true,
    meaning: 'This server has no such command.',
    source: 'Redis 8.0, src/server.c, commandCheckExistence',
  },
  {
    match: 'WRONGTYPE ',
    error: 'wrong-type',
    definite: false,
    meaning: 'A key holds something else; inside a script, commands before this one have taken effect.',
    source: 'Redis 8.0, src/script_lua.c: a script that fails is not rolled back',
  },
  {
    match: 'NOPERM ',
    error: 'no-permission',
    definite: false,
    meaning: 'The user may not run the command; inside a script, commands before this one have taken effect.',
    source: 'Redis 8.0, src/script.c, scriptVerifyACL',
  },
];

/** The whole table. */
export const REDIS_ERRORS: readonly ErrorMeaning[] = [NOT_CONNECTED, TIMED_OUT, CONNECTION_LOST, ...MATCHED];

/** A row of the table as an outcome. */
export function outcomeOf({ definite, error }: ErrorMeaning): Outcome<never> {
  return { kind: definite ? 'fail' : 'info', error };
}

/** What an error of the driver means: a row of the table, or `info` with what it said. */
export function outcomeOfError(error: unknown): Outcome<never> {
  const message = error instanceof Error ? error.message : String(error);
  const row = MATCHED.find(({ match }) => message.startsWith(match));
  if (row !== undefined) return outcomeOf(row);
  // Redis error replies start with a code in capitals; anything else is the driver talking about its connection.
  return /^-?[A-Z]+ /.test(message)
    ? { kind: 'info', error: `reply: ${message.slice(0, 120)}` }
    : outcomeOf(CONNECTION_LOST);
}
