// The command line as people meet it: every command explains itself with examples, wrong input gets one clear error and
// exit code 64, and data goes to stdout.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const cli = join(import.meta.dirname, 'cli.ts');

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function lockpick(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Ended {
  return spawnSync(process.execPath, [cli, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  });
}

const { stdout: overview } = lockpick(['--help']);
const commands = [...overview.matchAll(/^ {2}([a-z]+) (?=[[<].*|.*)/gm)]
  .map(([, name = '']) => name)
  .filter((name) => name !== 'help' && name !== '');

describe('lockpick', () => {
  it('has the commands of the design', () => {
    expect(commands).toEqual(
      expect.arrayContaining(
        'run compare list check replay report merge explain init doctor clean'.split(' '),
      ),
    );
  });

  it.each(commands)('%s --help says what it does, with two examples that name it', (command) => {
    const { status, stdout, stderr } = lockpick([command, '--help']);
    expect(status, stderr).toBe(0);
    const examples = stdout.split('\n').filter((line) => line.startsWith(`  $ lockpick ${command}`));
    expect(examples.length).toBeGreaterThanOrEqual(2);
  });

  it.each([
    [['rnu'], /Did you mean run\?/],
    [['run', '--tll', '1s'], /Did you mean --ttl\?/],
    [['run', 'redis-singel'], /unknown backend "redis-singel" → did you mean redis-single/],
    [['run', 'redis-single', '--ttl', '1ms'], /--ttl 1ms: must be 50ms to 10m/],
    [['run', 'redis-single', '--shard', '3/2'], /--shard 3\/2: is not a shard → write i\/n/],
    [
      ['run', 'redis-single', '--reporter', 'htm'],
      /--reporter htm: unknown reporter "htm" → did you mean html/,
    ],
    [['run', 'redis-single', '--keep', 'some'], /--keep <when>.*'some' is invalid/],
    [['run', 'redis-single', '--adapter', 'no.ts'], /the adapter no\.ts does not exist/],
    [['run', 'redis-single', '--config', 'no.ts'], /the config no\.ts does not exist/],
    [['run', 'redis-single', '--config', ''], /^lockpick: --config: is empty$/m],
    [
      ['compare', '--profile', 'hourly'],
      /'hourly' is invalid\. Allowed choices are smoke, standard, nightly/,
    ],
    [['merge', 'nowhere'], /nowhere has no comparison\.json/],
    [['explain', 'double-grand'], /did you mean double-grant/],
    [['report', 'nowhere'], /nowhere\/plan\.json does not exist/],
  ] satisfies [string[], RegExp][])('%j is refused with 64 and what to do', (args, message) => {
    const { status, stdout, stderr } = lockpick(args);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(3);
    expect(stdout).toBe('');
    expect(status).toBe(64);
  });

  it.each([
    [{ LOCKPICK_TTL: '1ms' }, /LOCKPICK_TTL=1ms: must be/],
    [{ LOCKPICK_SEEDS: 'many' }, /LOCKPICK_SEEDS=many: must be a whole number/],
    [{ LOCKPICK_KEEP: 'some' }, /LOCKPICK_KEEP/],
    [
      { LOCKPICK_SEDES: '3' },
      /unknown environment variable LOCKPICK_SEDES → did you mean LOCKPICK_SEED, LOCKPICK_SEEDS/,
    ],
  ] satisfies [Readonly<Record<string, string>>, RegExp][])('so is %j', (environment, message) => {
    const { status, stderr } = lockpick(['run', 'redis-single'], environment);
    expect(stderr).toMatch(message);
    expect(status).toBe(64);
  });

  it('lists what would run, as text and as data', () => {
    const { stdout } = lockpick(['list', '--profile', 'smoke', '--json']);
    const rows: unknown = JSON.parse(stdout);
    expect(rows).toContainEqual(
      expect.objectContaining({
        cell: 'redis-single/fenced-incr/pause-holder',
        seeds: 1,
        estimatedSeconds: 15,
      }),
    );
    expect(lockpick(['list', 'etcd/*', '--seeds', '3'], { NO_COLOR: '1' }).stdout).toMatch(
      /\ncells: \d+, runs: \d+, time: about (\d+ h \d\d|\d+) min\n$/,
    );
  });

  it('lists a cell that is composed of known parts, as it would run', () => {
    const { stdout, status } = lockpick(['list', 'etcd/lease-queue/swarm']);
    expect(stdout).toMatch(/^etcd\/lease-queue\/swarm\n[\s\S]*nothing: the cell is not catalogued/);
    expect(status).toBe(0);
  });

  it.each([
    ['await new Promise(() => {}); export default {};', 'it never ends'],
    ['export default { get seeds() { throw new Error("not today"); } };', 'not today'],
    ['export default { ttl: 500 };', 'ttl: is not a duration; write 500ms, 1s or 2m'],
    ['throw new Error("not here");', 'cannot be loaded: not here → it throws'],
    ['process.exit(0);', 'ends the process'],
  ])('says in one line what is wrong with the config %j', (text, message) => {
    const folder = mkdtempSync(join(tmpdir(), 'lockpick-config-'));
    const config = join(folder, 'lockpick.config.mjs');
    writeFileSync(config, text);
    const { status, stdout, stderr } = lockpick(['list', '--config', config]);
    rmSync(folder, { recursive: true });
    expect(stderr).toMatch(new RegExp(`^lockpick: (the config )?.*lockpick\\.config\\.mjs.*${message}.*\n$`));
    expect(stdout).toBe('');
    expect(status).toBe(64);
  });

  it.each([
    [
      'failed while nobody waited for it',
      'Promise.reject(new Error("too late"));',
      64,
      // Node tells of it when nothing else is to be done at once, so the list may be written by then.
      /^/,
      /^lockpick: .*lockpick\.config\.mjs left something .*: too late → .*\n$/,
    ],
    ['would keep the process for ever', 'setInterval(() => {}, 1_000);', 0, /^\[[^]*\]\n$/, /^$/],
  ])('is over though something in the config %s', (_, text, code, out, err) => {
    const folder = mkdtempSync(join(tmpdir(), 'lockpick-config-'));
    const config = join(folder, 'lockpick.config.mjs');
    writeFileSync(config, `${text} export default {};`);
    const { status, stdout, stderr } = lockpick([
      'list',
      'redis-single/set-nx-px/none',
      '--config',
      config,
      '--json',
    ]);
    rmSync(folder, { recursive: true });
    expect(stderr).toMatch(err);
    expect(stdout).toMatch(out);
    expect(status).toBe(code);
  });

  it('has no colour where it is told so, and shapes and words all the same', () => {
    const coloured = { FORCE_COLOR: '1' };
    const escape = '\u001B[';
    expect(lockpick(['explain', 'starved'], coloured).stdout).toContain(escape);
    expect(lockpick(['explain', 'starved', '--no-color'], coloured).stdout).not.toContain(escape);
  });

  it('explains every finding, and shows where to see it', () => {
    const { stdout } = lockpick(['explain', '--json']);
    const all: unknown = JSON.parse(stdout);
    const filled = {
      proves: expect.stringMatching(/\w/),
      notIn: expect.stringMatching(/\w/),
      remedy: expect.stringMatching(/\w/),
    };
    expect(all).toContainEqual(
      expect.objectContaining({
        ...filled,
        code: 'double-grant',
        shownBy: expect.arrayContaining([expect.stringContaining('/')]),
      }),
    );
    expect(lockpick(['explain', 'lost-update'], { NO_COLOR: '1' }).stdout).toMatch(
      /^lost-update .*\n\nWhat it proves\n[\s\S]*\nWhat to do\n[\s\S]*\nSee it happen\n {2}lockpick run /,
    );
  });
});
