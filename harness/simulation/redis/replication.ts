// How a simulated Redis follows another one: asynchronously. A replica asks for everything, gets a copy and then what
// changes, and says once a second, or when asked, how far it is. A primary does not wait for it, except for WAIT. Always
// a full copy: that a server can sometimes do with less makes no difference to a lock. Source: Redis 8.0, replication.c.

import { millis } from '../../history/op.ts';
import type { FromPrimary, FromReplica, Message } from '../messages.ts';
import type { Socket } from '../network.ts';
import type { Machine } from '../program.ts';
import type { Change, Keyspace } from './keyspace.ts';

export interface Replication {
  readonly leads: boolean;
  /** How many bytes of changes it has made, or followed. */
  readonly offset: number;
  lead(): void;
  follow(primary: string): void;
  /** Counts changes that this server made; returns the offset behind them. They leave with the next `feed`. */
  propagate(changes: readonly Change[]): number;
  feed(): void;
  hear(message: FromReplica, socket: Socket, node: string): void;
  forget(socket: Socket): void;
  /** Whether it is the connection of a replica. */
  feeds(socket: Socket): boolean;
  /** Replicas that were heard of within so many seconds. */
  inStep(maxLagSeconds: number): number;
  /** Calls back once, with how many replicas are that far, when they are enough or the time is up (0: never). */
  wait(offset: number, count: number, timeLimitMillis: number, done: (confirmed: number) => void): void;
  info(): readonly string[];
}

/** A child process makes the copy, at once (repl-diskless-sync-delay 0, as in our images). */
const COPY_MILLIS = { min: 15, max: 100 };
/** replicationCron. */
const EVERY_SECOND = millis(1_000);
/** Each change is some bytes of the stream. */
const BYTES_A_CHANGE = 100;

interface Replica {
  readonly socket: Socket;
  readonly node: string;
  online: boolean;
  acknowledged: number;
  heardAt: number;
}

interface Waiter {
  readonly offset: number;
  readonly count: number;
  readonly done: (confirmed: number) => void;
}

