// `lockpick check` and `lockpick convert` as a user types them: formats, compression, options, exit codes, and what is said
// of a file that cannot be judged.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';

const histories = join(import.meta.dirname, '../../checkers/histories');
const cli = join(import.meta.dirname, '../cli.ts');
const directory = mkdtempSync(join(tmpdir(), 'lockpick-check-'));
afterAll(() => rmSync(directory, { recursive: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function lockpick(...args: readonly string[]): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

function file(name: string, content: string | Buffer): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

const overlap = join(histories, 'owned-mutex/bad/grant-inside-a-hold.jsonl');
const handedOver = join(histories, 'owned-mutex/good/tried-again.jsonl');

/** As one archive may follow another, so may one of 16 MB in 16 kB. */
const BLANK = gzipSync(Buffer.alloc(2 ** 24, '\n'));

describe('lockpick check', () => {
  it('says in one line what is wrong with a path: a link to itself, a directory of runs', () => {
    const loop = join(directory, 'loop');
    symlinkSync(loop, loop);
    const runs = join(directory, 'runs');
    mkdirSync(join(runs, 'latest'), { recursive: true });
    expect(lockpick('check', loop)).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/^.*ELOOP.*\n$/),
    });
    expect(lockpick('check', runs)).toMatchObject({
      code: 64,
      stderr: `lockpick: ${runs} holds runs and is none → name one of them, such as ${join(runs, 'latest')}\n`,
    });
  });

  it('judges by a model, says what it took, and exits 1 for a violation', () => {
    const { code, stdout, stderr } = lockpick('check', overlap, '--model', 'owned-mutex');
    expect(code).toBe(1);
    expect(stdout).toContain('✖ INVALID');
    expect(stdout).toContain('not-linearizable: Lock k1 does not behave as owned-mutex');
    expect(stderr).toBe(
      `lockpick: ${overlap} taken as a lockpick history; model owned-mutex: one owner at a time; only the owner may release; failed releases read as unknown, refused tries ignored\n`,
    );
  });

  it('says that a lock with leases is not what the model allows', () => {
    const path = join(histories, 'lease-mutex/good/lease-may-be-over.jsonl');
    const { code, stdout } = lockpick('check', path, '--model', 'owned-mutex');
    expect(code).toBe(1);
    expect(stdout).toContain('the history has leases, and only lease-mutex lets them run out');
    expect(lockpick('check', path, '--model', 'lease-mutex').code).toBe(0);
  });

  it('gives the finding as JSON, from compressed files as well, whatever they are called', () => {
    const text = readFileSync(overlap);
    for (const path of [file('a.jsonl', gzipSync(text)), file('b.edn', zstdCompressSync(text))]) {
      const { code, stdout } = lockpick('check', path, '--model', 'owned-mutex', '--json');
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({
        schemaVersion: 1,
        verdict: 'invalid',
        findings: [{ code: 'not-linearizable', lock: 'k1', ops: [1, 2], processes: ['c1', 'c2'] }],
        checkers: [{ name: 'owned-mutex', verdict: 'invalid' }],
      });
    }
  });

  it('judges other formats without being told the model', () => {
    const kv = join(histories, 'kv/good/appends.edn');
    const { code, stderr } = lockpick('check', kv);
    expect(code).toBe(0);
    expect(stderr).toContain('model kv: texts by key');
    const log = file(
      'etcd.log',
      'INFO  jepsen.util - 0\t:invoke\t:write\t1\nINFO  jepsen.util - 0\t:ok\t:write\t1\n' +
        'INFO  jepsen.util - 1\t:invoke\t:read\tnil\nINFO  jepsen.util - 1\t:ok\t:read\tnil\n',
    );
    expect(lockpick('check', log).code).toBe(1);
  });

  it('exits 2 with the number of steps when the budget is spent', () => {
    const path = join(histories, 'multi-register/good/during-the-other.edn');
    const { code, stdout } = lockpick('check', path, '--initial', 'nil', '--budget', '1');
    expect(code).toBe(2);
    expect(stdout).toContain('? UNKNOWN');
    expect(stdout).toMatch(/ran out of steps after \d+ steps, having explained \d of 3 returns/);
  });

  it('judges every file, and the worst decides', () => {
    const { code, stdout, stderr } = lockpick(
      'check',
      handedOver,
      join(directory, 'missing'),
      overlap,
      '--model',
      'owned-mutex',
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/● VALID[^]*✖ INVALID/);
    expect(stderr).toContain('missing does not exist');
  });

  it.each([
    ['a damaged line', '{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0', /line 2: /],
    [
      'a return without a call',
      '{:process 0, :type :ok, :f :read, :value 1}',
      /line 1: read of process 0 returns/,
    ],
    [
      'nothing that is known',
      'once upon a time',
      /line 1: neither the header of a lockpick history, nor EDN/,
    ],
    [
      'an operand of the wrong form',
      '{:process 0, :type :invoke, :f :write, :value {:a 1}}',
      /line 1: the operand of write/,
    ],
    ['an unknown operation', '{:process 0, :type :invoke, :f :jump, :value 1}', /which model judges jump\?/],
    ['nothing at all', ' \n', /line 1: the file is empty/],
    [
      'bytes',
      Buffer.from('{:process 0, :type :invoke, :f :acquire, :value "\xff"}', 'latin1'),
      /is not UTF-8/,
    ],
  ])('never judges %s', (name, text, message) => {
    const { code, stdout, stderr } = lockpick('check', file(`${name}.txt`, text));
    expect(code).toBe(64);
    expect(stderr).toMatch(message);
    expect(stdout).toBe('');
  });

  it('never judges a damaged archive', () => {
    const path = file('cut.gz', gzipSync(readFileSync(overlap)).subarray(0, 100));
    const { code, stderr } = lockpick('check', path);
    expect(code).toBe(64);
    expect(stderr).toMatch(
      /cut.gz begins as a compressed file and cannot be decompressed: unexpected end of file/,
    );
  });

  it('never fills memory with what a small archive holds', () => {
    const path = file(
      'bomb.gz',
      Buffer.concat([gzipSync('[;\n'), ...Array.from({ length: 32 }, () => BLANK)]),
    );
    const { code, stderr } = lockpick('check', path);
    expect(code).toBe(64);
    expect(stderr).toMatch(/bomb.gz holds more than 536870888 bytes → only a lockpick history may be longer/);
  });

  it('reads one of ours however much it holds', () => {
    const line = Buffer.from('{"type":"server","time":1,"node":"r1","role":"primary"}');
    const padded = gzipSync(Buffer.concat([line, Buffer.alloc(2 ** 24, ' '), Buffer.from('\n')]));
    const members = Array.from({ length: 33 }, () => padded);
    const path = file('long.gz', Buffer.concat([gzipSync(readFileSync(overlap)), ...members]));
    const { code, stdout } = lockpick('check', path);
    expect(code).toBe(1);
    expect(stdout).toContain('double-grant');
  });

  it('never lets a name speak to the terminal', () => {
    const hostile = readFileSync(overlap, 'utf8')
      .replaceAll('"c2"', String.raw`"\u001b[2Jc2\r"`)
      .replaceAll('"k1"', String.raw`"k\u0007"`);
    const whole = file('hostile.jsonl', hostile);
    const ruled = lockpick('check', whole);
    const modelled = lockpick('check', whole, '--model', 'owned-mutex');
    const refused = lockpick(
      'check',
      file('refused.jsonl', hostile.replace(/(?<="invoke","id":2.*?)2Jc2/, 'c3')),
    );
    expect([ruled.code, modelled.code, refused.code]).toEqual([1, 1, 64]);
    expect(ruled.stdout).toContain(String.raw`\u001b[2Jc2`);
    expect(modelled.stdout).toContain(String.raw`Lock k\u0007`);
    expect(refused.stderr).toContain(String.raw`completed by \u001b[2Jc2`);
    for (const { stdout, stderr } of [ruled, modelled, refused])
      expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]/u);
  });

  it('reads a pipe to its end, of any format', () => {
    for (const path of [overlap, file('piped.gz', gzipSync(readFileSync(overlap)))]) {
      const piped = `cat "${path}" | "${process.execPath}" "${cli}" check /dev/stdin --model owned-mutex --json`;
      const { status, stdout } = spawnSync('sh', ['-c', piped], { encoding: 'utf8' });
      expect(status).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ findings: [{ ops: [1, 2] }] });
    }
  });

  it.each([
    [['--model', 'mutexx'], /there is no model "mutexx"; there are mutex, /],
    [['--model', 'mutex', '--budget', '-1'], /--budget -1 is not a number of steps/],
    [['--failed-cas', 'evidence'], /judged by the rules, which have no such option/],
    [['--model', 'mutex', '--failed-release', 'maybe'], /held, unknown, released/],
  ])('refuses %s', (args, message) => {
    const { code, stderr } = lockpick('check', handedOver, ...args);
    expect(code).toBe(64);
    expect(stderr).toMatch(message);
  });
});

