// The real connection to a member of an etcd cluster: etcd3, with what that library does on its own switched off. It would
// send a request up to four times, to whichever server comes next, though the first try may have been carried out; and
// after three failures it refuses to try for five seconds.

import type { Etcd3, IRequestOp, IResponseOp, IWatchResponse } from 'etcd3';
import { machineTimer, wallTime } from '../../clock.ts';
import type { Millis } from '../../history/op.ts';
import { loadDriver } from './driver.ts';
import { openKeepAlives } from './keep-alives.ts';
import { portsOver, type OpenWire } from './port-over.ts';
import type { KeyValue, Operation } from './port.ts';

const openWire: OpenWire = async ({ host, port }, timeLimit) => {
  const { etcd3, cockatiel } = await loadDriver();
  const client = new etcd3.Etcd3({
    hosts: `http://${host}:${port}`,
    faultHandling: { global: cockatiel.noop, host: () => cockatiel.noop },
  });
  const keepAlives = openKeepAlives(client.leaseClient);
  return {
    async grantLease(ttlSeconds) {
      const { ID, TTL } = await client.leaseClient.leaseGrant({ TTL: ttlSeconds }, callLimit(timeLimit));
      return { lease: ID, ttlSeconds: Number(TTL) };
    },
    keepAlive: async (lease) => ({ ttlSeconds: await keepAlives.send(lease) }),
    revoke: (lease) => client.leaseClient.leaseRevoke({ ID: lease }, callLimit(timeLimit)),
    async transact({ when, success, failure = [] }) {
      const { succeeded, header, responses } = await client.kv.txn(
        {
          compare: [
            {
              result: 'Equal',
              target: 'Create',
              key: Buffer.from(when.key),
              create_revision: when.createRevision.toString(),
            },
          ],
          success: success.map(requestOf),
          failure: failure.map(requestOf),
        },
        callLimit(timeLimit),
      );
      return { succeeded, revision: BigInt(header.revision), found: responses.map(foundIn) };
    },
    deleted: (key, revision, limit) => watchDeletion(client, { key, revision }, limit),
    close() {
      keepAlives.close();
      client.close();
    },
  };
};

/** Over etcd3. */
export const openEtcdPort = portsOver(openWire, machineTimer);

/** A call that we have given up must not stay with the driver for ever; it is looked at no more. */
function callLimit(timeLimit: Millis): { readonly deadline: number } {
  return { deadline: wallTime().getTime() + timeLimit + 100 };
}

function requestOf(operation: Operation): IRequestOp {
  switch (operation.kind) {
    case 'put': {
      const { key, value, lease } = operation;
      return {
        request_put: {
          key: Buffer.from(key),
          value: Buffer.from(value),
          ...(lease !== undefined && { lease }),
        },
      };
    }
    case 'get':
      return { request_range: { key: Buffer.from(operation.key) } };
    case 'list':
      return { request_range: rangeOf(operation.prefix) };
    case 'before':
      return {
        request_range: {
          ...rangeOf(operation.prefix),
          max_create_revision: (operation.createRevision - 1n).toString(),
          sort_order: 'Descend',
          sort_target: 'Create',
          limit: operation.limit,
        },
      };
  }
}

/** Keys that begin with the prefix: up to the first key after all of them. */
function rangeOf(prefix: string): { readonly key: Buffer; readonly range_end: Buffer } {
  const end = Buffer.from(prefix);
  const last = end.length - 1;
  end.writeUInt8(end.readUInt8(last) + 1, last);
  return { key: Buffer.from(prefix), range_end: end };
}

function foundIn({ response_range: range }: IResponseOp): readonly KeyValue[] {
  return (range?.kvs ?? []).map(({ key, value, create_revision: createRevision, version }) => ({
    key: key.toString(),
    value: value.toString(),
    createRevision: BigInt(createRevision),
    version: BigInt(version),
  }));
}

/** A stream of its own, ended rather than cancelled: for a cancelled one the library closes all of its connections. */
async function watchDeletion(
  client: Etcd3,
  { key, revision }: { readonly key: string; readonly revision: bigint },
  limit: Millis,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), limit);
  const watching = client.watchClient.watch().then(
    (stream) => {
      stream.on('data', ({ events = [], canceled = false }: Partial<IWatchResponse>) => {
        if (events.some(({ type }) => type === 'Delete')) resolve(true);
        else if (canceled) resolve(false);
      });
      stream.on('error', () => resolve(false));
      stream.on('end', () => resolve(false));
      stream.write({ create_request: { key: Buffer.from(key), start_revision: revision.toString() } });
      return stream;
    },
    () => {
      resolve(false);
      return undefined;
    },
  );
  const deleted = await promise;
  clearTimeout(timer);
  void watching.then((stream) => stream?.end());
  return deleted;
}
