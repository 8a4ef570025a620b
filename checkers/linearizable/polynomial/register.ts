// Registers whose written values are all different, without search: clusters, joined into blocks where a compare-and-set
// took effect, can be put in an order if and only if any two of them can (Gibbons & Korach 1997: no two forward zones
// overlap, no backward zone lies within a forward one). Sorted by `inPlace` they are in such an order if there is one:
// of two blocks in the wrong order there, the other order is wrong as well. O(n log n).

import { Kind, NONE, type StoreEntries } from '../entries.ts';
import { blockOf, cannotPrecede, inPlace, interleaving, refutationOf, type Block } from './blocks.ts';
import { clustersOf, type Cluster } from './clusters.ts';
import { VALID, type Decision } from './decision.ts';

export function decideRegister(entries: StoreEntries): Decision {
  const found = clustersOf(entries);
  if (found.verdict !== 'clusters') return found;
  const byValue = new Map(found.clusters.map((cluster) => [cluster.value, cluster]));
  const inChains = new Set<number>();
  const blocks: Block[] = [];
  let initial: Block | undefined;
  for (const cluster of found.clusters) {
    if (cluster.write !== NONE && entries.kind[cluster.write] === Kind.cas) continue;
    const chain = [...chainFrom(cluster, byValue, entries)];
    for (const group of chain) for (const entry of group) inChains.add(entry);
    const made = blockOf(entries, chain);
    if (made.verdict !== 'block') return made;
    if (made.block.firstReturn === NONE) continue;
    if (cluster.write === NONE) initial = made.block;
    else blocks.push(made.block);
  }
  // Values that came from each other in a circle never came to be.
  const circle = found.clusters
    .map(({ write }) => write)
    .filter((write) => write !== NONE && !inChains.has(write));
  if (circle.length > 0) return refutationOf(entries, 'read-of-nothing', circle);
  blocks.sort((a, b) => inPlace(entries, a, b));

  /** Of the blocks so far the one that was invoked last. */
  let latest = initial;
  for (const block of blocks) {
    if (latest !== undefined && cannotPrecede(entries, latest, block))
      return interleaving(entries, latest, block);
    const later =
      latest === undefined ||
      (entries.invoked[block.lastInvoked] ?? 0) > (entries.invoked[latest.lastInvoked] ?? 0);
    if (later) latest = block;
  }
  return VALID;
}

/** A write, its reads, the compare-and-set that took effect on it, the reads of that, and so on. */
function* chainFrom(
  start: Cluster,
  byValue: ReadonlyMap<number, Cluster>,
  { value }: StoreEntries,
): Generator<readonly number[]> {
  if (start.write !== NONE) yield [start.write];
  for (let cluster: Cluster | undefined = start; cluster !== undefined;) {
    yield cluster.reads;
    if (cluster.next === NONE) return;
    yield [cluster.next];
    cluster = byValue.get(value[cluster.next] ?? NONE);
  }
}
