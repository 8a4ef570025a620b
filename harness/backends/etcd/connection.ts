// The real etcd port over etcd3, with what that library does on its own switched off. It would send a request up to
// four times, to whichever server comes next, though the first try may have been carried out; and after three failures
// it refuses to try for five seconds. Here each request is sent once, to one server, which is left for the next one as
// soon as an outcome is unknown. Time limits are ours, because the library has none.

import type { Etcd3, IRequestOp, IResponseOp, IWatchResponse } from 'etcd3';
import { wallTime } from '../../clock.ts';
import type { Outcome } from '../../contract/lock-client.ts';
import type { Millis } from '../../history/op.ts';
import { CONNECTION_LOST, LEASE_GONE, outcomeOf, outcomeOfError, TIMED_OUT } from './errors.ts';
import { loadDriver } from './driver.ts';
import { openKeepAlives, type KeepAlives } from './keep-alives.ts';
import type { EtcdPort, KeyValue, Operation } from './port.ts';

export interface Server {
  readonly host: string;
  readonly port: number;
}

interface Connection {
  readonly client: Etcd3;
  readonly keepAlives: KeepAlives;
}

/** A port to the cluster that begins with the server at position `first`; the first request opens a connection. */
export function openEtcdPort(
  servers: readonly Server[],
  { first, timeLimit }: { readonly first: number; readonly timeLimit: Millis },
): EtcdPort {
  let turn = first;
  let current: Promise<Connection> | undefined;
  let closed = false;

  const connection = (): Promise<Connection> => {
    current ??= connect(servers[turn % servers.length]);
    return current;
  };

  const giveUp = async (given: Connection): Promise<void> => {
    if (current === undefined || (await current) !== given) return;
    current = undefined;
    turn += 1;
    close(given);
  };

  /** One request, whose answer `read` turns into a value. */
  const ask = async <Reply, T>(
    send: (connection: Connection) => Promise<Reply>,
    read: (reply: Reply) => T,
  ): Promise<Outcome<T>> => {
    if (closed) return outcomeOf(CONNECTION_LOST);
    const used = await connection();
    const outcome = await within(send(used), timeLimit, read);
    if (outcome.kind === 'info' || (outcome.kind === 'fail' && outcome.error === 'unavailable'))
      await giveUp(used);
    return outcome;
  };

  return {
    grantLease: (ttlSeconds) =>
      ask(
        ({ client }) => client.leaseClient.leaseGrant({ TTL: ttlSeconds }, callLimit(timeLimit)),
        ({ ID, TTL }) => ({ lease: ID, ttlSeconds: Number(TTL) }),
      ),
    keepAlive: (lease) =>
      ask(
        ({ keepAlives }) => keepAlives.send(lease),
        (ttlSeconds) => ({ ttlSeconds }),
      ),
    async revoke(lease) {
      const outcome = await ask(
        ({ client }) => client.leaseClient.leaseRevoke({ ID: lease }, callLimit(timeLimit)),
        () => ({ existed: true }),
      );
      return outcome.kind === 'fail' && outcome.error === LEASE_GONE.error
        ? { kind: 'ok', value: { existed: false } }
        : outcome;
    },
    transact: ({ when, success, failure = [] }) =>
      ask(
        ({ client }) =>
          client.kv.txn(
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
          ),
        ({ succeeded, header, responses }) => ({
          succeeded,
          revision: BigInt(header.revision),
          found: responses.map(foundIn),
        }),
      ),
    async deleted(key, revision, limit) {
      if (closed) return false;
      const { client } = await connection();
      return await watchDeletion(client, { key, revision }, limit);
    },
    [Symbol.asyncDispose]: async () => {
      closed = true;
      if (current !== undefined) close(await current);
    },
  };
}

async function connect(server: Server | undefined): Promise<Connection> {
  if (server === undefined) throw new Error('an etcd port needs a server');
  const { etcd3, cockatiel } = await loadDriver();
  const client = new etcd3.Etcd3({
    hosts: `http://${server.host}:${server.port}`,
    faultHandling: { global: cockatiel.noop, host: () => cockatiel.noop },
  });
  return { client, keepAlives: openKeepAlives(client.leaseClient) };
}

function close({ client, keepAlives }: Connection): void {
  keepAlives.close();
  client.close();
}

/** A call that we have given up must not stay with the driver for ever; it is looked at no more. */
function callLimit(timeLimit: Millis): { readonly deadline: number } {
  return { deadline: wallTime().getTime() + timeLimit + 100 };
}

async function within<Reply, T>(
  answer: Promise<Reply>,
  timeLimit: Millis,
  read: (reply: Reply) => T,
): Promise<Outcome<T>> {
  const { promise, resolve } = Promise.withResolvers<Outcome<T>>();
  const timer = setTimeout(() => resolve(outcomeOf(TIMED_OUT)), timeLimit);
  answer.then(
    (reply) => resolve({ kind: 'ok', value: read(reply) }),
    (error: unknown) => resolve(outcomeOfError(error)),
  );
  const outcome = await promise;
  clearTimeout(timer);
  return outcome;
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
