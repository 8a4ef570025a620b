// What an entry claims, in words: `was granted the lock with token 7`, `read "3"`. The subject is the process.

import { Kind, NEVER, NONE, type LockEntries, type StoreEntries } from './entries.ts';

export function claimOf(entries: LockEntries | StoreEntries, entry: number): string {
  const claim = 'owner' in entries ? lockClaim(entries, entry) : storeClaim(entries, entry);
  return entries.returned[entry] === NEVER ? `${claim}, outcome unknown` : claim;
}

function lockClaim({ kind, token, tokens }: LockEntries, entry: number): string {
  const granted = token[entry] ?? NONE;
  const withToken = granted === NONE ? '' : ` with token ${tokens[granted]}`;
  switch (kind[entry] ?? 0) {
    case Kind.acquire:
      return `acquired the lock${withToken}`;
    case Kind.acquireShared:
      return `acquired a share of the lock${withToken}`;
    case Kind.renew:
    case Kind.renewUnchecked:
      return 'renewed the lock';
    case Kind.disowned:
      return 'was told that the lock is not his';
    case Kind.busy:
    case Kind.busyShared:
      return 'was refused because the lock was held';
    default:
      return 'released the lock';
  }
}

function storeClaim(entries: StoreEntries, entry: number): string {
  const { kind, value, expected, values, token, tokens } = entries;
  const shown = token[entry] ?? NONE;
  const withToken = shown === NONE ? '' : ` with token ${tokens[shown]}`;
  const text = (index: number | undefined): string =>
    index === undefined || index === NONE ? 'something' : shortened(values[index] ?? '');
  switch (kind[entry] ?? 0) {
    case Kind.read:
      return `read ${text(value[entry])}${withToken}`;
    case Kind.write:
      return `wrote ${text(value[entry])}${withToken}`;
    case Kind.append:
      return `appended ${text(value[entry])}`;
    case Kind.cas:
      return `exchanged ${text(expected[entry])} for ${text(value[entry])}`;
    case Kind.casFailed:
      return `found something else than ${text(expected[entry])}`;
    case Kind.stale:
      return `was refused as stale${withToken}`;
    default: {
      const steps = (entries.transactions[value[entry] ?? 0] ?? []).map(
        ({ write, register, value: operand }) =>
          `${write ? 'wrote' : 'read'} ${text(operand)} ${write ? 'to' : 'in'} ${entries.registers[register]}`,
      );
      return `at one instant ${steps.join(' and ')}`;
    }
  }
}

function shortened(text: string): string {
  return JSON.stringify(text.length <= 40 ? text : `${text.slice(0, 20)}…${text.slice(-20)}`);
}
