// An interner for very many short texts, most of which are new, such as the owners of a lock: each attempt has its own.
// A `Map` takes three times as long for these and keeps an object for each that the garbage collector has to look at.
// Here is a table with open addressing instead, by a 32-bit hash (FNV-1a of Fowler, Noll and Vo, over UTF-16 units);
// texts are compared where hashes are equal, so a collision costs time only.

import type { Interner } from './entries.ts';

const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const SLOTS_AT_FIRST = 64;

export function textInterner(): Interner<string> {
  const things: string[] = [];
  /** A power of two, at most half of them taken. Two cells for a slot: hash, and number + 1; 0: it is free. */
  let slots = SLOTS_AT_FIRST;
  let cells = new Int32Array(2 * slots);

  /** The cell of the slot in which `text` is, or would be. */
  const placeOf = (hash: number, text: string): number => {
    for (let slot = hash & (slots - 1); ; slot = (slot + 1) & (slots - 1)) {
      const number = (cells[2 * slot + 1] ?? 0) - 1;
      if (number < 0 || (cells[2 * slot] === hash && things[number] === text)) return 2 * slot;
    }
  };
  const put = (place: number, hash: number, number: number): void => {
    cells[place] = hash;
    cells[place + 1] = number + 1;
  };
  const makeRoom = (): void => {
    const before = cells;
    slots *= 2;
    cells = new Int32Array(2 * slots);
    for (let place = 0; place < before.length; place += 2) {
      const [hash, number] = [before[place] ?? 0, (before[place + 1] ?? 0) - 1];
      if (number >= 0) put(placeOf(hash, things[number] ?? ''), hash, number);
    }
  };
  const intern = (text: string): number => {
    const hash = hashOf(text);
    const place = placeOf(hash, text);
    const known = (cells[place + 1] ?? 0) - 1;
    if (known >= 0) return known;
    const number = things.push(text) - 1;
    put(place, hash, number);
    if (2 * things.length > slots) makeRoom();
    return number;
  };
  return Object.assign(intern, { things });
}

function hashOf(text: string): number {
  let hash = FNV_BASIS;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  // The low bits choose the slot; let the others have a say.
  return hash ^ (hash >>> 15);
}
