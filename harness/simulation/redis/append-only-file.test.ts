// What is left of a simulated append-only file when the power goes, by what `appendfsync` says.

import { describe, expect, it } from 'vitest';
import { openAppendOnlyFile, type SyncPolicy } from './append-only-file.ts';

const SECOND = 1e9;

/** Written at these seconds: a=1, b=1, a=2, b gone. Then the power goes. */
function left(policy: SyncPolicy, writtenAt: readonly [number, number, number, number], lostAt: number) {
  const file = openAppendOnlyFile();
  const [first, second, third, fourth] = writtenAt.map((seconds) => seconds * SECOND) as [
    number,
    number,
    number,
    number,
  ];
  file.write([['a', { value: '1' }]], first, policy);
  file.write([['b', { value: '1' }]], second, policy);
  file.write([['a', { value: '2' }]], third, policy);
  file.write([['b', undefined]], fourth, policy);
  const lost = file.losePower(lostAt * SECOND);
  return { lost, keys: Object.fromEntries([...file.entries].map(([key, { value }]) => [key, value])) };
}

describe('the append-only file', () => {
  it('loses with everysec what was written since the last sync', () => {
    // The first write is synced at once, and the next sync is a second later.
    expect(left('everysec', [0, 0.2, 0.4, 0.6], 0.9)).toEqual({ lost: 2, keys: { a: '1' } });
    expect(left('everysec', [0, 0.2, 0.4, 0.6], 1.1)).toEqual({ lost: 0, keys: { a: '2' } });
    expect(left('everysec', [0, 0.2, 0.4, 1.5], 1.9)).toEqual({ lost: 1, keys: { a: '2', b: '1' } });
    expect(left('everysec', [0, 0.2, 0.4, 1.5], 2.1)).toEqual({ lost: 0, keys: { a: '2' } });
  });

  it('loses with always what the server has not synced, and with no all of the last half minute', () => {
    expect(left('always', [0, 1, 2, 3], 100)).toEqual({ lost: 2, keys: {} });
    expect(left('no', [0, 1, 2, 3], 29)).toEqual({ lost: 2, keys: {} });
    expect(left('no', [0, 1, 2, 3], 31)).toEqual({ lost: 0, keys: { a: '2' } });
  });

  it('loses nothing of what was synced or rewritten, and nothing twice', () => {
    const file = openAppendOnlyFile();
    file.write([['a', { value: '1' }]], 0, 'always');
    file.synced();
    file.write([['a', { value: '2' }]], 1, 'always');
    expect(file.losePower(2)).toBe(1);
    expect([...file.entries]).toEqual([['a', { value: '1' }]]);
    expect(file.losePower(3)).toBe(0);
    file.write([['c', { value: '1' }]], 4, 'always');
    file.rewrite([['b', { value: '1' }]]);
    expect(file.losePower(5)).toBe(0);
    expect([...file.entries]).toEqual([['b', { value: '1' }]]);
  });
});
