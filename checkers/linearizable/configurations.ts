// The configurations that the search has seen: how far it is, the state, what of the pending entries has taken effect
// and what of the optional ones has been used. One that is no better than another seen before leads nowhere new and is
// refused; that is the cache of Lowe's search, widened from equal to "at least as good". Records lie in one growing array,
// found by hash and verified on every hit, so a collision can cost time but never a verdict.

import { NONE } from './entries.ts';
import type { Hiding } from './hiding.ts';
import type { UsedSets } from './used-sets.ts';

/** Fields of a record; the bits of the pending entries that took effect follow, one a slot. */
const HASH = 0;
const NEXT = 1;
const LEVEL = 2;
const STATE = 3;
const USED = 4;
const OVERWRITTEN = 5;
const PARENT = 6;
const VIA = 7;
const BITS = 8;

/** What the search is at; `add` reads it. */
export interface Cursor {
  level: number;
  state: number;
  /** Number of the set of optional entries used. */
  used: number;
  /**
   * Total candidates that opened at this level or before could have taken effect unseen, right before the last blind
   * one did; `NONE`: none could.
   */
  overwritten: number;
  readonly bits: Int32Array;
}

export interface Configurations {
  /**
   * Remembers `cursor`, reached from `parent` by `via`, and returns its number; `NONE` if one seen before is at least
   * as good.
   */
  add(cursor: Cursor, origin: { readonly parent: number; readonly via: number }, hiding: Hiding): number;
  load(configuration: number, cursor: Cursor): void;
  level(configuration: number): number;
  parent(configuration: number): number;
  /** The choice by which it was reached; of one without parent: the state from which the search began. */
  via(configuration: number): number;
  /** The state from which the search that led to it began. */
  root(configuration: number): number;
  readonly count: () => number;
  readonly bytes: () => number;
}

/** For sets of `slots` pending entries. */
export function createConfigurations(slots: number, usedSets: UsedSets): Configurations {
  const words = Math.max(1, Math.ceil(slots / 32));
  const width = BITS + words;
  let records = new Int32Array(width * 256);
  let heads = new Int32Array(256).fill(NONE);
  let count = 0;

  /** `a` and `b` agree in all but total and optional candidates; is whatever can follow `b` possible after `a`? */
  const atLeastAsGood = (a: number, b: number, hiding: Hiding): boolean => {
    const overwritten = records[a + OVERWRITTEN] ?? 0;
    if (overwritten < (records[b + OVERWRITTEN] ?? 0)) return false;
    for (let word = 0; word < words; word++) {
      const inA = records[a + BITS + word] ?? 0;
      const inB = records[b + BITS + word] ?? 0;
      if ((inA & ~inB) !== 0) return false;
      // What took effect in `b` alone must be free to be left out, or done later, in `a`.
      for (let alone = inB & ~inA; alone !== 0; alone &= alone - 1) {
        const slot = word * 32 + 31 - Math.clz32(alone & -alone);
        if ((hiding.opens[slot] ?? 0) > overwritten) return false;
      }
    }
    const usedByA = records[a + USED] ?? 0;
    const usedByB = records[b + USED] ?? 0;
    return usedByA === usedByB || usedSets.includes(usedByB, usedByA);
  };

  const comparable = (a: number, b: number, totalBits: Int32Array): boolean => {
    if (records[a + HASH] !== records[b + HASH]) return false;
    if (records[a + LEVEL] !== records[b + LEVEL] || records[a + STATE] !== records[b + STATE]) return false;
    for (let word = 0; word < words; word++) {
      const different = (records[a + BITS + word] ?? 0) ^ (records[b + BITS + word] ?? 0);
      if ((different & ~(totalBits[word] ?? 0)) !== 0) return false;
    }
    return true;
  };

  const makeRoom = (): void => {
    if ((count + 1) * width > records.length) {
      const larger = new Int32Array(records.length * 2);
      larger.set(records);
      records = larger;
    }
    if (count < heads.length) return;
    heads = new Int32Array(heads.length * 2).fill(NONE);
    for (let configuration = 0; configuration < count; configuration++) {
      const record = configuration * width;
      const bucket = (records[record + HASH] ?? 0) & (heads.length - 1);
      records[record + NEXT] = heads[bucket] ?? NONE;
      heads[bucket] = configuration;
    }
  };

  return {
    add(cursor, { parent, via }, hiding) {
      makeRoom();
      const record = count * width;
      let hash = mixed(cursor.level, cursor.state);
      for (let word = 0; word < words; word++) {
        const bits = cursor.bits[word] ?? 0;
        records[record + BITS + word] = bits;
        hash = mixed(hash, bits & ~(hiding.bits[word] ?? 0));
      }
      records[record + HASH] = hash;
      records[record + LEVEL] = cursor.level;
      records[record + STATE] = cursor.state;
      records[record + USED] = cursor.used;
      records[record + OVERWRITTEN] = cursor.overwritten;
      records[record + PARENT] = parent;
      records[record + VIA] = via;

      const bucket = hash & (heads.length - 1);
      let previous = NONE;
      for (let seen = heads[bucket] ?? NONE; seen !== NONE;) {
        const other = seen * width;
        const next = records[other + NEXT] ?? NONE;
        let keep = true;
        if (comparable(other, record, hiding.bits)) {
          if (atLeastAsGood(other, record, hiding)) return NONE;
          keep = !atLeastAsGood(record, other, hiding);
        }
        if (keep) previous = seen;
        else if (previous === NONE) heads[bucket] = next;
        else records[previous * width + NEXT] = next;
        seen = next;
      }
      records[record + NEXT] = heads[bucket] ?? NONE;
      heads[bucket] = count;
      return count++;
    },
    load(configuration, cursor) {
      const record = configuration * width;
      cursor.level = records[record + LEVEL] ?? 0;
      cursor.state = records[record + STATE] ?? 0;
      cursor.used = records[record + USED] ?? 0;
      cursor.overwritten = records[record + OVERWRITTEN] ?? 0;
      for (let word = 0; word < words; word++) cursor.bits[word] = records[record + BITS + word] ?? 0;
    },
    level: (configuration) => records[configuration * width + LEVEL] ?? 0,
    parent: (configuration) => records[configuration * width + PARENT] ?? 0,
    via: (configuration) => records[configuration * width + VIA] ?? 0,
    root(configuration) {
      let at = configuration;
      while (records[at * width + PARENT] !== NONE) at = records[at * width + PARENT] ?? 0;
      return records[at * width + VIA] ?? 0;
    },
    count: () => count,
    bytes: () => records.byteLength + heads.byteLength,
  };
}

function mixed(hash: number, word: number): number {
  let mix = Math.imul(hash ^ word, 0x9e3779b1);
  mix ^= mix >>> 15;
  mix = Math.imul(mix, 0x85ebca6b);
  return (mix ^ (mix >>> 13)) | 0;
}
