// The cluster's network: a user-defined bridge with a subnet of our own, so that addresses can be given out before the
// containers exist. `subnet.ts` proposes; the engine, which sees all clusters on it, decides.

import { networkInterfaces } from 'node:os';
import { HarnessError, messageOf } from '../../contract/errors.ts';
import { ask, type Engine } from './engine.ts';
import { sessionLabels } from './session.ts';
import { freeSubnets } from './subnet.ts';

export interface ClusterNetwork {
  readonly name: string;
  readonly subnet: string;
}

/** Creates it. Throws HarnessError('environment') if the engine cannot, or every subnet of the pool is taken. */
export async function createNetwork(engine: Engine, session: string): Promise<ClusterNetwork> {
  const name = `lockpick-${session}`;
  const others = await ask('list networks', engine.docker.listNetworks());
  const taken = [
    ...others.flatMap(({ IPAM }) => IPAM?.Config ?? []).map(({ Subnet }) => Subnet),
    ...Object.values(networkInterfaces()).flatMap((addresses) => addresses?.map(({ cidr }) => cidr) ?? []),
  ].filter((subnet) => typeof subnet === 'string');
  // Runs that start at the same moment begin their search at different places.
  for (const subnet of freeSubnets(taken, process.pid)) {
    try {
      await ask(
        'create a network',
        engine.docker.createNetwork({
          Name: name,
          Driver: 'bridge',
          Labels: sessionLabels(session),
          IPAM: { Driver: 'default', Config: [{ Subnet: subnet }] },
        }),
      );
      return { name, subnet };
    } catch (error) {
      // Taken since we looked, or by something the engine sees and we do not.
      if (!messageOf(error).includes('overlaps')) throw error;
    }
  }
  throw new HarnessError('environment', 'every subnet of 10.213.0.0/16 is taken on this engine', {
    remedy: 'lockpick clean, or docker network prune',
  });
}
