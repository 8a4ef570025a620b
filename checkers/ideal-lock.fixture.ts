// A lease lock that keeps every promise, used by clients over a bad network, as a source of histories for properties:
// replies are late or lost, clients pause, die, believe too long if told to, and their clocks are off. The service is
// one state per lock and grants to one owner at a time, so whatever a rule says against it is a false alarm. It also
// tells the truth that no history shows: who believed when, and whose release removed whose lock.

import type { FaultEvent, Header, HistoryEvent, Invoke } from '../harness/history/op.ts';
import { fencingToken, HISTORY_FORMAT, HISTORY_VERSION, millis, nanos } from '../harness/history/op.ts';
import { assembleHistory, type History } from '../harness/history/history.ts';

export interface World {
  readonly seed: number;
  readonly clients: number;
  readonly locks: number;
  readonly untilMillis: number;
  /** Clients stop believing at their deadline; else they work on. */
  readonly deadlineAware: boolean;
  /** A release removes the lock whoever owns it, and does not say whether it did. */
  readonly blindRelease: boolean;
  readonly renews: boolean;
  /** Part of the messages that are lost; others may come late. */
  readonly loss: number;
  readonly pauses: boolean;
  readonly deaths: boolean;
  readonly clockErrorMillis: number;
}

export interface Told {
  readonly header: Header;
  /** In the order in which a coordinator learned of them. */
  readonly events: readonly HistoryEvent[];
  /** Acquire id → when its client really believed (true time, milliseconds). */
  readonly beliefs: ReadonlyMap<number, { from: number; to: number }>;
  /** Ids of releases that removed the lock of another owner. */
  readonly foreign: ReadonlySet<number>;
}

const TTL_MILLIS = 100;
const TOLERANCE = 0.01;
const TIME_LIMIT_MILLIS = 40;

/** mulberry32 (Tommy Ettinger): numbers in [0, 1). */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function toldHistory({ header, events }: Pick<Told, 'header' | 'events'>): History {
  return assembleHistory(header, events);
}

interface Owned {
  readonly owner: number;
  readonly process: string;
  readonly until: number;
}

