// The error tables of all backends, from which the documentation is made. What single errors are taken for is tested
// beside each table.

import { describe, expect, it } from 'vitest';
import { backends } from './index.ts';

describe.each(backends)('the error table of $name', ({ errors }) => {
  it('says of each error what it means and where that is written', () => {
    expect(errors.length).toBeGreaterThan(3);
    for (const { match, error, meaning, source } of errors) {
      expect(match).not.toBe('');
      expect(error).toMatch(/^[a-z-]+…?$/);
      expect(meaning).toMatch(/\.$/);
      expect(source).not.toBe('');
    }
  });

  it('gives one meaning to what is matched', () => {
    const matches = errors.map(({ match }) => match);
    expect(new Set(matches).size).toBe(matches.length);
  });
});
