// What a simulated PostgreSQL does for each prepared statement of the store, known by its name: the row that it locks
// first, and what it then reads and writes. The semantics are those of the SQL in `postgres-store/`; what is here must
// say the same, and the fidelity tests compare. Knows no sessions: who may run when is decided in `server.ts`.

import type { Row, Values } from '../../postgres/session.ts';
import {
  list,
  optional,
  SqlError,
  string,
  text,
  whole,
  type Statement,
  type Statements,
  type Undo,
} from './statement.ts';
import { storeRegisters, type Change, type Register } from './store-registers.ts';

interface Queued {
  readonly nth: number;
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

/** Those of the store, on tables that are empty at first. */
export function storeStatements(): Statements {
  const registers = storeRegisters();
  const steps = new Set<string>();
  /** By operation. */
  const queue = new Map<string, Queued>();
  /** Those of `queue` that wait, by key. */
  const unserved = new Map<string, Set<Queued>>();
  let queued = 0;

  const putInLine = (entry: Queued): void => {
    const waiting = unserved.get(entry.key) ?? new Set();
    unserved.set(entry.key, waiting.add(entry));
  };
  /** In its place: what came later is put behind it. */
  const putBackInLine = (entry: Queued): void => {
    const later = [...(unserved.get(entry.key) ?? [])].filter(({ nth }) => nth > entry.nth);
    putInLine(entry);
    for (const other of later) {
      unserved.get(entry.key)?.delete(other);
      putInLine(other);
    }
  };

  /** The version that it gives the register and what it writes; undefined: refused. */
  const accept = (write: Write, register: Register, undo: Undo): Change | undefined => {
    const { defence, key, token, base, value, add, order } = write;
    const version = register.version + 1;
    switch (defence) {
      case 'version-cas':
        return base === register.version ? { value, version } : undefined;
      case 'conditional-update': {
        const sum = add === undefined ? -1n : BigInt(register.value) + add;
        const isDone = order !== undefined && register.orders.has(order);
        return sum >= 0n && !isDone ? { value: String(sum), version } : undefined;
      }
      case 'unique-constraint': {
        const taken = [
          `${key} step ${(base ?? 0) + 1}`,
          ...(order === undefined ? [] : [`${key} order ${order}`]),
        ];
        if (taken.some((name) => steps.has(name))) return undefined;
        for (const name of taken) steps.add(name);
        undo.push(() => taken.forEach((name) => steps.delete(name)));
        return { value, version: (base ?? 0) + 1 };
      }
      default: {
        const isFenced = defence !== 'none' && defence !== 'row-lock';
        if (isFenced && (token === undefined || token < (register.highest ?? token))) return undefined;
        return { value, version, highest: greatest(register.highest, token) };
      }
    }
  };

  const attemptWrite = (write: Write, undo: Undo): Row => {
    const register = registers.at(write.defence, write.key);
    const accepted = accept(write, register, undo);
    if (accepted !== undefined) {
      registers.change(register, accepted, undo);
      registers.apply(write.order, register, undo);
    }
    const met = accepted === undefined ? register.version : register.version - 1;
    registers.record(
      write.defence,
      write.key,
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

  const serveQueue = (key: string, undo: Undo): void => {
    const inLine = unserved.get(key);
    for (const waiting of inLine ?? []) {
      const register = registers.at('serialized-queue', key);
      const { op, process, token, added, order } = waiting;
      const version = register.version;
      const sum = BigInt(register.value) + added;
      const canBe = sum >= 0n && (order === undefined || !register.orders.has(order));
      const value = canBe ? String(sum) : waiting.value;
      if (canBe) {
        registers.change(register, { value, version: version + 1 }, undo);
        registers.apply(order, register, undo);
      }
      registers.record(
        'serialized-queue',
        key,
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
      inLine?.delete(waiting);
      undo.push(() => {
        waiting.accepted = undefined;
        putBackInLine(waiting);
      });
    }
  };

  const read = ([defence, key, order]: Values): readonly Row[] => {
    const register = registers.find(string(defence), string(key));
    if (register === undefined) return [];
    const applied = order !== null && register.orders.has(string(order));
    return [{ value: register.value, version: String(register.version), applied }];
  };

  return new Map<string, Statement>([
    [
      'seed',
      {
        run([defences, keys, value]) {
          for (const defence of list(defences))
            for (const key of list(keys)) registers.seed(defence, key, string(value));
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
          const register = registers.at(string(defence), string(key));
          const token = BigInt(string(shown));
          if (register.highest !== undefined && token < register.highest)
            return [{ value: null, version: null, applied: null }];
          if (register.highest === undefined || token > register.highest)
            registers.change(register, { highest: token }, undo);
          return read([string(defence), string(key), order ?? null]);
        },
      },
    ],
    ['write', { locks: locksRegister, run: (values, undo) => [attemptWrite(writeOf(values), undo)] }],
    [
      'enqueue',
      {
        run([op, key, process, token, value, added, order], undo) {
          if (queue.has(string(op))) throw new SqlError('23505');
          if (added === null || added === undefined) throw new SqlError('23502');
          const entry: Queued = {
            nth: (queued += 1),
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
          queue.set(entry.op, entry);
          putInLine(entry);
          undo.push(() => {
            queue.delete(entry.op);
            unserved.get(entry.key)?.delete(entry);
          });
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
          const own = queue.get(string(op));
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
          for (const key of unserved.keys()) serveQueue(key, undo);
          return [];
        },
      },
    ],
    [
      'audit',
      {
        run: ([defence, key, after, limit]) =>
          registers.audited(string(defence), string(key), Number(after), Number(limit)),
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

function greatest(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}
