// What one client process does with recorded operations: polls until granted, takes back attempts of unknown outcome,
// renews in the background, draws its choices and waits from seeded streams (I6), and runs the workload in a loop.
// It does not look at its own deadline before it writes: that naive client is the point of the test. Nor does it check
// anything when it wakes from SIGSTOP, where due timers run before sockets are read.

import type { Clock } from '../clock.ts';
import type { ClientConfig } from '../contract/control.ts';
import type { AcquireRequest, Grant, Recipe } from '../contract/lock-client.ts';
import type { HeldLock, Random, Session, Workload } from '../contract/workload.ts';
import { millis, nanosOf, type Millis } from '../history/op.ts';
import { randomStream } from '../rng.ts';
import type { HowToAcquire, Recorder, RegisterOperation } from './recorder.ts';
import { startRenewal, type Renewal } from './renewal.ts';

/** A write of which the connection is lost has by then been answered, or sent, or not yet. */
const CUT_AFTER_MILLIS = 2;
/** How soon a sleeping process notices that the run is over. */
const LOOK_UP_MILLIS = 50;

export interface SessionOptions {
  readonly config: Pick<
    ClientConfig,
    | 'locks'
    | 'defences'
    | 'seed'
    | 'ttlMillis'
    | 'thinkMillis'
    | 'idleMillis'
    | 'pollMillis'
    | 'patienceMillis'
    | 'cutWrites'
    | 'firstId'
    | 'idStep'
  >;
  readonly recipe: Pick<Recipe, 'renewAt'>;
  readonly recorder: Recorder;
  readonly clock: Clock;
  /** Told to stop. */
  readonly stopping: () => boolean;
}

/** A session script's view of this process, and what the process does around the script. */
export interface ClientSession extends Session {
  /**
   * Attempts `lock` until granted, at least once; undefined: `giveUp` said so after an attempt. An attempt of a recipe
   * that waits in the service lasts for at most the patience of `how`, or one TTL.
   */
  acquireUnless(lock: string, giveUp: () => boolean, how?: HowToAcquire): Promise<HeldLock | undefined>;
  /** Idles between two turns of the workload. */
  idle(): Promise<void>;
  /** The lock library says that a grant is gone; without effect once it is released or known to be lost. */
  lost(request: AcquireRequest, reason: string): void;
}

/** What the client knows about a lock it was granted and has not released. */
interface Hold {
  readonly grant: Grant;
  /** What was read under it. */
  readonly keys: Set<string>;
  readonly renewal: Renewal | undefined;
  /** From now on it need not be told that the lock is lost. */
  readonly letGo: () => void;
}

