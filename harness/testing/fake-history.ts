// A made-up history for tests and measurements of the report: a seeded simulation of one Redis with `SET NX PX`,
// clients that read, think and write under the lock, and pauses that outlive the lease. Not a test of locks; only its
// shape matters: thousands of operations, holds of some 40 ms, and a stale write after each pause.

import { assembleHistory, type History } from '../history/history.ts';
import {
  fencingToken,
  HISTORY_FORMAT,
  HISTORY_VERSION,
  millis,
  nanos,
  type AuditRow,
  type Completion,
  type FencingToken,
  type HistoryEvent,
  type Invoke,
} from '../history/op.ts';
import { randomStream } from '../rng.ts';

export interface FakeHistoryOptions {
  readonly seed: string;
  readonly seconds: number;
  readonly clients: number;
  readonly locks: number;
  readonly thinkMillis: { readonly min: number; readonly max: number };
  readonly pollMillis: { readonly min: number; readonly max: number };
  /** A holder is paused for 1.5 × TTL about every this many seconds; 0: never. */
  readonly pauseEverySeconds: number;
  /** The client in the middle of a section is killed at this second, and starts again as `<name>.2`. */
  readonly killAtSecond?: number;
  /** Grants carry fencing tokens, and a second store refuses stale ones. */
  readonly tokens: boolean;
  /** Replaces the name of the first client. */
  readonly oddName?: string;
}

export const PAUSE_HOLDER: FakeHistoryOptions = {
  seed: '42',
  seconds: 20,
  clients: 5,
  locks: 3,
  thinkMillis: { min: 30, max: 80 },
  pollMillis: { min: 5, max: 15 },
  pauseEverySeconds: 2.6,
  tokens: false,
};

export const TTL_MILLIS = 1000;
const SECOND = 1e9;

interface Client {
  readonly name: string;
  process: string;
  pausedUntil: number;
  /** Bumped by a kill: what the old process had in mind no longer happens. */
  life: number;
  holds: { lock: string; owner: string; token: bigint } | undefined;
}

