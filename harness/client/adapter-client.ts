// Holds a user's adapter to the contract of a lock client, which ours keep by themselves: what it throws is an unknown
// outcome (I4), what it does not answer in time as well, and an answer that makes no sense ends the run as wrong input,
// because a verdict on nonsense would be worth nothing.

import type { Adapter } from '../contract/adapter.ts';
import { HarnessError } from '../contract/errors.ts';
import type {
  Acquired,
  AcquireRequest,
  Grant,
  LockClient,
  Outcome,
  RecipeContext,
} from '../contract/lock-client.ts';
import { millis, nanosOf, type Millis } from '../history/op.ts';

const KINDS: ReadonlySet<unknown> = new Set(['ok', 'fail', 'info']);
/** A deadline further from now than this many TTLs is on another clock, or in another unit. */
const TTLS_MAX = 100;
const ERROR_CHARACTERS_MAX = 120;

/** Opens the adapter's client. Throws HarnessError('usage') if it is none. */
export function openAdapter(adapter: Adapter, context: RecipeContext): LockClient {
  const { name } = adapter;
  const wrong = (what: string): HarnessError =>
    new HarnessError('usage', `the adapter ${name}: ${what}`, {
      remedy: 'docs/test-your-own-lock.md tells what each method must answer',
    });
  let client: Partial<LockClient>;
  try {
    client = adapter.open(context);
  } catch (error) {
    throw wrong(`open() threw ${String(error)}`);
  }
  for (const method of ['acquire', 'release', 'abandon', ...(adapter.renewAt === undefined ? [] : ['renew'])])
    if (typeof Reflect.get(client, method) !== 'function') throw wrong(`its client has no ${method}()`);
  if (typeof client[Symbol.asyncDispose] !== 'function')
    throw wrong('its client has no [Symbol.asyncDispose]()');

  const call = async <T>(
    method: string,
    timeLimit: Millis,
    perform: () => Promise<Outcome<T>> | undefined,
  ): Promise<Outcome<T>> => {
    const outcome: unknown = await settled(perform, timeLimit);
    if (!isOutcome<T>(outcome)) throw wrong(`${method}() answered ${shown(outcome)}, which is no outcome`);
    return outcome;
  };
  const waiting = ({ patienceMillis, ttlMillis }: AcquireRequest): Millis =>
    adapter.polls
      ? context.commandTimeLimit
      : millis((patienceMillis ?? ttlMillis) + context.commandTimeLimit);

  const grantOf = (request: AcquireRequest, outcome: Acquired): Acquired => {
    if (outcome.kind !== 'ok') return outcome;
    const { request: answered, token, validUntil } = outcome.value ?? {};
    if (answered?.owner !== request.owner)
      throw wrong(`acquire() answered ${shown(outcome)}: \`value.request\` must be the request it was given`);
    if (token === undefined ? adapter.tokenSource !== undefined : typeof token !== 'bigint')
      throw wrong(
        `acquire() answered the token ${shown(token)}: with \`tokenSource\` it must be a bigint, see fencingToken()`,
      );
    const reach = TTLS_MAX * nanosOf(request.ttlMillis);
    if (validUntil !== undefined && !(Math.abs(validUntil - context.now()) < reach))
      throw wrong(
        `acquire() answered validUntil ${shown(validUntil)}: it must be in nanoseconds on the clock of context.now()`,
      );
    return outcome;
  };

  const { renew } = client;
  return {
    acquire: async (request) =>
      grantOf(request, await call<Grant>('acquire', waiting(request), () => client.acquire?.(request))),
    release: (grant) => call('release', context.commandTimeLimit, () => client.release?.(grant)),
    abandon: (request) => call('abandon', context.commandTimeLimit, () => client.abandon?.(request)),
    ...(renew !== undefined && {
      renew: (grant: Grant) => call('renew', context.commandTimeLimit, () => client.renew?.(grant)),
    }),
    [Symbol.asyncDispose]: async () => {
      // However it closes, the run is over.
      await settled(async () => client[Symbol.asyncDispose]?.(), context.commandTimeLimit);
    },
  };
}

/** What it resolves to; `info` if it throws or takes longer. */
async function settled<T>(
  perform: () => Promise<T> | undefined,
  timeLimit: Millis,
): Promise<T | Outcome<never> | undefined> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      perform(),
      new Promise<Outcome<never>>((resolve) => {
        timer = setTimeout(() => resolve({ kind: 'info', error: 'timeout' }), timeLimit);
      }),
    ]);
  } catch (error) {
    return { kind: 'info', error: `threw: ${String(error).slice(0, ERROR_CHARACTERS_MAX)}` };
  } finally {
    clearTimeout(timer);
  }
}

function isOutcome<T>(value: unknown): value is Outcome<T> {
  if (typeof value !== 'object' || value === null || !('kind' in value) || !KINDS.has(value.kind))
    return false;
  return value.kind === 'ok'
    ? 'value' in value && typeof value.value === 'object' && value.value !== null
    : 'error' in value && typeof value.error === 'string' && value.error !== '';
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part));
  return text.slice(0, ERROR_CHARACTERS_MAX);
}
