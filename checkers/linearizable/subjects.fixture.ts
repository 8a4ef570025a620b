// Every model, and the operations that small histories of it are made of: two owners, two values, each outcome.

import { Kind, type LockEntries, type StoreEntries } from './entries.ts';
import { casRegister, register } from './models/register.ts';
import { fencedMutex } from './models/fenced-mutex.ts';
import { fencedStore } from './models/fenced-store.ts';
import { kv } from './models/kv.ts';
import { leaseMutex } from './models/lease-mutex.ts';
import { multiRegister } from './models/multi-register.ts';
import { mutex } from './models/mutex.ts';
import { ownedMutex } from './models/owned-mutex.ts';
import { readWriteLock } from './models/read-write-lock.ts';
import { reentrantFencedMutex } from './models/reentrant-fenced-mutex.ts';
import { reentrantMutex } from './models/reentrant-mutex.ts';
import { semaphore } from './models/semaphore.ts';
import { lockEntries, storeEntries, TRANSACTION_COUNT, type Made, type Part } from './reference.fixture.ts';

const owners = [0, 1];
const knownOrNot = [false, true];
const lockParts = (kinds: readonly Kind[]): Part[] =>
  kinds.flatMap((kind) => owners.flatMap((owner) => knownOrNot.map((unknown) => ({ kind, owner, unknown }))));
const answers = (kinds: readonly Kind[]): Part[] =>
  kinds.flatMap((kind) => owners.map((owner) => ({ kind, owner })));
const withToken = (part: Part): Part[] =>
  part.kind === Kind.acquire && part.unknown !== true
    ? [part, { ...part, token: 0 }, { ...part, token: 1 }]
    : [part];
const withLease = (part: Part): Part[] =>
  part.kind === Kind.acquire || part.kind === Kind.renew
    ? [1, 3].map((lease) => ({ ...part, lease }))
    : [part];

const lockBasics = [
  ...lockParts([Kind.acquire, Kind.release]),
  ...answers([Kind.renew, Kind.disowned, Kind.busy]),
];
const values = [1, 2];
const storeBasics: Part[] = [
  ...[0, 1, 2].map((value) => ({ kind: Kind.read, value })),
  { kind: Kind.read },
  ...values.flatMap((value) => knownOrNot.map((unknown) => ({ kind: Kind.write, value, unknown }))),
];
const casParts: Part[] = [0, 1, 2].flatMap((expected) => [
  ...values.flatMap((value) => knownOrNot.map((unknown) => ({ kind: Kind.cas, expected, value, unknown }))),
  { kind: Kind.casFailed, expected },
]);

export const LOCK_SUBJECTS: readonly Made<LockEntries>[] = [
  {
    model: mutex,
    build: lockEntries,
    alphabet: [
      ...knownOrNot.flatMap((unknown) => [Kind.acquire, Kind.release].map((kind) => ({ kind, unknown }))),
      { kind: Kind.busy },
    ],
  },
  {
    model: ownedMutex,
    build: lockEntries,
    alphabet: lockBasics,
  },
  {
    model: reentrantMutex(2),
    build: lockEntries,
    alphabet: lockBasics,
  },
  {
    model: fencedMutex,
    build: lockEntries,
    alphabet: lockBasics.flatMap((part) => withToken(part)),
  },
  {
    model: reentrantFencedMutex(2),
    build: lockEntries,
    alphabet: lockBasics.flatMap((part) => withToken(part)),
  },
  {
    model: leaseMutex,
    build: lockEntries,
    alphabet: [
      ...lockBasics,
      ...answers([Kind.renewUnchecked, Kind.releaseUnchecked]),
      { kind: Kind.renew, owner: 0, unknown: true },
    ].flatMap((part) => withLease(part)),
  },
  {
    model: semaphore(2),
    build: lockEntries,
    alphabet: lockBasics,
  },
  {
    model: readWriteLock,
    build: lockEntries,
    alphabet: [...lockBasics, ...lockParts([Kind.acquireShared]), ...answers([Kind.busyShared])],
  },
];

export const STORE_SUBJECTS: readonly Made<StoreEntries>[] = [
  {
    model: register,
    build: storeEntries,
    alphabet: storeBasics,
  },
  {
    model: casRegister,
    build: storeEntries,
    alphabet: [...storeBasics, ...casParts],
  },
  {
    model: kv,
    build: storeEntries,
    alphabet: [
      ...storeBasics,
      ...[3, 4, 5].map((value) => ({ kind: Kind.read, value })),
      ...values.flatMap((value) => knownOrNot.map((unknown) => ({ kind: Kind.append, value, unknown }))),
    ],
  },
  {
    model: multiRegister,
    build: storeEntries,
    alphabet: Array.from({ length: TRANSACTION_COUNT }, (_, value) => value).flatMap((value) =>
      knownOrNot.map((unknown) => ({ kind: Kind.transaction, value, unknown })),
    ),
  },
  {
    model: fencedStore,
    build: storeEntries,
    alphabet: [
      ...[0, 1].flatMap((token) => storeBasics.map((part) => ({ ...part, token }))),
      ...storeBasics,
      ...[0, 1].map((token) => ({ kind: Kind.stale, token })),
    ],
  },
];
