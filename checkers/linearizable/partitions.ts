// Locks and keys are judged one by one: if each is linearizable, so are all of them together (Herlihy & Wing 1990, locality;
// Horn & Kroening 2015 make use of it).

/** The things in groups, in order of first appearance. */
export function partitionsBy<T>(things: Iterable<T>, nameOf: (thing: T) => string): Map<string, T[]> {
  const partitions = new Map<string, T[]>();
  for (const thing of things) {
    const name = nameOf(thing);
    const partition = partitions.get(name);
    if (partition === undefined) partitions.set(name, [thing]);
    else partition.push(thing);
  }
  return partitions;
}

export function mapValues<K, V, W>(map: ReadonlyMap<K, V>, change: (value: V) => W): Map<K, W> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}
