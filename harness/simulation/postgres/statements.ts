// What a simulated PostgreSQL does for each prepared statement of a client, known by its name: the row that it locks
// first, and what it then reads and writes. The semantics are those of the SQL in `postgres-store/`; what is here must
// say the same, and the fidelity tests compare. Knows no sessions: who may run when is decided in `server.ts`.

import type { Row, Values } from '../../postgres/session.ts';

/** A statement that is refused; its transaction is undone. */
export class SqlError extends Error {
  readonly state: string;
  constructor(state: string) {
    super(`sqlstate ${state}`);
    this.state = state;
  }
}

export interface Statement {
  /** What it locks until its transaction ends; undefined: nothing. */
  readonly locks?: (values: Values) => string;
  /** Runs it; `undo` gets what takes it back. Throws SqlError. */
  run(values: Values, undo: (() => void)[], session: StatementSession): readonly Row[];
}

/** The session that runs a statement. */
export interface StatementSession {
  /** By the server's clock, in milliseconds since 1970. */
  wallMillis(): number;
  /** Whoever ends it. */
  onEnd(action: () => void): void;
}

interface Register {
  value: string;
  version: number;
  highest: bigint | undefined;
  orders: readonly string[];
}

interface Audited {
  readonly seq: number;
  readonly register: string;
  readonly row: Row;
}

interface Queued {
  readonly op: string;
  readonly key: string;
  readonly process: string;
  readonly token: bigint | undefined;
  readonly value: string;
  readonly added: bigint;
  readonly order: string | undefined;
  accepted: boolean | undefined;
  version: number;
}

/** The arguments of a write, as `attempt_write` has them. */
interface Write {
  readonly defence: string;
  readonly key: string;
  readonly op: string;
  readonly process: string;
  readonly token: bigint | undefined;
  readonly base: number | undefined;
  readonly value: string;
  readonly add: bigint | undefined;
  readonly order: string | undefined;
}

export type Statements = ReadonlyMap<string, Statement>;

