// The network between nodes, and TCP over it as far as clients notice: what is sent on a connection arrives in order,
// late if packets were lost (they are sent again, ever more rarely), and perhaps after its sender has given up or died,
// because the kernel goes on. Links are bad one way at a time. Latencies and losses are drawn from one stream per link.
// Knows nodes by name and nothing of what is said.

import type { Random } from '../contract/workload.ts';
import { randomStream } from '../rng.ts';
import type { Message } from './messages.ts';
import type { SimulatedProcess } from './process.ts';
import type { Kind, Scheduler } from './scheduler.ts';

/** One end of a connection. */
export interface Socket {
  /** Without effect once it is closed. */
  send(message: Message): void;
  /** Says goodbye behind what was sent. Nothing that arrives afterwards is told. */
  close(): void;
  readonly isOpen: boolean;
}

/** What happens at one end; told while its process runs. */
export interface SocketEvents {
  message(message: Message): void;
  /** The other end is gone, or its process. */
  closed(): void;
}

/** Somebody who serves at a node. Called for each connection, with the end that is here. */
export type Accept = (socket: Socket, peer: string) => SocketEvents;

/** What is wrong with a link, in one direction. Several faults may be in force on it. */
export interface BadLink {
  readonly cut?: true;
  readonly delayMillis?: number;
  /** Part of the packets, 0 to 1. */
  readonly loss?: number;
  /** Part of the packets that overtakes those that `delayMillis` holds back. */
  readonly overtaking?: number;
  /** Part of the packets that arrives twice, which TCP hides. */
  readonly twice?: number;
  /** Milliseconds that the link is busy with one message. */
  readonly busyMillis?: number;
}

export interface Network {
  /** `accept` serves at the node until its process ends. Without anybody who serves there connections are refused. */
  listen(node: string, process: SimulatedProcess, accept: Accept): void;
  /** Opens a connection; `opened` is told the end that is here, or undefined if it was refused. */
  connect(
    from: { readonly node: string; readonly process: SimulatedProcess },
    to: string,
    events: SocketEvents,
    opened: (socket: Socket | undefined) => void,
  ): void;
  /** Makes a link bad until what is returned is called. */
  spoil(from: string, to: string, bad: BadLink): () => void;
  /** A datagram: arrives once or never, or twice on a link that makes it so; `arrived` is told when. */
  datagram(from: string, to: string, arrived: () => void): void;
  /** A message without a connection, which arrives as a datagram does, while the process that hears at its node runs. */
  post(from: string, to: string, message: Message): void;
  /** Lets the process hear what is posted to the node. */
  onPost(node: string, process: SimulatedProcess, heard: (from: string, message: Message) => void): void;
}

/** From sending to arriving, of a link that is well: like a bridge of one machine. */
const LATENCY_MILLIS = { min: 0.03, spread: 0.09 };
/** One message in so many takes much longer, as when the receiver's processor is busy. */
const SLOW = { part: 0.002, millis: 4 };
/** Linux sends again after 200 ms and then waits twice as long each time; a connection request after a second. */
const RETRANSMIT_MILLIS = 200;
const RETRANSMIT_CONNECT_MILLIS = 1_000;

interface Link {
  readonly random: Random;
  readonly bad: Set<BadLink>;
  /** When it has carried what it is busy with. */
  freeAt: number;
}

/** One direction of a connection. */
interface Flow {
  /** undefined: both ends are at one node. */
  readonly link: Link | undefined;
  /** Of what arrives. */
  kind: Kind | undefined;
  /** What has not left yet, because what was sent before it has to be sent again. */
  readonly waiting: (() => void)[];
  lastArrival: number;
}

