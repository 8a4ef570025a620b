// A lock used for efficiency: at each tick one of the clients should run each of the jobs, and only one. All of them come
// at the tick; who finds that the job has been run, lets it be. A run that happens twice is waste, not corruption: what
// the run log says is kept right by its unique constraint, whatever the lock does. `cron-waste.ts` counts.

import { millis, nanos, nanosOf } from '../harness/history/op.ts';
import type { Session, Workload } from '../harness/contract/workload.ts';

/** Longer than a lease, so that another client still can run the job of a holder that stands still. */
const TICK_NANOS = nanosOf(millis(1000));
/** Between two looks at a job that somebody else has the lock of. */
const LOOK_AGAIN_NANOS = nanosOf(millis(50));

const RUN_LOG = 'unique-constraint';

export const cron: Workload = {
  name: 'cron',
  summary: 'each job once a second, by whichever client gets its lock; the tick is the key of the run log',
  defaults: { ttlMillis: '700ms', thinkMillis: '20ms..60ms' },
  defences: [RUN_LOG],
  async run(session) {
    const tick = Math.floor(session.now() / TICK_NANOS) + 1;
    await session.sleepUntil(nanos(tick * TICK_NANOS));
    await Promise.all(session.locks.map((job) => runOnce(session, job, tick)));
  },
};

/** Until the job has been run, or the next tick has come. */
async function runOnce(session: Session, job: string, tick: number): Promise<void> {
  const next = (tick + 1) * TICK_NANOS;
  const order = String(tick);
  while (!session.stopping && session.now() < next) {
    const held = await session.tryAcquire(job);
    if (held === undefined) {
      await session.sleepUntil(nanos(session.now() + LOOK_AGAIN_NANOS));
      continue;
    }
    const found = await session.read(RUN_LOG, job, held, order);
    const due = found !== undefined && found.applied !== true;
    if (due) {
      await session.think();
      await session.write(RUN_LOG, job, held, { value: order, base: found.version, order });
    }
    await session.release(held);
    if (found !== undefined) return;
  }
}
