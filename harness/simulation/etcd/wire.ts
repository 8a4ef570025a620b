// A client's connection to a simulated etcd member, in the place of etcd3: requests and answers by number, in any order.
// One that is refused or breaks rejects what waits in that library's words, and the next request opens another one.

import { NOT_CONNECTED } from '../../backends/etcd/errors.ts';
import type { OpenWire } from '../../backends/etcd/port-over.ts';
import type { Socket } from '../network.ts';
import type { Machine } from '../program.ts';
import type { EtcdReply, EtcdRequest } from './server.ts';

/** As grpc-js 1.14 says it. */
const BROKEN = '14 UNAVAILABLE: Connection dropped';

interface Waiting {
  readonly resolve: (reply: EtcdReply) => void;
  readonly reject: (error: Error) => void;
}

export function simulatedEtcdWires({ process, network, spec, nodeAt }: Machine): OpenWire {
  return ({ host }) => {
    const waiting = new Map<number, Waiting>();
    let connected: Promise<Socket | undefined> | undefined;
    let sent = 0;
    const broke = (): void => {
      connected = undefined;
      for (const { reject } of waiting.values()) reject(new Error(BROKEN));
      waiting.clear();
    };
    const connect = (): Promise<Socket | undefined> =>
      new Promise((resolve) => {
        network.connect(
          { node: spec.name, process },
          nodeAt(host) ?? host,
          {
            message(message) {
              if (message.kind !== 'etcd reply') return;
              const { reply } = message;
              const waiter = waiting.get(message.id);
              waiting.delete(message.id);
              if (reply.kind === 'refused') waiter?.reject(new Error(reply.error));
              else waiter?.resolve(reply);
            },
            closed: broke,
          },
          resolve,
        );
      });

    const ask = async (request: EtcdRequest): Promise<EtcdReply> => {
      connected ??= connect();
      const socket = await connected;
      if (socket?.isOpen !== true) {
        connected = undefined;
        throw new Error(NOT_CONNECTED.match);
      }
      return await new Promise((answer, reject) => {
        sent += 1;
        waiting.set(sent, { resolve: answer, reject });
        socket.send({ kind: 'etcd request', id: sent, request });
      });
    };

    return Promise.resolve({
      async grantLease(ttlSeconds) {
        const reply = await ask({ kind: 'grant', ttlSeconds });
        if (reply.kind !== 'leased') throw unexpected(reply);
        return { lease: reply.lease, ttlSeconds: reply.ttlSeconds };
      },
      async keepAlive(lease) {
        const reply = await ask({ kind: 'keep alive', lease });
        if (reply.kind !== 'leased') throw unexpected(reply);
        return { ttlSeconds: reply.ttlSeconds };
      },
      revoke: (lease) => ask({ kind: 'revoke', lease }),
      async transact(transaction) {
        const reply = await ask({ kind: 'transact', transaction });
        if (reply.kind !== 'transacted') throw unexpected(reply);
        return reply.reply;
      },
      deleted: (key, revision, limit) =>
        new Promise((answer) => {
          const cancel = process.after(limit, () => answer(false));
          const settle = (isDeleted: boolean): void => {
            cancel();
            answer(isDeleted);
          };
          ask({ kind: 'watch', key, revision }).then(
            () => settle(true),
            () => settle(false),
          );
        }),
      close() {
        void connected?.then((socket) => socket?.close());
        broke();
      },
    });
  };
}

function unexpected({ kind }: EtcdReply): Error {
  return new Error(`an answer of another kind: ${kind}`);
}
