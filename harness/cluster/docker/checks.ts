// What `lockpick doctor` asks about the surroundings: each question is really put (a rule is really written, a queueing
// discipline really added), and a bad answer comes with the way out. Reads and tries; changes nothing that stays.

import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { freemem } from 'node:os';
import { promisify } from 'node:util';
import { HarnessError, messageOf } from '../../contract/errors.ts';
import {
  LINK_FAULTS,
  LINK_REMEDY,
  linkWayOf,
  type LinkAbilities,
  type LinkWay,
} from '../../contract/links.ts';
import { millis } from '../../history/op.ts';
import { ask, describeEngine, findEngine, type Container, type Engine } from './engine.ts';
import { ourImages, SANDBOX_IMAGE } from './images.ts';
import { inThrowawaySandbox, tryIn, tryLinkAbilities } from './sandbox-trials.ts';
import { describeSession, listSessions } from './session.ts';
import { SHIM_IMAGE } from './shim.ts';
import { tryShim } from './shim-trials.ts';

export interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** What to do about it. */
  readonly fix?: string;
}

const NODE_MAJOR_MIN = 24;
/** A store, a few servers, and clients at some 50 MB each. */
const MEMORY_BYTES_ENOUGH = 2e9;
const MEMORY_BYTES_MIN = 0.5e9;
/** The images and their build. */
const DISK_BYTES_ENOUGH = 4e9;
const DISK_BYTES_MIN = 0.5e9;
const COMMAND_TIME_LIMIT = millis(10_000);

/** All checks that can be made, in the order in which they depend on each other. Never throws for what it finds. */
export async function surroundingsChecks(): Promise<readonly Check[]> {
  const checks = [checkNode(), await checkCommand()];
  let engine: Engine;
  try {
    engine = await findEngine();
  } catch (error) {
    return [...checks, failed('engine', error), checkMemory(), await checkDisk('.')];
  }
  const info = await ask('describe itself', engine.docker.info());
  return [
    ...checks,
    await checkEngine(engine, info),
    ...(await checkImages(engine)),
    checkMemory(),
    await checkDisk(info.DockerRootDir),
    await checkSessions(engine),
  ];
}

function failed(name: string, error: unknown): Check {
  const fix = error instanceof HarnessError ? error.remedy : undefined;
  return { name, status: 'fail', detail: messageOf(error), ...(fix !== undefined && { fix }) };
}

/** The Node that runs this, and the one that the project brings for itself and its clients. */
function checkNode(): Check {
  const name = 'node';
  const running = process.versions.node;
  const detail = `running ${running}, brought along: ${ownNodeVersion() ?? 'none'}`;
  if (Number.parseInt(running, 10) >= NODE_MAJOR_MIN) return { name, status: 'ok', detail };
  return {
    name,
    status: 'fail',
    detail: `${detail}; ${NODE_MAJOR_MIN} or later is needed`,
    fix: 'npm install --include=optional, then start lockpick through npm',
  };
}

function ownNodeVersion(): string | undefined {
  try {
    const require = createRequire(import.meta.url);
    const found: unknown = require(`node-${process.platform}-${process.arch}/package.json`);
    return typeof found === 'object' && found !== null && 'version' in found
      ? String(found.version)
      : undefined;
  } catch {
    return undefined;
  }
}

async function checkCommand(): Promise<Check> {
  const name = 'docker command';
  try {
    const { stdout } = await promisify(execFile)('docker', ['--version'], { timeout: COMMAND_TIME_LIMIT });
    return { name, status: 'ok', detail: stdout.trim() };
  } catch {
    return {
      name,
      status: 'fail',
      detail: 'no docker command in the path; images are built with it',
      fix: 'apt-get install docker-cli, or https://docs.docker.com/engine/install/',
    };
  }
}

async function checkEngine(
  engine: Engine,
  info: { CgroupVersion?: string; CgroupDriver?: string },
): Promise<Check> {
  const { CgroupVersion = '?', CgroupDriver = '?' } = info;
  return {
    name: 'engine',
    status: 'ok',
    detail: `${await describeEngine(engine)}, cgroup v${CgroupVersion} by ${CgroupDriver}`,
  };
}

/** The images, and, if the sandbox is there, what its network namespace can do. */
async function checkImages(engine: Engine): Promise<Check[]> {
  const name = 'images';
  let images: Awaited<ReturnType<typeof ourImages>>;
  try {
    images = await ourImages();
  } catch (error) {
    return [failed(name, error)];
  }
  const missing = images.filter(({ present }) => !present).map((image) => image.name);
  const check: Check =
    missing.length === 0
      ? { name, status: 'ok', detail: `${images.map((image) => image.name).join(', ')} are built` }
      : {
          name,
          status: 'warn',
          detail: `not built yet: ${missing.join(', ')}`,
          fix: 'bash docker/images.sh (a run does it by itself)',
        };
  const present = (of: string): string | undefined =>
    images.find((image) => image.name === of && image.present)?.reference;
  const [sandbox, shim] = [present(SANDBOX_IMAGE), present(SHIM_IMAGE)];
  return [
    check,
    ...(sandbox === undefined ? [] : await checkSandbox(engine, sandbox)),
    ...(shim === undefined ? [] : await checkShim(engine, shim)),
  ];
}

