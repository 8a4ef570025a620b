// Raft, by which simulated servers agree: elections with a vote in advance, a leader that steps down when no majority
// answers, entries that count when a majority has them on disk. Messages may be lost, late or come in another order.
// Sources: D. Ongaro, J. Ousterhout, "In Search of an Understandable Consensus Algorithm" (2014), sections 5 and 6;
// Ongaro's thesis (2014), 3.10 and 9.6; etcd 3.5, raft/raft.go. No snapshots and no change of members. Does not know
// what the commands are.

import { millis } from '../../history/op.ts';
import type { Random } from '../../contract/workload.ts';
import type { SimulatedProcess } from '../process.ts';
import type { LogEntry, RaftDisk, RaftMessage } from './log.ts';

export interface Raft<Command> {
  readonly role: 'leader' | 'candidate' | 'follower';
  readonly leader: string | undefined;
  readonly term: number;
  readonly applied: number;
  /** Only of the leader. */
  propose(id: string, command: Command): void;
  receive(from: string, message: RaftMessage<Command>): void;
  /** The leader is known to be gone: does not wait until it has been silent for long. */
  abandonLeader(): void;
  /** Lets the other member lead, when it has everything. */
  transfer(to: string): void;
}

export interface RaftOptions<Command> {
  readonly name: string;
  readonly peers: readonly string[];
  readonly process: SimulatedProcess;
  readonly random: Random;
  readonly disk: RaftDisk<Command>;
  readonly heartbeatMillis: number;
  readonly electionMillis: number;
  /** What a new leader proposes, to learn what counts. */
  readonly nothing: Command;
  /** How long it takes to have entries on disk, of a disk that takes so long. */
  readonly syncMillis?: (healthyMillis: number) => number;
  readonly send: (to: string, message: RaftMessage<Command>) => void;
  apply(entry: LogEntry<Command>): void;
  /** The leader, as this member knows it, has changed. */
  onLeader(): void;
}

/** What it takes to have entries on a healthy disk. */
const SYNC_MILLIS = { min: 0.2, max: 0.8 };

