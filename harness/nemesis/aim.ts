// Whom a fault hits: finds the nodes that a target means at the moment of injection, by what clients have told
// (`tracker.ts`) and by what servers say when asked. Draws by chance where a target leaves a choice (I6). Injects nothing.

import { FOLLOWING_ROLES, LEADING_ROLES } from '../contract/backend.ts';
import type { Node } from '../contract/cluster.ts';
import type { TargetSelector } from '../contract/fault.ts';
import type { Random } from '../contract/workload.ts';
import type { HistoryEvent, Vote } from '../history/op.ts';
import type { Tracker } from './tracker.ts';

/** What set off a rule. */
export interface Fired {
  readonly event: HistoryEvent;
  /** The lock it was about. */
  readonly lock: string | undefined;
}

interface Field {
  readonly servers: readonly Node[];
  readonly clients: readonly Node[];
  /** The node that runs a process, while it runs. */
  readonly nodeOf: (process: string) => Node | undefined;
  readonly tracker: Tracker;
  readonly random: Random;
  /** A fault of the network is in force on it. */
  readonly isCutOff: (node: Node) => boolean;
  readonly askRole: (server: Node) => Promise<string | undefined>;
}

/** Whom a target may mean. */
export interface Aimed {
  /** The best first; those under a fault already included. */
  readonly candidates: readonly Node[];
  /** So many of them, or none. */
  readonly wanted: number;
}

/** Empty candidates: there is nobody to hit. */
export type Aim = (target: TargetSelector, trigger: Fired | undefined) => Promise<Aimed>;

export function aimAt(field: Field): Aim {
  const { servers, clients, tracker } = field;
  const shuffled = (nodes: readonly Node[]): readonly Node[] => {
    const left = [...nodes];
    return nodes.map(() => left.splice(field.random.integer(0, left.length - 1), 1)).flat();
  };

  const nodesOf = (processes: readonly string[]): Node[] =>
    processes.map((name) => field.nodeOf(name)).filter((node) => node !== undefined);

  /** Asks every server what it is; the answers go into the journal. */
  const withRole = async (fits: (role: string) => boolean): Promise<readonly Node[]> => {
    const roles = await Promise.all(servers.map((node) => field.askRole(node)));
    return servers.filter((_, index) => {
      const role = roles[index];
      return role !== undefined && fits(role);
    });
  };

  /** The servers that voted for what the event tells of, shuffled, and how many were asked. */
  const votersOf = (
    event: HistoryEvent | undefined,
  ): { readonly asked: number; readonly voters: readonly Node[] } => {
    const votes = event !== undefined && 'votes' in event ? (event.votes ?? []) : [];
    const names = new Set(grantedBy(votes));
    const voters = shuffled(servers.filter(({ name }) => names.has(name)));
    return { asked: votes.length, voters };
  };

  const candidatesFor = async (
    target: TargetSelector,
    trigger: Fired | undefined,
  ): Promise<readonly Node[]> => {
    const event = trigger?.event;
    switch (target.kind) {
      case 'holder':
        return nodesOf(
          event === undefined ? tracker.holders().toReversed() : 'process' in event ? [event.process] : [],
        );
      case 'acquirer':
        return nodesOf(tracker.inFlight('acquire'));
      case 'waiter':
        return nodesOf(tracker.waiters(trigger?.lock));
      case 'releaser':
        return nodesOf(tracker.inFlight('release'));
      case 'random-client':
        return shuffled(clients);
      case 'server':
      case 'servers':
        return shuffled(servers);
      case 'voter': {
        const { asked, voters } = votersOf(event);
        return voters.length === Math.floor(asked / 2) + 1 ? voters : [];
      }
      case 'voters':
        return votersOf(event).voters;
      case 'cut-off':
        return servers.filter((node) => field.isCutOff(node));
      case 'role':
        return withRole((role) => role === target.role);
      case 'lead':
        return event?.type === 'server'
          ? servers.filter(({ name }) => name === event.node)
          : withRole((role) => LEADING_ROLES.has(role));
      case 'follower':
        return shuffled(await withRole((role) => FOLLOWING_ROLES.has(role)));
      case 'nodes':
        return [...servers, ...clients].filter(({ name }) => target.names.includes(name));
    }
  };

  return async (target, trigger) => {
    const candidates = await candidatesFor(target, trigger);
    return { candidates, wanted: manyOf(target, candidates.length) };
  };
}

/** How many nodes a target means, of so many candidates. */
function manyOf(target: TargetSelector, candidates: number): number {
  if (target.kind === 'nodes') return target.names.length;
  if (target.kind !== 'servers' && target.kind !== 'voters') return 1;
  const counts = {
    all: candidates,
    majority: Math.floor(candidates / 2) + 1,
    minority: Math.floor((candidates - 1) / 2),
    half: Math.floor(candidates / 2),
  };
  return counts[target.count];
}

/** The servers that voted for it. */
export function grantedBy(votes: readonly Vote[]): readonly string[] {
  return votes.filter(({ answer }) => answer === 'granted').map(({ node }) => node);
}
