// Which slots hold a pending blind candidate at a place of the timeline, and how far blind ones are excused there. Two
// configurations that differ in blind candidates only can be compared, and this is what it takes.

import { NONE } from './entries.ts';
import { BLIND, type Timeline } from './timeline.ts';
import type { Walk } from './walk.ts';

export interface Blindness {
  /** One a slot: its pending candidate is blind. */
  readonly bits: Int32Array;
  /** By slot: the level at which its candidate opened. */
  readonly opens: Int32Array;
  /** Looks at where `walk` is now, and lowers the cursor's `overwritten` as far as that makes no difference. */
  survey(): void;
}

export function createBlindness(timeline: Timeline, { cursor, occupant, pending }: Walk): Blindness {
  const { levels, traits, slots } = timeline;
  const anyBlind = (timeline.anyTraits & BLIND) !== 0;
  const bits = new Int32Array(cursor.bits.length);
  const opens = new Int32Array(slots);
  return {
    bits,
    opens,
    survey() {
      if (!anyBlind) return;
      bits.fill(0);
      let overwritten = NONE;
      for (let slot = 0; slot < slots; slot++) {
        const candidate = occupant[slot] ?? levels;
        const opened = timeline.opens[candidate] ?? 0;
        if (candidate >= levels || ((traits[candidate] ?? 0) & BLIND) === 0 || opened > cursor.level)
          continue;
        bits[slot >>> 5] = (bits[slot >>> 5] ?? 0) | (1 << (slot & 31));
        opens[slot] = opened;
        if (opened <= cursor.overwritten && pending(slot)) overwritten = Math.max(overwritten, opened);
      }
      cursor.overwritten = overwritten;
    },
  };
}
