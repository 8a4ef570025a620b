// The library etcd3 itself on virtual time: its own files are run once more for each simulated process, with that
// process's timers, clock and chance in the place of the machine's, and simulated gRPC in the place of the real one. So a
// lock of that library does in simulation what its code does, retries and circuit breakers included.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { compileFunction } from 'node:vm';
import type { Library } from '../../backends/etcd/library.ts';
import { millis } from '../../history/op.ts';
import type { Machine } from '../program.ts';
import { simulatedGrpc } from './grpc.ts';

/** What a CommonJS module gets, and then what it would find on the machine. */
const NAMES = [
  'exports',
  'require',
  'module',
  '__filename',
  '__dirname',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'Date',
  'Math',
];
/** Packages whose files read time or chance; the rest of what they need is the machine's. */
const READ_THE_MACHINE: ReadonlySet<string> = new Set(['etcd3', 'cockatiel', 'bignumber.js']);

const here = createRequire(import.meta.url);
/** File → what it is compiled to; the same for every process. */
const compiled = new Map<string, (...args: readonly unknown[]) => void>();

/** Of a process of its own. Throws if the package is not what it was. */
export function libraryOn(machine: Machine): Library {
  const time = timeOf(machine);
  const grpc = simulatedGrpc(machine);
  const modules = new Map<string, { readonly exports: object }>();
  const load = (file: string): object => {
    const known = modules.get(file);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    modules.set(file, module);
    const from = createRequire(file);
    const find = (name: string): unknown => {
      if (name === '@grpc/grpc-js') return grpc;
      if (name === '@grpc/proto-loader') return { loadSync: () => ({}) };
      return name.startsWith('.') || READ_THE_MACHINE.has(name) ? load(from.resolve(name)) : from(name);
    };
    functionIn(file)(module.exports, find, module, file, dirname(file), ...time);
    return module.exports;
  };
  const library = load(here.resolve('etcd3'));
  if (!isLibrary(library)) throw new Error('the package etcd3 has no Etcd3');
  return library;
}

function functionIn(file: string): (...args: readonly unknown[]) => void {
  const known = compiled.get(file);
  if (known !== undefined) return known;
  const found = compileFunction(readFileSync(file, 'utf8'), NAMES, { filename: file });
  const run = (...args: readonly unknown[]): void => {
    Reflect.apply(found, undefined, args);
  };
  compiled.set(file, run);
  return run;
}

/** In the order of NAMES. */
function timeOf({ process, random }: Machine): readonly unknown[] {
  const later = (action: () => void, duration = 0): (() => void) => process.after(millis(duration), action);
  const again = (action: () => void, duration: number): { stop: () => void } => {
    const timer = { stop: (): void => undefined };
    const next = (): void => {
      timer.stop = later(() => {
        next();
        action();
      }, duration);
    };
    next();
    return timer;
  };
  return [
    later,
    (cancel?: () => void) => cancel?.(),
    again,
    (timer?: { stop: () => void }) => timer?.stop(),
    { now: () => process.wallMillis() },
    Object.assign(Object.create(Math), { random: () => random.real(0, 1) }),
  ];
}

function isLibrary(value: object): value is Library {
  return 'Etcd3' in value && typeof value.Etcd3 === 'function';
}