/** The history of a made-up run; the same options give the same history. */
export function fakeHistory(options: FakeHistoryOptions): History {
  const random = randomStream(options.seed, 'fake run');
  const events: HistoryEvent[] = [];
  /** In order of time; short, so inserting is cheap. */
  const queue: { at: number; run: () => void }[] = [];
  const locks = Array.from({ length: options.locks }, (_, index) => `k${index + 1}`);
  const stores = options.tokens ? ['none', 'fence-on-read-and-write'] : ['none'];
  const held = new Map<string, { owner: string; expires: number }>();
  const cells = new Map<string, { value: number; version: number; highest: bigint; audit: AuditRow[] }>();
  for (const store of stores)
    for (const lock of locks) cells.set(`${store} ${lock}`, { value: 0, version: 0, highest: 0n, audit: [] });
  const clients: Client[] = Array.from({ length: options.clients }, (_, index) => {
    const name = index === 0 ? (options.oddName ?? 'c1') : `c${index + 1}`;
    return { name, process: name, pausedUntil: 0, life: 1, holds: undefined };
  });
  let now = 0;
  let nextId = 1;
  let nextToken = 1n;
  const stop = options.seconds * SECOND;

  const at = (time: number, run: () => void): void => {
    queue.splice(queue.findLastIndex((other) => other.at <= time) + 1, 0, { at: time, run });
  };
  /** Continues `client` after `delay`, or when its pause is over, unless it was killed meanwhile. */
  const later = (client: Client, delayMillis: number, run: () => void): void => {
    const { life } = client;
    const attempt = (): void => {
      if (client.life !== life) return;
      if (client.pausedUntil > now) at(client.pausedUntil + random.integer(20_000, 900_000), attempt);
      else run();
    };
    at(now + Math.round(delayMillis * 1e6), attempt);
  };
  /** One request: invoked now, takes effect on the way, completes a little later. */
  const request = (
    client: Client,
    invoke: Omit<Invoke, 'type' | 'id' | 'time' | 'process'>,
    effect: (id: number) => Omit<Completion, 'id' | 'time' | 'process' | 'op'>,
    then: (completion: Omit<Completion, 'id' | 'time' | 'process' | 'op'>) => void,
  ): void => {
    const id = nextId++;
    const { process, life } = client;
    events.push({ type: 'invoke', id, time: nanos(now), process, ...invoke });
    at(now + random.integer(80_000, 400_000), () => {
      const completion = effect(id);
      at(now + random.integer(60_000, 300_000), () => {
        if (client.life !== life) return;
        later(client, 0, () => {
          events.push({ ...completion, id, time: nanos(now), process, op: invoke.op });
          then(completion);
        });
      });
    });
  };

  const idle = (client: Client): void => {
    if (now >= stop) {
      events.push({ type: 'down', time: nanos(now), process: client.process, reason: 'stopped' });
      client.life += 1;
    } else later(client, random.real(0, 10), () => acquire(client, random.pick(locks)));
  };
  const acquire = (client: Client, lock: string): void => {
    const owner = `${client.process}:${nextId}`;
    request(
      client,
      { op: 'acquire', lock, try: true, ttlMillis: millis(TTL_MILLIS), owner },
      () => {
        const holder = held.get(lock);
        if (holder !== undefined && holder.expires > now) return { type: 'fail', error: 'busy' };
        held.set(lock, { owner, expires: now + TTL_MILLIS * 1e6 });
        return { type: 'ok', ...(options.tokens && { token: fencingToken(String(nextToken)) }) };
      },
      (completion) => {
        if (completion.type === 'fail') {
          if (now >= stop) return idle(client);
          return later(client, random.real(options.pollMillis.min, options.pollMillis.max), () =>
            acquire(client, lock),
          );
        }
        client.holds = { lock, owner, token: nextToken++ };
        read(client, 0);
      },
    );
  };
  const read = (client: Client, index: number, seen: { value: number; version: number }[] = []): void => {
    const { holds } = client;
    const store = stores[index];
    if (holds === undefined) return;
    if (store === undefined)
      return later(client, random.real(options.thinkMillis.min, options.thinkMillis.max), () =>
        write(client, 0, seen),
      );
    const cell = cells.get(`${store} ${holds.lock}`);
    if (cell === undefined) return;
    const token = tokenOf(store, holds.token);
    request(
      client,
      { op: 'read', store, key: holds.lock, ...token },
      () => {
        if (token.token !== undefined && token.token > cell.highest) cell.highest = token.token;
        return { type: 'ok', value: String(cell.value), version: String(cell.version) };
      },
      ({ value, version }) =>
        read(client, index + 1, [...seen, { value: Number(value), version: Number(version) }]),
    );
  };
  const write = (client: Client, index: number, seen: { value: number; version: number }[]): void => {
    const { holds } = client;
    const store = stores[index];
    const base = seen[index];
    if (holds === undefined) return;
    if (store === undefined || base === undefined) return release(client);
    const cell = cells.get(`${store} ${holds.lock}`);
    if (cell === undefined) return;
    const token = tokenOf(store, holds.token);
    const value = String(base.value + 1);
    request(
      client,
      { op: 'write', store, key: holds.lock, value, base: String(base.version), ...token },
      (id) => {
        const accepted = token.token === undefined || token.token >= cell.highest;
        cell.audit.push({
          seq: String(cell.audit.length + 1),
          id,
          process: client.process,
          ...token,
          base: String(base.version),
          version: String(cell.version),
          value,
          accepted,
        });
        if (!accepted)
          return { type: 'fail', error: 'stale-token', highest: fencingToken(String(cell.highest)) };
        cell.value = base.value + 1;
        cell.version += 1;
        if (token.token !== undefined) cell.highest = token.token;
        return { type: 'ok', version: String(cell.version) };
      },
      () => write(client, index + 1, seen),
    );
  };
  const release = (client: Client): void => {
    const { holds } = client;
    if (holds === undefined) return;
    client.holds = undefined;
    request(
      client,
      { op: 'release', lock: holds.lock },
      () => {
        const holder = held.get(holds.lock);
        const released = holder?.owner === holds.owner && holder.expires > now;
        if (released) held.delete(holds.lock);
        return { type: 'ok', released };
      },
      () => idle(client),
    );
  };

  let faultCount = 0;
  const hurt = (fault: 'pause' | 'kill', durationMillis: number): void => {
    const holders = clients.filter((client) => client.holds !== undefined && client.pausedUntil <= now);
    if (holders.length === 0) return at(now + 5_000_000, () => hurt(fault, durationMillis));
    const client = random.pick(holders);
    const id = `f${++faultCount}`;
    const common = { type: 'fault', id, fault, targets: [client.name] } as const;
    events.push({
      ...common,
      phase: 'begin',
      time: nanos(now),
      params: { target: 'holder', durationMillis },
    });
    at(now + random.integer(9_000_000, 16_000_000), () => {
      client.pausedUntil = now + durationMillis * 1e6;
      events.push({
        ...common,
        phase: 'acted',
        time: nanos(now),
        evidence: fault === 'pause' ? { state: 'T (stopped)', pid: 4211 } : { exitCode: 137 },
      });
      if (fault === 'kill') {
        events.push({ type: 'down', time: nanos(now), process: client.process, reason: 'killed' });
        client.life += 1;
        client.holds = undefined;
        client.process = `${client.name}.${client.life}`;
      }
      at(client.pausedUntil, () => {
        events.push({ ...common, phase: 'end', time: nanos(now), evidence: { state: 'S (sleeping)' } });
        if (fault === 'kill') idle(client);
      });
    });
  };

  for (const client of clients) later(client, random.real(0, 30), () => idle(client));
  if (options.pauseEverySeconds > 0)
    for (let second = 1.2; second < options.seconds - 2; second += options.pauseEverySeconds)
      at(Math.round(second * SECOND), () => hurt('pause', TTL_MILLIS * 1.5));
  if (options.killAtSecond !== undefined) at(options.killAtSecond * SECOND, () => hurt('kill', 800));
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    now = next.at;
    next.run();
  }
  for (const [name, cell] of cells) {
    const [store = '', key = ''] = name.split(' ');
    const id = nextId++;
    const common = { id, process: 'coordinator', op: 'read' } as const;
    events.push({ ...common, type: 'invoke', time: nanos(now), store, key });
    now += 400_000;
    events.push({
      ...common,
      type: 'ok',
      time: nanos(now),
      value: String(cell.value),
      version: String(cell.version),
      audit: cell.audit,
    });
  }
  const recipe = options.tokens ? 'fenced-incr' : 'set-nx-px';
  return assembleHistory(
    {
      format: HISTORY_FORMAT,
      version: HISTORY_VERSION,
      clock: 'shared',
      clockErrorNanos: 0,
      meta: {
        backend: 'redis-single',
        recipe,
        workload: 'counter',
        fault: 'pause-holder',
        seed: options.seed,
        ttlMillis: TTL_MILLIS,
        tokens: options.tokens,
        closedByDown: true,
        plannedFaults: options.pauseEverySeconds > 0 ? ['pause'] : [],
      },
    },
    events,
  );
}

/** Only fenced stores are shown the token. */
function tokenOf(store: string, token: bigint): { token?: FencingToken } {
  return store.startsWith('fence') ? { token: fencingToken(String(token)) } : {};
}
