// The text form of a history, `lockpick-history` version 1: one JSON value a line, header first (2.1 of the design).
// The only place where text becomes an event, so the only place that casts. `history.ts` pairs what comes out. Pure.

import {
  fencingToken,
  HISTORY_FORMAT,
  HISTORY_VERSION,
  millis,
  nanos,
  type AuditRow,
  type Header,
  type HistoryEvent,
  type HistoryMeta,
  type Invoke,
  type JsonRecord,
  type OpName,
  type Vote,
} from './op.ts';
import { HistoryError, openAssembly, type History } from './history.ts';

const OP_NAMES: ReadonlySet<string> = new Set<OpName>([
  'acquire',
  'renew',
  'release',
  'read',
  'write',
  'cas',
]);
const LOCK_OPS: ReadonlySet<string> = new Set<OpName>(['acquire', 'renew', 'release']);
const PHASES: ReadonlySet<string> = new Set(['begin', 'acted', 'end']);

/** One line, without its line break. Tokens become decimal strings. */
export function encodeEvent(event: HistoryEvent): string {
  return JSON.stringify(event, bigintAsText);
}

export function encodeHeader(header: Header): string {
  return JSON.stringify(header, bigintAsText);
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

/** Reads a whole file. A torn last line is dropped. Throws `HistoryError` with line and rule. O(size). */
export function parseHistory(text: string): History {
  const lines = linesOf(text);
  const first = lines.next().value ?? '';
  if (isBlank(first)) throw new HistoryError(1, 'the file is empty; a history starts with its header');
  const assembly = openAssembly(decodeHeader(first));
  let number = 1;
  for (const line of lines) {
    number += 1;
    if (!isBlank(line)) assembly.add(decodeEvent(line, number), number);
  }
  return assembly.finish();
}

/** One at a time, so that a long file is not in memory twice. */
function* linesOf(text: string): Generator<string, undefined> {
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    yield text.slice(start, end);
    start = end + 1;
  }
  const last = text.slice(start);
  if (!isTorn(last)) yield last;
  return undefined;
}

function isBlank(line: string): boolean {
  return line === '' || /^\s*$/.test(line);
}

/** The writer was killed in the middle of this line: it has no line break and is no JSON value. */
function isTorn(line: string): boolean {
  try {
    JSON.parse(line);
    return false;
  } catch {
    return true;
  }
}

/** Throws `HistoryError` at line 1. */
export function decodeHeader(line: string): Header {
  const fields = new Fields(line, 1);
  const format = fields.text('format');
  if (format !== HISTORY_FORMAT)
    fields.refuse(`the header's format is ${shortened(format)}, not "${HISTORY_FORMAT}"`);
  const version = fields.number('version');
  if (version !== HISTORY_VERSION)
    fields.refuse(`version ${version} of the format; this program reads version ${HISTORY_VERSION}`);
  const clockErrorNanos = fields.has('clockErrorNanos') ? fields.nanos('clockErrorNanos') : 0;
  if (clockErrorNanos < 0) fields.refuse('clockErrorNanos is negative');
  return {
    format: HISTORY_FORMAT,
    version: HISTORY_VERSION,
    clock: fields.has('clock') ? fields.text('clock') : 'shared',
    clockErrorNanos,
    meta: decodeMeta(fields),
  };
}

/** The types of the meta fields that checkers rely on; others are carried along. */
const META_TYPES = {
  backend: 'string',
  recipe: 'string',
  workload: 'string',
  fault: 'string',
  ttlMillis: 'number',
  clockTolerance: 'number',
  deadlineAware: 'boolean',
  ownerChecked: 'boolean',
  tokens: 'boolean',
  slackMillis: 'number',
  closedByDown: 'boolean',
  minContendedHandoffs: 'number',
} as const;

