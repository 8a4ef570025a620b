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

function packagesIn(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
}

/** What npm says that it installed; undefined: nothing, or it was cut off. */
function installedPackages() {
  try {
    return packagesIn('node_modules/.package-lock.json');
  } catch {
    return undefined;
  }
}

/** What package-lock.json asks for and node_modules has in another version, or not at all; undefined: all is there. */
function firstDifference() {
  const installed = installedPackages();
  if (installed === undefined) return 'node_modules';
  for (const [path, entry] of Object.entries(packagesIn('package-lock.json'))) {
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
  for (const [path, { bin, os, cpu }] of Object.entries(packagesIn('package-lock.json'))) {
    const isForHere = [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch);
    if (bin?.node === undefined || !isForHere || !existsSync(join(root, path))) continue;
    const program = join(root, path, bin.node);
    if (!existsSync(program))
      fail(`${program} is missing; remove node_modules and run the same command again`);
    try {
      mkdirSync(dirname(ownNode), { recursive: true });
      rmSync(ownNode, { force: true });
      symlinkSync(relative(dirname(ownNode), program), ownNode);
    } catch (error) {
      // Another command may have made it meanwhile.
      if (!existsSync(ownNode))
        fail(`cannot make ${ownNode}: ${error.message}; remove node_modules and run the same command again`);
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
