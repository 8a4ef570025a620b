// Keep-alives of one connection: one stream for all leases, each answer told from the others by its lease. etcd3 has
// the stream but no time limit on it, and its own loop over it is not used here: who counts on a lease must know when
// the last renewal that was answered had been sent.

import type { ILeaseKeepAliveResponse, Etcd3 } from 'etcd3';
import { CONNECTION_LOST } from './errors.ts';
import type { LeaseId } from './port.ts';

type Stream = Awaited<ReturnType<Etcd3['leaseClient']['leaseKeepAlive']>>;

export interface KeepAlives {
  /** The seconds that the lease will run from now; 0: it is gone. Rejects when the stream breaks. */
  send(lease: LeaseId): Promise<number>;
  close(): void;
}

interface Waiting {
  resolve(ttlSeconds: number): void;
  reject(error: unknown): void;
}

export function openKeepAlives(client: Etcd3['leaseClient']): KeepAlives {
  const waiting = new Map<LeaseId, Waiting[]>();
  let opened: Promise<Stream> | undefined;

  const fail = (error: unknown): void => {
    opened = undefined;
    for (const one of [...waiting.values()].flat()) one.reject(error);
    waiting.clear();
  };

  const open = async (): Promise<Stream> => {
    const stream = await client.leaseKeepAlive();
    stream.on('data', ({ ID, TTL }: ILeaseKeepAliveResponse) => {
      // Answers to one lease come in the order of the questions.
      waiting.get(ID)?.shift()?.resolve(Number(TTL));
    });
    stream.on('error', fail);
    stream.on('end', () => fail(new Error(CONNECTION_LOST.match)));
    return stream;
  };

  return {
    async send(lease) {
      opened ??= open();
      const stream = await opened;
      return await new Promise((resolve, reject) => {
        const queue = waiting.get(lease) ?? [];
        waiting.set(lease, queue);
        queue.push({ resolve, reject });
        stream.write({ ID: lease });
      });
    },
    close() {
      void opened?.then(
        (stream) => stream.end(),
        () => undefined,
      );
      fail(new Error(CONNECTION_LOST.match));
    },
  };
}
