// From events to operations: pairs each invocation with its completion and each fault with its end.
// `json-lines.ts` knows the file and hands over its events; checkers get the `History` and nothing else. Pure.
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
  JsonRecord,
  Lost,
  Millis,
  Nanos,
  Outcome,
  ServerEvent,
} from './op.ts';
import { NONE, operationAt, type OperationColumns } from './operation-columns.ts';
import { operationWriter } from './operation-writer.ts';
import { rowsById } from './rows-by-id.ts';

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
  readonly columns: OperationColumns;
  /** The same, each as an object; in order of invocation; ties by id. Made when somebody asks for them. */
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

export function openAssembly(header: Header): Assembly {
  const operations = operationWriter();
  const rows = rowsById();
  const losses: Lost[] = [];
  const downs: Down[] = [];
  const servers: ServerEvent[] = [];
  const harness: HarnessEvent[] = [];
  const faults = new Map<string, FaultSpan>();
  /** By number of the process. */
  const lastSeen: Nanos[] = [];
  let end = 0 as Nanos;

  const see = (process: number, time: Nanos): void => {
    const last = lastSeen[process];
    if (last === undefined || time > last) lastSeen[process] = time;
  };
  const complete = (event: Completion, line: number): void => {
    const { id, process, op, time } = event;
    const refuse = (rule: string): never => {
      throw new HistoryError(line, rule);
    };
    const row = rows.pending(id);
    if (row === NONE)
      refuse(
        rows.has(id)
          ? `second completion of operation ${id}`
          : `completion of operation ${id} without an invocation`,
      );
    const invoke = operations.invokedIn(row);
    if (invoke.process !== process)
      refuse(`operation ${id} was invoked by ${invoke.process} and completed by ${process}`);
    if (invoke.op !== op) refuse(`operation ${id} was invoked as ${invoke.op} and completed as ${op}`);
    if (time < invoke.time) refuse(`time goes backwards within operation ${id}: ${invoke.time} then ${time}`);
    rows.settle(id);
    operations.complete(row, event);
    see(invoke.processNumber, time);
  };

  return {
    add(event, line) {
      if (event.time > end) end = event.time;
      switch (event.type) {
        case 'invoke': {
          if (rows.has(event.id)) throw new HistoryError(line, `duplicate operation id ${event.id}`);
          const row = operations.invoke(event);
          rows.add(event.id, row);
          see(operations.invokedIn(row).processNumber, event.time);
          break;
        }
        case 'ok':
        case 'fail':
        case 'info':
          complete(event, line);
          break;
        case 'lost':
          losses.push(event);
          see(operations.processNumber(event.process), event.time);
          break;
        case 'down':
          downs.push(event);
          see(operations.processNumber(event.process), event.time);
          break;
        case 'server':
          servers.push(event);
          break;
        case 'harness':
          if (event.since > event.time)
            throw new HistoryError(
              line,
              `the harness event is about a time from ${event.since}, which is after its own, ${event.time}`,
            );
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
      const columns = operations.finish();
      let made: readonly Operation[] | undefined;
      return {
        header,
        columns,
        get operations() {
          made ??= Array.from({ length: columns.size }, (_, row) => operationAt(columns, row));
          return made;
        },
        losses,
        downs,
        faults: [...faults.values()],
        servers,
        harness,
        lastSeen: new Map(lastSeen.map((time, process) => [columns.processes[process] ?? '', time])),
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