/** Those of the store, on tables that are empty at first. */
export function storeStatements(): Statements {
  const registers = new Map<string, Register>();
  const audit: Audited[] = [];
  const steps = new Set<string>();
  const queue: Queued[] = [];

  const registerAt = (defence: string, key: string): Register => {
    const register = registers.get(`${defence} ${key}`);
    // As `select … into strict` says of no row.
    if (register === undefined) throw new SqlError('P0002');
    return register;
  };
  const change = (register: Register, to: Partial<Register>, undo: (() => void)[]): void => {
    const before = { ...register };
    Object.assign(register, to);
    undo.push(() => void Object.assign(register, before));
  };
  const record = (register: string, row: Row, undo: (() => void)[]): void => {
    // A sequence gives no number twice, whatever is undone.
    seq += 1;
    const entry = { seq, register, row: { seq: String(seq), ...row } };
    audit.push(entry);
    undo.push(() => void audit.splice(audit.indexOf(entry), 1));
  };
  let seq = 0;

  /** The version that it gives the register and what it writes; undefined: refused. */
  const accept = (write: Write, register: Register, undo: (() => void)[]): Partial<Register> | undefined => {
    const { defence, key, token, base, value, add, order } = write;
    const orders = order === undefined ? register.orders : [...register.orders, order];
    const version = register.version + 1;
    switch (defence) {
      case 'version-cas':
        return base === register.version ? { value, version, orders } : undefined;
      case 'conditional-update': {
        const sum = add === undefined ? -1n : BigInt(register.value) + add;
        const isDone = order !== undefined && register.orders.includes(order);
        return sum >= 0n && !isDone ? { value: String(sum), version, orders } : undefined;
      }
      case 'unique-constraint': {
        const taken = [
          `${key} step ${(base ?? 0) + 1}`,
          ...(order === undefined ? [] : [`${key} order ${order}`]),
        ];
        if (taken.some((name) => steps.has(name))) return undefined;
        for (const name of taken) steps.add(name);
        undo.push(() => taken.forEach((name) => steps.delete(name)));
        return { value, version: (base ?? 0) + 1, orders };
      }
      default: {
        const isFenced = defence !== 'none' && defence !== 'row-lock';
        if (isFenced && (token === undefined || token < (register.highest ?? token))) return undefined;
        return { value, version, orders, highest: greatest(register.highest, token) };
      }
    }
  };

  const attemptWrite = (write: Write, undo: (() => void)[]): Row => {
    const register = registerAt(write.defence, write.key);
    const accepted = accept(write, register, undo);
    if (accepted !== undefined) change(register, accepted, undo);
    const met = accepted === undefined ? register.version : register.version - 1;
    record(
      `${write.defence} ${write.key}`,
      {
        op: write.op,
        process: write.process,
        token: text(write.token),
        base: String(write.base ?? met),
        version: String(met),
        value: accepted?.value ?? write.value,
        order_id: write.order ?? null,
        accepted: accepted !== undefined,
      },
      undo,
    );
    return {
      was_accepted: accepted !== undefined,
      new_version: accepted === undefined ? null : String(register.version),
      highest_token: accepted === undefined ? text(register.highest) : null,
    };
  };

  const serveQueue = (key: string, undo: (() => void)[]): void => {
    for (const waiting of queue.filter((entry) => entry.key === key && entry.accepted === undefined)) {
      const register = registerAt('serialized-queue', key);
      const { op, process, token, added, order } = waiting;
      const version = register.version;
      const sum = BigInt(register.value) + added;
      const canBe = sum >= 0n && (order === undefined || !register.orders.includes(order));
      const value = canBe ? String(sum) : waiting.value;
      if (canBe) {
        const orders = order === undefined ? register.orders : [...register.orders, order];
        change(register, { value, version: version + 1, orders }, undo);
      }
      record(
        `serialized-queue ${key}`,
        {
          op,
          process,
          token: text(token),
          base: String(version),
          version: String(version),
          value,
          order_id: order ?? null,
          accepted: canBe,
        },
        undo,
      );
      waiting.accepted = canBe;
      waiting.version = version + 1;
      undo.push(() => void (waiting.accepted = undefined));
    }
  };

  const read = ([defence, key, order]: Values): readonly Row[] => {
    const register = registers.get(`${string(defence)} ${string(key)}`);
    if (register === undefined) return [];
    const applied = order !== null && register.orders.includes(string(order));
    return [{ value: register.value, version: String(register.version), applied }];
  };

  return new Map<string, Statement>([
    [
      'seed',
      {
        run([defences, keys, value]) {
          for (const defence of list(defences))
            for (const key of list(keys))
              if (!registers.has(`${defence} ${key}`))
                registers.set(`${defence} ${key}`, {
                  value: string(value),
                  version: 0,
                  highest: undefined,
                  orders: [],
                });
          return [];
        },
      },
    ],
    ['read', { run: read }],
    ['locking-read', { locks: locksRegister, run: read }],
    [
      'fenced-read',
      {
        locks: locksRegister,
        run([defence, key, order, shown], undo) {
          const register = registerAt(string(defence), string(key));
          const token = BigInt(string(shown));
          if (register.highest !== undefined && token < register.highest)
            return [{ value: null, version: null, applied: null }];
          if (register.highest === undefined || token > register.highest)
            change(register, { highest: token }, undo);
          return read([string(defence), string(key), order ?? null]);
        },
      },
    ],
    ['write', { locks: locksRegister, run: (values, undo) => [attemptWrite(writeOf(values), undo)] }],
    [
      'enqueue',
      {
        run([op, key, process, token, value, added, order], undo) {
          if (queue.some((entry) => entry.op === string(op))) throw new SqlError('23505');
          if (added === null || added === undefined) throw new SqlError('23502');
          const entry: Queued = {
            op: string(op),
            key: string(key),
            process: string(process),
            token: whole(token),
            value: string(value),
            added: BigInt(string(added)),
            order: optional(order),
            accepted: undefined,
            version: 0,
          };
          queue.push(entry);
          undo.push(() => void queue.splice(queue.indexOf(entry), 1));
          return [];
        },
      },
    ],
    [
      'serve',
      {
        locks: ([key]) => `queue of ${string(key)}`,
        run([key, op], undo) {
          serveQueue(string(key), undo);
          const own = queue.find((entry) => entry.op === string(op));
          const isServed = own?.accepted !== undefined;
          return [
            {
              was_accepted: own?.accepted ?? null,
              new_version: isServed ? String(own.version) : null,
              highest_token: null,
            },
          ];
        },
      },
    ],
    [
      'serve-waiting',
      {
        run(_values, undo) {
          for (const key of new Set(
            queue.filter(({ accepted }) => accepted === undefined).map((entry) => entry.key),
          ))
            serveQueue(key, undo);
          return [];
        },
      },
    ],
    [
      'audit',
      {
        run([defence, key, after, limit]) {
          const register = `${string(defence)} ${string(key)}`;
          const found = audit.filter((entry) => entry.register === register && entry.seq > Number(after));
          return found.slice(0, Number(limit)).map(({ row }) => row);
        },
      },
    ],
  ]);
}

function locksRegister([defence, key]: Values): string {
  return `${string(defence)} ${string(key)}`;
}

function writeOf([defence, key, op, process, token, base, value, add, order]: Values): Write {
  return {
    defence: string(defence),
    key: string(key),
    op: string(op),
    process: string(process),
    token: whole(token),
    base: base === null || base === undefined ? undefined : Number(base),
    value: string(value),
    add: whole(add),
    order: optional(order),
  };
}

type Value = Values[number] | undefined;

function string(value: Value): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new SqlError('22004');
}

function optional(value: Value): string | undefined {
  return value === null || value === undefined ? undefined : string(value);
}

function whole(value: Value): bigint | undefined {
  return value === null || value === undefined ? undefined : BigInt(string(value));
}

function list(value: Value): readonly string[] {
  if (Array.isArray(value)) return value.map(String);
  throw new SqlError('22004');
}

function text(value: bigint | undefined): string | null {
  return value === undefined ? null : String(value);
}

function greatest(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}
