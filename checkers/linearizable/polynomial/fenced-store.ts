// The fenced store without search, if written values are all different: clusters as for the register, in an order that
// tokens restrict. An accepted operation shows a token at least as high as any accepted before, so the clusters stand in
// order of their writes' tokens; of those with the same token all but the last are wholly of that token; what is left
// free is decided by time, as for the register. Placed in that order, each as early as it can be, they also show when
// the store can first have seen a token above a given one: no later than the return of each write it refused as stale,
// if that was just. O(n log n).

import { Kind, NEVER, NONE, type StoreEntries } from '../entries.ts';
import { blockOf, cannotPrecede, inPlace, interleaving, refutationOf, type Block } from './blocks.ts';
import { clustersOf, type Cluster } from './clusters.ts';
import { UNDECIDED, VALID, type Decision, type Refutation } from './decision.ts';

interface Tenure {
  readonly cluster: Cluster;
  readonly block: Block;
  /** The token of the write; `NONE` for the initial value. */
  readonly low: number;
  /** The highest token among the write and its reads. */
  readonly high: number;
}

export function decideFencedStore(entries: StoreEntries): Decision {
  const { size, kind, returned, token, value } = entries;
  for (let entry = 0; entry < size; entry++) {
    const blindRead = kind[entry] === Kind.read && value[entry] === NONE && token[entry] !== NONE;
    if (blindRead && returned[entry] !== NEVER) return UNDECIDED;
  }
  const found = clustersOf(entries);
  if (found.verdict !== 'clusters') return found;
  const tenures: Tenure[] = [];
  for (const cluster of found.clusters) {
    if (cluster.write !== NONE && token[cluster.write] === NONE) return UNDECIDED;
    const tenure = tenureOf(entries, cluster);
    if ('verdict' in tenure) return tenure;
    if (tenure.block.firstReturn !== NONE) tenures.push(tenure);
  }
  tenures.sort(
    (a, b) =>
      a.low - b.low || Number(a.high > a.low) - Number(b.high > b.low) || inPlace(entries, a.block, b.block),
  );
  return orderRefuted(entries, tenures) ?? staleDecision(entries, tenures);
}

function tenureOf(entries: StoreEntries, cluster: Cluster): Tenure | Refutation {
  const { invoked, returned, token } = entries;
  const { write, reads } = cluster;
  const low = write === NONE ? NONE : (token[write] ?? NONE);
  const byToken = new Map<number, number[]>();
  for (const read of reads) {
    const shown = token[read] ?? NONE;
    if (shown !== NONE && shown < low) return refutationOf(entries, 'token-order', [write, read]);
    byToken.set(shown, [...(byToken.get(shown) ?? []), read]);
  }
  const start = write === NONE ? [] : [[write]];
  const rising = [...byToken].filter(([shown]) => shown !== NONE).sort(([a], [b]) => a - b);
  const ordered = blockOf(entries, [...start, ...rising.map(([, group]) => group)]);
  if (ordered.verdict !== 'block') return ordered;
  const unfenced = blockOf(entries, [...start, byToken.get(NONE) ?? []]);
  if (unfenced.verdict !== 'block') return unfenced;
  const blocks = [ordered.block, unfenced.block].filter(({ firstReturn }) => firstReturn !== NONE);
  const block = blocks.reduce(
    (a, b) => ({
      firstReturn:
        (returned[b.firstReturn] ?? 0) < (returned[a.firstReturn] ?? 0) ? b.firstReturn : a.firstReturn,
      lastInvoked:
        (invoked[b.lastInvoked] ?? 0) > (invoked[a.lastInvoked] ?? 0) ? b.lastInvoked : a.lastInvoked,
    }),
    blocks[0] ?? ordered.block,
  );
  return { cluster, block, low, high: rising.at(-1)?.[0] ?? low };
}

/** Why these tenures, in the only order that could do, cannot follow each other. */
function orderRefuted(entries: StoreEntries, tenures: readonly Tenure[]): Refutation | undefined {
  const { invoked, token } = entries;
  let latest: Tenure | undefined;
  let highest: Tenure | undefined;
  for (const tenure of tenures) {
    if (highest !== undefined && highest.high > tenure.low) {
      const { cluster, high } = highest;
      const witness = [cluster.write, ...cluster.reads].find(
        (entry) => entry !== NONE && token[entry] === high,
      );
      const conflict = [witness ?? NONE, tenure.cluster.write, highest.cluster.write];
      return refutationOf(
        entries,
        'token-order',
        conflict.filter((entry) => entry !== NONE),
      );
    }
    if (latest !== undefined && cannotPrecede(entries, latest.block, tenure.block)) {
      if (latest.low === tenure.high) return interleaving(entries, latest.block, tenure.block);
      const conflict = [
        latest.cluster.write,
        latest.block.lastInvoked,
        tenure.cluster.write,
        tenure.block.firstReturn,
      ];
      return refutationOf(
        entries,
        'token-order',
        conflict.filter((entry) => entry !== NONE),
      );
    }
    const later =
      latest === undefined ||
      (invoked[tenure.block.lastInvoked] ?? 0) > (invoked[latest.block.lastInvoked] ?? 0);
    if (later) latest = tenure;
    if (highest === undefined || tenure.high > highest.high) highest = tenure;
  }
  return undefined;
}

