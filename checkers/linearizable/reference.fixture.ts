// What the checkers are tested against: the definition of linearizability, spelled out and slow, and many random histories
// (`small-histories.fixture.ts` has the small ones). Nothing here is shared with the search but the models' machines.

import type { Contradiction } from './decide.ts';
import { Kind, NEVER, NONE, prefix, type Entries, type LockEntries, type StoreEntries } from './entries.ts';
import { ILLEGAL, type Model } from './model.ts';

/** Tries every order, without any shortcut. Exponential; for some ten entries. */
export function bruteForce<E extends Entries>(entries: E, model: Model<E>): boolean {
  const machine = model.machine(entries);
  const done = Array<boolean>(entries.size).fill(false);
  const invoked = (entry: number): number => entries.invoked[entry] ?? 0;
  const returned = (entry: number): number => entries.returned[entry] ?? 0;
  const judged = new Set<number>(model.judges);
  for (let entry = 0; entry < entries.size; entry++) done[entry] = !judged.has(entries.kind[entry] ?? 0);
  const explore = (state: number): boolean => {
    let deadline = NEVER;
    for (let entry = 0; entry < entries.size; entry++)
      if (done[entry] === false) deadline = Math.min(deadline, returned(entry));
    if (deadline === NEVER) return true;
    for (let entry = 0; entry < entries.size; entry++) {
      if (done[entry] === true || invoked(entry) > deadline) continue;
      const next = machine.step(state, entry, deadline);
      if (next === ILLEGAL) continue;
      done[entry] = true;
      if (explore(next)) return true;
      done[entry] = false;
    }
    return false;
  };
  return explore(machine.initial);
}

/** `undefined`, or what is wrong with `order` as a proof that the entries are linearizable. */
export function faultOf<E extends Entries>(
  entries: E,
  model: Model<E>,
  order: readonly number[],
): string | undefined {
  const machine = model.machine(entries);
  const judged = new Set<number>(model.judges);
  const missing = new Set<number>();
  for (let entry = 0; entry < entries.size; entry++)
    if (judged.has(entries.kind[entry] ?? 0) && entries.returned[entry] !== NEVER) missing.add(entry);
  let state = machine.initial;
  const seen = new Set<number>();
  for (const entry of order) {
    if (seen.has(entry)) return `${entry} twice`;
    seen.add(entry);
    const deadline = Math.min(...[...missing].map((other) => entries.returned[other] ?? 0));
    if ((entries.invoked[entry] ?? 0) > deadline) return `${entry} after one that it follows`;
    state = machine.step(state, entry, deadline);
    if (state === ILLEGAL) return `${entry} is illegal`;
    missing.delete(entry);
  }
  return missing.size === 0 ? undefined : `${[...missing].join()} missing`;
}

/**
 * `undefined`, or what is wrong with `contradiction`: it must name the shortest refuted prefix, and in it answers that
 * contradict each other and of which none can be left out. By the definition, so for some ten entries.
 */
export function contradictionFault<E extends Entries>(
  entries: E,
  model: Model<E>,
  { refuted, conflict, given, isMinimal, isShortest }: Contradiction,
): string | undefined {
  const isRefuted = (part: E): boolean => !bruteForce(part, model);
  const at = entries.returned[refuted] ?? NEVER;
  const earlier = Math.max(-1, ...entries.returned.filter((stamp) => stamp < at));
  const known = prefix(entries, at);
  if (!isShortest || !isRefuted(known) || isRefuted(prefix(entries, earlier)))
    return `${refuted} does not end the shortest refuted prefix`;
  const only = (answers: readonly number[]): E => ({
    ...known,
    returned: known.returned.map((stamp, entry) => (answers.includes(entry) ? stamp : NEVER)),
  });
  if (given > 0 || !isMinimal || !isRefuted(only(conflict))) return `${conflict.join()} is no contradiction`;
  const dispensable = conflict.find((entry) => isRefuted(only(conflict.filter((other) => other !== entry))));
  return dispensable === undefined ? undefined : `${conflict.join()} is one without ${dispensable}`;
}

/** One operation of a history to be built. */
export interface Part {
  readonly kind: Kind;
  readonly unknown?: boolean;
  readonly owner?: number;
  readonly token?: number;
  /** Lease: how long after its invocation it is guaranteed. */
  readonly lease?: number;
  readonly value?: number;
  readonly expected?: number;
}

