// From a line of a history to its event, or its header: the other way of `encode-event.ts`, and the only place where text
// becomes an event, so the only place that casts. Knows one line; `json-lines.ts` knows the file. Pure.

import {
  HISTORY_FORMAT,
  HISTORY_VERSION,
  LOCK_KINDS,
  type AuditRow,
  type Header,
  type HistoryEvent,
  type HistoryMeta,
  type Invoke,
  type JsonRecord,
  type OpName,
  type Vote,
} from './op.ts';
import { Fields, isDuration, isTextList, isTextRecord, shortened } from './json-fields.ts';

const LOCK_OPS: ReadonlySet<string> = new Set<OpName>(['acquire', 'renew', 'release']);
const PHASES: ReadonlySet<string> = new Set(['begin', 'acted', 'end']);

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
  keptAlive: 'boolean',
  fifo: 'boolean',
  kind: 'string',
  permits: 'number',
  closedByDown: 'boolean',
  minContendedHandoffs: 'number',
  stock: 'string',
} as const;

function decodeMeta(fields: Fields): HistoryMeta {
  if (!fields.has('meta')) return {};
  const meta = fields.record('meta');
  for (const [name, type] of Object.entries(META_TYPES)) {
    const value = meta[name];
    if (value !== undefined && typeof value !== type) fields.refuse(`meta.${name} is not a ${type}`);
    if (typeof value === 'number' && value < 0) fields.refuse(`meta.${name} is negative`);
    const isExact = !name.endsWith('Millis') || value === undefined || isDuration(value);
    if (value === Infinity || !isExact) fields.refuse(`meta.${name} is out of range`);
  }
  if (meta['plannedFaults'] !== undefined && !isTextList(meta['plannedFaults']))
    fields.refuse('meta.plannedFaults is not a list of texts');
  const { stock, stores, kind, permits } = meta;
  if (kind !== undefined && !LOCK_KINDS.some((known) => known === kind))
    fields.refuse(`meta.kind is ${shortened(kind)}; known are ${LOCK_KINDS.join(', ')}`);
  if (permits !== undefined && (!Number.isSafeInteger(permits) || permits === 0))
    fields.refuse('meta.permits is not a whole number from 1');
  if (typeof stock === 'string' && !/^\d+$/.test(stock))
    fields.refuse(`meta.stock is ${shortened(stock)}, not a whole number`);
  if (stores !== undefined && !isTextRecord(stores)) fields.refuse('meta.stores is not an object of texts');
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
        ...(fields.has('applied') && { applied: fields.flag('applied') }),
        ...(fields.has('sealed') && { sealed: fields.flag('sealed') }),
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
    case 'harness':
      return {
        type,
        time,
        since: fields.nanos('since'),
        loopDelayMillis: fields.duration('loopDelayMillis'),
        ...(fields.has('cpuWaitMillis') && { cpuWaitMillis: fields.duration('cpuWaitMillis') }),
        ...(fields.has('cpuStolenMillis') && { cpuStolenMillis: fields.duration('cpuStolenMillis') }),
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
  const add = fields.has('add') ? fields.scalar('add') : undefined;
  if (add !== undefined && !/^-?\d+$/.test(add))
    fields.refuse(`field "add" is ${shortened(add)}, not a whole number`);
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
    ...(add !== undefined && { add }),
    ...(fields.has('order') && { order: fields.scalar('order') }),
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
    ...(row.has('order') && { order: row.scalar('order') }),
    accepted: row.flag('accepted'),
  };
}
