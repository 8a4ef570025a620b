// Which sessions may be swept: only those whose owner is surely gone.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { encodeOwner, lifeOf, lookFor, parseOwner, thisProcess, type Owner, type Sighting } from './owner.ts';

const self: Owner = { host: 'box 1a', boot: 'b1', pidNamespace: 'pid:[1]', pid: 10, started: '500' };
const other: Owner = { ...self, pid: 20, started: '900' };
const nobody = (): Sighting => ({ there: false });
const somebody = (started?: string) => (): Sighting => ({
  there: true,
  ...(started !== undefined && { started }),
});

describe('lifeOf', () => {
  it('tells a live owner from a dead one, and from a later process of the same id', () => {
    expect(lifeOf(other, self, somebody('900'))).toBe('alive');
    expect(lifeOf(other, self, nobody)).toBe('dead');
    expect(lifeOf(other, self, somebody('901'))).toBe('dead');
  });

  it('counts a process whose start cannot be seen as alive', () => {
    expect(lifeOf(other, self, somebody())).toBe('alive');
  });

  it('knows that nothing survives a boot', () => {
    expect(lifeOf({ ...other, boot: 'b0' }, self, somebody('900'))).toBe('dead');
  });

  it('does not judge other machines, other process namespaces, or labels it cannot read', () => {
    expect(lifeOf({ ...other, host: 'box 2b', boot: 'b0' }, self, nobody)).toBe('unknown');
    expect(lifeOf({ ...other, pidNamespace: 'pid:[2]' }, self, nobody)).toBe('unknown');
    expect(lifeOf(undefined, self, nobody)).toBe('unknown');
  });
});

describe('the label', () => {
  it('says the same when read back', () => {
    expect(parseOwner(encodeOwner(other))).toEqual(other);
  });

  it.each([undefined, '', 'x', '{}', '{"pid":-1}', JSON.stringify({ ...other, pid: '20' })])(
    '%s is no owner',
    (label) => {
      expect(parseOwner(label)).toBeUndefined();
    },
  );
});

describe('lookFor', () => {
  it('sees this process, at the same start each time', () => {
    expect(lookFor(process.pid)).toEqual(lookFor(process.pid));
    expect(lifeOf(thisProcess(), thisProcess(), lookFor)).toBe('alive');
  });

  it('does not see a process that has ended', async () => {
    const { pid } = spawnSync('true');
    expect(lookFor(pid)).toEqual({ there: false });
    const child = spawn('sleep', ['60']);
    const id = child.pid ?? 0;
    expect(lookFor(id)).toMatchObject({ there: true });
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(lookFor(id)).toEqual({ there: false });
  });
});