export interface Span {
  readonly invoked: number;
  readonly returned: number;
}

function columns(parts: readonly Part[], spans: readonly Span[]): { order: number[]; base: Entries } {
  const order = [...parts.keys()].sort(
    (a, b) => (spans[a]?.invoked ?? 0) - (spans[b]?.invoked ?? 0) || a - b,
  );
  const base: Entries = {
    size: parts.length,
    invoked: Float64Array.from(order, (part) => spans[part]?.invoked ?? 0),
    returned: Float64Array.from(order, (part) =>
      parts[part]?.unknown === true ? NEVER : (spans[part]?.returned ?? 0),
    ),
    kind: Uint8Array.from(order, (part) => parts[part]?.kind ?? 0),
    id: Float64Array.from(order),
  };
  return { order, base };
}

export function lockEntries(parts: readonly Part[], spans: readonly Span[]): LockEntries {
  const { order, base } = columns(parts, spans);
  return {
    ...base,
    owner: Int32Array.from(order, (part) => parts[part]?.owner ?? 0),
    owners: Array.from(
      { length: 1 + Math.max(0, ...parts.map(({ owner = 0 }) => owner)) },
      (_, index) => `o${index}`,
    ),
    token: Int32Array.from(order, (part) => parts[part]?.token ?? NONE),
    tokens: Array.from({ length: 1 + Math.max(0, ...parts.map(({ token = 0 }) => token)) }, (_, index) =>
      BigInt(index),
    ),
    lease: Float64Array.from(order, (part) => parts[part]?.lease ?? 0),
  };
}

export function storeEntries(parts: readonly Part[], spans: readonly Span[]): StoreEntries {
  const { order, base } = columns(parts, spans);
  return {
    ...base,
    value: Int32Array.from(order, (part) => parts[part]?.value ?? NONE),
    expected: Int32Array.from(order, (part) => parts[part]?.expected ?? NONE),
    values: ['', 'x', 'y', 'xy', 'yx', 'xx'],
    token: Int32Array.from(order, (part) => parts[part]?.token ?? NONE),
    tokens: [1n, 2n, 3n, 4n],
    transactions: TRANSACTIONS,
    registers: ['p', 'q'],
  };
}

const TRANSACTIONS = [0, 1].flatMap((write) =>
  [0, 1, 2].flatMap((value) => [
    [{ write: write === 1, register: 0, value }],
    [{ write: write === 1, register: 1, value }],
    [
      { write: write === 1, register: 0, value },
      { write: true, register: 1, value: 2 - value },
    ],
  ]),
);

/** How many transactions there are to choose a `value` from. */
export const TRANSACTION_COUNT = TRANSACTIONS.length;

/** A small generator of our own (xorshift32), so that a failure is reproduced by its seed. */
export interface Chance {
  below(limit: number): number;
  pick<T>(things: readonly T[]): T;
}

export function chance(seed: number): Chance {
  let word = (seed * 2654435761) | 1;
  const below = (limit: number): number => {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    return (word >>> 0) % limit;
  };
  return {
    below,
    pick(things) {
      const thing = things[below(things.length)];
      if (thing === undefined) throw new Error('nothing to pick from');
      return thing;
    },
  };
}

/** Spans with few distinct stamps, so that ties and zero durations are common. */
export function randomSpans(random: Chance, count: number): Span[] {
  const width = 2 + random.below(3 * count);
  return Array.from({ length: count }, () => {
    const invoked = random.below(width);
    return { invoked, returned: invoked + random.below(1 + random.below(width)) };
  });
}

/**
 * Operations that a run of the model could have shown, each widened at random around the instant at which it took effect;
 * a few then changed, so that about as many of these histories are invalid as valid.
 */
