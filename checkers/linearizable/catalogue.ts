// The models by name, with what it takes to judge a whole history by them: how operations become entries, and the checker
// that needs no search, where there is one. The only place that knows all models.

import type { LockEntries, StoreEntries } from './entries.ts';
import type { Model } from './model.ts';
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
import { casRegister, register } from './models/register.ts';
import { semaphore } from './models/semaphore.ts';
import type { Decision } from './polynomial/decision.ts';
import { decideFencedMutex } from './polynomial/fenced-mutex.ts';
import { decideFencedStore } from './polynomial/fenced-store.ts';
import { decideLeaseMutex } from './polynomial/lease-mutex.ts';
import { decideMutex } from './polynomial/mutex.ts';
import { decideOwnedMutex } from './polynomial/owned-mutex.ts';
import { decideRegister } from './polynomial/register.ts';
import type { LockReading, StoreReading } from './reading.ts';

/** No such model, or not one for this history; the message says which there are. */
export class ModelError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ModelError';
  }
}

export interface LockModel {
  readonly of: 'lock';
  readonly model: Model<LockEntries>;
  readonly ownedBy: LockReading['ownedBy'];
  readonly leases: LockReading['leases'];
  /** Exact where it does not say `undecided`. */
  readonly decide?: (entries: LockEntries) => Decision<LockEntries>;
}

export interface StoreModel {
  readonly of: 'store';
  readonly model: Model<StoreEntries>;
  readonly fenced: StoreReading['fenced'];
  readonly decide?: (entries: StoreEntries) => Decision;
}

export type CataloguedModel = LockModel | StoreModel;

const lock = (
  model: Model<LockEntries>,
  ownedBy: LockReading['ownedBy'],
  decide?: LockModel['decide'],
): LockModel => ({ of: 'lock', model, ownedBy, leases: 'ignored', ...(decide !== undefined && { decide }) });
/** Of a kind of lock whose model knows no leases. */
const leased = (model: Model<LockEntries>): LockModel => ({ ...lock(model, 'process'), leases: 'may-end' });
const store = (model: Model<StoreEntries>, decide?: StoreModel['decide']): StoreModel => ({
  of: 'store',
  model,
  fenced: model === fencedStore,
  ...(decide !== undefined && { decide }),
});

/** By name; some take a number, as in `semaphore:3`. */
const MODELS: Readonly<Record<string, (count: number | undefined) => CataloguedModel>> = {
  mutex: () => lock(mutex, 'process', decideMutex),
  'owned-mutex': () => lock(ownedMutex, 'attempt', decideOwnedMutex),
  'fenced-mutex': () => lock(fencedMutex, 'attempt', decideFencedMutex),
  'lease-mutex': () => lock(leaseMutex, 'attempt', decideLeaseMutex),
  'reentrant-mutex': (limit = Infinity) => leased(reentrantMutex(limit)),
  'reentrant-fenced-mutex': (limit = Infinity) => leased(reentrantFencedMutex(limit)),
  semaphore: (permits = 1) => leased(semaphore(permits)),
  'read-write-lock': () => leased(readWriteLock),
  register: () => store(register, decideRegister),
  'cas-register': () => store(casRegister, decideRegister),
  kv: () => store(kv, decideRegister),
  'multi-register': () => store(multiRegister),
  'fenced-store': () => store(fencedStore, decideFencedStore),
};

const TAKES_A_NUMBER: ReadonlySet<string> = new Set([
  'semaphore',
  'reentrant-mutex',
  'reentrant-fenced-mutex',
]);

export const MODEL_NAMES: readonly string[] = Object.keys(MODELS);

/** The model of `name`, such as `owned-mutex`, `semaphore:3` or `reentrant-mutex:2`. Throws `ModelError` if there is none. */
export function modelNamed(name: string): CataloguedModel {
  const [base = '', count, ...rest] = name.split(':');
  const make = Object.hasOwn(MODELS, base) ? MODELS[base] : undefined;
  if (make === undefined)
    throw new ModelError(`there is no model "${base}"; there are ${MODEL_NAMES.join(', ')}`);
  if (count === undefined) {
    if (base === 'semaphore') throw new ModelError('a semaphore needs its number of permits: semaphore:3');
    return make(undefined);
  }
  if (!TAKES_A_NUMBER.has(base)) throw new ModelError(`the model ${base} takes no number`);
  if (rest.length > 0 || !/^[1-9]\d{0,8}$/.test(count))
    throw new ModelError(`"${count}" is no number from 1 on, as in ${base}:3`);
  return make(Number(count));
}