/** Tries on a process what wrong clocks and starved processors need. */
async function checkShim(engine: Engine, reference: string): Promise<Check[]> {
  const names = { clock: 'wrong clocks (shim)', quota: 'starved processors (quota)' };
  try {
    const { clock, quota } = await tryShim(engine, reference);
    return [
      clock === undefined
        ? { name: names.clock, status: 'ok', detail: 'a process can be shown another time' }
        : {
            name: names.clock,
            status: 'fail',
            detail: clock,
            fix: 'bash docker/images.sh shim, on x86_64 or aarch64; faults of clocks and slow disks need it',
          },
      quota === undefined
        ? { name: names.quota, status: 'ok', detail: 'a container can be denied processor time' }
        : {
            name: names.quota,
            status: 'warn',
            detail: quota,
            fix: 'a kernel with CONFIG_CFS_BANDWIDTH, and an engine that may set quotas; cpu-starve needs it',
          },
    ];
  } catch (error) {
    return [failed(names.clock, error)];
  }
}

/** Tries in a sandbox what partitions and bad links need. */
async function checkSandbox(engine: Engine, reference: string): Promise<Check[]> {
  try {
    return await inThrowawaySandbox(engine, reference, async (sandbox) => [
      await checkFirewall(sandbox),
      ...linkChecks(await tryLinkAbilities(sandbox)),
    ]);
  } catch (error) {
    return [failed('sandbox', error)];
  }
}

async function checkFirewall(sandbox: Container): Promise<Check> {
  const name = 'partitions (NET_ADMIN, iptables)';
  const complaint = await tryIn(
    sandbox,
    'iptables -N probe && iptables -A probe -s 192.0.2.1 -j DROP && iptables -I INPUT -j probe',
  );
  if (complaint === undefined)
    return { name, status: 'ok', detail: 'a DROP rule can be written in a sandbox' };
  return {
    name,
    status: 'fail',
    detail: complaint,
    fix: "an engine that may grant NET_ADMIN (rootless ones may not), on a kernel with iptables' filter table",
  };
}

const LINK_WAYS: Readonly<Record<LinkWay, string>> = {
  netem: 'by netem',
  tbf: 'by tbf',
  statistic: "by iptables' statistic",
  tee: "by iptables' TEE",
  hold: 'long delays only, by a one-way DROP that heals: TCP delivers late',
};

/** One line for all that works, and how; one for all that does not. */
function linkChecks(can: LinkAbilities): Check[] {
  const ways = LINK_FAULTS.map((fault) => ({ fault, way: linkWayOf(fault, can) }));
  const done = ways.flatMap(({ fault, way }) => (way === undefined ? [] : [`${fault} ${LINK_WAYS[way]}`]));
  const missing = ways.filter(({ way }) => way === undefined).map(({ fault }) => fault);
  const name = 'bad links';
  if (missing.length === 0 && can.netem) return [{ name, status: 'ok', detail: done.join('; ') }];
  const without = missing.length === 0 ? '' : `; not here: ${missing.join(', ')}`;
  return [{ name, status: 'warn', detail: `${done.join('; ')}${without}`, fix: LINK_REMEDY }];
}

function checkMemory(): Check {
  return enough('free memory', freemem(), {
    enough: MEMORY_BYTES_ENOUGH,
    min: MEMORY_BYTES_MIN,
    fix: 'stop other containers, or run with fewer --clients',
  });
}

/** On the engine's disk where that is ours, else on this one. */
async function checkDisk(folder: string): Promise<Check> {
  const { bavail, bsize } = await statfs(folder).catch(() => statfs('.'));
  return enough('free disk', bavail * bsize, {
    enough: DISK_BYTES_ENOUGH,
    min: DISK_BYTES_MIN,
    fix: 'docker system prune removes what nobody uses',
  });
}

function enough(name: string, bytes: number, limits: { enough: number; min: number; fix: string }): Check {
  const detail = `${(bytes / 1e9).toFixed(1)} GB`;
  if (bytes >= limits.enough) return { name, status: 'ok', detail };
  return { name, status: bytes >= limits.min ? 'warn' : 'fail', detail, fix: limits.fix };
}

async function checkSessions(engine: Engine): Promise<Check> {
  const name = 'left behind';
  const dead = (await listSessions(engine)).filter(({ life }) => life !== 'alive');
  if (dead.length === 0) return { name, status: 'ok', detail: 'nothing' };
  return {
    name,
    status: 'warn',
    detail: dead.map(describeSession).join('; '),
    fix: 'lockpick clean (the next run removes what is surely dead)',
  };
}
