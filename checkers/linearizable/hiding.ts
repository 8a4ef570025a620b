// Which slots hold a pending total candidate at a place of the timeline, and how far such are excused there: one that was
// pending when a blind one took effect could have done so right before it, seen by nobody. Two configurations that
// differ in total candidates only can be compared, and this is what it takes.

import { NONE } from './entries.ts';
import { TOTAL, type Timeline } from './timeline.ts';
import type { Walk } from './walk.ts';

export interface Hiding {
  /** One a slot: its pending candidate is total. */
  readonly bits: Int32Array;
  /** By slot: the level at which its candidate opened. */
  readonly opens: Int32Array;
}

export interface HidingSurvey extends Hiding {
  /** Looks at where `walk` is now, and lowers the cursor's `overwritten` as far as that makes no difference. */
  survey(): void;
}

export function createHidingSurvey(timeline: Timeline, { cursor, occupant, pending }: Walk): HidingSurvey {
  const { levels, traits, slots } = timeline;
  const anyTotal = (timeline.anyTraits & TOTAL) !== 0;
  const bits = new Int32Array(cursor.bits.length);
  const opens = new Int32Array(slots);
  return {
    bits,
    opens,
    survey() {
      if (!anyTotal) return;
      bits.fill(0);
      let overwritten = NONE;
      for (let slot = 0; slot < slots; slot++) {
        const candidate = occupant[slot] ?? levels;
        const opened = timeline.opens[candidate] ?? 0;
        if (candidate >= levels || ((traits[candidate] ?? 0) & TOTAL) === 0 || opened > cursor.level)
          continue;
        bits[slot >>> 5] = (bits[slot >>> 5] ?? 0) | (1 << (slot & 31));
        opens[slot] = opened;
        if (opened <= cursor.overwritten && pending(slot)) overwritten = Math.max(overwritten, opened);
      }
      cursor.overwritten = overwritten;
    },
  };
}
