// A register inside etcd whose writes are checked in one transaction with the lock: a write is applied if the writer's
// place in the queue is still there, else refused, and there is no moment between the two. This is how etcd's own
// documentation says a lock should be used (etcd 3.5, "Notes on the usage of lock and lease"); it works only for what
// lives in etcd itself. Every attempt leaves a row under a key of its own, which is the record that rules are judged by.

import type { Clock } from '../../clock.ts';
import type { Outcome } from '../../contract/lock-client.ts';
import type { Register } from '../../contract/store.ts';
import { fencingToken, type AuditRow, type FencingToken } from '../../history/op.ts';
import { untilDone } from '../until-done.ts';
import type { EtcdPort, KeyValue, Operation, TransactionReply } from './port.ts';

const LOST: Outcome<never> = { kind: 'fail', error: 'lock-lost' };
/** Reads have no effect, so they may be tried again. */
const READ_TRIES = 4;

type Row = Pick<AuditRow, 'id' | 'process' | 'base' | 'value'> & {
  readonly token: string;
  readonly accepted: boolean;
};

/** `placeOf`: the key of the place that was granted with this token. */
export function guardedRegister(
  etcd: EtcdPort,
  clock: Clock,
  placeOf: (token: FencingToken) => string | undefined,
): Register {
  const read = async (operation: Operation): Promise<Outcome<TransactionReply>> => {
    let left = READ_TRIES - 1;
    // A key that was never created: the transaction always succeeds.
    const when = { key: 'nowhere', createRevision: 0n };
    return await untilDone(
      clock,
      () => etcd.transact({ when, success: [operation] }),
      () => left-- > 0,
    );
  };

  return {
    async read({ key }) {
      const reply = await read({ kind: 'get', key: registerKey(key) });
      if (reply.kind !== 'ok') return reply;
      const [found] = reply.value.found[0] ?? [];
      return { kind: 'ok', value: { value: found?.value ?? '0', version: versionOf(found) } };
    },
    async write({ key, id, process, base, value, token }) {
      const place = token === undefined ? undefined : placeOf(token);
      if (token === undefined || place === undefined) return LOST;
      const row = (accepted: boolean): Operation => ({
        kind: 'put',
        key: `${recordOf(key)}${id}`,
        value: JSON.stringify({ id, process, base, value, token: token.toString(), accepted } satisfies Row),
      });
      const reply = await etcd.transact({
        when: { key: place, createRevision: token },
        success: [
          { kind: 'put', key: registerKey(key), value },
          row(true),
          { kind: 'get', key: registerKey(key) },
        ],
        failure: [row(false)],
      });
      if (reply.kind !== 'ok') return reply;
      if (!reply.value.succeeded) return LOST;
      return { kind: 'ok', value: { version: versionOf(reply.value.found[2]?.[0]) } };
    },
    async audit({ key, after, limit }) {
      const reply = await read({ kind: 'list', prefix: recordOf(key) });
      if (reply.kind !== 'ok') return reply;
      const rows = auditRows(reply.value.found[0] ?? []);
      return { kind: 'ok', value: rows.filter(({ seq }) => BigInt(seq) > BigInt(after)).slice(0, limit) };
    },
  };
}

function registerKey(key: string): string {
  return `register/${key}`;
}

function recordOf(key: string): string {
  return `record/${key}/`;
}

/** A key is at version 1 when it has been written once, as a row of the store is. */
function versionOf(found: KeyValue | undefined): string {
  return (found?.version ?? 0n).toString();
}

/** In the order in which they took effect; how many were accepted before says which version each one found. */
function auditRows(found: readonly KeyValue[]): AuditRow[] {
  let accepted = 0;
  return found
    .toSorted((a, b) => Number(a.createRevision - b.createRevision))
    .map(({ value, createRevision }) => {
      const row = rowOf(value);
      const version = accepted.toString();
      if (row.accepted) accepted += 1;
      return { ...row, seq: createRevision.toString(), token: fencingToken(row.token), version };
    });
}

function rowOf(text: string): Row {
  const value: unknown = JSON.parse(text);
  if (isRow(value)) return value;
  throw new Error(`not a row of a register's record: ${text}`);
}

function isRow(value: unknown): value is Row {
  return (
    typeof value === 'object' && value !== null && 'id' in value && 'accepted' in value && 'token' in value
  );
}
