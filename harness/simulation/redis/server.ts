// A simulated Redis server: one thread that executes what its connections bring, writes what changed to its append-only
// file, and then answers; so a grant that was answered is on disk if the settings say so. Follows a primary, or is one
// and feeds its replicas without waiting for them. Settings are those of redis-server's command line. Sources: Redis 8.0,
// server.c (beforeSleep), replication.c, db.c; pages of the commands.

import { millis } from '../../history/op.ts';
import type { RedisReply } from '../../backends/redis/port.ts';
import { syncMillis } from '../disk.ts';
import type { RedisRequest } from '../messages.ts';
import type { Accept, Socket } from '../network.ts';
import type { Machine } from '../program.ts';
import type { SyncPolicy } from './append-only-file.ts';
import { openKeyspace, RedisError, WRITES, type Change } from './keyspace.ts';
import { openReplication, type Replication } from './replication.ts';
import { encodeReply, inlineCommands } from './resp.ts';

export interface RedisSettings {
  readonly appends: boolean;
  /** With `always` it answers only when what it appended is on disk. */
  readonly sync: SyncPolicy;
  readonly minReplicasToWrite: number;
  readonly minReplicasMaxLagSeconds: number;
  readonly program: 'redis' | 'valkey';
  readonly version: string;
  readonly offers: ReadonlySet<string>;
}

const SYNC_POLICIES: readonly SyncPolicy[] = ['always', 'everysec', 'no'];
/** From start to serving. */
const STARTING_MILLIS = { min: 20, max: 60 };
/** What a sync of a healthy disk takes. */
const SYNC_MILLIS = { min: 0.1, max: 0.4 };

/** A connection of a client, or of a replica. */
interface Peer {
  readonly socket: Socket;
  readonly node: string;
  /** The offset behind its last write, for WAIT. */
  written: number;
  /** It waits for WAIT, and what it sent meanwhile waits with it. */
  blocked: boolean;
  readonly unread: RedisRequest[];
  /** Channels of which it wants to hear. */
  readonly channels: Set<string>;
}

/** The settings that a command line gives. */
export function settingsOf(
  command: readonly string[],
  server: Pick<RedisSettings, 'program' | 'version' | 'offers'>,
): RedisSettings {
  const valueOf = (name: string): string | undefined => {
    const at = command.indexOf(`--${name}`);
    return at < 0 ? undefined : command[at + 1];
  };
  return {
    ...server,
    appends: valueOf('appendonly') === 'yes',
    sync: SYNC_POLICIES.find((policy) => policy === valueOf('appendfsync')) ?? 'everysec',
    minReplicasToWrite: Number(valueOf('min-replicas-to-write') ?? 0),
    minReplicasMaxLagSeconds: Number(valueOf('min-replicas-max-lag') ?? 10),
  };
}

export function runRedis(machine: Machine, settings: RedisSettings): void {
  const { process, network, random, spec } = machine;
  process.after(millis(random.real(STARTING_MILLIS.min, STARTING_MILLIS.max)), () => {
    network.listen(spec.name, process, openServer(machine, settings));
  });
}