export function plausible<E extends Entries>(
  random: Chance,
  { model, build, alphabet }: Made<E>,
  count: number,
): { readonly parts: Part[]; readonly spans: Span[] } {
  // An entry of this history for each letter, to ask the machine what the letter would do.
  const machine = model.machine(
    build(
      alphabet,
      alphabet.map(() => ({ invoked: 0, returned: 0 })),
    ),
  );
  const width = 1 + random.below(8);
  let state = machine.initial;
  const parts: Part[] = [];
  const spans: Span[] = [];
  for (let tries = 0; parts.length < count && tries < 20 * count; tries++) {
    const letter = random.below(alphabet.length);
    const part = alphabet[letter];
    const next = machine.step(state, letter, 0);
    if (part === undefined || next === ILLEGAL) continue;
    const instant = 3 * parts.length;
    parts.push(part);
    spans.push({ invoked: instant - random.below(width), returned: instant + random.below(width) });
    if (part.unknown !== true || random.below(2) === 0) state = next;
  }
  for (let changes = random.below(4); changes > 0 && parts.length > 0; changes--)
    parts[random.below(parts.length)] = random.pick(alphabet);
  return { parts, spans };
}

/** What histories of a model are made of. */
export interface Made<E extends Entries> {
  readonly model: Model<E>;
  readonly build: (parts: readonly Part[], spans: readonly Span[]) => E;
  readonly alphabet: readonly Part[];
}

export interface AttemptsOptions {
  readonly clients: number;
  readonly operations: number;
  /** Each grant carries a token, greater than the last. */
  readonly tokens?: boolean;
  /** The lease of every acquire and renewal, in stamps; absent: locks are kept until released. */
  readonly lease?: number;
  /** Renewals and releases do not check who the owner is. */
  readonly unchecked?: boolean;
  /** Refused tries are recorded. */
  readonly tries?: boolean;
  /** In a thousand: outcomes that stay unknown, grants that a wrong server gives though somebody holds the lock. */
  readonly unknownPermille: number;
  readonly wrongPermille: number;
}

/** What clients of a lock server could have recorded, each attempt under an owner of its own. */
export function attempts(
  random: Chance,
  options: AttemptsOptions,
): { readonly parts: Part[]; readonly spans: Span[] } {
  const { lease, tokens = false, unchecked = false, tries = false } = options;
  const parts: Part[] = [];
  const spans: Span[] = [];
  const clients = Array.from({ length: options.clients }, () => ({ free: 0, owner: NONE, sure: false }));
  const permille = (limit: number): boolean => random.below(1000) < limit;
  let holder = NONE;
  let until = Infinity;
  let token = 0;
  let owners = 0;
  let now = 0;
  while (parts.length < options.operations) {
    now += random.below(4);
    const client = random.pick(clients);
    if (client.free > now) continue;
    if (now >= until) holder = NONE;
    const unknown = permille(options.unknownPermille);
    const acts = !unknown || random.below(2) === 0;
    const span = { invoked: Math.max(client.free, now - random.below(5)), returned: now + random.below(5) };
    const record = (part: Part): void => {
      parts.push(part);
      spans.push(span);
      client.free = span.returned + 1;
    };
    if (client.owner === NONE) {
      const owner = owners++;
      const granted = holder === NONE || permille(options.wrongPermille);
      if (!granted && !unknown) {
        if (tries) record({ kind: Kind.busy, owner });
        else client.free = span.returned + 1;
        continue;
      }
      if (granted && acts) {
        holder = owner;
        until = lease === undefined ? Infinity : now + lease;
        token++;
      }
      client.owner = owner;
      client.sure = !unknown;
      record({
        kind: Kind.acquire,
        owner,
        unknown,
        ...(tokens && !unknown && { token }),
        ...(lease !== undefined && { lease }),
      });
      continue;
    }
    const { owner } = client;
    const owns = holder === owner;
    if (lease !== undefined && client.sure && random.below(2) === 0) {
      if (owns && acts) until = now + lease;
      if (unchecked) record({ kind: Kind.renewUnchecked, owner, lease, unknown });
      else if (owns || unknown) record({ kind: Kind.renew, owner, lease, unknown });
      else record({ kind: Kind.disowned, owner });
      continue;
    }
    if (owns && acts) holder = NONE;
    if (unchecked) record({ kind: Kind.releaseUnchecked, owner, unknown });
    else if (owns || unknown) record({ kind: Kind.release, owner, unknown });
    else record({ kind: Kind.disowned, owner });
    // After an unknown outcome some try again, some give up.
    if (!unknown || random.below(2) === 0) client.owner = NONE;
  }
  return { parts, spans };
}

/** How much random testing: LOCKPICK_TEST_BUDGET times the default. */
export const TEST_BUDGET = Number(process.env['LOCKPICK_TEST_BUDGET'] ?? '1');
