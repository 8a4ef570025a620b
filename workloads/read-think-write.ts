// The critical section that most workloads share: read, think, write, against every defence side by side, so that one
// run grades them all. What is written is the workload's choice.

import type { StoreRead } from '../harness/contract/store.ts';
import type { HeldLock, Session, Update } from '../harness/contract/workload.ts';
import type { Outcome } from '../harness/history/op.ts';

export interface Section {
  readonly held: HeldLock;
  readonly defences: readonly string[];
  /** The order that the section is for. */
  readonly order?: string;
  /** undefined: nothing is to be written. */
  readonly change: (found: StoreRead) => Update | undefined;
}

/** What came of the write of each defence; of those that could not be read, or where nothing was written, nothing. */
export async function readThinkWrite(
  session: Session,
  { held, defences, order, change }: Section,
): Promise<ReadonlyMap<string, Outcome>> {
  const key = held.lock;
  const reads = await Promise.all(
    defences.map(async (defence) => ({ defence, found: await session.read(defence, key, held, order) })),
  );
  await session.think();
  const outcomes = new Map<string, Outcome>();
  // It has been told; a client that has not been told writes, and that is the case the run is about.
  if (held.lost) return outcomes;
  await Promise.all(
    reads.map(async ({ defence, found }) => {
      const update = found === undefined ? undefined : change(found);
      if (update !== undefined) outcomes.set(defence, await session.write(defence, key, held, update));
    }),
  );
  return outcomes;
}
