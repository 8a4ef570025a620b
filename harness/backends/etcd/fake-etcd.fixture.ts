// An etcd in memory for tests: one key space with revisions, and leases that run out under a clock that the test moves.
// What a request meets before it is carried out can be replaced by the test.

import type { Clock } from '../../clock.ts';
import type { Outcome } from '../../contract/lock-client.ts';
import { millis, nanos, nanosOf, type Nanos } from '../../history/op.ts';
import type { EtcdPort, KeyValue, LeaseId, Operation, TransactionReply } from './port.ts';

type Request = 'grantLease' | 'keepAlive' | 'revoke' | 'transact';

export interface FakeEtcd {
  readonly port: EtcdPort;
  /** Runs before each request; what it returns is the outcome instead, and the request is not carried out. */
  before: (request: Request) => Outcome<never> | undefined;
  /** Runs after each request; what it returns is the outcome instead, though the request was carried out. */
  after: (request: Request) => Outcome<never> | undefined;
  keys(): readonly string[];
}

/** A leader takes a moment to see that a lease is over. */
const LATE_MILLIS = 2;

interface Lease {
  readonly ttlSeconds: number;
  endsAt: Nanos;
}

export function fakeEtcd(clock: Clock): FakeEtcd {
  const leases = new Map<LeaseId, Lease>();
  const entries = new Map<string, KeyValue & { readonly lease: LeaseId | undefined }>();
  let revision = 1n;
  let granted = 0;

  const end = (lease: LeaseId): void => {
    leases.delete(lease);
    for (const [key, entry] of entries) if (entry.lease === lease) entries.delete(key);
  };
  const expire = (): void => {
    for (const [id, { endsAt }] of leases) if (endsAt <= clock.now()) end(id);
  };
  const endOf = (ttlSeconds: number): Nanos =>
    nanos(clock.now() + nanosOf(millis(ttlSeconds * 1_000 + LATE_MILLIS)));

  const apply = (operation: Operation): readonly KeyValue[] => {
    switch (operation.kind) {
      case 'put': {
        const { key, value, lease } = operation;
        const old = entries.get(key);
        const createRevision = old?.createRevision ?? revision;
        entries.set(key, { key, value, lease, createRevision, version: (old?.version ?? 0n) + 1n });
        return [];
      }
      case 'get':
        return [...entries.values()].filter(({ key }) => key === operation.key);
      case 'list':
        return [...entries.values()].filter(({ key }) => key.startsWith(operation.prefix));
      case 'before':
        return [...entries.values()]
          .filter(({ key }) => key.startsWith(operation.prefix))
          .filter(({ createRevision }) => createRevision < operation.createRevision)
          .toSorted((a, b) => Number(b.createRevision - a.createRevision))
          .slice(0, operation.limit);
    }
  };

  const ask = async <T>(request: Request, carryOut: () => Outcome<T>): Promise<Outcome<T>> => {
    expire();
    const refused = fake.before(request);
    if (refused !== undefined) return refused;
    const outcome = carryOut();
    return fake.after(request) ?? outcome;
  };

  const fake: FakeEtcd = {
    before: () => undefined,
    after: () => undefined,
    keys: () => {
      expire();
      return [...entries.keys()];
    },
    port: {
      grantLease: (ttlSeconds) =>
        ask('grantLease', () => {
          const lease = String((granted += 1));
          leases.set(lease, { ttlSeconds, endsAt: endOf(ttlSeconds) });
          return { kind: 'ok', value: { lease, ttlSeconds } };
        }),
      keepAlive: (id) =>
        ask('keepAlive', () => {
          const lease = leases.get(id);
          if (lease !== undefined) lease.endsAt = endOf(lease.ttlSeconds);
          return { kind: 'ok', value: { ttlSeconds: lease?.ttlSeconds ?? 0 } };
        }),
      revoke: (id) =>
        ask('revoke', () => {
          const existed = leases.has(id);
          end(id);
          return { kind: 'ok', value: { existed } };
        }),
      transact: ({ when, success, failure = [] }) =>
        ask('transact', (): Outcome<TransactionReply> => {
          const succeeded = (entries.get(when.key)?.createRevision ?? 0n) === when.createRevision;
          const operations = succeeded ? success : failure;
          const wrong = operations.some(
            (operation) =>
              operation.kind === 'put' && operation.lease !== undefined && !leases.has(operation.lease),
          );
          if (wrong) return { kind: 'fail', error: 'lease-gone' };
          if (operations.some(({ kind }) => kind === 'put')) revision += 1n;
          return { kind: 'ok', value: { succeeded, revision, found: operations.map(apply) } };
        }),
      deleted: async (key, _revision, timeLimit) => {
        const deadline = clock.now() + nanosOf(timeLimit);
        for (;;) {
          expire();
          if (!entries.has(key)) return true;
          if (clock.now() >= deadline) return false;
          await clock.sleep(millis(5));
        }
      },
      [Symbol.asyncDispose]: async () => {},
    },
  };
  return fake;
}
