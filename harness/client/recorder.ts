// Turns requests to lock service and store into recorded operations: the invocation is written before the request
// leaves, the completion after the reply was read (I1, I2), and both say what happened and nothing more (I4). Knows no
// policy: who tries again, waits, renews or gives up is decided in `session.ts`.

import type { Acquired, AcquireRequest, Grant, LockClient, Outcome } from '../contract/lock-client.ts';
import type { StoreClient, StoreRead } from '../contract/store.ts';
import type { Update } from '../contract/workload.ts';
import type {
  AuditRow,
  Completion,
  FencingToken,
  HistoryEvent,
  Invoke,
  Millis,
  Nanos,
} from '../history/op.ts';

export interface RecorderOptions {
  readonly process: string;
  readonly firstId: number;
  readonly idStep: number;
  readonly ttlMillis: Millis;
  /** Of a semaphore; absent: as many as its recipe has. */
  readonly permits?: number;
  /** The recipe's acquire does not wait. */
  readonly polls: boolean;
  /** Its grants have no TTL. */
  readonly sessionBound?: boolean;
  /** The defences that take what to add instead of a new value. */
  readonly relative: ReadonlySet<string>;
  readonly locks: LockClient;
  readonly store: StoreClient;
  readonly now: () => Nanos;
  /** Puts an invocation out of this process before it returns, and any other event before the next turn of its loop. */
  readonly write: (event: HistoryEvent) => void;
}

export interface RegisterOperation {
  readonly defence: string;
  readonly key: string;
  /** The lock meant to protect the key. */
  readonly lock: string;
  /** Shown to the store. */
  readonly token?: FencingToken;
}

/** `patienceMillis`: of a recipe that waits in the service. */
export type HowToAcquire = Partial<Pick<AcquireRequest, 'patienceMillis' | 'shared' | 'owner'>>;

export interface Recorder {
  /** One attempt, under an owner value never used before unless `how` names one. */
  acquire(
    lock: string,
    how?: HowToAcquire,
  ): Promise<{ readonly request: AcquireRequest; readonly outcome: Outcome<Grant> }>;
  renew(grant: Grant): Promise<Outcome<unknown>>;
  release(grant: Grant): Promise<Outcome<unknown>>;
  /** Takes back what an attempt of unknown outcome may have left behind; recorded as a release. */
  abandon(request: AcquireRequest): Promise<Outcome<unknown>>;
  /** The client has been told that the lock is gone. */
  lost(lock: string, reason: string): void;
  /** `order`: asks whether it has been applied. */
  read(register: RegisterOperation, order?: string): Promise<Outcome<StoreRead>>;
  write(register: RegisterOperation, update: Update): Promise<Outcome<unknown>>;
  /** Loses the connection to the store; not an operation. */
  cut(): void;
  /** Gives back what a defence keeps for a critical section on this key; not an operation. */
  leave(key: string): Promise<void>;
  /** A read with at most `limit` audit rows of the key after position `after`. */
  readAudit(register: RegisterOperation, page: AuditPage): Promise<Outcome<readonly AuditRow[]>>;
}

export interface AuditPage {
  readonly after: string;
  readonly limit: number;
  /** The store was sealed before. */
  readonly sealed: boolean;
}

type Arguments = Omit<Invoke, 'type' | 'id' | 'time' | 'process'>;
type Result = Omit<Completion, 'type' | 'id' | 'time' | 'process' | 'op'>;

