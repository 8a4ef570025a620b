// A lock that its holder may take again, as Curator's InterProcessMutex has it: one node in the queue, and its client counts
// how often the holder came in. The count is nowhere but there, so coming in again asks the ensemble for nothing but
// whether the node is still there, and only the last release removes it. The token is that of the first time.

import type { Grant } from '../../../contract/lock-client.ts';
import type { ZooKeeperRecipe } from '../port.ts';
import { alone } from '../queue.ts';
import { ephemeralSequential, queueClient, sessionWatch } from './ephemeral-sequential.ts';

interface Hold {
  readonly grant: Grant;
  entries: number;
}

export const reentrant: ZooKeeperRecipe = {
  ...ephemeralSequential,
  name: 'reentrant',
  summary:
    'as ephemeral-sequential; its client counts how often the holder came in, and the last release removes the node',
  kind: 'reentrant',
  lockClient: (zooKeeper, clock, onLost) => {
    const queue = queueClient(zooKeeper, clock, { watch: sessionWatch(onLost), turn: alone });
    const holds = new Map<string, Hold>();
    return {
      async acquire(request) {
        const hold = holds.get(request.owner);
        if (hold === undefined) {
          const acquired = await queue.acquire(request);
          if (acquired.kind === 'ok') holds.set(request.owner, { grant: acquired.value, entries: 1 });
          return acquired;
        }
        const now = await queue.look(hold.grant);
        // Without an answer it has not come in: nothing but the count would say that it has.
        if (now.kind !== 'ok') return { kind: 'fail', error: now.error };
        hold.entries += 1;
        return { kind: 'ok', value: { ...now.value, request } };
      },
      async release(grant) {
        const hold = holds.get(grant.request.owner);
        if (hold === undefined) return await queue.release(grant);
        hold.entries -= 1;
        if (hold.entries === 0) {
          holds.delete(grant.request.owner);
          return await queue.release(hold.grant);
        }
        const now = await queue.look(hold.grant);
        // It has gone out, whatever the ensemble says; but whether there was a lock to go out of, nobody else can tell.
        return now.kind === 'info' ? now : { kind: 'ok', value: { released: now.kind === 'ok' } };
      },
      async abandon(request) {
        const hold = holds.get(request.owner);
        holds.delete(request.owner);
        return await (hold === undefined ? queue.abandon(request) : queue.release(hold.grant));
      },
    };
  },
};
