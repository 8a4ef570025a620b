// Raft under cuts, loss and kills: whatever happens, no term has two leaders, no two members apply different entries at
// one place, and what was applied is never lost. Seeded; a failure names its seed.

import { describe, expect, it } from 'vitest';
import { millis } from '../../history/op.ts';
import { randomStream } from '../../rng.ts';
import type { Command } from '../etcd/store.ts';
import { openNetwork } from '../network.ts';
import { startProcess, type SimulatedProcess } from '../process.ts';
import { openScheduler } from '../scheduler.ts';
import { openWallClock } from '../wall-clock.ts';
import { emptyRaftDisk, type LogEntry, type RaftDisk } from './log.ts';
import { openRaft, type Raft } from './raft.ts';

const NAMES = ['a', 'b', 'c'];
const SECONDS = 40;

interface Member {
  readonly disk: RaftDisk<Command>;
  process: SimulatedProcess;
  raft: Raft<Command>;
  applied: LogEntry<Command>[];
}

async function torture(seed: string): Promise<{ readonly applied: number; readonly terms: number }> {
  const scheduler = openScheduler();
  const network = openNetwork(scheduler, seed);
  const random = randomStream(seed, 'torture');
  const members = new Map<string, Member>();
  const leaders = new Map<number, string>();
  /** What anybody has applied at each place. */
  const agreed: string[] = [];

  const start = (name: string, disk: RaftDisk<Command>): void => {
    const process = startProcess(scheduler, 1, openWallClock());
    const member: { applied: LogEntry<Command>[] } = { applied: [] };
    const raft = openRaft({
      name,
      peers: NAMES.filter((peer) => peer !== name),
      process,
      random: randomStream(seed, `${name} ${scheduler.now}`),
      disk,
      nothing: { kind: 'nothing' },
      heartbeatMillis: 50,
      electionMillis: 500,
      send: (to, message) => network.post(name, to, { kind: 'raft', message }),
      apply(entry) {
        const place = member.applied.length;
        member.applied.push(entry);
        const text = `${entry.term} ${entry.id}`;
        agreed[place] ??= text;
        expect(text, `seed ${seed}, place ${place} on ${name}`).toBe(agreed[place]);
      },
      onLeader() {
        if (raft.role !== 'leader') return;
        expect(leaders.get(raft.term) ?? name, `seed ${seed}, leader of term ${raft.term}`).toBe(name);
        leaders.set(raft.term, name);
      },
    });
    network.onPost(name, process, (from, message) => {
      if (message.kind === 'raft') raft.receive(from, message.message);
    });
    members.set(name, Object.assign(member, { disk, process, raft }));
  };

  await scheduler.run(async () => {
    for (const name of NAMES) start(name, emptyRaftDisk());
    const driver = startProcess(scheduler, 2, openWallClock());
    const sleep = (duration: number): Promise<void> => driver.clock(0).sleep(millis(duration));
    for (let proposed = 0; scheduler.now < SECONDS * 1e9; proposed++) {
      for (const { raft, process } of members.values())
        if (raft.role === 'leader' && process.state === 'running')
          raft.propose(`p${proposed}`, { kind: 'nothing' });
      await sleep(random.real(20, 200));
      if (random.real(0, 1) > 0.25) continue;
      const [one, two] = [random.pick(NAMES), random.pick(NAMES)];
      const member = members.get(one);
      if (member === undefined) continue;
      const later = (minSeconds: number, action: () => void): void =>
        scheduler.at(scheduler.now + random.real(minSeconds, minSeconds + 2) * 1e9, action);
      const hurt = random.integer(1, 6);
      if (hurt === 1 || hurt === 5) {
        // Cut off from all, or one way from one.
        const pairs =
          hurt === 5
            ? [[one, two] as const]
            : NAMES.flatMap((other) => [[one, other] as const, [other, one] as const]);
        for (const [from, to] of pairs) later(0.5, network.spoil(from, to, { cut: true }));
      } else if (hurt === 2) {
        later(0.1, network.spoil(one, two, { loss: 0.5, delayMillis: random.real(0, 900), overtaking: 0.5 }));
      } else if (hurt === 6) {
        // Whether that is so or not.
        member.raft.abandonLeader();
      } else if (hurt === 3) {
        member.process.stop();
        later(0.1, () => member.process.resume());
      } else {
        member.process.end(137);
        later(0.1, () => {
          if (members.get(one) === member) start(one, member.disk);
        });
      }
    }
  });
  return { applied: agreed.length, terms: leaders.size };
}

describe('raft', () => {
  it.each(Array.from({ length: 20 }, (_, index) => String(index + 1)))(
    'keeps its promises, seed %s',
    async (seed) => {
      const { applied, terms } = await torture(seed);
      // Nothing is proved by a cluster that stood still, or that nothing happened to.
      expect(applied).toBeGreaterThan(50);
      expect(terms).toBeGreaterThan(1);
    },
  );
});