export function openRecorder(options: RecorderOptions): Recorder {
  const { process, ttlMillis, permits, relative, locks, store, now, write } = options;
  let id = options.firstId - options.idStep;

  const acquiring = {
    op: 'acquire',
    ...(options.polls && { try: true }),
    ...(options.sessionBound !== true && { ttlMillis }),
  } as const;
  const nextId = (): number => (id += options.idStep);

  const record = async <O extends Outcome<unknown>>(
    operation: number,
    invoke: Arguments,
    perform: () => Promise<O>,
    result: (outcome: O) => Result,
  ): Promise<O> => {
    write({ type: 'invoke', id: operation, time: now(), process, ...invoke });
    const outcome = await perform();
    const time = now();
    const error = outcome.kind === 'ok' ? undefined : { error: outcome.error };
    write({ type: outcome.kind, id: operation, time, process, op: invoke.op, ...error, ...result(outcome) });
    return outcome;
  };

  const recordRelease = (
    lock: string,
    perform: () => ReturnType<LockClient['release']>,
  ): Promise<Outcome<unknown>> =>
    record(nextId(), { op: 'release', lock }, perform, (outcome) =>
      outcome.kind === 'ok' && outcome.value.released !== undefined
        ? { released: outcome.value.released }
        : {},
    );

  return {
    async acquire(lock, how) {
      const operation = nextId();
      const request: AcquireRequest = {
        lock,
        ttlMillis,
        owner: `${process}-${operation}`,
        ...(permits !== undefined && { permits }),
        ...how,
      };
      const { owner } = request;
      const asked = request.shared === true ? { lock, owner, shared: true } : { lock, owner };
      const outcome = await record(
        operation,
        { ...acquiring, ...asked },
        () => locks.acquire(request),
        acquireResult,
      );
      return { request, outcome };
    },
    renew: (grant) =>
      record(
        nextId(),
        { op: 'renew', lock: grant.request.lock, ttlMillis },
        async () => locks.renew?.(grant) ?? { kind: 'fail', error: 'unsupported' },
        (renewed) => (renewed.kind === 'ok' ? leaseResult(renewed.value) : {}),
      ),
    release: (grant) => recordRelease(grant.request.lock, () => locks.release(grant)),
    abandon: (request) => recordRelease(request.lock, () => locks.abandon(request)),
    lost: (lock, reason) => write({ type: 'lost', time: now(), process, lock, reason }),
    read: (register, order) => {
      const asked = order === undefined ? {} : { order };
      return record(
        nextId(),
        { op: 'read', ...registerArguments(register), ...asked },
        () => store.read(register.defence, { ...register, ...asked }),
        (read) => (read.kind === 'ok' ? read.value : {}),
      );
    },
    write(register, { value, base, add, order }) {
      const operation = nextId();
      const change = relative.has(register.defence) && add !== undefined ? { add } : { base };
      const asked = order === undefined ? {} : { order };
      return record(
        operation,
        { op: 'write', ...registerArguments(register), value, ...change, ...asked },
        () =>
          store.write(register.defence, {
            ...register,
            id: operation,
            process,
            value,
            base,
            ...change,
            ...asked,
          }),
        (written) => {
          if (written.kind === 'ok') return { version: written.value.version };
          return written.kind === 'fail' && written.highest !== undefined ? { highest: written.highest } : {};
        },
      );
    },
    cut: () => store.cut(),
    leave: (key) => store.leave(key),
    async readAudit(register, { sealed, ...page }) {
      const outcome = await record(
        nextId(),
        { op: 'read', ...registerArguments(register) },
        async (): Promise<Outcome<StoreRead & { readonly audit: readonly AuditRow[] }>> => {
          const read = await store.read(register.defence, register);
          if (read.kind !== 'ok') return read;
          const audit = await store.audit(register.defence, { key: register.key, ...page });
          return audit.kind === 'ok' ? { kind: 'ok', value: { ...read.value, audit: audit.value } } : audit;
        },
        (read) => (read.kind === 'ok' ? { ...read.value, ...(sealed && { sealed }) } : {}),
      );
      return outcome.kind === 'ok' ? { kind: 'ok', value: outcome.value.audit } : outcome;
    },
  };
}

function registerArguments({ defence, key, lock, token }: RegisterOperation): Omit<Arguments, 'op'> {
  return { ...(lock !== key && { lock }), store: defence, key, ...(token !== undefined && { token }) };
}

function acquireResult(outcome: Acquired): Result {
  const { token, validUntil } = outcome.kind === 'ok' ? outcome.value : {};
  return {
    ...(token !== undefined && { token }),
    ...(validUntil !== undefined && { validUntil }),
    ...(outcome.votes !== undefined && { votes: outcome.votes }),
  };
}

function leaseResult({ validUntil }: { readonly validUntil?: Nanos }): Result {
  return validUntil === undefined ? {} : { validUntil };
}
