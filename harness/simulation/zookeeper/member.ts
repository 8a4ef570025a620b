// A simulated ZooKeeper server as one of its ensemble: it takes part in the log, follows a leader over a connection that
// both give up when one of them is gone, or leads, and then keeps the time of sessions. Serves only with a leader, and
// with all that was committed before it led. The log is Raft's in the place of ZAB's: both give one order, and a leader
// that has what was committed. Sources: ZooKeeper 3.9, QuorumPeer, Learner, LearnerHandler, LeaderSessionTracker.

import { millis } from '../../history/op.ts';
import { syncMillis } from '../disk.ts';
import type { Message } from '../messages.ts';
import type { Socket } from '../network.ts';
import type { Machine } from '../program.ts';
import { openRaft } from '../raft/raft.ts';
import type { FromLeader } from './messages.ts';
import { openSessionTimes } from './sessions.ts';
import type { ZooKeeperSettings } from './settings.ts';
import { openTree, type Tree, type TreeCommand, type Written } from './tree.ts';

export interface Member {
  readonly tree: Tree;
  readonly isServing: boolean;
  readonly leads: boolean;
  /** `answer` is told what came of it when it has come back in the log; never if the member stops serving before. */
  submit(command: TreeCommand, answer: (written: Written) => void): void;
  /** A client was heard. */
  touch(session: string): void;
  /** Asks whether a session that comes from elsewhere is alive, and takes it over if it is. */
  takeOver(session: string, settle: (isAlive: boolean) => void): void;
  /** What another server says on a connection that it has opened. */
  hear(message: Message, socket: Socket, node: string): void;
  forget(socket: Socket, node: string): void;
}

