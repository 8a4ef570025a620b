// The only source of chance (I6): named, seeded streams. The same seed and name give the same numbers on any machine.
// Generator: xoroshiro128+ of the library pure-rand (Blackman & Vigna 2018), seeded by SHA-256 of the name.

import { createHash, randomInt } from 'node:crypto';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import type { Random } from './contract/workload.ts';

/** A stream for `name` (say, a process) under `seed`; streams of different names are independent. */
export function randomStream(seed: string, name: string): Random {
  const digest = createHash('sha256').update(`${seed}\u0000${name}`).digest();
  const generator = xoroshiro128plus(digest.readInt32LE(0));
  const integer = (min: number, max: number): number => uniformInt(generator, min, max);
  const real = (min: number, max: number): number => min + ((max - min) * integer(0, 2 ** 30 - 1)) / 2 ** 30;
  return {
    integer,
    real,
    pick: <T>(items: readonly T[]): T => {
      if (items.length === 0) throw new RangeError('cannot pick from nothing');
      return items[integer(0, items.length - 1)] as T;
    },
  };
}

/** A seed for a run that was given none; it is recorded, so the run can be repeated. */
export function freshSeed(): string {
  return String(randomInt(2 ** 31));
}

/** Tells apart two runs of one cell that began in the same second. */
export function freshRunId(): string {
  return randomInt(2 ** 24)
    .toString(16)
    .padStart(6, '0');
}
