// The faults `partition`, `reply-lost` and `reply-late`: some nodes do not hear others. Silent DROP in a firewall chain of
// its own in the nodes' sandboxes, so that killing and starting a node keeps the cut; all nodes at once, one exec each.
// Proved from both ends, pair by pair and direction by direction (`hearing.ts`): who is cut off hears nothing and gets
// no answer, the rules have met packets, and whoever should still hear each other does.

import { monotonicClock, monotonicOrigin, type Clock } from '../../clock.ts';
import type { Node } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import type { ActiveFault, FaultKind } from '../../contract/fault.ts';
import type { JsonRecord } from '../../history/op.ts';
import { CHAIN_PREFIX, closeFirewall, hasOtherChains, openFirewall, packetsMet } from './firewall.ts';
import { filtersOf, isDeaf, pairsOf, together, type Grudge } from './grudge.ts';
import { whoHearsWhom, type Hearing } from './hearing.ts';
import { CUTS } from './network-kinds.ts';
import { grudgeBetween, nodesNamed, type Network } from './network.ts';
import { millisSince, putInForce } from './scope.ts';

const ATTEMPTS = 3;
/** Each listens for some seconds; a busy machine is waited for, because nothing may be claimed of a network that is cut. */
const HEALING_ATTEMPTS = 12;
let chains = 0;
/** Chain → what it does, of all cuts of this run: none may blame another one's silence. */
const inForce = new Map<string, Grudge>();

/** Acts in about 60 ms; `inject` resolves when it is proved, some 0.6 s later. */
export function partitionFaults(network: Network): readonly FaultKind[] {
  return CUTS.map(({ name, summary, fixed }) => ({
    name,
    summary,
    hurts: 'network',
    inject: (nodes, spec) => cut(nodes, grudgeBetween(nodes, { ...spec.params, ...fixed }, network), network),
  }));
}

/** Where packets are dropped: a rule for each peer whose packets, or for whom packets, stop at this node. */
interface CutAt {
  readonly node: Node;
  readonly peers: readonly Node[];
  readonly rules: readonly string[];
}

interface Cut {
  readonly chain: string;
  readonly grudge: Grudge;
  readonly at: readonly CutAt[];
  /** Those that the grudge names, and one that must still reach each of them. */
  readonly involved: readonly Node[];
}

/** Whatever the targets are, exactly what `grudge` says. Where both ends could do it, the targets do. */
export function cut(targets: readonly Node[], grudge: Grudge, network: Network): Promise<ActiveFault> {
  const clock = monotonicClock(monotonicOrigin());
  const planned = planCut(targets, grudge, network);
  const { chain, at } = planned;
  return putInForce(
    async () => {
      const began = clock.now();
      inForce.set(chain, grudge);
      await Promise.all(at.map(({ node, rules }) => closeFirewall(node, chain, rules)));
      return prove(planned, millisSince(clock, began));
    },
    () => heal(planned, clock),
  );
}

function planCut(targets: readonly Node[], grudge: Grudge, network: Network): Cut {
  const ends = nodesNamed(pairsOf(grudge).flat(), network);
  const filters = filtersOf(grudge, new Set(targets.map(({ name }) => name)));
  const at = ends.flatMap((node): CutAt[] => {
    const found = (filters.get(node.name) ?? []).flatMap(({ direction, peer }) =>
      nodesNamed([peer], network).map((of) => ({
        of,
        rule: `${direction === 'from' ? '-s' : '-d'} ${of.address} -j DROP`,
      })),
    );
    if (found.length === 0) return [];
    return [{ node, peers: found.map(({ of }) => of), rules: found.map(({ rule }) => rule) }];
  });
  const witness = [network.store, ...network.clients.slice(0, 1)].find((node) => !ends.includes(node));
  chains += 1;
  return {
    chain: `${CHAIN_PREFIX}${chains}`,
    grudge,
    at,
    involved: witness === undefined ? ends : [...ends, witness],
  };
}