describe('lockpick convert', () => {
  it('writes EDN that check reads, with the same verdict', () => {
    const edn = join(directory, 'overlap.edn');
    expect(lockpick('convert', overlap, '--to', 'edn', '--key', 'k1', '-o', edn).code).toBe(0);
    const { code, stderr } = lockpick('check', edn);
    expect(code).toBe(1);
    expect(stderr).toContain("taken as Jepsen's EDN; model owned-mutex");
  });

  it('writes a window of it', () => {
    const { code, stdout } = lockpick('convert', overlap, '--to', 'csv', '--from', '2ms', '--until', '3ms');
    expect(code).toBe(0);
    expect(
      stdout
        .trim()
        .split('\r\n')
        .map((row) => row.split(',')[0]),
    ).toEqual(['id', '2']);
  });

  it.each([
    [['--to', 'parquet'], /edn, chrome-trace, csv/],
    [['--to', 'csv', '--from', '3'], /--from 3 is not a duration/],
    [['--to', 'csv', '--from', '2s', '--until', '1s'], /--from 2s is after --until 1s/],
    [['--to', 'csv', '--key', 'k9'], /has no operation to convert/],
    [[], /required option '--to <form>'/],
  ])('refuses %s', (args, message) => {
    const { code, stderr } = lockpick('convert', overlap, ...args);
    expect(code).toBe(64);
    expect(stderr).toMatch(message);
  });

  it('says where it cannot write', () => {
    const { code, stderr } = lockpick(
      'convert',
      overlap,
      '--to',
      'csv',
      '-o',
      join(directory, 'no/such/place'),
    );
    expect(code).toBe(69);
    expect(stderr).toContain('cannot write');
  });
});
