// What is kept for each process and lock. Kernel; knows nothing of what is kept.

/** A map whose key is a process and a lock. */
export interface ByHolder<T> {
  get(process: string, lock: string): T | undefined;
  set(process: string, lock: string, value: T): void;
  delete(process: string, lock: string): void;
}

/** Empty. Two levels, because a key put together from both names would be built and hashed for each operation. */
export function byHolder<T>(): ByHolder<T> {
  const locksOf = new Map<string, Map<string, T>>();
  return {
    get: (process, lock) => locksOf.get(process)?.get(lock),
    set(process, lock, value) {
      const locks = locksOf.get(process);
      if (locks === undefined) locksOf.set(process, new Map([[lock, value]]));
      else locks.set(lock, value);
    },
    delete: (process, lock) => void locksOf.get(process)?.delete(lock),
  };
}
