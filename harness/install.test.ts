// What runs before everything else, on a copy of its own with packages made up.

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lockpick-install-'));
  mkdirSync(join(root, 'harness'));
  cpSync(join(import.meta.dirname, 'install.mjs'), join(root, 'harness', 'install.mjs'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** As npm leaves it: what is locked is there. */
function install(packages: Readonly<Record<string, object>>) {
  const text = JSON.stringify({ packages });
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(join(root, 'package-lock.json'), text);
  writeFileSync(join(root, 'node_modules', '.package-lock.json'), text);
  return spawnSync(process.execPath, [join(root, 'harness', 'install.mjs')], { encoding: 'utf8' });
}

it('makes the link to the Node of this platform where npm has left it out', () => {
  const here = join(root, 'node_modules', 'node-here', 'bin');
  mkdirSync(here, { recursive: true });
  symlinkSync(process.execPath, join(here, 'node'));
  const links = join(root, 'node_modules', '.bin');
  mkdirSync(links);
  symlinkSync('nowhere', join(links, 'node'));
  const bin = { node: 'bin/node' };
  mkdirSync(join(root, 'node_modules', 'node-elsewhere', 'bin'), { recursive: true });
  symlinkSync(process.execPath, join(root, 'node_modules', 'node-elsewhere', 'bin', 'node'));
  const ended = install({
    'node_modules/node-elsewhere': { version: '24.0.0', optional: true, bin, os: 'elsewhere', cpu: 'x64' },
    'node_modules/node-here': {
      version: '24.0.0',
      optional: true,
      bin,
      os: process.platform,
      cpu: [process.arch],
    },
  });
  expect(ended).toMatchObject({ status: 0, stderr: '' });
  expect(readlinkSync(join(links, 'node'))).toBe(join('..', 'node-here', 'bin', 'node'));
});

it('makes none where no package has one, and takes the Node that runs', () => {
  expect(install({ 'node_modules/other': { version: '1.0.0', bin: { other: 'other.js' } } })).toMatchObject({
    status: 0,
    stderr: '',
  });
  expect(existsSync(join(root, 'node_modules', '.bin', 'node'))).toBe(false);
});

it('says that the Node of this platform is not whole', () => {
  mkdirSync(join(root, 'node_modules', 'node-here'), { recursive: true });
  const entry = { version: '24.0.0', bin: { node: 'bin/node' }, os: process.platform, cpu: process.arch };
  expect(install({ 'node_modules/node-here': entry })).toMatchObject({
    status: 69,
    stderr: expect.stringMatching(/node is missing; remove node_modules and run the same command again$/m),
  });
});

it('says that a Node does not run', () => {
  const bin = join(root, 'node_modules', '.bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'node'), 'no program', { mode: 0o755 });
  expect(install({})).toMatchObject({
    status: 69,
    stderr: expect.stringMatching(/^lockpick: the project's own Node .* does not run here: /),
  });
});
