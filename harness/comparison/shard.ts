// Which of many machines runs what: unit k of n belongs to shard (k mod count). No machine needs to know of another, and
// cells that take long are spread evenly, because the seeds of one cell stand side by side. Pure.

import { HarnessError } from '../contract/errors.ts';

export interface Shard {
  /** 1 … count. */
  readonly index: number;
  readonly count: number;
}

export const WHOLE: Shard = { index: 1, count: 1 };

/** Reads `2/12`. `written` is how the user gave it. Throws HarnessError('usage'). */
export function parseShard(text: string, written: string): Shard {
  const match = /^(\d{1,4})\/(\d{1,4})$/.exec(text);
  const [index, count] = [Number(match?.[1]), Number(match?.[2])];
  if (match !== null && index >= 1 && index <= count) return { index, count };
  throw new HarnessError('usage', `${written}: is not a shard`, {
    remedy: 'write i/n with 1 ≤ i ≤ n, e.g. 2/12',
  });
}

/** The units of this shard, in their order. */
export function shardOf<T>(units: readonly T[], { index, count }: Shard): readonly T[] {
  return units.filter((_, position) => position % count === index - 1);
}
