// The store and, beside it, the register that a lock service has itself: one more defence to those who read and write.

import type { Register, StoreClient } from '../contract/store.ts';

/** Requests for `defence` go to the register, all others to the store. Disposal closes the store alone. */
export function withRegister(
  store: StoreClient,
  { defence, register }: { readonly defence: string; readonly register: Register },
): StoreClient {
  return {
    read: (wanted, request) => (wanted === defence ? register.read(request) : store.read(wanted, request)),
    write: (wanted, request) => (wanted === defence ? register.write(request) : store.write(wanted, request)),
    cut: () => store.cut(),
    leave: (key) => store.leave(key),
    // A register that belongs to a lock cannot be sealed: its lock service goes on.
    seal: () => store.seal(),
    audit: (wanted, request) => (wanted === defence ? register.audit(request) : store.audit(wanted, request)),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