export function openReplication(
  machine: Machine,
  {
    keyspace,
    replaced,
    followed,
  }: {
    readonly keyspace: Keyspace;
    /** Everything was replaced by a copy. */
    readonly replaced: () => void;
    readonly followed: (changes: readonly Change[]) => void;
  },
): Replication {
  const { process, network, random, spec } = machine;
  const replicas = new Map<Socket, Replica>();
  let waiters: Waiter[] = [];
  let unfed: Change[] = [];
  let offset = 0;
  let primary: string | undefined;
  let link: Socket | undefined;
  let linkUp = false;
  /** When it had a link last. */
  let downSince = 0;
  /** Grows with each change of the primary, so that what belongs to an earlier one is not heard any more. */
  let term = 0;

  const confirmedBy = (wanted: number): number =>
    [...replicas.values()].filter(({ online, acknowledged }) => online && acknowledged >= wanted).length;
  const wake = (): void => {
    const due = waiters.filter(({ offset: wanted, count }) => confirmedBy(wanted) >= count);
    waiters = waiters.filter((waiter) => !due.includes(waiter));
    for (const waiter of due) waiter.done(confirmedBy(waiter.offset));
  };

  const noLink = (): void => {
    if (linkUp) downSince = process.now();
    linkUp = false;
  };

  const hearPrimary = (message: Message): void => {
    if (message.kind === 'primary copies') {
      keyspace.entries.clear();
      for (const entry of message.entries) keyspace.apply(entry);
      replaced();
      offset = message.offset;
      linkUp = true;
      acknowledge();
    } else if (message.kind === 'primary changed') {
      for (const change of message.changes) keyspace.apply(change);
      followed(message.changes);
      offset = message.offset;
    } else if (message.kind === 'primary asks') acknowledge();
  };
  const acknowledge = (): void => link?.send({ kind: 'replica is at', offset });

  const connect = (): void => {
    const own = term;
    const followedNode = primary;
    if (followedNode === undefined) return;
    const later = (): void => {
      if (own !== term) return;
      link = undefined;
      noLink();
      process.after(EVERY_SECOND, () => {
        if (own === term) connect();
      });
    };
    network.connect(
      { node: spec.name, process },
      followedNode,
      {
        message: (message) => {
          if (own === term) hearPrimary(message);
        },
        closed: later,
      },
      (socket) => {
        if (own !== term) return socket?.close();
        if (socket === undefined) return later();
        link = socket;
        socket.send({ kind: 'replica asks' });
      },
    );
  };

  const everySecond = (): void => {
    if (linkUp) acknowledge();
    process.after(EVERY_SECOND, everySecond);
  };
  process.after(EVERY_SECOND, everySecond);

  const leave = (): void => {
    term += 1;
    link?.close();
    link = undefined;
    noLink();
  };

  return {
    get leads() {
      return primary === undefined;
    },
    get offset() {
      return offset;
    },
    lead() {
      if (primary === undefined) return;
      leave();
      primary = undefined;
      keyspace.deletesExpired = true;
    },
    follow(node) {
      if (primary === node) return;
      leave();
      primary = node;
      keyspace.deletesExpired = false;
      // Its own replicas would follow a chain; here they have to ask anew.
      for (const { socket } of replicas.values()) socket.close();
      replicas.clear();
      connect();
    },
    propagate(changes) {
      offset += changes.length * BYTES_A_CHANGE;
      unfed.push(...changes);
      return offset;
    },
    feed() {
      if (unfed.length === 0) return;
      const message: FromPrimary = { kind: 'primary changed', changes: unfed, offset };
      unfed = [];
      for (const { socket, online } of replicas.values()) if (online) socket.send(message);
    },
    hear(message, socket, node) {
      if (message.kind === 'replica is at') {
        const replica = replicas.get(socket);
        if (replica === undefined) return;
        replica.acknowledged = message.offset;
        replica.heardAt = process.now();
        return wake();
      }
      replicas.set(socket, { socket, node, online: false, acknowledged: 0, heardAt: process.now() });
      process.after(millis(random.real(COPY_MILLIS.min, COPY_MILLIS.max)), () => {
        const replica = replicas.get(socket);
        if (replica === undefined || primary !== undefined) return socket.close();
        replica.online = true;
        const copy: FromPrimary = { kind: 'primary copies', entries: [...keyspace.entries], offset };
        socket.send(copy);
      });
    },
    feeds: (socket) => replicas.has(socket),
    forget(socket) {
      replicas.delete(socket);
    },
    inStep(maxLagSeconds) {
      const since = process.now() - maxLagSeconds * 1e9;
      // Redis counts in whole seconds: a lag of 1 s is anything below 2.
      return [...replicas.values()].filter(({ online, heardAt }) => online && heardAt > since - 1e9).length;
    },
    wait(wanted, count, timeLimitMillis, done) {
      if (confirmedBy(wanted) >= count) return done(confirmedBy(wanted));
      const waiter: Waiter = { offset: wanted, count, done };
      waiters.push(waiter);
      for (const { socket, online } of replicas.values()) if (online) socket.send({ kind: 'primary asks' });
      if (timeLimitMillis > 0)
        process.after(millis(timeLimitMillis), () => {
          if (!waiters.includes(waiter)) return;
          waiters = waiters.filter((other) => other !== waiter);
          done(confirmedBy(wanted));
        });
    },
    info() {
      if (primary !== undefined)
        return [
          'role:slave',
          `master_host:${machine.addressOf(primary)}`,
          `master_link_status:${linkUp ? 'up' : 'down'}`,
          `slave_repl_offset:${offset}`,
          ...(linkUp
            ? []
            : [`master_link_down_since_seconds:${Math.floor((process.now() - downSince) / 1e9)}`]),
        ];
      const online = [...replicas.values()].filter((replica) => replica.online);
      return [
        'role:master',
        ...online.map(({ node, acknowledged }, index) => {
          const address = machine.addressOf(node);
          return `slave${index}:ip=${address},port=6379,state=online,offset=${acknowledged},lag=0`;
        }),
        `master_repl_offset:${offset}`,
      ];
    },
  };
}