/** From when the highest token that the store has seen can have been at least `token`. */
interface Rise {
  readonly token: number;
  readonly stamp: number;
}

/** Ascending by token, and so by stamp. `tenures`: in their order. */
function risesOf(entries: StoreEntries, tenures: readonly Tenure[]): Rise[] {
  const { invoked, returned, token } = entries;
  const rises: Rise[] = [];
  /** The last invocation of all that stands before. */
  let past = -Infinity;
  const passed = (...passing: readonly number[]): void => {
    for (const entry of passing) past = Math.max(past, invoked[entry] ?? 0);
  };
  for (let from = 0, to = 0; from < tenures.length; from = to) {
    const low = tenures[from]?.low ?? NONE;
    while (tenures[to]?.low === low) to++;
    const group = tenures.slice(from, to);
    const last = group.at(-1);
    const spanning = last !== undefined && last.high > low ? last : undefined;
    if (low > (rises.at(-1)?.token ?? NONE)) {
      // Any of the group that can stand first may be the one that brought the token.
      const returns = group.map(({ block }) => returned[block.firstReturn] ?? 0).sort((a, b) => a - b);
      const firsts = group.filter(({ block }) => {
        const own = returned[block.firstReturn] ?? 0;
        const others = own === returns[0] ? returns[1] : returns[0];
        return (invoked[block.lastInvoked] ?? 0) <= (others ?? NEVER);
      });
      const pure = firsts.filter((tenure) => tenure !== spanning || group.length === 1);
      const stamps = pure.map(({ cluster }) => invoked[cluster.write] ?? 0);
      rises.push({ token: low, stamp: Math.max(past, Math.min(...stamps)) });
    }
    for (const { cluster, block } of group)
      passed(...(block === spanning?.block ? [cluster.write] : [block.lastInvoked]));
    if (spanning === undefined) continue;
    const shown = (entry: number): number => token[entry] ?? NONE;
    const fenced = spanning.cluster.reads.filter((read) => shown(read) !== NONE);
    for (const level of [...new Set(fenced.map(shown))].sort((a, b) => a - b)) {
      const reads = fenced.filter((read) => shown(read) === level);
      const earliest = Math.max(past, Math.min(...reads.map((read) => invoked[read] ?? 0)));
      if (level > (rises.at(-1)?.token ?? NONE)) rises.push({ token: level, stamp: earliest });
      passed(...reads);
    }
    passed(spanning.block.lastInvoked);
  }
  return rises;
}

/** Whether each operation that was refused as stale was so with a higher token having been seen. */
function staleDecision(entries: StoreEntries, tenures: readonly Tenure[]): Decision {
  const { size, kind, invoked, returned, token } = entries;
  const rises = risesOf(entries, tenures);
  const unknown: number[] = [];
  for (let entry = 0; entry < size; entry++)
    if (returned[entry] === NEVER && kind[entry] !== Kind.stale && token[entry] !== NONE) unknown.push(entry);
  let first: Refutation | undefined;
  for (let entry = 0; entry < size; entry++) {
    const stamp = returned[entry] ?? 0;
    if (kind[entry] !== Kind.stale || stamp === NEVER) continue;
    const shown = token[entry] ?? NONE;
    const rise = firstAbove(rises, shown);
    if (rise !== undefined && rise.stamp <= stamp) continue;
    // An operation of unknown outcome, which nothing shows to have happened, may have brought a higher token.
    if (unknown.some((other) => (invoked[other] ?? 0) <= stamp && (token[other] ?? NONE) > shown))
      return UNDECIDED;
    if (first === undefined || stamp < (returned[first.refuted] ?? 0))
      first = { verdict: 'invalid', refuted: entry, conflict: [entry], reason: 'stale-without-higher' };
  }
  return first ?? VALID;
}

function firstAbove(rises: readonly Rise[], token: number): Rise | undefined {
  let low = 0;
  let high = rises.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rises[middle]?.token ?? 0) > token) high = middle;
    else low = middle + 1;
  }
  return rises[low];
}
