// An archive that another program can read.

import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { tarArchive } from './archive.ts';

describe('tarArchive', () => {
  it('is read by tar', () => {
    const archive = tarArchive([
      { path: '/lockpick/empty', content: '' },
      { path: '/lockpick/block', content: 'b'.repeat(512) },
      { path: '/etc/more', content: Buffer.from('naïve\n') },
    ]);
    const list = spawnSync('tar', ['-tvf', '-'], { input: archive, encoding: 'utf8' });
    expect(list.stderr).toBe('');
    expect(list.stdout).toMatch(
      /-rw-r--r-- 0\/0\s+0 .* lockpick\/empty\n.*\s512 .* lockpick\/block\n.*\s7 .* etc\/more\n/,
    );
    const content = spawnSync('tar', ['-xOf', '-', 'etc/more'], { input: archive, encoding: 'utf8' });
    expect(content.stdout).toBe('naïve\n');
  });

  it('refuses a path it cannot hold', () => {
    expect(() => tarArchive([{ path: `/${'x'.repeat(101)}`, content: '' }])).toThrow(RangeError);
  });
});
