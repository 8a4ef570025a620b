// The configurations that the search has seen: how far it is, the state, what of the pending entries has taken effect
// and what of the optional ones has been used. One that is no better than another seen before leads nowhere new and is
// refused; that is the cache of Lowe's search, widened from equal to "at least as good". Records lie in one growing array,
// found by hash and verified on every hit, so a collision can cost time but never a verdict.

import { START } from './choices.ts';
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
/** Twice the choice tried last, and 1 if unobserved. */
const TRIED = 8;
const BITS = 9;

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

export interface Origin {
  readonly parent: number;
  /** The choice by which it is reached; of one without parent: the state from which the search begins. */
  readonly via: number;
  /** That was a total candidate at the same level, and nothing has observed it yet. */
  readonly unobserved: boolean;
}

export interface Configurations {
  /** Remembers `cursor` and returns its number; `NONE` if one seen before is at least as good. */
  add(cursor: Cursor, origin: Origin, hiding: Hiding): number;
  load(configuration: number, cursor: Cursor): void;
  level(configuration: number): number;
  parent(configuration: number): number;
  via(configuration: number): number;
  unobserved(configuration: number): boolean;
  /** The choice tried last, at first `START`. */
  tried(configuration: number): number;
  setTried(configuration: number, choice: number): void;
  /** The state from which the search that led to it began. */
  root(configuration: number): number;
  readonly count: () => number;
  readonly bytes: () => number;
}

/** For sets of `slots` pending entries; there is room for `expected` configurations before anything has to grow. */
export function createConfigurations(slots: number, usedSets: UsedSets, expected: number): Configurations {
  const words = Math.max(1, Math.ceil(slots / 32));
  const width = BITS + words;
  const room = 2 ** Math.ceil(Math.log2(Math.max(expected, 256)));
  let records = new Int32Array(width * room);
  let heads = new Int32Array(room).fill(NONE);
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
    add(cursor, { parent, via, unobserved }, hiding) {
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
      records[record + TRIED] = (START << 1) | Number(unobserved);

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
    unobserved: (configuration) => ((records[configuration * width + TRIED] ?? 0) & 1) === 1,
    tried: (configuration) => (records[configuration * width + TRIED] ?? 0) >> 1,
    setTried(configuration, choice) {
      const at = configuration * width + TRIED;
      records[at] = (choice << 1) | ((records[at] ?? 0) & 1);
    },
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
