// Lines leave whole and in order, however the pipe takes them.

import { describe, expect, it } from 'vitest';
import { writeLine, type WriteBytes } from './line-writer.ts';

function errorWithCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}

describe('writeLine', () => {
  it('writes on after a partial write', () => {
    const taken: string[] = [];
    const threeAtATime: WriteBytes = (_fd, bytes, offset) => {
      const part = bytes.subarray(offset, offset + 3);
      taken.push(Buffer.from(part).toString('latin1'));
      return part.length;
    };
    writeLine(1, 'grün €', threeAtATime);
    expect(Buffer.from(taken.join(''), 'latin1').toString('utf8')).toBe('grün €\n');
    expect(taken.length).toBeGreaterThan(2);
  });

  it('waits while the pipe is full', () => {
    let full = 3;
    let taken = '';
    writeLine(1, 'line', (_fd, bytes, offset) => {
      if (full-- > 0) throw errorWithCode('EAGAIN');
      taken += Buffer.from(bytes.subarray(offset)).toString();
      return bytes.length - offset;
    });
    expect(taken).toBe('line\n');
  });

  it('throws when nobody reads any more', () => {
    expect(() =>
      writeLine(1, 'line', () => {
        throw errorWithCode('EPIPE');
      }),
    ).toThrow('EPIPE');
  });
});
