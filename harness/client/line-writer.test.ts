// Lines leave whole and in order, however the pipe takes them, and invocations at once.

import { describe, expect, it } from 'vitest';
import { openLineWriter, type LineWriter, type WriteBytes } from './line-writer.ts';

function errorWithCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** A pipe that takes everything; `turn` ends the turn of the event loop. */
function pipe(): { readonly lines: LineWriter; readonly taken: string[]; readonly turn: () => void } {
  const taken: string[] = [];
  const due: (() => void)[] = [];
  const take: WriteBytes = (_fd, bytes, offset) => {
    taken.push(Buffer.from(bytes.subarray(offset)).toString());
    return bytes.length - offset;
  };
  return {
    lines: openLineWriter(1, take, (flush) => due.push(flush)),
    taken,
    turn: () => {
      for (const flush of due.splice(0)) flush();
    },
  };
}

describe('a line that is written now', () => {
  it('is written on after a partial write', () => {
    const taken: string[] = [];
    const threeAtATime: WriteBytes = (_fd, bytes, offset) => {
      const part = bytes.subarray(offset, offset + 3);
      taken.push(Buffer.from(part).toString('latin1'));
      return part.length;
    };
    openLineWriter(1, threeAtATime).now('grün €');
    expect(Buffer.from(taken.join(''), 'latin1').toString('utf8')).toBe('grün €\n');
    expect(taken.length).toBeGreaterThan(2);
  });

  it('waits while the pipe is full', () => {
    let full = 3;
    let taken = '';
    openLineWriter(1, (_fd, bytes, offset) => {
      if (full-- > 0) throw errorWithCode('EAGAIN');
      taken += Buffer.from(bytes.subarray(offset)).toString();
      return bytes.length - offset;
    }).now('line');
    expect(taken).toBe('line\n');
  });

  it('throws when nobody reads any more', () => {
    const lines = openLineWriter(1, () => {
      throw errorWithCode('EPIPE');
    });
    expect(() => lines.now('line')).toThrow('EPIPE');
  });

  it('takes with it what waits before it, in one piece', () => {
    const { lines, taken, turn } = pipe();
    lines.soon('a');
    lines.soon('b');
    expect(taken).toEqual([]);
    lines.now('c');
    expect(taken).toEqual(['a\nb\nc\n']);
    turn();
    expect(taken).toHaveLength(1);
  });
});

describe('a line that is written soon', () => {
  it('leaves when the turn is over, once', () => {
    const { lines, taken, turn } = pipe();
    lines.soon('a');
    turn();
    turn();
    expect(taken).toEqual(['a\n']);
    lines.soon('b');
    turn();
    expect(taken).toEqual(['a\n', 'b\n']);
  });

  it('leaves when asked to, as before an exit', () => {
    const { lines, taken, turn } = pipe();
    lines.soon('a');
    lines.flush();
    lines.flush();
    turn();
    expect(taken).toEqual(['a\n']);
  });

  it('really waits for no other turn', async () => {
    let taken = '';
    const lines = openLineWriter(1, (_fd, bytes, offset) => {
      taken += Buffer.from(bytes.subarray(offset)).toString();
      return bytes.length - offset;
    });
    lines.soon('a');
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(taken).toBe('a\n');
  });
});
