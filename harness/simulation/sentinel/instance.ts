// One server as a simulated Sentinel sees it: a connection for commands and one for what is published, what it last said
// of itself, and since when it does not answer. Nothing is decided here but whether it is down for this Sentinel. Source:
// Redis 8.0, sentinel.c (sentinelReconnectInstance, sentinelSendPeriodicCommands, sentinelCheckSubjectivelyDown).

import type { RedisReply } from '../../backends/redis/port.ts';
import type { Message } from '../messages.ts';
import type { Socket } from '../network.ts';
import type { Machine } from '../program.ts';
import { RedisError } from '../redis/keyspace.ts';
import { HELLO_CHANNEL } from './hello.ts';

/** Milliseconds, by the wall clock of the Sentinel, as everything here. */
export const PERIOD = { ping: 1_000, info: 10_000, publish: 2_000 } as const;
const RECONNECT_AGAIN_MILLIS = 15_000;

export type Kind = 'primary' | 'replica' | 'sentinel';

/** What a server said of itself in INFO. */
export interface Said {
  readonly role: 'primary' | 'replica';
  /** Of a primary: addresses of its replicas. */
  readonly replicas: readonly string[];
  /** Of a replica. */
  readonly primary: string;
  readonly linkUp: boolean;
  /** For how long it has had no link. */
  readonly linkDownMillis: number;
  readonly offset: number;
}

export interface Instance {
  readonly address: string;
  readonly kind: Kind;
  readonly isConnected: boolean;
  readonly said: Said | undefined;
  /** When `said` was said. */
  readonly saidAt: number;
  /** Since when it says that it has this role, and that it follows this primary. */
  readonly roleSince: number;
  readonly followsSince: number;
  readonly lastAvailable: number;
  /** 0: it is not down. */
  readonly downSince: number;
  /** When it was found down last, though it may be back. */
  readonly lastDown: number;
  /** Without effect if there is no connection. `answer` is not told of errors, nor of a connection that breaks. */
  send(words: readonly string[], answer?: (reply: RedisReply) => void): void;
  /** Once every turn of the Sentinel's clock. `hello`: what to publish; `hurried`: it is asked for INFO more often. */
  tick(hello: string, hurried: boolean): void;
  publishSoon(): void;
  /** Whether it is down. */
  judge(): void;
  close(): void;
}