/** Runs the world and tells what came of it. The same world tells the same. */
export function tell(world: World): Told {
  const random = chance(world.seed);
  const between = (min: number, max: number): number => min + random() * (max - min);
  const queue: { at: number; order: number; act: () => void }[] = [];
  let now = 0;
  let order = 0;
  const schedule = (at: number, act: () => void): void => {
    queue.push({ at: Math.max(at, now), order: order++, act });
  };

  const events: { event: HistoryEvent; arrives: number }[] = [];
  const beliefs = new Map<number, { from: number; to: number }>();
  const foreign = new Set<number>();
  const owned = new Map<string, Owned>();
  const tokens = new Map<string, number>();
  let nextId = 1;

  const holderOf = (lock: string): Owned | undefined => {
    const holder = owned.get(lock);
    return holder !== undefined && holder.until > now ? holder : undefined;
  };
  /** How long the service's clock makes a lease. */
  const lease = (): number => TTL_MILLIS * between(1 - TOLERANCE, 1);

  const startProcess = (container: string, generation: number, at: number): void => {
    const process = generation === 1 ? container : `${container}.${generation}`;
    const offset = between(-world.clockErrorMillis, world.clockErrorMillis);
    let dead = false;
    let lastStamp = 0;
    let lastArrival = 0;
    let pausedUntil = 0;
    const believing = new Set<number>();

    const stamp = (): ReturnType<typeof nanos> => {
      lastStamp = Math.max(lastStamp, Math.round((now + 2 * world.clockErrorMillis + offset) * 1e6));
      return nanos(lastStamp);
    };
    const write = (event: HistoryEvent): void => {
      lastArrival = Math.max(lastArrival, now + between(0, 3));
      events.push({ event, arrives: lastArrival });
    };
    /** Runs `act` in this process: not while it is paused, and not after its death. */
    const later = (delay: number, act: () => void): void => {
      const run = (): void => {
        if (dead) return;
        if (now < pausedUntil) schedule(pausedUntil, run);
        else act();
      };
      schedule(now + delay, run);
    };

    type Reply = { readonly type: 'ok' | 'fail'; readonly fields?: object };
    /** One recorded request. `effect` runs at the service, now or late or never; `done` here, with its reply if it came in time. */
    const request = (
      asked: Pick<Invoke, 'op' | 'lock' | 'ttlMillis' | 'owner' | 'try'>,
      effect: (id: number) => Reply,
      done: (reply: Reply | undefined, id: number) => void,
    ): void => {
      const id = nextId++;
      write({ type: 'invoke', id, time: stamp(), process, ...asked });
      let settled = false;
      const settle = (reply: Reply | undefined): void => {
        if (settled) return;
        settled = true;
        const told = reply ?? { type: 'info' as const, fields: { error: 'timeout' } };
        write({ type: told.type, id, time: stamp(), process, op: asked.op, ...told.fields });
        done(reply, id);
      };
      const latency = (): number => (random() < 0.1 ? between(5, 3 * TIME_LIMIT_MILLIS) : between(0.1, 2));
      if (random() >= world.loss)
        schedule(now + latency(), () => {
          const reply = effect(id);
          if (random() >= world.loss) later(latency(), () => settle(reply));
        });
      later(TIME_LIMIT_MILLIS, () => settle(undefined));
    };

    const giveBack = (lock: string, owner: number, then: () => void): void =>
      request(
        { op: 'release', lock },
        (id) => {
          const holder = holderOf(lock);
          if (holder !== undefined && (world.blindRelease || holder.owner === owner)) {
            owned.delete(lock);
            if (holder.owner !== owner) foreign.add(id);
          }
          if (world.blindRelease) return { type: 'ok' };
          return { type: 'ok', fields: { released: holder?.owner === owner } };
        },
        then,
      );

    const session = (): void => {
      if (now >= world.untilMillis) return;
      const lock = `k${1 + Math.floor(random() * world.locks)}`;
      const asked = stamp();
      request(
        { op: 'acquire', lock, try: true, ttlMillis: millis(TTL_MILLIS), owner: `${process}-${nextId}` },
        (id) => {
          if (holderOf(lock) !== undefined) return { type: 'fail', fields: { error: 'busy' } };
          owned.set(lock, { owner: id, process, until: now + lease() });
          const token = (tokens.get(lock) ?? 0) + 1;
          tokens.set(lock, token);
          const validUntil = nanos(asked + Math.floor(TTL_MILLIS * (1 - TOLERANCE) * 1e6));
          return { type: 'ok', fields: { token: fencingToken(String(token)), validUntil } };
        },
        (reply, id) => {
          if (reply?.type === 'ok') return hold(lock, id, asked + TTL_MILLIS * (1 - TOLERANCE) * 1e6);
          if (reply === undefined) return giveBack(lock, id, () => later(between(0, 10), session));
          return later(between(0, 15), session);
        },
      );
    };

    const hold = (lock: string, owner: number, firstDeadline: number): void => {
      const believed = { from: now, to: Infinity };
      beliefs.set(owner, believed);
      believing.add(owner);
      let deadline = firstDeadline;
      let held = true;
      const letGo = (): boolean => {
        const mine = held;
        held = false;
        believed.to = Math.min(believed.to, now);
        believing.delete(owner);
        return mine;
      };
      const renew = (): void => {
        if (!held) return;
        const asked = stamp();
        request(
          { op: 'renew', lock, ttlMillis: millis(TTL_MILLIS) },
          () => {
            const holder = holderOf(lock);
            if (holder?.owner !== owner) return { type: 'fail', fields: { error: 'not-owner' } };
            owned.set(lock, { ...holder, until: now + lease() });
            const validUntil = nanos(asked + Math.floor(TTL_MILLIS * (1 - TOLERANCE) * 1e6));
            return { type: 'ok', fields: { validUntil } };
          },
          (reply) => {
            if (!held) return;
            if (reply?.type === 'ok' && stamp() <= deadline)
              deadline = asked + TTL_MILLIS * (1 - TOLERANCE) * 1e6;
            if (reply?.type === 'fail') {
              letGo();
              write({ type: 'lost', time: stamp(), process, lock, reason: 'not-owner' });
              return later(between(0, 10), session);
            }
            return later(TTL_MILLIS / 3, renew);
          },
        );
      };
      if (world.renews && random() < 0.7) later(TTL_MILLIS / 3, renew);
      const length = random() < 0.2 ? between(TTL_MILLIS, 2 * TTL_MILLIS) : between(1, TTL_MILLIS / 3);
      later(length, () => {
        if (!letGo()) return;
        // Long after it stopped believing it may still say goodbye, or not at all.
        if (world.deadlineAware && stamp() > deadline && random() < 0.5)
          return later(between(0, 10), session);
        giveBack(lock, owner, () => later(between(0, 10), session));
      });
    };

    const die = (): void => {
      if (dead) return;
      dead = true;
      for (const owner of believing) {
        const belief = beliefs.get(owner);
        if (belief !== undefined) belief.to = now;
      }
      write({ type: 'down', time: nanos(lastStamp), process, reason: 'killed' });
      if (now < world.untilMillis) startProcess(container, generation + 1, now + between(1, 30));
    };
    const pause = (): void => {
      const lasts = between(10, 2 * TTL_MILLIS);
      pausedUntil = now + lasts;
      const id = `f${process}-${Math.round(now)}`;
      const fault = { type: 'fault' as const, id, fault: 'pause', targets: [container] };
      const report = (phase: FaultEvent['phase'], after: number): void =>
        schedule(now + after, () =>
          events.push({
            event: { ...fault, phase, time: nanos(Math.round((now + 2 * world.clockErrorMillis) * 1e6)) },
            arrives: now,
          }),
        );
      report('begin', 0);
      report('acted', 0.5);
      report('end', lasts);
    };

    schedule(at, () => later(between(0, 10), session));
    for (let from = at; from < world.untilMillis; from += 300) {
      if (world.pauses && random() < 0.5) schedule(from + between(0, 300), () => !dead && pause());
      if (world.deaths && random() < 0.2) schedule(from + between(0, 300), die);
    }
    schedule(world.untilMillis + 10 * TTL_MILLIS, die);
  };

  for (let client = 1; client <= world.clients; client++) startProcess(`c${client}`, 1, 0);
  while (queue.length > 0) {
    let first = 0;
    for (let index = 1; index < queue.length; index++) {
      const [a, b] = [queue[index], queue[first]];
      if (a !== undefined && b !== undefined && (a.at < b.at || (a.at === b.at && a.order < b.order)))
        first = index;
    }
    const [step] = queue.splice(first, 1);
    if (step === undefined) break;
    now = step.at;
    step.act();
  }

  return {
    header: {
      format: HISTORY_FORMAT,
      version: HISTORY_VERSION,
      clock: world.clockErrorMillis === 0 ? 'shared' : 'measured',
      clockErrorNanos: Math.round(world.clockErrorMillis * 1e6),
      meta: {
        ttlMillis: TTL_MILLIS,
        clockTolerance: TOLERANCE,
        deadlineAware: world.deadlineAware,
        ownerChecked: !world.blindRelease,
        closedByDown: true,
      },
    },
    events: events.toSorted((a, b) => a.arrives - b.arrives).map(({ event }) => event),
    beliefs,
    foreign,
  };
}
