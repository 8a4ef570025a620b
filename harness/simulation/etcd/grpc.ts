// gRPC as the library etcd3 uses it, to simulated members: the services and their methods that a lock needs, on simulated
// connections, with the library's own words for messages and grpc-js's for errors. Nothing else of gRPC is here.

import { EventEmitter } from 'node:events';
import { wallTime } from '../../clock.ts';
import { millis } from '../../history/op.ts';
import type { Transaction } from '../../backends/etcd/port.ts';
import type { EtcdWire } from '../../backends/etcd/port-over.ts';
import type { Machine } from '../program.ts';
import { simulatedEtcdWires } from './wire.ts';

interface CallOptions {
  /** Milliseconds since 1970. */
  readonly deadline?: number;
}

type Callback = (error: Error | null, reply?: object) => void;

/** As in `rpc.proto`, field names kept. */
interface TransactionMessage {
  readonly compare: readonly { readonly key: Buffer | string; readonly create_revision?: string | number }[];
  readonly success: readonly {
    readonly request_put?: {
      readonly key: Buffer | string;
      readonly value: Buffer | string;
      readonly lease: string;
    };
  }[];
}

const DEADLINE_EXCEEDED = '4 DEADLINE_EXCEEDED: Deadline exceeded';
const UNAVAILABLE = 14;

/** In the place of `@grpc/grpc-js`. */
export function simulatedGrpc(machine: Machine): object {
  // Called with `new`: what it returns is what the caller gets.
  function Service(address: string): object {
    return serviceAt(machine, address.slice(0, address.lastIndexOf(':')));
  }
  return {
    // Nobody looks into it.
    Metadata: EventEmitter,
    credentials: { createInsecure: () => ({}) },
    connectivityState: { CONNECTING: 1 },
    loadPackageDefinition: () => ({ etcdserverpb: { Lease: Service, KV: Service } }),
  };
}

function serviceAt(machine: Machine, host: string): object {
  const { process } = machine;
  // Port and time limit are the library's own business.
  const wire = simulatedEtcdWires(machine)({ host, port: 0 }, millis(0));
  const call = (
    ask: (wire: EtcdWire) => Promise<object>,
    { deadline }: CallOptions,
    callback: Callback,
  ): void => {
    let isOver = false;
    const end: Callback = (error, reply) => {
      if (isOver) return;
      isOver = true;
      cancel?.();
      callback(error, reply);
    };
    const cancel =
      deadline === undefined
        ? undefined
        : process.after(millis(Math.max(0, deadline - wallTime().getTime())), () =>
            end(statusError(DEADLINE_EXCEEDED)),
          );
    wire.then(ask).then(
      (reply) => end(null, reply),
      (error: unknown) => end(statusError(error instanceof Error ? error.message : String(error))),
    );
  };

  return {
    leaseGrant: ({ TTL }: { readonly TTL: number }, _: object, options: CallOptions, callback: Callback) =>
      call(
        async (to) => {
          const { lease, ttlSeconds } = await to.grantLease(TTL);
          return { ID: lease, TTL: String(ttlSeconds) };
        },
        options,
        callback,
      ),
    leaseRevoke: ({ ID }: { readonly ID: string }, _: object, options: CallOptions, callback: Callback) =>
      call(
        async (to) => {
          await to.revoke(ID);
          return {};
        },
        options,
        callback,
      ),
    txn: (message: TransactionMessage, _: object, options: CallOptions, callback: Callback) =>
      call(
        async (to) => {
          const { succeeded, revision } = await to.transact(transactionIn(message));
          return { succeeded, header: { revision: String(revision) }, responses: [] };
        },
        options,
        callback,
      ),
    leaseKeepAlive: () => keepAlives(wire),
    getChannel: () => ({ getConnectivityState: () => 0 }),
    close: () => void wire.then((open) => open.close()),
  };
}

/** One stream of renewals. */
function keepAlives(wire: Promise<EtcdWire>): object {
  const events = new EventEmitter();
  let isEnded = false;
  const tell = (event: string, what: object): void => {
    if (!isEnded) events.emit(event, what);
  };
  return Object.assign(events, {
    writable: true,
    write({ ID }: { readonly ID: string }) {
      wire
        .then((open) => open.keepAlive(ID))
        .then(
          ({ ttlSeconds }) => tell('data', { ID, TTL: String(ttlSeconds) }),
          (error: unknown) => tell('error', statusError(String(error))),
        );
    },
    end() {
      isEnded = true;
    },
  });
}

/** One comparison of a key's create revision, and puts. */
function transactionIn({ compare, success }: TransactionMessage): Transaction {
  const [when] = compare;
  if (when === undefined || compare.length > 1)
    throw new Error('not simulated: a transaction of another kind');
  return {
    when: { key: String(when.key), createRevision: BigInt(when.create_revision ?? 0) },
    success: success.map(({ request_put: put }) => {
      if (put === undefined) throw new Error('not simulated: a request in a transaction that is not a put');
      return { kind: 'put', key: String(put.key), value: String(put.value), lease: put.lease };
    }),
  };
}

/** The number that a message begins with is its code; without one the member is not to be had. */
function statusError(message: string): Error {
  const code = /^(\d+) /.exec(message)?.[1];
  return Object.assign(new Error(code === undefined ? `${UNAVAILABLE} UNAVAILABLE: ${message}` : message), {
    code: code === undefined ? UNAVAILABLE : Number(code),
  });
}
