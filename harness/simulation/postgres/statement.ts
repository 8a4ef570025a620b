// A prepared statement of a simulated PostgreSQL: what it locks, what it does, how it is refused, and its arguments as
// PostgreSQL would read them. Knows no statement and no sessions.

import type { Row, Values } from '../../postgres/session.ts';

/** A statement that is refused; its transaction is undone. */
export class SqlError extends Error {
  readonly state: string;
  constructor(state: string) {
    super(`sqlstate ${state}`);
    this.state = state;
  }
}

/** What takes changes back, if their transaction is undone. */
export type Undo = (() => void)[];

export interface Statement {
  /** What it locks until its transaction ends; undefined: nothing. */
  readonly locks?: (values: Values) => string;
  /** Runs it; `undo` gets what takes it back. Throws SqlError. */
  run(values: Values, undo: Undo, session: StatementSession): readonly Row[];
}

/** The session that runs a statement. */
export interface StatementSession {
  /** By the server's clock, in milliseconds since 1970. */
  wallMillis(): number;
  /** Whoever ends it. */
  onEnd(action: () => void): void;
}

export type Statements = ReadonlyMap<string, Statement>;

type Value = Values[number] | undefined;

export function string(value: Value): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new SqlError('22004');
}

export function optional(value: Value): string | undefined {
  return value === null || value === undefined ? undefined : string(value);
}

export function whole(value: Value): bigint | undefined {
  return value === null || value === undefined ? undefined : BigInt(string(value));
}

export function list(value: Value): readonly string[] {
  if (Array.isArray(value)) return value.map(String);
  throw new SqlError('22004');
}

export function text(value: bigint | undefined): string | null {
  return value === undefined ? null : String(value);
}