function decodeMeta(fields: Fields): HistoryMeta {
  if (!fields.has('meta')) return {};
  const meta = fields.record('meta');
  for (const [name, type] of Object.entries(META_TYPES)) {
    const value = meta[name];
    if (value !== undefined && typeof value !== type) fields.refuse(`meta.${name} is not a ${type}`);
    if (typeof value === 'number' && value < 0) fields.refuse(`meta.${name} is negative`);
    if (value === Infinity) fields.refuse(`meta.${name} is out of range`);
  }
  if (meta['plannedFaults'] !== undefined && !isTextList(meta['plannedFaults']))
    fields.refuse('meta.plannedFaults is not a list of texts');
  if (meta['stores'] !== undefined && (typeof meta['stores'] !== 'object' || meta['stores'] === null))
    fields.refuse('meta.stores is not an object');
  return meta;
}

/** Throws `HistoryError` at `lineNumber`. */
export function decodeEvent(line: string, lineNumber: number): HistoryEvent {
  const fields = new Fields(line, lineNumber);
  const time = fields.nanos('time');
  const type = fields.text('type');
  switch (type) {
    case 'invoke':
      return decodeInvoke(fields, time);
    case 'ok':
    case 'fail':
    case 'info': {
      const op = fields.opName();
      return {
        type,
        id: fields.id(),
        time,
        process: fields.process(),
        op,
        ...(fields.has('error') && { error: fields.text('error') }),
        ...(fields.has('token') && { token: fields.token('token') }),
        ...(fields.has('validUntil') && { validUntil: fields.nanos('validUntil') }),
        ...(fields.has('released') && { released: fields.flag('released') }),
        ...(fields.has('value') && { value: fields.scalar('value') }),
        ...(fields.has('version') && { version: fields.scalar('version') }),
        ...(fields.has('highest') && { highest: fields.token('highest') }),
        ...(fields.has('votes') && { votes: fields.records('votes').map((row) => decodeVote(row)) }),
        ...(fields.has('audit') && { audit: fields.records('audit').map((row) => decodeAuditRow(row)) }),
      };
    }
    case 'lost':
      return {
        type,
        time,
        process: fields.process(),
        lock: fields.text('lock'),
        reason: fields.has('reason') ? fields.text('reason') : '',
      };
    case 'down':
      return {
        type,
        time,
        process: fields.process(),
        reason: fields.has('reason') ? fields.text('reason') : '',
      };
    case 'fault': {
      const phase = fields.text('phase');
      if (!PHASES.has(phase)) fields.refuse(`unknown fault phase ${shortened(phase)}`);
      return {
        type,
        phase: phase as 'begin' | 'acted' | 'end',
        id: fields.scalar('id'),
        time,
        fault: fields.text('fault'),
        targets: fields.has('targets') ? fields.texts('targets') : [],
        ...(fields.has('params') && { params: fields.record('params') as JsonRecord }),
        ...(fields.has('evidence') && { evidence: fields.record('evidence') as JsonRecord }),
      };
    }
    case 'server':
      return {
        type,
        time,
        node: fields.text('node'),
        role: fields.text('role'),
        ...(fields.has('term') && { term: fields.scalar('term') }),
      };
    default:
      return fields.refuse(`unknown event type ${shortened(type)}`);
  }
}

function decodeInvoke(fields: Fields, time: Invoke['time']): Invoke {
  const op = fields.opName();
  if (LOCK_OPS.has(op)) fields.text('lock');
  else fields.text('key');
  if (op === 'write' || op === 'cas') fields.scalar('value');
  return {
    type: 'invoke',
    id: fields.id(),
    time,
    process: fields.process(),
    op,
    ...(fields.has('lock') && { lock: fields.text('lock') }),
    ...(fields.has('try') && { try: fields.flag('try') }),
    ...(fields.has('shared') && { shared: fields.flag('shared') }),
    ...(fields.has('ttlMillis') && { ttlMillis: fields.duration('ttlMillis') }),
    ...(fields.has('owner') && { owner: fields.text('owner') }),
    ...(fields.has('store') && { store: fields.text('store') }),
    ...(fields.has('key') && { key: fields.text('key') }),
    ...(fields.has('value') && { value: fields.scalar('value') }),
    ...(fields.has('base') && { base: fields.scalar('base') }),
    ...(fields.has('token') && { token: fields.token('token') }),
  };
}

