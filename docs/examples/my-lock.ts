// A lock library as many have written one, and its adapter: what `lockpick run --adapter docs/examples/my-lock.ts`
// tests. The upper half is the library, untouched; the lower half tells lockpick how it is used.

import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { nanosOf, nanos, type Adapter, type Millis } from 'lockpick';

// --- the library ---------------------------------------------------------------------------------------------------

const RELEASE = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`;

export class MyLock {
  readonly #redis: Redis;
  constructor(host: string, port: number) {
    this.#redis = new Redis({ host, port });
    this.#redis.on('error', () => undefined);
  }

  /** The secret to unlock with; undefined: somebody else has it. */
  async tryLock(name: string, ttlMillis: number): Promise<string | undefined> {
    const secret = randomUUID();
    const reply = await this.#redis.set(name, secret, 'PX', ttlMillis, 'NX');
    return reply === 'OK' ? secret : undefined;
  }

  /** False: it had run out. */
  async unlock(name: string, secret: string): Promise<boolean> {
    return (await this.#redis.eval(RELEASE, 1, name, secret)) === 1;
  }

  close(): void {
    this.#redis.disconnect();
  }
}

// --- the adapter ---------------------------------------------------------------------------------------------------

export const adapter: Adapter = {
  name: 'my-lock',
  backend: 'redis-single',
  summary: 'SET NX PX with a random secret, removed by compare-and-delete',
  polls: true,
  ownerChecked: true,
  // It has a lease and no token: a holder that is stopped for long does harm, and nothing can be done about it here.
  expected: { none: 'safe', 'kill-holder': 'safe', 'kill-server': 'safe', 'pause-holder': 'unsafe' },
  open: (context) => {
    const [server] = context.servers;
    if (server === undefined) throw new Error('needs a server');
    const lock = new MyLock(server.host, server.port);
    /** Owner of the attempt → secret. */
    const secrets = new Map<string, string>();
    const release = async (name: string, owner: string) => {
      const secret = secrets.get(owner);
      if (secret === undefined) return { kind: 'info', error: 'never granted' } as const;
      return { kind: 'ok', value: { released: await lock.unlock(name, secret) } } as const;
    };
    return {
      acquire: async (request) => {
        const validUntil = nanos(context.now() + nanosOf(request.ttlMillis));
        const secret = await lock.tryLock(request.lock, whole(request.ttlMillis));
        if (secret === undefined) return { kind: 'fail', error: 'busy' };
        secrets.set(request.owner, secret);
        return { kind: 'ok', value: { request, validUntil } };
      },
      release: ({ request }) => release(request.lock, request.owner),
      // After an attempt of unknown outcome: without the secret this library cannot take it back.
      abandon: (request) => release(request.lock, request.owner),
      [Symbol.asyncDispose]: async () => lock.close(),
    };
  },
};

function whole(ttlMillis: Millis): number {
  return Math.ceil(ttlMillis);
}