export function openMember(
  { process, network, disk, random, spec: { name } }: Machine,
  {
    settings: { tickMillis, silenceMillis, members },
    applied,
    stopped,
  }: {
    readonly settings: ZooKeeperSettings;
    /** Behind whoever waited for it. */
    readonly applied: (command: TreeCommand) => void;
    /** It serves nobody any more. */
    readonly stopped: () => void;
  },
): Member {
  const tree = openTree();
  const times = openSessionTimes(tickMillis);
  /** Proposal → who waits for it. */
  const waiting = new Map<string, (written: Written) => void>();
  const takingOver = new Map<string, (isAlive: boolean) => void>();
  /** Of a leader: its followers, and their connections. */
  const followers = new Map<string, Socket>();
  /** Of a follower: its connection to the leader, and whom it has heard that the leader has not been told of. */
  let link: Socket | undefined;
  let heard = new Set<string>();
  let isServing = false;
  let made = 0;
  /** Grows with each change of the leader, so that what belongs to an earlier one is not heard any more. */
  let turn = 0;

  const raft = openRaft<TreeCommand>({
    name,
    peers: members.filter((member) => member !== name),
    process,
    random,
    disk: disk.zooKeeper,
    nothing: { kind: 'nothing' },
    // The leader speaks to its followers twice a tick.
    heartbeatMillis: tickMillis / 2,
    electionMillis: silenceMillis,
    syncMillis: (healthy) => syncMillis(disk, healthy),
    send(to, message) {
      // What a leader and its follower say to each other is in one order: whom a follower has heard is behind nothing that
      // those have written. Without a connection, as in an election, messages are on their own.
      const connection = to === raft.leader ? link : followers.get(to);
      if (connection === undefined) network.post(name, to, { kind: 'zk log', message });
      else connection.send({ kind: 'zk log', message });
    },
    apply({ id, term, command }) {
      const written = tree.apply(term, command);
      if (command.kind === 'open') times.open(process.now(), command.session, command.timeoutMillis);
      else if (command.kind === 'close') times.forget(command.session);
      const answer = waiting.get(id);
      waiting.delete(id);
      answer?.(written);
      applied(command);
      serveIfReady();
    },
    onLeader() {
      stop();
      if (raft.leader !== undefined && raft.leader !== name) follow(raft.leader);
    },
  });
  network.onPost(name, process, (from, message) => {
    if (message.kind === 'zk log') raft.receive(from, message.message);
  });

  const leads = (): boolean => isServing && raft.role === 'leader';
  const serveIfReady = (): void => {
    if (isServing || tree.epoch !== raft.term) return;
    if (raft.role !== 'leader' && link === undefined) return;
    isServing = true;
    if (raft.role === 'leader') times.restart(process.now(), tree.sessions);
  };
  const stop = (): void => {
    isServing = false;
    turn += 1;
    for (const socket of followers.values()) socket.close();
    link?.close();
    link = undefined;
    followers.clear();
    waiting.clear();
    takingOver.clear();
    heard = new Set();
    stopped();
  };

  const follow = (leader: string): void => {
    const own = turn;
    const lost = (): void => {
      if (own === turn) raft.abandonLeader();
    };
    network.connect(
      { node: name, process },
      leader,
      {
        message(message) {
          if (own === turn) hearLeader(message);
        },
        closed: lost,
      },
      (socket) => {
        if (own !== turn) return socket?.close();
        if (socket === undefined) return lost();
        link = socket;
        socket.send({ kind: 'zk follows' });
        serveIfReady();
      },
    );
  };
  const hearLeader = (message: Message): void => {
    if (message.kind === 'zk log') {
      const leader = raft.leader;
      if (leader !== undefined) raft.receive(leader, message.message);
    } else if (message.kind === 'zk ping') {
      link?.send({ kind: 'zk heard', sessions: [...heard] });
      heard = new Set();
    } else if (message.kind === 'zk taken over') {
      const settle = takingOver.get(message.session);
      takingOver.delete(message.session);
      settle?.(message.isAlive);
    }
  };

  /** What a leader makes of a request that reached it by that server. */
  const propose = (id: string, command: TreeCommand, server: string): void => {
    const error = refusal(command, server);
    raft.propose(id, error === undefined ? command : { kind: 'refuse', error });
  };
  const refusal = (command: TreeCommand, server: string): string | undefined => {
    if (command.kind !== 'create' && command.kind !== 'remove') return undefined;
    if (!times.has(command.session)) return 'SESSION_EXPIRED';
    return times.isWith(server, command.session) ? undefined : 'SESSION_MOVED';
  };
  const takeOver = (session: string, server: string): boolean => {
    times.move(server, session);
    return times.touch(process.now(), session);
  };

  const twiceATick = (): void => {
    const ping: FromLeader = { kind: 'zk ping' };
    if (leads()) for (const socket of followers.values()) socket.send(ping);
    process.after(millis(tickMillis / 2), twiceATick);
  };
  const everyTick = (): void => {
    if (leads())
      for (const session of times.over(process.now()))
        raft.propose(`${name} ends ${session}`, { kind: 'close', session });
    process.after(millis(tickMillis), everyTick);
  };
  twiceATick();
  // When an interval is over.
  process.after(millis(tickMillis - ((process.now() / 1e6) % tickMillis)), everyTick);

  return {
    tree,
    get isServing() {
      return isServing;
    },
    get leads() {
      return leads();
    },
    submit(command, answer) {
      made += 1;
      const id = `${name} ${process.pid} ${made}`;
      waiting.set(id, answer);
      if (leads()) propose(id, command, name);
      else link?.send({ kind: 'zk forward', id, command });
    },
    touch(session) {
      if (leads()) times.touch(process.now(), session);
      else heard.add(session);
    },
    takeOver(session, settle) {
      if (leads()) return settle(takeOver(session, name));
      takingOver.set(session, settle);
      link?.send({ kind: 'zk take over', session });
    },
    hear(message, socket, node) {
      if (message.kind === 'zk follows') {
        if (raft.role !== 'leader') return socket.close();
        followers.get(node)?.close();
        followers.set(node, socket);
      }
      if (followers.get(node) !== socket) return;
      if (message.kind === 'zk log') return raft.receive(node, message.message);
      if (!leads()) return;
      if (message.kind === 'zk forward') propose(message.id, message.command, node);
      else if (message.kind === 'zk heard')
        for (const session of message.sessions) times.touch(process.now(), session);
      else if (message.kind === 'zk take over') {
        const { session } = message;
        socket.send({ kind: 'zk taken over', session, isAlive: takeOver(session, node) });
      }
    },
    forget(socket, node) {
      if (followers.get(node) === socket) followers.delete(node);
    },
  };
}