function openServer(machine: Machine, settings: RedisSettings): Accept {
  const { process, disk, random } = machine;
  const { appended } = disk;
  const keyspace = openKeyspace(settings.appends ? appended.entries : [], settings.offers);
  const append = (changes: readonly Change[]): void => {
    if (settings.appends) appended.write(changes, process.now(), settings.sync);
  };
  const replication: Replication = openReplication(machine, {
    keyspace,
    replaced: () => appended.rewrite(settings.appends ? keyspace.entries : []),
    followed: (changes) => {
      append(changes);
      // A primary hears that it has them after that.
      if (settings.sync === 'always') appended.synced();
    },
  });

  const peers = new Set<Peer>();
  /** What this turn of the event loop brought, and what it will send when it is written. */
  let ready: { readonly peer: Peer; readonly request: RedisRequest }[] = [];
  let busy = false;

  const turn = (): void => {
    if (busy || ready.length === 0) return;
    const now = ready;
    ready = [];
    const outputs: (() => void)[] = [];
    let wrote = false;
    for (const { peer, request } of now) {
      if (peer.blocked) {
        peer.unread.push(request);
        continue;
      }
      wrote = execute(peer, request, outputs) || wrote;
    }
    const send = (): void => {
      for (const output of outputs) output();
      replication.feed();
    };
    if (!wrote || !settings.appends || settings.sync !== 'always') return send();
    busy = true;
    process.after(millis(syncMillis(disk, random.real(SYNC_MILLIS.min, SYNC_MILLIS.max))), () => {
      busy = false;
      appended.synced();
      send();
      turn();
    });
  };

  /** Whether it changed anything. */
  const execute = (peer: Peer, request: RedisRequest, outputs: (() => void)[]): boolean => {
    const [name = '', ...args] = request.words;
    const answer = (reply: RedisReply | RedisError): void => {
      outputs.push(() => peer.socket.send({ kind: 'redis reply', reply }));
    };
    if (name.toUpperCase() === 'WAIT') {
      peer.blocked = true;
      const [count = '0', timeLimit = '0'] = args;
      // Asks its replicas only when the writes before it have been fed.
      outputs.push(() =>
        replication.wait(peer.written, Number(count), Number(timeLimit), (confirmed) => {
          peer.blocked = false;
          peer.socket.send({ kind: 'redis reply', reply: confirmed });
          for (const unread of peer.unread.splice(0)) ready.push({ peer, request: unread });
          turn();
        }),
      );
      return false;
    }
    const about = amongPeers(peer, name.toUpperCase(), args);
    if (about !== undefined) {
      answer(about);
      return false;
    }
    const before = keyspace.changes;
    answer(perform(name.toUpperCase(), args));
    const { changes } = keyspace;
    // The same array: it was no command on keys. One that failed may have changed some all the same.
    if (changes === before || changes.length === 0) return false;
    append(changes);
    peer.written = replication.propagate(changes);
    return true;
  };

  /** What is about connections; undefined: it is not. */
  const amongPeers = (peer: Peer, name: string, args: readonly string[]): RedisReply | undefined => {
    const [first = '', second = ''] = args;
    switch (name) {
      case 'SUBSCRIBE':
        peer.channels.add(first);
        return ['subscribe', first, peer.channels.size];
      case 'PUBLISH': {
        const hearing = [...peers].filter(({ channels }) => channels.has(first));
        for (const { socket } of hearing)
          socket.send({ kind: 'redis reply', reply: ['message', first, second] });
        return hearing.length;
      }
      case 'CLIENT': {
        if (args.join(' ').toUpperCase() !== 'KILL TYPE NORMAL') return undefined;
        const killed = [...peers].filter(
          (other) => other !== peer && other.channels.size === 0 && !replication.feeds(other.socket),
        );
        for (const other of killed) {
          peers.delete(other);
          other.socket.close();
        }
        return killed.length;
      }
      default:
        return undefined;
    }
  };

  const perform = (name: string, args: readonly string[]): RedisReply | RedisError => {
    try {
      const own = administrative(name, args);
      if (own !== undefined) return own;
      if (WRITES.has(name)) {
        if (!replication.leads) throw new RedisError("READONLY You can't write against a read only replica.");
        if (replication.inStep(settings.minReplicasMaxLagSeconds) < settings.minReplicasToWrite)
          throw new RedisError('NOREPLICAS Not enough good replicas to write.');
      }
      return keyspace.execute(Math.floor(process.wallMillis()), name, args);
    } catch (error) {
      if (error instanceof RedisError) return error;
      throw error;
    }
  };

  /** undefined: it is none of these. */
  const administrative = (name: string, args: readonly string[]): RedisReply | undefined => {
    switch (name) {
      case 'COMMAND':
        // Of one command that it does not have: nil.
        return [settings.offers.has(args[1] ?? '') ? [args[1] ?? ''] : null];
      case 'ROLE':
        return [replication.leads ? 'master' : 'slave', replication.offset, []];
      case 'INFO':
        return info(settings, replication);
      case 'REPLICAOF':
        if (args.join(' ').toUpperCase() === 'NO ONE') replication.lead();
        else {
          const primary = machine.nodeAt(args[0] ?? '');
          if (primary === undefined) throw new RedisError('ERR Invalid master host');
          replication.follow(primary);
        }
        return 'OK';
      default:
        return undefined;
    }
  };

  return (socket, node) => {
    const peer: Peer = { socket, node, written: 0, blocked: false, unread: [], channels: new Set() };
    peers.add(peer);
    return {
      message(message) {
        if (message.kind === 'redis command') {
          ready.push({ peer, request: message });
          turn();
        } else if (message.kind === 'probe') socket.send({ kind: 'up' });
        else if (message.kind === 'text') {
          socket.send({ kind: 'text', text: answerText(message.text, perform) });
          socket.close();
        } else if (message.kind === 'replica asks' || message.kind === 'replica is at')
          replication.hear(message, socket, node);
      },
      closed() {
        peers.delete(peer);
        replication.forget(socket);
      },
    };
  };
}

/** Up to QUIT. */
function answerText(
  text: string,
  perform: (name: string, args: readonly string[]) => RedisReply | RedisError,
): string {
  let answer = '';
  for (const [name = '', ...args] of inlineCommands(text)) {
    if (name.toUpperCase() === 'QUIT') return `${answer}+OK\r\n`;
    answer += encodeReply(perform(name.toUpperCase(), args));
  }
  return answer;
}

/** The sections `server` and `replication`. */
function info({ program, version }: RedisSettings, replication: Replication): string {
  const lines =
    program === 'valkey'
      ? ['redis_version:7.2.4', 'server_name:valkey', `valkey_version:${version}`]
      : [`redis_version:${version}`];
  return [...lines, ...replication.info(), ''].join('\r\n');
}
