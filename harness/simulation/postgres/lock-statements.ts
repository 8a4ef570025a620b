// What a simulated PostgreSQL does for the statements of the lock service `postgres`, known by their names: session-level
// advisory locks, and leases in a table. The semantics are those of the SQL in `backends/postgres/recipes`.

import type { Row, Values } from '../../postgres/session.ts';
import type { Statement, Statements, StatementSession, Undo } from './statement.ts';

interface Lease {
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
  readonly token: number;
}

/** On an empty table; it outlives the server, and advisory locks do not. */
export function lockStatements(): Statements {
  const leases = new Map<string, Lease>();
  /** Lock → the session that has it, and how often it has taken it. */
  const advisory = new Map<string, { readonly session: StatementSession; count: number }>();

  const setLease = (lock: string, lease: Lease, undo: Undo): void => {
    const before = leases.get(lock);
    leases.set(lock, lease);
    undo.push(() => {
      if (before === undefined) leases.delete(lock);
      else leases.set(lock, before);
    });
  };

  return new Map<string, Statement>([
    [
      'lock',
      {
        run([lock], _undo, session) {
          const name = String(lock);
          const held = advisory.get(name);
          if (held !== undefined && held.session !== session) return [{ done: false }];
          if (held === undefined) {
            advisory.set(name, { session, count: 1 });
            session.onEnd(() => {
              if (advisory.get(name)?.session === session) advisory.delete(name);
            });
          } else held.count += 1;
          return [{ done: true }];
        },
      },
    ],
    [
      'unlock',
      {
        run([lock], _undo, session) {
          const held = advisory.get(String(lock));
          if (held?.session !== session) return [{ done: false }];
          held.count -= 1;
          if (held.count === 0) advisory.delete(String(lock));
          return [{ done: true }];
        },
      },
    ],
    [
      'take',
      {
        locks: leaseLock,
        run([lock, owner, ttlMillis], undo, session) {
          const name = String(lock);
          const held = leases.get(name);
          const now = session.wallMillis();
          if (held !== undefined && held.expires > now) return [];
          const token = (held?.token ?? 0) + 1;
          setLease(name, { owner: String(owner), expires: now + Number(ttlMillis), token }, undo);
          return [{ token: String(token) }] satisfies Row[];
        },
      },
    ],
    [
      'give-back',
      {
        locks: leaseLock,
        run([lock, owner], undo, session) {
          const name = String(lock);
          const held = leases.get(name);
          if (held === undefined || held.owner !== String(owner) || held.expires <= session.wallMillis())
            return [];
          setLease(name, { ...held, expires: -Infinity }, undo);
          return [{ token: String(held.token) }];
        },
      },
    ],
  ]);
}

function leaseLock([lock]: Values): string {
  return `lease ${String(lock)}`;
}