export function openSession(options: SessionOptions): ClientSession {
  const { config, recipe, recorder, clock } = options;
  // One stream per purpose: how often a busy lock had to be polled must not change what is chosen next.
  const choices = randomStream(config.seed, 'choices');
  const thinking = randomStream(config.seed, 'think');
  const idling = randomStream(config.seed, 'idle');
  const polling = randomStream(config.seed, 'poll');
  const cutting = randomStream(config.seed, 'cut');
  let fresh = 0;
  const holds = new WeakMap<HeldLock, Hold>();
  /** Of every lock held: owner → what each of its holds does when it is lost; several where it was entered again. */
  const losers = new Map<string, Set<() => void>>();
  const lose = ({ lock, owner }: Pick<AcquireRequest, 'lock' | 'owner'>, reason: string): void => {
    const told = losers.get(owner);
    if (told === undefined) return;
    losers.delete(owner);
    recorder.lost(lock, reason);
    for (const tell of told) tell();
  };

  const wait = (
    random: Random,
    { min, max }: { readonly min: Millis; readonly max: Millis },
  ): Promise<void> => {
    const duration = millis(random.real(min, max));
    return duration > 0 ? clock.sleep(duration) : Promise.resolve();
  };

  const hold = (grant: Grant): HeldLock => {
    const { lock, owner } = grant.request;
    let lost = false;
    const held: HeldLock = {
      lock,
      ...(grant.token !== undefined && { token: grant.token }),
      get lost() {
        return lost;
      },
    };
    const renewal =
      recipe.renewAt === undefined
        ? undefined
        : startRenewal({
            clock,
            paceMillis: millis(config.ttlMillis * recipe.renewAt),
            renew: () => recorder.renew(grant),
            onLost: (reason) => lose(grant.request, reason),
          });
    const told = losers.get(owner) ?? new Set();
    losers.set(owner, told);
    const tell = (): void => {
      lost = true;
      void renewal?.stop();
    };
    told.add(tell);
    const letGo = (): void => {
      told.delete(tell);
      if (told.size === 0 && losers.get(owner) === told) losers.delete(owner);
    };
    holds.set(held, { grant, renewal, letGo, keys: new Set() });
    return held;
  };

  const acquireUnless: ClientSession['acquireUnless'] = async (lock, giveUp, how) => {
    do {
      const { request, outcome } = await recorder.acquire(lock, how);
      if (outcome.kind === 'ok') return hold(outcome.value);
      if (outcome.kind === 'info') await recorder.abandon(request);
      await wait(polling, config.pollMillis);
    } while (!giveUp());
    return undefined;
  };

  const acquirePatiently = (lock: string, how: HowToAcquire = {}): Promise<HeldLock | undefined> => {
    const { patienceMillis } = config;
    const deadline = clock.now() + nanosOf(patienceMillis);
    const giveUp = (): boolean => options.stopping() || clock.now() >= deadline;
    return acquireUnless(lock, giveUp, { ...how, patienceMillis });
  };

  const holdOf = (held: HeldLock): Hold => {
    const known = holds.get(held);
    if (known === undefined) throw new Error(`${held.lock} is used, which is not held`);
    return known;
  };

  return {
    random: choices,
    locks: config.locks,
    defences: config.defences,
    get stopping() {
      return options.stopping();
    },
    now: () => clock.now(),
    async sleepUntil(time) {
      for (;;) {
        const left = (time - clock.now()) / 1e6;
        if (left <= 0 || options.stopping()) return;
        await clock.sleep(millis(Math.min(left, LOOK_UP_MILLIS)));
      }
    },
    fresh: () => String(config.firstId + config.idStep * fresh++),
    acquireUnless,
    tryAcquire: (lock) => acquireUnless(lock, () => true, { patienceMillis: config.pollMillis.max }),
    lost: lose,
    acquire: (lock) => acquirePatiently(lock),
    acquireShared: (lock) => acquirePatiently(lock, { shared: true }),
    reenter: (held) =>
      acquireUnless(held.lock, () => true, {
        owner: holdOf(held).grant.request.owner,
        patienceMillis: config.pollMillis.max,
      }),
    async release(held) {
      const known = holdOf(held);
      holds.delete(held);
      known.letGo();
      const renewed = known.renewal?.stop();
      for (const key of known.keys) await recorder.leave(key);
      await recorder.release(known.grant);
      await renewed;
    },
    think: () => wait(thinking, config.thinkMillis),
    idle: () => wait(idling, config.idleMillis),
    async read(defence, key, held, order) {
      holds.get(held)?.keys.add(key);
      const outcome = await recorder.read(register(defence, key, held), order);
      return outcome.kind === 'ok' ? outcome.value : undefined;
    },
    async write(defence, key, held, update) {
      const writing = recorder.write(register(defence, key, held), update);
      if (cutting.real(0, 1) < config.cutWrites) {
        await clock.sleep(millis(cutting.real(0, CUT_AFTER_MILLIS)));
        recorder.cut();
      }
      return (await writing).kind;
    },
  };
}

function register(defence: string, key: string, { lock, token }: HeldLock): RegisterOperation {
  return { defence, key, lock, ...(token !== undefined && { token }) };
}

/** Turns of the workload until told to stop; resolves when the last one has ended. */
export async function runSessions(workload: Workload, session: ClientSession): Promise<void> {
  while (!session.stopping) {
    await workload.run(session);
    await session.idle();
  }
}
