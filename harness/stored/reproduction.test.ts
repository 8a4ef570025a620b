// When one run counts as showing what another one did: by whom it blames, with codes that blame them.

import { describe, expect, it } from 'vitest';
import type { FindingCode } from '../../checkers/verdict.ts';
import { reproduces, surprising, type Shown } from './reproduction.ts';

const shown = (...codes: readonly FindingCode[]): Shown => ({
  grade: codes.length > 0 ? 'unsafe' : 'safe',
  codes,
});

describe('a replay', () => {
  it.each<[string, Shown, Shown, boolean]>([
    ['the same code', shown('double-grant'), shown('double-grant'), true],
    ['more besides', shown('double-grant'), shown('lost-update', 'double-grant'), true],
    ['nothing', shown('double-grant'), shown(), false],
    ['another party', shown('double-grant'), shown('belief-overlap'), false],
    ['one of two parties', shown('double-grant', 'token-regression'), shown('double-grant'), false],
    ['one of two codes of one party', shown('stale-write-landed', 'lost-update'), shown('lost-update'), true],
    ['another code of the same party', shown('stale-write-landed'), shown('lost-update'), false],
    ['clean again', shown(), shown(), true],
    ['no longer clean', shown(), shown('double-grant'), false],
    ['clean, but inconclusive', shown(), { grade: 'inconclusive', codes: [] }, false],
  ])('that shows %s', (_, first, second, expected) => {
    expect(reproduces(first, second)).toBe(expected);
  });

  it('is surprising where it blames somebody new', () => {
    expect(surprising(shown('stale-write-landed'), shown('lost-update'))).toEqual([]);
    expect(surprising(shown('stale-write-landed'), shown('lost-update', 'stuck-lock'))).toEqual([
      'stuck-lock',
    ]);
    expect(surprising(shown(), shown('double-grant'))).toEqual(['double-grant']);
  });
});
