// From events to operations: pairs each invocation with its completion and each fault with its end.
// `json-lines.ts` made the events and knows the file; checkers get the `History` and nothing else. Pure.
// A malformed history is refused with the line and the rule, never judged.

import type {
  AuditRow,
  Completion,
  Down,
  FaultEvent,
  FencingToken,
  HarnessEvent,
  Header,
  HistoryEvent,
  Invoke,
  JsonRecord,
  Lost,
  Millis,
  Nanos,
  Outcome,
  ServerEvent,
} from './op.ts';

interface OperationBase {
  readonly id: number;
  readonly process: string;
  readonly invoked: Nanos;
  /** When the client learned the outcome; undefined: it never did (then `outcome` is `info`). */
  readonly completed: Nanos | undefined;
  readonly outcome: Outcome;
  readonly error?: string;
}

export interface Acquire extends OperationBase {
  readonly op: 'acquire';
  readonly lock: string;
  readonly try: boolean;
  readonly shared?: boolean;
  readonly ttlMillis?: Millis;
  readonly owner?: string;
  /** Only of an `ok` acquire; the token of an `info` one is unknown. */
  readonly token?: FencingToken;
  readonly validUntil?: Nanos;
}

export interface Renew extends OperationBase {
  readonly op: 'renew';
  readonly lock: string;
  readonly ttlMillis?: Millis;
  readonly validUntil?: Nanos;
}

export interface Release extends OperationBase {
  readonly op: 'release';
  readonly lock: string;
  readonly released?: boolean;
}

interface StoreOperation extends OperationBase {
  readonly store: string;
  readonly key: string;
  /** The lock meant to protect the key: the one named by the operation, else the one of the key's name. */
  readonly lock: string;
  /** The token shown to the store. */
  readonly token?: FencingToken;
  readonly version?: string;
}

export interface Read extends StoreOperation {
  readonly op: 'read';
  readonly value?: string;
  readonly order?: string;
  readonly applied?: boolean;
  readonly sealed?: boolean;
  readonly audit?: readonly AuditRow[];
}

export interface Write extends StoreOperation {
  readonly op: 'write' | 'cas';
  readonly value: string;
  readonly base?: string;
  readonly add?: string;
  readonly order?: string;
  /** Refused as stale: the highest token the store had seen. */
  readonly highest?: FencingToken;
}

export type Operation = Acquire | Renew | Release | Read | Write;

/** One fault from begin to end. `acted` undefined: nothing proved that it did anything. */
export interface FaultSpan {
  readonly id: string;
  readonly fault: string;
  readonly targets: readonly string[];
  readonly params: JsonRecord;
  readonly begin: Nanos;
  readonly acted: Nanos | undefined;
  /** undefined: not healed within the history. */
  readonly end: Nanos | undefined;
  readonly evidence: JsonRecord;
}

export interface History {
  readonly header: Header;
  /** In order of invocation; ties by id. */
  readonly operations: readonly Operation[];
  readonly losses: readonly Lost[];
  readonly downs: readonly Down[];
  readonly faults: readonly FaultSpan[];
  readonly servers: readonly ServerEvent[];
  /** About once a second; empty: nobody watched. */
  readonly harness: readonly HarnessEvent[];
  /** The last stamp of each process, whatever it said. */
  readonly lastSeen: ReadonlyMap<string, Nanos>;
  /** The last stamp of all. */
  readonly end: Nanos;
}

/** The history breaks a rule of its format. `line` is 1-based in the file, or the index + 2 of the event. */
export class HistoryError extends Error {
  readonly line: number;
  readonly rule: string;
  constructor(line: number, rule: string) {
    super(`line ${line}: ${rule}`);
    this.name = 'HistoryError';
    this.line = line;
    this.rule = rule;
  }
}