export function openRaft<Command>(options: RaftOptions<Command>): Raft<Command> {
  const { name, peers, process, random, disk, send, syncMillis = (healthy) => healthy } = options;
  const { log } = disk;
  const electionTicks = Math.round(options.electionMillis / options.heartbeatMillis);
  const majority = Math.floor((peers.length + 1) / 2) + 1;
  let role: Raft<Command>['role'] = 'follower';
  let leader: string | undefined;
  let commit = 0;
  let applied = 0;
  /** Ticks since the leader was heard, or an election began. */
  let elapsed = 0;
  let patience = 0;
  let votes = new Set<string>();
  let isAhead = false;
  let matched = new Map<string, number>();
  let next = new Map<string, number>();
  let active = new Set<string>();
  let transferTo: string | undefined;

  const termAt = (index: number): number => log[index - 1]?.term ?? 0;
  const follow = (term: number, whom: string | undefined): void => {
    if (term > disk.term) {
      disk.term = term;
      disk.votedFor = undefined;
    }
    role = 'follower';
    know(whom);
    restart();
  };
  const know = (whom: string | undefined): void => {
    if (leader === whom) return;
    leader = whom;
    options.onLeader();
  };
  const restart = (): void => {
    elapsed = 0;
    patience = random.integer(electionTicks, 2 * electionTicks - 1);
  };

  const campaign = (ahead: boolean, forced: boolean): void => {
    role = 'candidate';
    isAhead = ahead;
    know(undefined);
    restart();
    if (!ahead) {
      disk.term += 1;
      disk.votedFor = name;
    }
    votes = new Set([name]);
    const term = ahead ? disk.term + 1 : disk.term;
    for (const peer of peers)
      send(peer, { kind: 'ask', ahead, forced, term, index: log.length, lastTerm: termAt(log.length) });
  };

  const lead = (): void => {
    role = 'leader';
    matched = new Map(peers.map((peer) => [peer, 0]));
    next = new Map(peers.map((peer) => [peer, log.length + 1]));
    active = new Set();
    transferTo = undefined;
    elapsed = 0;
    know(name);
    propose(`${name} leads ${disk.term}`, options.nothing);
  };

  const propose = (id: string, command: Command): void => {
    log.push({ term: disk.term, id, command });
    for (const peer of peers) append(peer);
  };
  const append = (peer: string): void => {
    const from = next.get(peer) ?? 1;
    send(peer, {
      kind: 'append',
      term: disk.term,
      index: from - 1,
      indexTerm: termAt(from - 1),
      entries: log.slice(from - 1),
      commit,
    });
    // What was sent is taken to arrive; an answer that says otherwise sets it back.
    next.set(peer, log.length + 1);
  };
  const count = (): void => {
    for (let index = log.length; index > commit && termAt(index) === disk.term; index--) {
      const have = 1 + [...matched.values()].filter((match) => match >= index).length;
      if (have < majority) continue;
      commit = index;
      applyCommitted();
      // Told at once and not with the next heartbeat (raft.go, bcastAppend after maybeCommit).
      for (const peer of peers) append(peer);
      return;
    }
  };
  const applyCommitted = (): void => {
    while (applied < commit) {
      const entry = log[applied];
      if (entry === undefined) return;
      applied += 1;
      options.apply(entry);
    }
  };

  const tick = (): void => {
    elapsed += 1;
    if (role === 'leader') {
      if (elapsed >= electionTicks) {
        elapsed = 0;
        if (active.size + 1 < majority) follow(disk.term, undefined);
        active = new Set();
      }
      if (role === 'leader') for (const peer of peers) append(peer);
    } else if (elapsed >= patience) campaign(true, false);
    process.after(millis(options.heartbeatMillis), tick);
  };

  const answerAsk = (from: string, message: Extract<RaftMessage<Command>, { kind: 'ask' }>): void => {
    const { ahead, forced, term, index, lastTerm } = message;
    // While a leader is heard nobody else is helped to disturb it.
    if (!forced && leader !== undefined && (role === 'leader' || elapsed < electionTicks)) return;
    if (!ahead && term > disk.term) follow(term, undefined);
    const isCurrent =
      lastTerm > termAt(log.length) || (lastTerm === termAt(log.length) && index >= log.length);
    const isFree = ahead ? term > disk.term : term === disk.term && (disk.votedFor ?? from) === from;
    const granted = isCurrent && isFree;
    if (granted && !ahead) {
      disk.votedFor = from;
      restart();
    }
    send(from, { kind: 'vote', ahead, granted, term: granted ? term : disk.term });
  };

  const takeEntries = (from: string, message: Extract<RaftMessage<Command>, { kind: 'append' }>): void => {
    if (message.term < disk.term)
      return send(from, { kind: 'appended', term: disk.term, ok: false, index: 0 });
    follow(message.term, from);
    const { index, indexTerm, entries } = message;
    if (index > log.length || termAt(index) !== indexTerm)
      return send(from, {
        kind: 'appended',
        term: disk.term,
        ok: false,
        index: Math.min(index - 1, log.length),
      });
    for (const [offset, entry] of entries.entries()) {
      const at = index + offset + 1;
      if (termAt(at) === entry.term && at <= log.length) continue;
      log.length = at - 1;
      log.push(entry);
    }
    const has = index + entries.length;
    const answer = (): void => {
      if (disk.term === message.term)
        send(from, { kind: 'appended', term: message.term, ok: true, index: has });
    };
    if (entries.length === 0) answer();
    else process.after(millis(syncMillis(random.real(SYNC_MILLIS.min, SYNC_MILLIS.max))), answer);
    commit = Math.max(commit, Math.min(message.commit, has));
    applyCommitted();
  };

  const hearAppended = (from: string, message: Extract<RaftMessage<Command>, { kind: 'appended' }>): void => {
    if (message.term > disk.term) return follow(message.term, undefined);
    if (role !== 'leader' || message.term < disk.term) return;
    active.add(from);
    if (!message.ok) {
      next.set(from, Math.max(1, message.index + 1));
      return append(from);
    }
    if (message.index > (matched.get(from) ?? 0)) matched.set(from, message.index);
    count();
    if (transferTo === from && (matched.get(from) ?? 0) === log.length) {
      transferTo = undefined;
      send(from, { kind: 'take over', term: disk.term });
    }
  };

  restart();
  process.after(millis(options.heartbeatMillis), tick);
  return {
    get role() {
      return role;
    },
    get leader() {
      return leader;
    },
    get term() {
      return disk.term;
    },
    get applied() {
      return applied;
    },
    propose,
    abandonLeader() {
      if (role !== 'follower' || leader === undefined) return;
      know(undefined);
      // Those who know it at the same time do not all ask for votes at the same time.
      elapsed = patience - random.integer(1, Math.ceil(electionTicks / 4));
    },
    transfer(to) {
      transferTo = to;
      append(to);
    },
    receive(from, message) {
      switch (message.kind) {
        case 'ask':
          return answerAsk(from, message);
        case 'vote':
          if (message.term > disk.term && !(message.ahead && message.granted))
            return follow(message.term, undefined);
          if (role !== 'candidate' || message.ahead !== isAhead || !message.granted) return;
          if (message.term !== (isAhead ? disk.term + 1 : disk.term)) return;
          votes.add(from);
          if (votes.size < majority) return;
          return isAhead ? campaign(false, false) : lead();
        case 'append':
          return takeEntries(from, message);
        case 'appended':
          return hearAppended(from, message);
        case 'take over':
          if (message.term === disk.term) campaign(false, true);
      }
    },
  };
}
