// A client of a simulated ensemble, in the place of node-zookeeper-client, and with that library's ways (read in 1.1.3): it
// goes from one server to the next, takes its session with it, holds requests back while it is not connected, and never
// notices that a server has fallen silent. Watches end with their connection, where the library would set them again.

import { millis } from '../../history/op.ts';
import type { OpenWire, Server, ZooKeeperError } from '../../backends/zookeeper/wire.ts';
import type { Message } from '../messages.ts';
import type { Socket } from '../network.ts';
import type { Machine } from '../program.ts';
import type { TreeReply, TreeRequest } from './messages.ts';

type State = 'disconnected' | 'connecting' | 'connected' | 'closing' | 'expired' | 'closed';
type Event = 'connected' | 'disconnected' | 'expired';

interface Waiting {
  readonly request: TreeRequest;
  readonly answer: (error: ZooKeeperError | null, reply?: TreeReply) => void;
}

const CONNECTION_LOSS: ZooKeeperError = { name: 'CONNECTION_LOSS' };
const SESSION_EXPIRED: ZooKeeperError = { name: 'SESSION_EXPIRED' };
/** What the library has no name for is to us a lost connection (`backends/zookeeper/driver.ts`). */
const UNKNOWN_TO_THE_LIBRARY = 'SESSION_MOVED';

export function simulatedWires(machine: Machine): OpenWire {
  return (servers, options) => Promise.resolve(openWire(machine, servers, options));
}

function openWire(
  { process, network, random, spec, nodeAt }: Machine,
  given: readonly Server[],
  options: Parameters<OpenWire>[1],
): Awaited<ReturnType<OpenWire>> {
  // In an order of its own, so that not every client begins with the same server.
  const servers = given
    .map((server) => ({ server, place: random.real(0, 1) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ server }) => server);
  const listeners: Record<Event, (() => void)[]> = { connected: [], disconnected: [], expired: [] };
  const watches = new Map<string, (() => void)[]>();
  /** Not sent yet, and sent. */
  const held: Waiting[] = [];
  const sent: Waiting[] = [];
  let state: State = 'disconnected';
  let session = '';
  let timeoutMillis: number = options.timeoutMillis;
  let zxid = 0n;
  let socket: Socket | undefined;
  let next = 0;
  let attempts = 0;
  /** What listeners were told last; the library tells nothing twice. */
  let told: Event = 'disconnected';
  /** Grows with each connection, so that what belongs to an earlier one is not heard any more. */
  let turn = 0;
  let isDialled = false;

  const tell = (event: Event): void => {
    if (told === event) return;
    told = event;
    for (const listener of listeners[event]) listener();
  };

  const connect = (): void => {
    state = 'connecting';
    isDialled = false;
    const own = (turn += 1);
    const dial = (): void => {
      if (own !== turn || state !== 'connecting') return;
      isDialled = true;
      const server = servers[next % servers.length];
      next += 1;
      const { host } = server ?? { host: '' };
      // Short enough that all of them can be tried.
      const cancel = process.after(millis(Math.floor(timeoutMillis / servers.length)), () => lost(own));
      network.connect(
        { node: spec.name, process },
        nodeAt(host) ?? host,
        {
          message(message) {
            if (own === turn) hear(message);
          },
          closed: () => lost(own),
        },
        (opened) => {
          cancel();
          if (own !== turn) return opened?.close();
          if (opened === undefined) return lost(own);
          socket = opened;
          opened.send({ kind: 'zk connect', session, timeoutMillis, zxid });
        },
      );
    };
    if (attempts < servers.length) {
      attempts += 1;
      process.after(millis(0), dial);
    } else {
      attempts = 0;
      process.after(millis(random.real(0, options.spinMillis)), dial);
    }
  };

  /** The connection has ended, from here or from there. */
  const lost = (own: number): void => {
    if (own !== turn) return;
    turn += 1;
    isDialled = false;
    socket?.close();
    socket = undefined;
    watches.clear();
    const error = state === 'expired' ? SESSION_EXPIRED : CONNECTION_LOSS;
    const goesOn = state !== 'expired' && state !== 'closing';
    state = goesOn ? 'disconnected' : 'closed';
    for (const { answer } of sent.splice(0)) answer(error);
    tell('disconnected');
    if (goesOn) connect();
  };

  const hear = (message: Message): void => {
    if (message.kind === 'zk connected') {
      if (message.timeoutMillis <= 0) {
        state = 'expired';
        return tell('expired');
      }
      ({ session, timeoutMillis } = message);
      attempts = 0;
      state = 'connected';
      tell('connected');
      for (const request of held.splice(0)) send(request);
    } else if (message.kind === 'zk reply') {
      zxid = message.zxid;
      const first = sent.shift();
      const { reply } = message;
      if (reply.kind !== 'error') first?.answer(null, reply);
      else first?.answer(reply.error === UNKNOWN_TO_THE_LIBRARY ? CONNECTION_LOSS : { name: reply.error });
    } else if (message.kind === 'zk deleted') {
      const changed = watches.get(message.path) ?? [];
      watches.delete(message.path);
      for (const listener of changed) listener();
    }
  };

  const send = (waiting: Waiting): void => {
    sent.push(waiting);
    socket?.send({ kind: 'zk request', request: waiting.request });
  };
  const ask = (request: TreeRequest, answer: Waiting['answer']): void => {
    if (state === 'connected') send({ request, answer });
    else if (state === 'closed' || state === 'closing') answer(CONNECTION_LOSS);
    else if (state === 'expired') answer(SESSION_EXPIRED);
    else held.push({ request, answer });
  };

  return {
    get sessionId() {
      return session;
    },
    get timeoutMillis() {
      return timeoutMillis;
    },
    on: (event, listener) => void listeners[event].push(listener),
    connect,
    create: (path, mode, answer) =>
      ask({ kind: 'create', path, mode }, (error, reply) =>
        answer(error, reply?.kind === 'created' ? reply.path : undefined),
      ),
    remove: (path, answer) => ask({ kind: 'remove', path }, answer),
    children: (path, answer) =>
      ask({ kind: 'children', path }, (error, reply) =>
        answer(error, reply?.kind === 'children' ? reply.children : undefined),
      ),
    // The library turns the error into no value.
    exists: (path, answer) =>
      ask({ kind: 'stat', path }, (error, reply) =>
        answer(error?.name === 'NO_NODE' ? null : error, reply?.kind === 'stat' ? reply.stat : undefined),
      ),
    watch: (path, changed, answer) =>
      ask({ kind: 'watch', path }, (error, reply) => {
        if (error === null) watches.set(path, [...(watches.get(path) ?? []), changed]);
        answer(error, reply);
      }),
    drop: () => {
      if (isDialled) lost(turn);
    },
    goodbye: () => {
      if (state === 'connected') send({ request: { kind: 'goodbye' }, answer: () => undefined });
      state = 'closing';
    },
  };
}
