// Clusters: a write and the reads that saw its value, which in any order of the operations stand together, the write first
// (Gibbons & Korach 1997, "Testing shared memories"). Defined only if every value is written once, so that a read tells
// which write it saw. A write of unknown outcome that nobody saw is left out: it never has to have happened. A
// compare-and-set reads what it expects and writes right after that, so it joins two clusters into one block.

import { Kind, NEVER, NONE, type StoreEntries } from '../entries.ts';
import { refutationOf } from './blocks.ts';
import { UNDECIDED, type Decision, type Reason, type Refutation } from './decision.ts';

/** The write of one value, and its known reads. */
export interface Cluster {
  readonly value: number;
  /** `NONE`: the initial value. */
  readonly write: number;
  readonly reads: readonly number[];
  /** The compare-and-set that took effect on this value, or `NONE`. */
  readonly next: number;
}

/** The clusters by value, without those of writes that nothing shows to have happened; the first is the initial value's. */
export function clustersOf(
  entries: StoreEntries,
): { readonly verdict: 'clusters'; readonly clusters: readonly Cluster[] } | Decision {
  const { size, kind, returned, value, expected, values } = entries;
  const writer = new Int32Array(values.length).fill(NONE);
  for (let entry = 0; entry < size; entry++) {
    const what = kind[entry] ?? 0;
    const operand = value[entry] ?? NONE;
    // What a failed exchange found, or a text that grew, is no value that one write made.
    if (what === Kind.append || (what === Kind.casFailed && returned[entry] !== NEVER)) return UNDECIDED;
    if (what !== Kind.write && what !== Kind.cas) continue;
    if (operand === 0 || writer[operand] !== NONE) return UNDECIDED;
    writer[operand] = entry;
  }

  const reads: number[][] = values.map(() => []);
  const next = new Int32Array(values.length).fill(NONE);
  /** By value: a known entry that shows that it was written. */
  const witness = new Int32Array(values.length).fill(NONE);
  let refuted: Refutation | undefined;
  const refute = (reason: Reason, ...conflict: readonly number[]): void => {
    refuted ??= refutationOf(entries, reason, conflict);
  };
  /** `entry` took effect: so did the write of what it saw, and if that was a compare-and-set, the one before it. */
  const tookEffect = (entry: number): void => {
    for (let effective = entry; ;) {
      const isCas = kind[effective] === Kind.cas;
      if (kind[effective] !== Kind.read) {
        const written = value[effective] ?? 0;
        if (witness[written] !== NONE) return;
        witness[written] = entry;
        if (!isCas) return;
      }
      const saw = (isCas ? expected[effective] : value[effective]) ?? 0;
      if (isCas) {
        const other = next[saw] ?? NONE;
        if (other !== NONE)
          refute('two-successors', other, witness[value[other] ?? 0] ?? 0, effective, entry);
        next[saw] = effective;
      } else (reads[saw] ??= []).push(effective);
      if (saw === 0) return;
      const source = writer[saw] ?? NONE;
      if (source === NONE) return refute('read-of-nothing', effective);
      effective = source;
    }
  };
  for (let entry = 0; entry < size; entry++) {
    if (returned[entry] === NEVER) continue;
    const known =
      kind[entry] === Kind.read
        ? value[entry] !== NONE
        : kind[entry] === Kind.write || kind[entry] === Kind.cas;
    if (known) tookEffect(entry);
  }
  if (refuted !== undefined) return refuted;
  const clusters: Cluster[] = [];
  for (const [operand, own] of reads.entries())
    if (operand === 0 || witness[operand] !== NONE)
      clusters.push({
        value: operand,
        write: writer[operand] ?? NONE,
        reads: own,
        next: next[operand] ?? NONE,
      });
  return { verdict: 'clusters', clusters };
}
