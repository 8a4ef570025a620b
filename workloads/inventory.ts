// The overselling example: so many units of each item, many buyers, and an order id for each purchase. A buyer that does
// not learn what became of its order sends it again, in a new critical section and under the same id; and now and then
// an order is delivered twice, as message queues do. Each delivery first asks whether the order has been applied.

import type { Workload } from '../harness/contract/workload.ts';
import { readThinkWrite } from './read-think-write.ts';

const DELIVERIES_MAX = 3;
/** One order in so many is delivered again though its outcome is known. */
const REDELIVERED_ONE_IN = 10;

export const inventory: Workload = {
  name: 'inventory',
  summary: 'buy one unit of what is in stock; orders have ids and are sent again if their outcome is unknown',
  stock: '100',
  defences: [
    'none',
    'fence-on-write',
    'fence-on-read-and-write',
    'version-cas',
    'row-lock',
    'conditional-update',
    'unique-constraint',
    'serialized-queue',
  ],
  async run(session) {
    const item = session.random.pick(session.locks);
    const order = session.fresh();
    const redelivered = session.random.integer(1, REDELIVERED_ONE_IN) === 1;
    let defences = session.defences;
    for (let delivery = 1; delivery <= DELIVERIES_MAX && defences.length > 0; delivery++) {
      const held = await session.acquire(item);
      if (held === undefined) return;
      const outcomes = await readThinkWrite(session, {
        held,
        defences,
        order,
        change: ({ value, version, applied }) => {
          const stock = BigInt(value);
          if (stock <= 0n || applied === true) return undefined;
          return { value: (stock - 1n).toString(), base: version, add: '-1', order };
        },
      });
      await session.release(held);
      if (!redelivered || delivery > 1)
        defences = defences.filter((defence) => outcomes.get(defence) === 'info');
    }
  },
};
