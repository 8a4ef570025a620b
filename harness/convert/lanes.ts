// Numbers for things of one owner that may overlap in time: of two that do, each has its own. Other tools know one row, or
// one process, with one thing at a time in it.

export interface Lanes {
  /** The lowest number that is free, for `owner` alone. */
  take(owner: string): number;
  /** It is over, so its number can be used again by the same owner. Whoever never ends keeps it for ever. */
  free(owner: string, lane: number): void;
  readonly count: () => number;
}

export function createLanes(): Lanes {
  const freeOf = new Map<string, number[]>();
  let count = 0;
  return {
    take: (owner) => freeOf.get(owner)?.pop() ?? count++,
    free(owner, lane) {
      const free = freeOf.get(owner) ?? [];
      free.push(lane);
      freeOf.set(owner, free);
    },
    count: () => count,
  };
}
