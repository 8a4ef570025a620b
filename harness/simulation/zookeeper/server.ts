// A simulated ZooKeeper server as its clients see it: it answers reads from its own tree, which may be behind, and writes
// when they have come back in the log, in the order of each client's requests. One that has lost its leader drops its
// clients, who take their sessions elsewhere. Source: ZooKeeper 3.9, ZooKeeperServer, FinalRequestProcessor.

import { millis } from '../../history/op.ts';
import type { Message } from '../messages.ts';
import type { Accept, Socket } from '../network.ts';
import type { Machine } from '../program.ts';
import { openMember } from './member.ts';
import type { TreeReply, TreeRequest } from './messages.ts';
import { settingsOf } from './settings.ts';
import type { TreeCommand, Written } from './tree.ts';

/** A Java machine, and the log. */
const STARTING_MILLIS = { min: 300, max: 900 };
const VERSION = '3.9.3';
const NOT_SERVING = 'This ZooKeeper instance is not currently serving requests\n';
const NO_NODE: TreeReply = { kind: 'error', error: 'NO_NODE' };

interface Asked {
  readonly request: TreeRequest;
  /** Of a write that has come back. */
  written: Written | undefined;
}

interface Client {
  readonly socket: Socket;
  /** Empty: none yet. */
  session: string;
  readonly asked: Asked[];
}

export function runZooKeeper(machine: Machine): void {
  const { process, network, random, spec } = machine;
  process.after(millis(random.real(STARTING_MILLIS.min, STARTING_MILLIS.max)), () => {
    network.listen(spec.name, process, openServer(machine));
  });
}

function openServer(machine: Machine): Accept {
  const { random, spec } = machine;
  const settings = settingsOf(spec);
  /** Session → its client here. */
  const clients = new Map<string, Client>();
  const watches = new Map<string, Set<Client>>();

  const drop = (session: string): void => {
    clients.get(session)?.socket.close();
    clients.delete(session);
  };
  const member = openMember(machine, {
    settings,
    applied(command) {
      if (command.kind === 'close') drop(command.session);
    },
    stopped() {
      for (const session of clients.keys()) drop(session);
      watches.clear();
    },
  });
  const { tree } = member;
  tree.onDeleted((path) => {
    for (const { socket } of watches.get(path) ?? []) socket.send({ kind: 'zk deleted', path });
    watches.delete(path);
  });

  const greet = (
    client: Client,
    { session, timeoutMillis, zxid }: Extract<Message, { kind: 'zk connect' }>,
  ): void => {
    const { socket } = client;
    // Whoever has seen more than this server has to go elsewhere, so that a session never goes back in time.
    if (!member.isServing || zxid > tree.zxid) return socket.close();
    const welcome = (known: string, granted: number): void => {
      drop(known);
      client.session = known;
      clients.set(known, client);
      member.touch(known);
      socket.send({ kind: 'zk connected', session: known, timeoutMillis: granted });
    };
    if (session === '') {
      const opened = Array.from({ length: 8 }, () => hexByte(random.integer(1, 255))).join('');
      const granted = Math.max(2 * settings.tickMillis, Math.min(settings.sessionMillisMax, timeoutMillis));
      const open: TreeCommand = { kind: 'open', session: opened, timeoutMillis: granted };
      return member.submit(open, () => welcome(opened, granted));
    }
    member.takeOver(session, (isAlive) => {
      if (isAlive) return welcome(session, tree.sessions.get(session) ?? timeoutMillis);
      socket.send({ kind: 'zk connected', session, timeoutMillis: 0 });
      socket.close();
    });
  };

  const take = (client: Client, request: TreeRequest): void => {
    const { session } = client;
    if (session === '') return;
    const asked: Asked = { request, written: undefined };
    client.asked.push(asked);
    member.touch(session);
    const command = commandOf(request, session);
    if (command !== undefined)
      member.submit(command, (written) => {
        asked.written = written;
        answerInOrder(client);
      });
    answerInOrder(client);
  };
  /** A read waits for the writes before it. */
  const answerInOrder = (client: Client): void => {
    for (let [first] = client.asked; first !== undefined; [first] = client.asked) {
      const reply = first.written ?? read(client, first.request);
      if (reply === undefined) return;
      client.asked.shift();
      client.socket.send({ kind: 'zk reply', zxid: tree.zxid, reply });
    }
  };
  /** undefined: it is a write. */
  const read = (client: Client, request: TreeRequest): TreeReply | undefined => {
    switch (request.kind) {
      case 'stat': {
        const stat = tree.stat(request.path);
        return stat === undefined ? NO_NODE : { kind: 'stat', stat };
      }
      case 'children': {
        const children = tree.children(request.path);
        return children === undefined ? NO_NODE : { kind: 'children', children };
      }
      case 'watch': {
        if (tree.stat(request.path) === undefined) return NO_NODE;
        const watchers = watches.get(request.path) ?? new Set();
        watches.set(request.path, watchers.add(client));
        return { kind: 'done' };
      }
      case 'create':
      case 'remove':
      case 'goodbye':
        return undefined;
    }
  };

  /** As to the four-letter command `srvr`. */
  const describe = (): string => {
    if (!member.isServing) return NOT_SERVING;
    const mode = member.leads ? 'leader' : 'follower';
    return `Zookeeper version: ${VERSION}\nZxid: 0x${tree.zxid.toString(16)}\nMode: ${mode}\n`;
  };

  return (socket, node) => {
    const client: Client = { socket, session: '', asked: [] };
    return {
      message(message) {
        if (message.kind === 'zk connect') greet(client, message);
        else if (message.kind === 'zk request') take(client, message.request);
        else if (message.kind === 'probe' && member.isServing) socket.send({ kind: 'up' });
        else if (message.kind === 'probe') socket.close();
        else if (message.kind === 'text') {
          socket.send({ kind: 'text', text: describe() });
          socket.close();
        } else member.hear(message, socket, node);
      },
      closed() {
        member.forget(socket, node);
        if (clients.get(client.session) === client) clients.delete(client.session);
      },
    };
  };
}

/** undefined: it changes nothing. */
function commandOf(request: TreeRequest, session: string): TreeCommand | undefined {
  switch (request.kind) {
    case 'create':
    case 'remove':
      return { ...request, session };
    case 'goodbye':
      return { kind: 'close', session };
    case 'stat':
    case 'children':
    case 'watch':
      return undefined;
  }
}

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
