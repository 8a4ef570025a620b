// A client's port to a simulated etcd cluster, in the place of `backends/etcd/connection.ts`, and with what that one
// promises: each request is sent once, to one member, which is left for the next one as soon as an outcome is unknown.

import {
  CONNECTION_LOST,
  LEASE_GONE,
  NOT_CONNECTED,
  outcomeOf,
  outcomeOfError,
  TIMED_OUT,
} from '../../backends/etcd/errors.ts';
import type { EtcdPort } from '../../backends/etcd/port.ts';
import type { OpenEtcdPort } from '../../backends/etcd/server.ts';
import type { Outcome } from '../../contract/lock-client.ts';
import type { Millis } from '../../history/op.ts';
import type { Socket } from '../network.ts';
import type { Machine } from '../program.ts';
import type { EtcdReply, EtcdRequest } from './server.ts';

interface Connection {
  /** undefined: refused. */
  readonly socket: Promise<Socket | undefined>;
  readonly waiting: Map<number, (reply: EtcdReply | undefined) => void>;
  isOver: boolean;
}

export function simulatedEtcdPorts({ process, network, spec, nodeAt }: Machine): OpenEtcdPort {
  return (servers, { first, timeLimit }): EtcdPort => {
    let turn = first;
    let current: Connection | undefined;
    let closed = false;
    let sent = 0;

    const connect = (): Connection => {
      const { promise, resolve } = Promise.withResolvers<Socket | undefined>();
      const waiting: Connection['waiting'] = new Map();
      const connection: Connection = { socket: promise, waiting, isOver: false };
      const host = servers[turn % servers.length]?.host ?? '';
      const breakAll = (): void => {
        connection.isOver = true;
        for (const settle of waiting.values()) settle(undefined);
        waiting.clear();
      };
      network.connect(
        { node: spec.name, process },
        nodeAt(host) ?? host,
        {
          message(message) {
            if (message.kind !== 'etcd reply') return;
            const settle = waiting.get(message.id);
            waiting.delete(message.id);
            settle?.(message.reply);
          },
          closed: breakAll,
        },
        resolve,
      );
      return connection;
    };
    const connection = (): Connection => {
      if (current === undefined || current.isOver) current = connect();
      return current;
    };
    const giveUp = (given: Connection): void => {
      if (current !== given) return;
      current = undefined;
      turn += 1;
      given.isOver = true;
      for (const settle of given.waiting.values()) settle(undefined);
      given.waiting.clear();
      void given.socket.then((socket) => socket?.close());
    };

    /** undefined: the connection broke. */
    const send = (
      used: Connection,
      request: EtcdRequest,
      limit: Millis,
    ): Promise<EtcdReply | 'late' | 'refused' | undefined> =>
      new Promise((resolve) => {
        const id = (sent += 1);
        const cancel = process.after(limit, () => {
          used.waiting.delete(id);
          resolve('late');
        });
        void write(used, { id, request }, (reply) => {
          cancel();
          resolve(reply);
        });
      });
    const write = async (
      used: Connection,
      { id, request }: { readonly id: number; readonly request: EtcdRequest },
      settle: (reply: EtcdReply | 'refused' | undefined) => void,
    ): Promise<void> => {
      const socket = await used.socket;
      if (socket === undefined || used.isOver) return settle('refused');
      used.waiting.set(id, settle);
      socket.send({ kind: 'etcd request', id, request });
    };
    const ask = async <T>(request: EtcdRequest, read: (reply: EtcdReply) => T): Promise<Outcome<T>> => {
      if (closed) return outcomeOf(CONNECTION_LOST);
      const used = connection();
      const reply = await send(used, request, timeLimit);
      const outcome = outcomeIn(reply, read);
      if (outcome.kind === 'info' || (outcome.kind === 'fail' && outcome.error === 'unavailable'))
        giveUp(used);
      return outcome;
    };

    return {
      grantLease: (ttlSeconds) => ask({ kind: 'grant', ttlSeconds }, leaseIn),
      keepAlive: (lease) => ask({ kind: 'keep alive', lease }, leaseIn),
      async revoke(lease) {
        const reply = await ask({ kind: 'revoke', lease }, (answer) => answer);
        if (reply.kind !== 'ok' && reply.error !== LEASE_GONE.error) return reply;
        return { kind: 'ok', value: { existed: reply.kind === 'ok' } };
      },
      transact: (transaction) =>
        ask({ kind: 'transact', transaction }, (reply) => {
          if (reply.kind === 'transacted') return reply.reply;
          throw new Error(`a transaction was answered with ${reply.kind}`);
        }),
      async deleted(key, revision, limit) {
        if (closed) return false;
        const reply = await send(connection(), { kind: 'watch', key, revision }, limit);
        return typeof reply === 'object' && reply.kind === 'deleted';
      },
      [Symbol.asyncDispose]: async () => {
        closed = true;
        if (current !== undefined) giveUp(current);
      },
    };
  };
}

function outcomeIn<T>(
  reply: EtcdReply | 'late' | 'refused' | undefined,
  read: (reply: EtcdReply) => T,
): Outcome<T> {
  if (reply === undefined) return outcomeOf(CONNECTION_LOST);
  if (reply === 'late') return outcomeOf(TIMED_OUT);
  if (reply === 'refused') return outcomeOf(NOT_CONNECTED);
  return reply.kind === 'refused'
    ? outcomeOfError(new Error(reply.error))
    : { kind: 'ok', value: read(reply) };
}

function leaseIn(reply: EtcdReply): { readonly lease: string; readonly ttlSeconds: number } {
  if (reply.kind === 'leased') return { lease: reply.lease, ttlSeconds: reply.ttlSeconds };
  throw new Error(`a lease was answered with ${reply.kind}`);
}
