// Worlds of `ideal-lock.fixture.ts`, drawn by fast-check: small ones first, so that what fails shrinks to what can be read.

import * as fc from 'fast-check';
import type { World } from './ideal-lock.fixture.ts';

/** Any world, but with these settings. */
export function anyWorld(settings: Partial<World> = {}): fc.Arbitrary<World> {
  return fc
    .record({
      seed: fc.nat(),
      clients: fc.integer({ min: 2, max: 6 }),
      locks: fc.integer({ min: 1, max: 2 }),
      untilMillis: fc.integer({ min: 50, max: 600 }),
      deadlineAware: fc.boolean(),
      blindRelease: fc.boolean(),
      renews: fc.boolean(),
      loss: fc.constantFrom(0, 0.05, 0.2),
      pauses: fc.boolean(),
      deaths: fc.boolean(),
      clockErrorMillis: fc.constantFrom(0, 1, 3),
    })
    .map((world) => ({ ...world, ...settings }));
}