export function openNetwork(scheduler: Scheduler, seed: string): Network {
  const links = new Map<string, Link>();
  const servers = new Map<string, { readonly process: SimulatedProcess; readonly accept: Accept }>();

  const posts = new Map<
    string,
    { readonly process: SimulatedProcess; readonly heard: (from: string, message: Message) => void }
  >();

  const linkOf = (from: string, to: string): Link => {
    const name = `${from}>${to}`;
    const known = links.get(name);
    if (known !== undefined) return known;
    const link: Link = { random: randomStream(seed, `link ${name}`), bad: new Set(), freeAt: 0 };
    links.set(name, link);
    return link;
  };

  const linkBetween = (from: string, to: string): Link | undefined =>
    from === to ? undefined : linkOf(from, to);

  /** Nanoseconds until it arrives; undefined: the packet is lost. */
  const fate = (link: Link | undefined): number | undefined => {
    if (link === undefined) return 5_000;
    const { random } = link;
    const draw = random.real(0, 1);
    let took = LATENCY_MILLIS.min + LATENCY_MILLIS.spread * -Math.log1p(-draw);
    if (random.real(0, 1) < SLOW.part) took += random.real(0, SLOW.millis);
    for (const { cut, loss = 0, delayMillis = 0, overtaking = 0, busyMillis = 0 } of link.bad) {
      if (cut === true || (loss > 0 && random.real(0, 1) < loss)) return undefined;
      if (delayMillis > 0 && !(overtaking > 0 && random.real(0, 1) < overtaking)) took += delayMillis;
      if (busyMillis > 0) {
        link.freeAt = Math.max(link.freeAt, scheduler.now) + busyMillis * 1e6;
        took += (link.freeAt - scheduler.now) / 1e6;
      }
    }
    return took * 1e6;
  };
  /** Of each copy that arrives. */
  const fates = (link: Link | undefined): readonly number[] => {
    const took = fate(link);
    if (link === undefined || took === undefined) return took === undefined ? [] : [took];
    for (const { twice = 0 } of link.bad)
      if (twice > 0 && link.random.real(0, 1) < twice) return [took, fate(link) ?? took];
    return [took];
  };

  const transmit = (flow: Flow, arrive: () => void): void => {
    if (flow.waiting.length > 0) {
      flow.waiting.push(arrive);
      return;
    }
    const took = fate(flow.link);
    if (took === undefined) {
      flow.waiting.push(arrive);
      again(flow, RETRANSMIT_MILLIS);
    } else arriveIn(flow, took, arrive);
  };
  const arriveIn = (flow: Flow, took: number, arrive: () => void): void => {
    // In order: what was sent first arrives first.
    flow.lastArrival = Math.max(flow.lastArrival, scheduler.now + took);
    scheduler.at(flow.lastArrival, arrive, flow.kind);
  };
  const again = (flow: Flow, waitMillis: number): void => {
    scheduler.at(scheduler.now + waitMillis * 1e6, () => {
      const took = fate(flow.link);
      if (took === undefined) return again(flow, waitMillis * 2);
      for (const arrive of flow.waiting.splice(0)) arriveIn(flow, took, arrive);
    });
  };

  const connect: Network['connect'] = (from, to, events, opened) => {
    const linkThere = linkBetween(from.node, to);
    const there: Flow = { link: linkThere, waiting: [], kind: undefined, lastArrival: 0 };
    const linkBack = linkBetween(to, from.node);
    const back: Flow = { link: linkBack, waiting: [], kind: from.process.kind, lastArrival: 0 };
    const client = openEnd(from.process, events);
    const request = (waitMillis: number): void => {
      const took = fate(linkThere);
      if (took === undefined) {
        scheduler.at(scheduler.now + waitMillis * 1e6, () => request(waitMillis * 2));
        return;
      }
      scheduler.at(scheduler.now + took, () => {
        const server = servers.get(to);
        if (server === undefined || server.process.state === 'ended') {
          answer(() => opened(undefined));
          return;
        }
        // The kernel answers, whatever the process does; it is told of the connection when it runs.
        const serving = openEnd(server.process, undefined);
        there.kind = server.process.kind;
        join(client, serving, there, back);
        serving.process.receive(() => serving.serve(server.accept(serving.socket, from.node)));
        answer(() => opened(client.socket));
      });
    };
    const answer = (settle: () => void): void => {
      transmit(back, () => from.process.receive(settle));
    };
    request(RETRANSMIT_CONNECT_MILLIS);
  };

  const join = (client: End, server: End, there: Flow, back: Flow): void => {
    const wire = (end: End, other: End, flow: Flow): void => {
      end.wire(
        (message) => transmit(flow, () => other.arrive(message)),
        () => transmit(flow, () => other.gone()),
      );
      // Whatever lives of a process that ends is its goodbye, which the kernel says.
      end.process.onEnd(() => end.socket.close());
    };
    wire(client, server, there);
    wire(server, client, back);
  };

  return {
    listen(node, process, accept) {
      servers.set(node, { process, accept });
    },
    connect,
    spoil(from, to, bad) {
      const link = linkOf(from, to);
      const own = { ...bad };
      link.bad.add(own);
      return () => void link.bad.delete(own);
    },
    datagram(from, to, arrived) {
      for (const took of fates(linkBetween(from, to))) scheduler.at(scheduler.now + took, arrived);
    },
    post(from, to, message) {
      const arrive = (): void => {
        const listener = posts.get(to);
        listener?.process.receive(() => listener.heard(from, message));
      };
      for (const took of fates(linkBetween(from, to)))
        scheduler.at(scheduler.now + took, arrive, posts.get(to)?.process.kind);
    },
    onPost(node, process, heard) {
      posts.set(node, { process, heard });
    },
  };
}

interface End {
  readonly socket: Socket;
  readonly process: SimulatedProcess;
  serve(events: SocketEvents): void;
  wire(send: (message: Message) => void, close: () => void): void;
  arrive(message: Message): void;
  gone(): void;
}

function openEnd(process: SimulatedProcess, first: SocketEvents | undefined): End {
  let events = first;
  let isOpen = true;
  let sendOn: ((message: Message) => void) | undefined;
  let closeOn: (() => void) | undefined;
  const read = (message: Message): void => {
    if (isOpen) events?.message(message);
  };
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    closeOn?.();
  };
  return {
    process,
    socket: {
      send(message) {
        if (isOpen) sendOn?.(message);
      },
      close,
      get isOpen() {
        return isOpen;
      },
    },
    serve(serving) {
      events = serving;
    },
    wire(send, closing) {
      sendOn = send;
      closeOn = closing;
    },
    arrive(message) {
      if (process.runs) read(message);
      else process.receive(() => read(message));
    },
    gone() {
      process.receive(() => {
        if (!isOpen) return;
        isOpen = false;
        events?.closed();
      });
    },
  };
}
