// From events to operations: pairs each invocation with its completion and each fault with its end.
// `json-lines.ts` made the events and knows the file; checkers get the `History` and nothing else. Pure.
// A malformed history is refused with the line and the rule, never judged.

import type {
  AuditRow,
  Completion,
  Down,
  FencingToken,
  Header,
  HistoryEvent,
  Invoke,
  Json,
  JsonRecord,
} from './op.ts';
import type { Lost, Millis, Nanos, Outcome, ServerEvent } from './op.ts';

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
  readonly audit?: readonly AuditRow[];
}

export interface Write extends StoreOperation {
  readonly op: 'write' | 'cas';
  readonly value: string;
  readonly base?: string;
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

/**
 * Pairs `events` (in file order, event `i` being line `lines[i] ?? i + 2`) into a history.
 * Throws `HistoryError` on a duplicate id, a completion without invocation or of another operation, a second
 * completion, or time going backwards within one operation. O(n log n).
 */
export function assembleHistory(
  header: Header,
  events: readonly HistoryEvent[],
  lines?: readonly number[],
): History {
  const invokes = new Map<number, Invoke>();
  const completions = new Map<number, Completion>();
  const losses: Lost[] = [];
  const downs: Down[] = [];
  const servers: ServerEvent[] = [];
  const faults = new Map<string, FaultSpan>();
  const lastSeen = new Map<string, Nanos>();
  let end = 0 as Nanos;

  for (const [index, event] of events.entries()) {
    const refuse = (rule: string): never => {
      throw new HistoryError(lines?.[index] ?? index + 2, rule);
    };
    if (event.time > end) end = event.time;
    if ('process' in event) {
      const last = lastSeen.get(event.process);
      if (last === undefined || event.time > last) lastSeen.set(event.process, event.time);
    }
    switch (event.type) {
      case 'invoke':
        if (invokes.has(event.id)) refuse(`duplicate operation id ${event.id}`);
        invokes.set(event.id, event);
        break;
      case 'ok':
      case 'fail':
      case 'info': {
        const invoke = invokes.get(event.id);
        if (invoke === undefined) return refuse(`completion of operation ${event.id} without an invocation`);
        if (completions.has(event.id)) refuse(`second completion of operation ${event.id}`);
        if (invoke.process !== event.process)
          refuse(`operation ${event.id} was invoked by ${invoke.process} and completed by ${event.process}`);
        if (invoke.op !== event.op)
          refuse(`operation ${event.id} was invoked as ${invoke.op} and completed as ${event.op}`);
        if (event.time < invoke.time)
          refuse(`time goes backwards within operation ${event.id}: ${invoke.time} then ${event.time}`);
        completions.set(event.id, event);
        break;
      }
      case 'lost':
        losses.push(event);
        break;
      case 'down':
        downs.push(event);
        break;
      case 'server':
        servers.push(event);
        break;
      case 'fault': {
        const known = faults.get(event.id);
        if (event.phase === 'begin') {
          if (known !== undefined) refuse(`fault ${event.id} begins twice`);
          faults.set(event.id, {
            id: event.id,
            fault: event.fault,
            targets: event.targets,
            params: event.params ?? {},
            begin: event.time,
            acted: undefined,
            end: undefined,
            evidence: event.evidence ?? {},
          });
          break;
        }
        if (known === undefined) return refuse(`fault ${event.id}: ${event.phase} without a begin`);
        if (event.time < known.begin) refuse(`time goes backwards within fault ${event.id}`);
        if (known[event.phase] !== undefined) refuse(`fault ${event.id}: second ${event.phase}`);
        faults.set(event.id, {
          ...known,
          targets: event.targets.length > 0 ? event.targets : known.targets,
          evidence: { ...known.evidence, ...event.evidence },
          [event.phase]: event.time,
        });
        break;
      }
      default:
        event satisfies never;
    }
  }

  const operations = [...invokes.values()]
    .map((invoke) => operationOf(invoke, completions.get(invoke.id)))
    .sort((a, b) => a.invoked - b.invoked || a.id - b.id);
  return { header, operations, losses, downs, faults: [...faults.values()], servers, lastSeen, end };
}

/** Drops the keys whose value is undefined, so that optional stays optional. */
type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };
function defined<T extends Record<string, Json | bigint | readonly AuditRow[] | undefined>>(
  fields: T,
): Partial<Defined<T>> {
  const kept: Record<string, unknown> = {};
  for (const key in fields) if (fields[key] !== undefined) kept[key] = fields[key];
  return kept as Partial<Defined<T>>;
}

function operationOf(invoke: Invoke, completion: Completion | undefined): Operation {
  const outcome = completion?.type ?? 'info';
  const base = {
    id: invoke.id,
    process: invoke.process,
    invoked: invoke.time,
    completed: completion?.time,
    outcome,
    ...defined({ error: completion?.error }),
  };
  const { lock = '', store = '', key = '' } = invoke;
  switch (invoke.op) {
    case 'acquire':
      return {
        ...base,
        op: 'acquire',
        lock,
        try: invoke.try ?? false,
        ...defined({ ttlMillis: invoke.ttlMillis, owner: invoke.owner }),
        ...(outcome === 'ok'
          ? defined({ token: completion?.token, validUntil: completion?.validUntil })
          : undefined),
      };
    case 'renew':
      return {
        ...base,
        op: 'renew',
        lock,
        ...defined({ ttlMillis: invoke.ttlMillis, validUntil: completion?.validUntil }),
      };
    case 'release':
      return { ...base, op: 'release', lock, ...defined({ released: completion?.released }) };
    case 'read':
      return {
        ...base,
        op: 'read',
        store,
        key,
        lock: invoke.lock ?? key,
        ...defined({
          token: invoke.token,
          value: completion?.value,
          version: completion?.version,
          audit: completion?.audit,
        }),
      };
    case 'write':
    case 'cas':
      return {
        ...base,
        op: invoke.op,
        store,
        key,
        lock: invoke.lock ?? key,
        value: invoke.value ?? '',
        ...defined({
          token: invoke.token,
          base: invoke.base,
          version: completion?.version,
          highest: completion?.highest,
        }),
      };
  }
}
