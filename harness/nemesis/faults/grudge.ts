// Who may not hear whom: the shape of a bad network, as a pure value. A grudge names for each listener the speakers
// whose packets do not reach it, so that one-way cuts, rings and bridges are all the same thing to `firewall.ts` and to
// the probe. Idea and names: Jepsen's nemesis (`complete-grudge`, `bridge`, `majorities-ring`). Knows names only.

/** Listener → those it does not hear. Nobody is deaf to itself, and a listener that hears everybody is not in it. */
export type Grudge = ReadonlyMap<string, ReadonlySet<string>>;

/** `listeners` do not hear `speakers`, who hear them. */
export function deafTo(listeners: readonly string[], speakers: readonly string[]): Grudge {
  return grudgeOf(listeners, (listener, speaker) => listener !== speaker && speakers.includes(speaker), [
    ...speakers,
  ]);
}

/** Nobody of one side hears anybody of the other. */
export function apart(side: readonly string[], others: readonly string[]): Grudge {
  return new Map([...deafTo(side, others), ...deafTo(others, side)]);
}

/**
 * Each node hears a majority, itself included, and each another one. From four nodes on whoever is heard hears too; of
 * three each hears one neighbour that does not hear it, for there is no other way.
 */
export function majoritiesRing(ring: readonly string[]): Grudge {
  const size = ring.length;
  const reach = Math.floor((Math.floor(size / 2) + 1) / 2);
  const hears = (steps: number): boolean =>
    size > 3 ? Math.min(steps, size - steps) <= reach : steps === size - 1;
  const place = new Map(ring.map((name, index) => [name, index]));
  const stepsFrom = (a: string, b: string): number =>
    ((place.get(b) ?? 0) - (place.get(a) ?? 0) + size) % size;
  return grudgeOf(
    ring,
    (listener, speaker) => listener !== speaker && !hears(stepsFrom(listener, speaker)),
    ring,
  );
}

/** The first node hears both halves of the others, and they hear it; the halves do not hear each other. */
export function bridge([, ...others]: readonly string[]): Grudge {
  const half = Math.floor(others.length / 2);
  return apart(others.slice(0, half), others.slice(half));
}

/** Pairs `listener, speaker`, in the order of the grudge. */
export function pairsOf(grudge: Grudge): readonly (readonly [listener: string, speaker: string])[] {
  return [...grudge].flatMap(([listener, speakers]) =>
    [...speakers].map((speaker) => [listener, speaker] as const),
  );
}

/** Whoever is deaf to somebody by one of them is. */
export function together(grudges: readonly Grudge[]): Grudge {
  const all = new Map<string, Set<string>>();
  for (const [listener, speaker] of grudges.flatMap(pairsOf))
    all.set(listener, (all.get(listener) ?? new Set()).add(speaker));
  return all;
}

export function isDeaf(grudge: Grudge, listener: string, speaker: string): boolean {
  return grudge.get(listener)?.has(speaker) === true;
}

/** A packet filter's part in it: what comes `from` the peer, or what goes `to` it. */
export interface Filter {
  readonly direction: 'from' | 'to';
  readonly peer: string;
}

/**
 * At which nodes packets are stopped: at `preferred` ones where they are an end of the pair, so that as few nodes as
 * possible have to be told; else where they arrive.
 */
export function filtersOf(
  grudge: Grudge,
  preferred: ReadonlySet<string>,
): ReadonlyMap<string, readonly Filter[]> {
  const filters = pairsOf(grudge).map(([listener, speaker]): readonly [string, Filter] =>
    preferred.has(speaker) && !preferred.has(listener)
      ? [speaker, { direction: 'to', peer: listener }]
      : [listener, { direction: 'from', peer: speaker }],
  );
  return new Map(
    [...Map.groupBy(filters, ([at]) => at)].map(([at, found]) => [at, found.map(([, filter]) => filter)]),
  );
}

function grudgeOf(
  listeners: readonly string[],
  deaf: (listener: string, speaker: string) => boolean,
  speakers: readonly string[],
): Grudge {
  return new Map(
    listeners
      .map((listener) => [listener, new Set(speakers.filter((speaker) => deaf(listener, speaker)))] as const)
      .filter(([, unheard]) => unheard.size > 0),
  );
}