export function openInstance(
  { process, network, spec, nodeAt }: Machine,
  {
    address,
    kind,
    downAfterMillis,
  }: { readonly address: string; readonly kind: Kind; readonly downAfterMillis: () => number },
  { onSaid, onHello }: { readonly onSaid: () => void; readonly onHello: (hello: string) => void },
): Instance {
  const now = (): number => Math.floor(process.wallMillis());
  const node = nodeAt(address) ?? address;
  let isClosed = false;
  let commands: Socket | undefined;
  let published: Socket | undefined;
  let waiting: ((reply: RedisReply) => void)[] = [];
  let connectedAt = 0;
  let triedAt = -Infinity;
  let isAskingInfo = false;
  let lastPublished = 0;
  let lastPing = 0;
  let lastPong = now();
  /** When the first PING left that was not answered; 0: none. */
  let unansweredSince = 0;
  let lastHeard = now();
  let said: Said | undefined;
  let saidAt = 0;
  let roleSince = now();
  let followsSince = now();
  let lastAvailable = now();
  let downSince = 0;
  let lastDown = 0;

  const lose = (): void => {
    commands?.close();
    commands = undefined;
    waiting = [];
    isAskingInfo = false;
  };
  const connect = (
    opened: (socket: Socket) => void,
    events: { hear(message: Message): void; lost(): void },
  ): void =>
    network.connect(
      { node: spec.name, process },
      node,
      { message: (message) => events.hear(message), closed: () => events.lost() },
      (socket) => {
        if (isClosed) return socket?.close();
        if (socket !== undefined) opened(socket);
      },
    );
  const reconnect = (): void => {
    if (now() - triedAt < PERIOD.ping) return;
    triedAt = now();
    if (commands === undefined)
      connect(
        (socket) => {
          lose();
          commands = socket;
          connectedAt = now();
          unansweredSince = 0;
          ping();
        },
        {
          hear(message) {
            if (message.kind !== 'redis reply') return;
            const answer = waiting.shift();
            if (!(message.reply instanceof RedisError)) answer?.(message.reply);
          },
          lost: lose,
        },
      );
    if (published === undefined && kind !== 'sentinel')
      connect(
        (socket) => {
          published?.close();
          published = socket;
          lastHeard = now();
          socket.send({ kind: 'redis command', words: ['SUBSCRIBE', HELLO_CHANNEL] });
        },
        {
          hear(message) {
            lastHeard = now();
            if (message.kind !== 'redis reply' || !Array.isArray(message.reply)) return;
            const [what, , hello] = message.reply;
            if (what === 'message' && typeof hello === 'string') onHello(hello);
          },
          lost: () => (published = undefined),
        },
      );
  };

  const send: Instance['send'] = (words, answer) => {
    if (commands === undefined) return;
    waiting.push((reply) => answer?.(reply));
    commands.send({ kind: 'redis command', words });
  };
  const ping = (): void => {
    lastPing = now();
    if (unansweredSince === 0) unansweredSince = now();
    send(['PING'], (reply) => {
      lastPong = now();
      if (reply !== 'PONG') return;
      lastAvailable = now();
      unansweredSince = 0;
    });
  };
  const hearInfo = (text: string): void => {
    isAskingInfo = false;
    const before = said;
    said = readInfo(text);
    saidAt = now();
    if (said.role !== (before?.role ?? (kind === 'primary' ? 'primary' : 'replica'))) roleSince = saidAt;
    if (said.primary !== before?.primary) followsSince = saidAt;
    onSaid();
  };

  return {
    address,
    kind,
    get isConnected() {
      return commands !== undefined;
    },
    get said() {
      return said;
    },
    get saidAt() {
      return saidAt;
    },
    get roleSince() {
      return roleSince;
    },
    get followsSince() {
      return followsSince;
    },
    get lastAvailable() {
      return lastAvailable;
    },
    get downSince() {
      return downSince;
    },
    get lastDown() {
      return lastDown;
    },
    send,
    tick(hello, hurried) {
      reconnect();
      if (commands === undefined) return;
      const infoPeriod =
        hurried || (kind === 'replica' && said?.linkUp === false) ? PERIOD.ping : PERIOD.info;
      if (kind !== 'sentinel' && !isAskingInfo && now() - saidAt > infoPeriod) {
        isAskingInfo = true;
        send(['INFO'], (reply) => hearInfo(String(reply)));
      }
      const pingPeriod = Math.min(downAfterMillis(), PERIOD.ping);
      if (now() - lastPong > pingPeriod && now() - lastPing > pingPeriod / 2) ping();
      if (now() - lastPublished > PERIOD.publish) {
        lastPublished = now();
        send(['PUBLISH', HELLO_CHANNEL, hello]);
      }
    },
    publishSoon() {
      lastPublished = 0;
    },
    judge() {
      const limit = downAfterMillis();
      const silentMillis =
        unansweredSince !== 0 ? now() - unansweredSince : commands === undefined ? now() - lastAvailable : 0;
      // A connection on which nothing comes back is tried anew.
      if (
        commands !== undefined &&
        now() - connectedAt > RECONNECT_AGAIN_MILLIS &&
        unansweredSince !== 0 &&
        now() - unansweredSince > limit / 2 &&
        now() - lastPong > limit / 2
      )
        lose();
      if (published !== undefined && now() - lastHeard > PERIOD.publish * 3) {
        published.close();
        published = undefined;
      }
      const isDemoted =
        kind === 'primary' && said?.role === 'replica' && now() - roleSince > limit + PERIOD.info * 2;
      if (silentMillis <= limit && !isDemoted) downSince = 0;
      else if (downSince === 0) downSince = lastDown = now();
    },
    close() {
      isClosed = true;
      lose();
      published?.close();
    },
  };
}

function readInfo(text: string): Said {
  const fields = new Map(
    text.split('\r\n').map((line): [string, string] => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
  const field = (name: string): string => fields.get(name) ?? '';
  const isPrimary = field('role') === 'master';
  return {
    role: isPrimary ? 'primary' : 'replica',
    replicas: [...text.matchAll(/^slave\d+:ip=([^,]+),/gm)].map(([, host = '']) => host),
    primary: field('master_host'),
    linkUp: isPrimary || field('master_link_status') === 'up',
    linkDownMillis: Math.max(0, Number(field('master_link_down_since_seconds'))) * 1_000,
    offset: Number(isPrimary ? field('master_repl_offset') : field('slave_repl_offset')),
  };
}