/** Pairs `events`, in file order and from line 2 on, into a history. Throws `HistoryError` as `Assembly.add` does. */
export function assembleHistory(header: Header, events: readonly HistoryEvent[]): History {
  const assembly = openAssembly(header);
  for (const [index, event] of events.entries()) assembly.add(event, index + 2);
  return assembly.finish();
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** A history that is being read. */
export interface Assembly {
  /**
   * Takes the next event of the file. Throws `HistoryError` on a duplicate id, a completion without invocation or of
   * another operation, a second completion, or time going backwards within one operation or fault.
   */
  add(event: HistoryEvent, line: number): void;
  /** The history of what was added. O(n log n). */
  finish(): History;
}

/** Keeps operations and not their events, so that a long history takes less memory than its lines. */
export function openAssembly(header: Header): Assembly {
  const known = createIdSet();
  const pending = new Map<number, Invoke>();
  const operations: Operation[] = [];
  const losses: Lost[] = [];
  const downs: Down[] = [];
  const servers: ServerEvent[] = [];
  const harness: HarnessEvent[] = [];
  const faults = new Map<string, FaultSpan>();
  const lastSeen = new Map<string, Nanos>();
  let end = 0 as Nanos;

  const complete = (event: Completion, line: number): void => {
    const { id, process, op, time } = event;
    const refuse = (rule: string): never => {
      throw new HistoryError(line, rule);
    };
    const invoke =
      pending.get(id) ??
      refuse(
        known.has(id)
          ? `second completion of operation ${id}`
          : `completion of operation ${id} without an invocation`,
      );
    if (invoke.process !== process)
      refuse(`operation ${id} was invoked by ${invoke.process} and completed by ${process}`);
    if (invoke.op !== op) refuse(`operation ${id} was invoked as ${invoke.op} and completed as ${op}`);
    if (time < invoke.time) refuse(`time goes backwards within operation ${id}: ${invoke.time} then ${time}`);
    pending.delete(id);
    operations.push(operationOf(invoke, event));
  };

  return {
    add(event, line) {
      if (event.time > end) end = event.time;
      if ('process' in event) {
        const last = lastSeen.get(event.process);
        if (last === undefined || event.time > last) lastSeen.set(event.process, event.time);
      }
      switch (event.type) {
        case 'invoke':
          if (known.has(event.id)) throw new HistoryError(line, `duplicate operation id ${event.id}`);
          known.add(event.id);
          pending.set(event.id, event);
          break;
        case 'ok':
        case 'fail':
        case 'info':
          complete(event, line);
          break;
        case 'lost':
          losses.push(event);
          break;
        case 'down':
          downs.push(event);
          break;
        case 'server':
          servers.push(event);
          break;
        case 'harness':
          harness.push(event);
          break;
        case 'fault':
          faults.set(event.id, faultSpan(faults.get(event.id), event, line));
          break;
        default:
          event satisfies never;
      }
    },
    finish() {
      for (const invoke of pending.values()) operations.push(operationOf(invoke, undefined));
      operations.sort((a, b) => a.invoked - b.invoked || a.id - b.id);
      return {
        header,
        operations,
        losses,
        downs,
        faults: [...faults.values()],
        servers,
        harness,
        lastSeen,
        end,
      };
    },
  };
}

/** The span of a fault after `event`; `known`: before it. Throws `HistoryError`. */
function faultSpan(known: FaultSpan | undefined, event: FaultEvent, line: number): FaultSpan {
  const { id, phase, time, fault, targets, params = {}, evidence = {} } = event;
  const refuse = (rule: string): never => {
    throw new HistoryError(line, rule);
  };
  if (phase === 'begin') {
    if (known !== undefined) refuse(`fault ${id} begins twice`);
    return { id, fault, targets, params, begin: time, acted: undefined, end: undefined, evidence };
  }
  const begun = known ?? refuse(`fault ${id}: ${phase} without a begin`);
  if (time < begun.begin) refuse(`time goes backwards within fault ${id}`);
  if (begun[phase] !== undefined) refuse(`fault ${id}: second ${phase}`);
  return {
    ...begun,
    targets: targets.length > 0 ? targets : begun.targets,
    evidence: { ...begun.evidence, ...evidence },
    [phase]: time,
  };
}

function operationOf(invoke: Invoke, completion: Completion | undefined): Operation {
  switch (invoke.op) {
    case 'acquire':
      return acquireOf(invoke, completion);
    case 'renew': {
      const renew: Writable<Renew> = { ...baseOf(invoke, completion), op: 'renew', lock: invoke.lock ?? '' };
      if (invoke.ttlMillis !== undefined) renew.ttlMillis = invoke.ttlMillis;
      if (completion?.validUntil !== undefined) renew.validUntil = completion.validUntil;
      return renew;
    }
    case 'release': {
      const release: Writable<Release> = {
        ...baseOf(invoke, completion),
        op: 'release',
        lock: invoke.lock ?? '',
      };
      if (completion?.released !== undefined) release.released = completion.released;
      return release;
    }
    case 'read':
      return readOf(invoke, completion);
    case 'write':
    case 'cas':
      return writeOf(invoke, completion, invoke.op);
  }
}

function baseOf(invoke: Invoke, completion: Completion | undefined): OperationBase {
  const base: Writable<OperationBase> = {
    id: invoke.id,
    process: invoke.process,
    invoked: invoke.time,
    completed: completion?.time,
    outcome: completion?.type ?? 'info',
  };
  if (completion?.error !== undefined) base.error = completion.error;
  return base;
}

function acquireOf(invoke: Invoke, completion: Completion | undefined): Acquire {
  const acquire: Writable<Acquire> = {
    ...baseOf(invoke, completion),
    op: 'acquire',
    lock: invoke.lock ?? '',
    try: invoke.try ?? false,
  };
  if (invoke.shared !== undefined) acquire.shared = invoke.shared;
  if (invoke.ttlMillis !== undefined) acquire.ttlMillis = invoke.ttlMillis;
  if (invoke.owner !== undefined) acquire.owner = invoke.owner;
  if (completion?.type !== 'ok') return acquire;
  if (completion.token !== undefined) acquire.token = completion.token;
  if (completion.validUntil !== undefined) acquire.validUntil = completion.validUntil;
  return acquire;
}

function readOf(invoke: Invoke, completion: Completion | undefined): Read {
  const { store = '', key = '', lock = key } = invoke;
  const read: Writable<Read> = { ...baseOf(invoke, completion), op: 'read', store, key, lock };
  if (invoke.token !== undefined) read.token = invoke.token;
  if (invoke.order !== undefined) read.order = invoke.order;
  if (completion?.value !== undefined) read.value = completion.value;
  if (completion?.applied !== undefined) read.applied = completion.applied;
  if (completion?.sealed !== undefined) read.sealed = completion.sealed;
  if (completion?.version !== undefined) read.version = completion.version;
  if (completion?.audit !== undefined) read.audit = completion.audit;
  return read;
}

function writeOf(invoke: Invoke, completion: Completion | undefined, op: Write['op']): Write {
  const { store = '', key = '', lock = key, value = '' } = invoke;
  const write: Writable<Write> = { ...baseOf(invoke, completion), op, store, key, lock, value };
  if (invoke.token !== undefined) write.token = invoke.token;
  if (invoke.base !== undefined) write.base = invoke.base;
  if (invoke.add !== undefined) write.add = invoke.add;
  if (invoke.order !== undefined) write.order = invoke.order;
  if (completion?.version !== undefined) write.version = completion.version;
  if (completion?.highest !== undefined) write.highest = completion.highest;
  return write;
}

/** Of operations, which usually count up: pages of bits. */
interface IdSet {
  has(id: number): boolean;
  add(id: number): void;
}

const PAGE_BITS = 1024;

/** Of an id within its page. */
function placeOf(id: number): number {
  return id - Math.floor(id / PAGE_BITS) * PAGE_BITS;
}

function createIdSet(): IdSet {
  const pages = new Map<number, Uint32Array>();
  return {
    has(id) {
      const bits = pages.get(Math.floor(id / PAGE_BITS));
      return bits !== undefined && ((bits[placeOf(id) >>> 5] ?? 0) & (1 << (placeOf(id) & 31))) !== 0;
    },
    add(id) {
      const page = Math.floor(id / PAGE_BITS);
      const bits = pages.get(page) ?? new Uint32Array(PAGE_BITS / 32);
      pages.set(page, bits);
      bits[placeOf(id) >>> 5] = (bits[placeOf(id) >>> 5] ?? 0) | (1 << (placeOf(id) & 31));
    },
  };
}
