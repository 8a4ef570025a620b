// Which process owns a session, and whether it is still there. Written into a label of everything a run creates, so
// that a later run can tell what a killed one left behind from what a live one beside it is using. When in doubt a
// process counts as alive: leaving something behind costs memory, removing a live cluster costs a run.

import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import { parseStat } from './process-state.ts';

const ownerSchema = z.object({
  /** Host name and machine id: the machine, across its boots. */
  host: z.string(),
  /** The kernel's id of this boot; empty where there is none. */
  boot: z.string(),
  /** Process ids mean something only within their namespace; empty where there is none. */
  pidNamespace: z.string(),
  pid: z.number().int().positive(),
  /** Start of the process in clock ticks after the boot: tells it from a later one of the same id. */
  started: z.string(),
});

export type Owner = Readonly<z.infer<typeof ownerSchema>>;

export type Life = 'alive' | 'dead' | 'unknown';

/** What can be seen of a process id: nothing, a process, or a process with its start time. */
export type Sighting = { readonly there: false } | { readonly there: true; readonly started?: string };

/** This process. */
export function thisProcess(): Owner {
  const machine = read('/etc/machine-id').trim();
  const sighting = lookFor(process.pid);
  return {
    host:
      machine === ''
        ? hostname()
        : `${hostname()} ${createHash('sha256').update(machine).digest('hex').slice(0, 12)}`,
    boot: read('/proc/sys/kernel/random/boot_id').trim(),
    pidNamespace: readLink('/proc/self/ns/pid'),
    pid: process.pid,
    started: (sighting.there && sighting.started) || '',
  };
}

export function encodeOwner(owner: Owner): string {
  return JSON.stringify(owner);
}

/** undefined: not written by a version of ours that we know. */
export function parseOwner(label: string | undefined): Owner | undefined {
  try {
    return ownerSchema.safeParse(JSON.parse(label ?? '')).data;
  } catch {
    return undefined;
  }
}

/** Whether the owner is still there, as seen by the process `self`. `look` sees process ids on this machine. */
export function lifeOf(owner: Owner | undefined, self: Owner, look: (pid: number) => Sighting): Life {
  if (owner === undefined || owner.host !== self.host) return 'unknown';
  if (owner.boot !== self.boot) return 'dead';
  if (owner.pidNamespace !== self.pidNamespace) return 'unknown';
  const sighting = look(owner.pid);
  if (!sighting.there) return 'dead';
  return sighting.started === undefined || sighting.started === owner.started ? 'alive' : 'dead';
}

/** Looks for a process of this machine. A process that ended and was not yet waited for is not there. */
export function lookFor(pid: number): Sighting {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Another error than this one means that there is a process that we may not signal.
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return { there: false };
  }
  const text = read(`/proc/${pid}/stat`);
  if (text === '') return { there: true };
  if (parseStat(text)?.state === 'Z') return { there: false };
  // Field 22 of proc(5); the name, field 2, may contain spaces.
  const started = text.slice(text.lastIndexOf(')') + 2).split(' ')[22 - 3];
  return started === undefined ? { there: true } : { there: true, started };
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