/**
 * undefined: something of it did not act, or it did more than it says. Whoever is not heard although nothing of ours
 * explains it is listened for again: on a busy machine a sandbox may have begun too late.
 */
async function prove(planned: Cut, cutMillis: number): Promise<JsonRecord | undefined> {
  const { chain, grudge, at, involved } = planned;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const expected = together([grudge, othersThan(chain)]);
    const hearing = await whoHearsWhom(involved, expected);
    if (!isSilent(grudge, hearing)) return undefined;
    const counts = await Promise.all(
      at.map(async (place) => ({ ...place, met: await packetsMet(place.node, chain) })),
    );
    const packets = counts.flatMap(({ met }) => met).reduce((sum, count) => sum + count, 0);
    if (packets === 0) return undefined;
    const unmet = counts.flatMap(({ node, peers, met }) =>
      peers.filter((_, index) => (met[index] ?? 0) === 0).map((peer): Pair => [node, peer]),
    );
    const unexpected = [...unmet, ...deafPairs(involved, expected, hearing)];
    const deaf = Object.fromEntries([...grudge].map(([listener, speakers]) => [listener, [...speakers]]));
    if ((await unexplained(unexpected, chain)).length === 0) return { cutMillis, packets, deaf };
  }
  return undefined;
}

/** Nobody hears whom it should not, and no connection comes about between them. */
function isSilent(grudge: Grudge, hearing: Hearing): boolean {
  return pairsOf(grudge).every(
    ([a, b]) => !hearing.heard(a, b) && !hearing.answered(a, b) && !hearing.answered(b, a),
  );
}

/** Throws HarnessError('environment') if nodes stay deaf and nothing else that we did explains it. */
async function heal({ chain, grudge, at, involved }: Cut, clock: Clock): Promise<JsonRecord> {
  const began = clock.now();
  await Promise.all(at.map(({ node }) => openFirewall(node, chain)));
  inForce.delete(chain);
  const openedMillis = millisSince(clock, began);
  const names = new Set(pairsOf(grudge).flat());
  const ends = involved.filter(({ name }) => names.has(name));
  let still: readonly Pair[] = [];
  for (let attempt = 0; attempt < HEALING_ATTEMPTS; attempt++) {
    const others = othersThan(chain);
    const hearing = await whoHearsWhom(ends, others);
    still = await unexplained(deafPairs(ends, others, hearing), chain);
    if (still.length === 0) return { openedMillis, heardAgain: true };
  }
  const told = still.map(([listener, speaker]) => `${listener.name} does not hear ${speaker.name}`);
  throw new HarnessError('environment', `a cut was taken back, and still ${told.join(', ')}`);
}

function othersThan(chain: string): Grudge {
  return together([...inForce].filter(([other]) => other !== chain).map(([, grudge]) => grudge));
}

type Pair = readonly [listener: Node, speaker: Node];

/** Pairs that the grudge does not name, and that are silent. */
function deafPairs(nodes: readonly Node[], grudge: Grudge, hearing: Hearing): readonly Pair[] {
  return nodes.flatMap((listener) =>
    nodes
      .filter((speaker) => speaker !== listener && !isDeaf(grudge, listener.name, speaker.name))
      .filter((speaker) => !hearing.heard(listener.name, speaker.name))
      .map((speaker): Pair => [listener, speaker]),
  );
}

/** Those of which neither end has another chain of ours: that of a lossy link, of a server that has to rejoin first. */
async function unexplained(pairs: readonly Pair[], chain: string): Promise<readonly Pair[]> {
  const ends = [...new Set(pairs.flat())];
  const walled = await Promise.all(ends.map((node) => hasOtherChains(node, chain)));
  const elsewhere = new Set(ends.filter((_, index) => walled[index]));
  return pairs.filter(([a, b]) => !elsewhere.has(a) && !elsewhere.has(b));
}