function decodeVote(row: Fields): Vote {
  return { node: row.text('node'), answer: row.text('answer'), at: row.nanos('at') };
}

function decodeAuditRow(row: Fields): AuditRow {
  return {
    seq: row.scalar('seq'),
    id: row.id(),
    process: row.process(),
    ...(row.has('token') && { token: row.token('token') }),
    base: row.scalar('base'),
    version: row.scalar('version'),
    value: row.scalar('value'),
    accepted: row.flag('accepted'),
  };
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function parseObject(text: string, line: number): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new HistoryError(line, 'not a JSON value');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new HistoryError(line, 'not a JSON object');
  return value as Record<string, unknown>;
}

/** As JSON, of a length that a person reads. */
function shortened(value: unknown): string {
  return JSON.stringify(value).slice(0, 60);
}

/** Reads the fields of one JSON object, or refuses the line. `null` counts as absent. */
class Fields {
  readonly #fields: Record<string, unknown>;
  readonly #line: number;

  constructor(source: string | Record<string, unknown>, line: number) {
    this.#line = line;
    this.#fields = typeof source === 'string' ? parseObject(source, line) : source;
  }

  refuse(rule: string): never {
    throw new HistoryError(this.#line, rule);
  }

  has(name: string): boolean {
    const value = this.#fields[name];
    return value !== undefined && value !== null;
  }

  #wrong(name: string, expected: string): never {
    const value = this.#fields[name];
    return this.refuse(
      value === undefined
        ? `field "${name}" is missing`
        : `field "${name}" is ${shortened(value)}, not ${expected}`,
    );
  }

  text(name: string): string {
    const value = this.#fields[name];
    return typeof value === 'string' ? value : this.#wrong(name, 'a text');
  }

  /** A text, or a number taken as its decimal text. */
  scalar(name: string): string {
    const value = this.#fields[name];
    if (typeof value === 'string') return value;
    // A larger one has been rounded by whoever read it as a number.
    return Number.isSafeInteger(value) ? String(value) : this.#wrong(name, 'a text');
  }

  number(name: string): number {
    const value = this.#fields[name];
    return typeof value === 'number' ? value : this.#wrong(name, 'a number');
  }

  flag(name: string): boolean {
    const value = this.#fields[name];
    return typeof value === 'boolean' ? value : this.#wrong(name, 'true or false');
  }

  nanos(name: string): ReturnType<typeof nanos> {
    const value = this.#fields[name];
    return Number.isSafeInteger(value) ? nanos(value as number) : this.#wrong(name, 'whole nanoseconds');
  }

  duration(name: string): ReturnType<typeof millis> {
    const value = this.#fields[name];
    // In nanoseconds it must be exact, too.
    return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER / 1e6
      ? millis(value)
      : this.#wrong(name, 'milliseconds');
  }

  token(name: string): ReturnType<typeof fencingToken> {
    const text = this.scalar(name);
    return /^-?\d+$/.test(text) ? fencingToken(text) : this.#wrong(name, 'a decimal token');
  }

  id(): number {
    const value = this.#fields['id'];
    return Number.isSafeInteger(value) ? (value as number) : this.#wrong('id', 'a whole number');
  }

  process(): string {
    return this.scalar('process');
  }

  opName(): OpName {
    const op = this.text('op');
    return OP_NAMES.has(op) ? (op as OpName) : this.refuse(`unknown operation ${shortened(op)}`);
  }

  texts(name: string): string[] {
    const value = this.#fields[name];
    return isTextList(value) ? value : this.#wrong(name, 'a list of texts');
  }

  record(name: string): Record<string, unknown> {
    const value = this.#fields[name];
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : this.#wrong(name, 'an object');
  }

  records(name: string): Fields[] {
    const value = this.#fields[name];
    if (!Array.isArray(value)) return this.#wrong(name, 'a list of objects');
    return value.map((item: unknown) => {
      if (typeof item !== 'object' || item === null) return this.#wrong(name, 'a list of objects');
      return new Fields(item as Record<string, unknown>, this.#line);
    });
  }
}
