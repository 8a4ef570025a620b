// An etcd port over whatever speaks to one member at a time: etcd3 (`connection.ts`), or a simulated connection. Here is
// what a recipe relies on: each request is sent once, to one member, which is left for the next one as soon as an outcome
// is unknown, and what has no answer in time is `info`. Knows no library.

import type { Timer } from '../../clock.ts';
import type { Outcome } from '../../contract/lock-client.ts';
import type { Millis } from '../../history/op.ts';
import { CONNECTION_LOST, LEASE_GONE, outcomeOf } from './errors.ts';
import { outcomeWithin } from './outcome-within.ts';
import type { EtcdPort, LeaseId, Transaction, TransactionReply } from './port.ts';

export interface Server {
  readonly host: string;
  readonly port: number;
}

/** To one member. Every request rejects with what the member, or the library, says; there is no time limit. */
export interface EtcdWire {
  grantLease(ttlSeconds: number): Promise<{ readonly lease: LeaseId; readonly ttlSeconds: number }>;
  /** 0 seconds: it is gone. */
  keepAlive(lease: LeaseId): Promise<{ readonly ttlSeconds: number }>;
  revoke(lease: LeaseId): Promise<unknown>;
  transact(transaction: Transaction): Promise<TransactionReply>;
  /** Never rejects. */
  deleted(key: string, revision: bigint, timeLimit: Millis): Promise<boolean>;
  close(): void;
}

/** `timeLimit`: nobody waits longer for a request. */
export type OpenWire = (server: Server, timeLimit: Millis) => Promise<EtcdWire>;

/** A port to the cluster that begins with the server at position `first`; the first request opens a connection. */
export type OpenEtcdPort = (
  servers: readonly Server[],
  options: { readonly first: number; readonly timeLimit: Millis },
) => EtcdPort;

export function portsOver(openWire: OpenWire, timer: Timer): OpenEtcdPort {
  return (servers, { first, timeLimit }) => {
    let turn = first;
    let current: Promise<EtcdWire> | undefined;
    let closed = false;

    const connection = (): Promise<EtcdWire> => {
      const server = servers[turn % servers.length];
      if (server === undefined) throw new Error('an etcd port needs a server');
      current ??= openWire(server, timeLimit);
      return current;
    };
    const giveUp = async (given: EtcdWire): Promise<void> => {
      if (current === undefined || (await current) !== given) return;
      current = undefined;
      turn += 1;
      given.close();
    };
    const ask = async <T>(send: (wire: EtcdWire) => Promise<T>): Promise<Outcome<T>> => {
      if (closed) return outcomeOf(CONNECTION_LOST);
      const used = await connection();
      const outcome = await outcomeWithin(send(used), { timer, timeLimit });
      if (outcome.kind === 'info' || (outcome.kind === 'fail' && outcome.error === 'unavailable'))
        await giveUp(used);
      return outcome;
    };

    return {
      grantLease: (ttlSeconds) => ask((wire) => wire.grantLease(ttlSeconds)),
      keepAlive: (lease) => ask((wire) => wire.keepAlive(lease)),
      async revoke(lease) {
        const outcome = await ask((wire) => wire.revoke(lease));
        if (outcome.kind !== 'ok' && outcome.error !== LEASE_GONE.error) return outcome;
        return { kind: 'ok', value: { existed: outcome.kind === 'ok' } };
      },
      transact: (transaction) => ask((wire) => wire.transact(transaction)),
      async deleted(key, revision, limit) {
        if (closed) return false;
        return await (await connection()).deleted(key, revision, limit);
      },
      [Symbol.asyncDispose]: async () => {
        closed = true;
        if (current !== undefined) (await current).close();
      },
    };
  };
}
