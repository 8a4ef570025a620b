// Runs before `npm start`, `npm test`, `npm run check` and `npm run lockpick`: installs the locked dependencies when
// they are missing or older than package-lock.json. Plain JavaScript without dependencies, because it is the one file
// that any Node ≥ 20 runs before the project's own Node (node_modules/.bin/node) exists. Everything goes to stderr.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const ownNode = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');
const LEAST_NODE = [22, 22];

/** What package-lock.json asks for and node_modules has in another version, or not at all; undefined: all is there. */
function firstDifference() {
  const installedPath = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedPath)) return 'node_modules';
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(readFileSync(installedPath, 'utf8')).packages;
  for (const [path, entry] of Object.entries(locked)) {
    if (path === '' || entry.link) continue;
    const have = installed[path]?.version;
    // An optional package may be for another platform; one that is there must still be the locked one.
    if (have === entry.version || (have === undefined && (entry.optional || entry.peer))) continue;
    return `${path.replace(/^.*node_modules\//, '')} ${entry.version}`;
  }
  return undefined;
}

/** Some versions of npm (9.2 of Debian 13) leave out the link to a program that packages for other platforms have as well. */
function linkOwnNode() {
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  for (const [path, { bin }] of Object.entries(locked)) {
    if (bin?.node === undefined || !existsSync(join(root, path, bin.node))) continue;
    try {
      mkdirSync(dirname(ownNode), { recursive: true });
      rmSync(ownNode, { force: true });
      symlinkSync(relative(dirname(ownNode), join(root, path, bin.node)), ownNode);
    } catch (error) {
      // Another command may have made it meanwhile.
      if (!existsSync(ownNode)) fail(`cannot make ${ownNode}: ${error.message}`);
    }
    return;
  }
}

function fail(message) {
  process.stderr.write(`lockpick: ${message}\n`);
  process.exit(69);
}

const difference = firstDifference();
if (difference !== undefined) {
  process.stderr.write(`lockpick: installing the locked dependencies (${difference} is missing) …\n`);
  const npm = spawnSync(
    'npm',
    ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' },
  );
  if (npm.status !== 0) fail('`npm ci` failed (see above); check the network and run the same command again');
}

if (!existsSync(ownNode)) linkOwnNode();
if (existsSync(ownNode)) {
  try {
    execFileSync(ownNode, ['-e', '0'], { stdio: 'ignore', shell: process.platform === 'win32' });
  } catch (error) {
    fail(`the project's own Node (${ownNode}) does not run here: ${error.message}`);
  }
} else {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < LEAST_NODE[0] || (major === LEAST_NODE[0] && minor < LEAST_NODE[1]))
    fail(
      `no Node 24 comes as a package for ${process.platform}-${process.arch}; install Node ≥ ${LEAST_NODE.join('.')} (this is ${process.versions.node})`,
    );
}
