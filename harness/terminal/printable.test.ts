// What a terminal is shown of texts from outside.

import { describe, expect, it } from 'vitest';
import { printable, printableLines } from './printable.ts';

describe('a text from outside', () => {
  it.each([
    ['k1/é-锁\t🔒', 'k1/é-锁\t🔒'],
    ['\u001B[31mred\u001B]0;title\u0007', '\\u001b[31mred\\u001b]0;title\\u0007'],
    ['k\r\n● SAFE\u0085\u2028', 'k\\u000d\\u000a● SAFE\\u0085\\u2028'],
    ['\u009B31m\u007F', '\\u009b31m\\u007f'],
    ['a\u202Eb\u2069', 'a\\u202eb\\u2069'],
  ])('%j is shown as %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('keeps the lines of a message, and nothing else', () => {
    expect(printableLines('one\ntwo\u001B\r')).toBe('one\ntwo\\u001b\\u000d');
  });
});
