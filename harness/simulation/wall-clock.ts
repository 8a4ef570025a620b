// What a node takes for the time of day: the time of the simulation, less or more what is wrong with its clock. Set from
// outside, by the faults of clocks; kill and start keep it.

/** The time of day at the beginning of every simulation, in milliseconds since 1970. */
export const EPOCH_MILLIS = Date.UTC(2026, 0, 1);

/** What is wrong with it, as the faults of clocks ask for it. */
export interface WrongTime {
  readonly offsetMillis: number;
  /** Added to every second, in seconds. */
  readonly rate: number;
  /** Right and wrong in turn, for so long each; 0: always wrong. */
  readonly phaseMillis: number;
}

export interface WallClock {
  /** Milliseconds since 1970 at that time of the simulation, in nanoseconds. */
  at(time: number): number;
  /** From that time on. */
  set(time: number, wrong: WrongTime): void;
}

export function openWallClock(): WallClock {
  let wrong: WrongTime = { offsetMillis: 0, rate: 0, phaseMillis: 0 };
  let since = 0;
  return {
    at(time) {
      const elapsed = (time - since) / 1e6;
      const { offsetMillis, rate, phaseMillis } = wrong;
      const isRight = phaseMillis > 0 && Math.floor(elapsed / phaseMillis) % 2 === 1;
      return EPOCH_MILLIS + time / 1e6 + (isRight ? 0 : offsetMillis + rate * elapsed);
    },
    set(time, next) {
      wrong = next;
      since = time;
    },
  };
}
