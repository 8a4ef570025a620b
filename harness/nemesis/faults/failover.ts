// The fault `failover`: the lead passes to another server, on somebody's order and not because the service noticed
// anything. The parameter `to` says to which replica: the one that has followed `furthest`, as a careful operator
// chooses, or `least` far, as one does who cannot compare. Proved by asking for roles. Nothing to heal: it stays so.

import { monotonicClock, monotonicOrigin } from '../../clock.ts';
import type { ObservedRole, Roles } from '../../contract/backend.ts';
import type { Node } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import type { NodeFaultKind } from '../../contract/fault.ts';
import type { JsonRecord } from '../../history/op.ts';
import { faultInForce, millisSince } from './scope.ts';

/** In the words of the services that can be ordered. */
const FOLLOWS: ReadonlySet<string> = new Set(['replica', 'follower']);

/** Acts in about 0.2 s, or as long as the service takes to hand over. The target says only where the fault is shown. */
export function failoverFault(servers: readonly Node[], roles: Roles | undefined): NodeFaultKind {
  const clock = monotonicClock(monotonicOrigin());
  return {
    name: 'failover',
    summary: 'makes another server lead (parameter `to`: the replica that followed `furthest` or `least`)',
    inject: async (_node, { params }) => {
      if (roles?.promote === undefined)
        throw new HarnessError('usage', 'nobody can order the servers of this backend to change the lead', {
          remedy: 'choose another fault: see `lockpick list`',
        });
      const began = clock.now();
      const replicas = (await survey(servers, roles)).filter(({ role }) => FOLLOWS.has(role));
      const byPosition = replicas.toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0));
      const chosen = params?.['to'] === 'least' ? byPosition[0] : byPosition.at(-1);
      if (chosen === undefined) return faultInForce(undefined, () => Promise.resolve({}));
      let seen: JsonRecord;
      try {
        seen = await roles.promote(chosen.node, servers);
      } catch (error) {
        // Stopped or ended meanwhile by another fault, it does not obey: an order without effect.
        if (!(error instanceof HarnessError) || error.code !== 'environment') throw error;
        return faultInForce(undefined, () => Promise.resolve({ notObeyed: error.message }));
      }
      const positions = Object.fromEntries(
        replicas.map(({ node, position }) => [node.name, position ?? null]),
      );
      return faultInForce({ ...seen, positions, provedMillis: millisSince(clock, began) }, async () =>
        rolesByName(await survey(servers, roles)),
      );
    },
  };
}

interface Surveyed extends ObservedRole {
  readonly node: Node;
}

/** The servers that answer, with what they say they are. */
async function survey(servers: readonly Node[], roles: Roles): Promise<readonly Surveyed[]> {
  const found = await Promise.all(
    servers.map(async (node) => {
      const observed = await roles.ask(node);
      return observed === undefined ? [] : [{ node, ...observed }];
    }),
  );
  return found.flat();
}

function rolesByName(surveyed: readonly Surveyed[]): JsonRecord {
  return Object.fromEntries(surveyed.map(({ node, role }) => [node.name, role]));
}
