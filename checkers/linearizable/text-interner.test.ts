// The quick interner of texts numbers as the general one does, whatever their hashes.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { interner } from './entries.ts';
import { textInterner } from './text-interner.ts';

describe('the interner of texts', () => {
  it('numbers as the one for everything does', () => {
    const texts = fc.array(
      fc.string({ maxLength: 3, unit: fc.constantFrom('a', 'b', '1', 'é', '\u{1f512}') }),
      {
        maxLength: 300,
      },
    );
    fc.assert(
      fc.property(texts, (some) => {
        const [plain, text] = [interner<string>(), textInterner()];
        expect(some.map(text)).toEqual(some.map(plain));
        expect(text.things).toEqual(plain.things);
      }),
    );
  });

  it('tells texts of one hash apart', () => {
    // A well-known pair of FNV-1a.
    const intern = textInterner();
    expect(['costarring', 'liquid', 'costarring', 'liquid'].map(intern)).toEqual([0, 1, 0, 1]);
  });

  it('keeps many', () => {
    const intern = textInterner();
    const names = Array.from({ length: 20_000 }, (_, index) => `c${index % 7}-${index}`);
    expect(names.map(intern)).toEqual([...names.keys()]);
    expect(names.map(intern)).toEqual([...names.keys()]);
  });
});
