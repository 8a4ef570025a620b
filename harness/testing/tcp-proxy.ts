// A TCP proxy that misbehaves on request, to show what a client makes of a network that does: replies that are lost or
// late, connections reset with a request in flight.

import { connect, createServer, type Socket } from 'node:net';

/**
 * `pass`: as if it were not there. `swallow-replies`: requests arrive, replies do not. `delay-replies`: they come late.
 * `reset-on-reply`: the request was answered, but the client sees its connection reset. `reset-on-request`: the request
 * never arrives, and the client sees the same. `hold-requests`: they arrive when `deliver` is called, whatever the client
 * does meanwhile. `cut`: nothing passes either way, and nobody is told; connections that were open are closed when that ends.
 */
export type Behaviour =
  | {
      readonly kind:
        'pass' | 'cut' | 'swallow-replies' | 'reset-on-reply' | 'reset-on-request' | 'hold-requests';
    }
  | { readonly kind: 'delay-replies'; readonly milliseconds: number };

export interface TcpProxy extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** For what passes from now on, on old connections too. */
  behave(behaviour: Behaviour): void;
  /** What was held. */
  deliver(): void;
  /** How many connections were opened so far. */
  readonly connections: number;
}

export async function startTcpProxy(target: {
  readonly host: string;
  readonly port: number;
}): Promise<TcpProxy> {
  let behaviour: Behaviour = { kind: 'pass' };
  let connections = 0;
  const sockets = new Set<Socket>();
  const held: (() => void)[] = [];
  const server = createServer((client) => {
    connections += 1;
    const upstream = connect({ host: target.host, port: target.port });
    let underway = 0;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (bytes) => {
      if (behaviour.kind === 'reset-on-request') client.resetAndDestroy();
      else if (behaviour.kind === 'hold-requests') {
        underway += 1;
        held.push(() => {
          underway -= 1;
          upstream.write(bytes);
          if (client.destroyed && underway === 0) upstream.end();
        });
      } else if (behaviour.kind !== 'cut') upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      switch (behaviour.kind) {
        case 'pass':
        case 'reset-on-request':
        case 'hold-requests':
          client.write(bytes);
          break;
        case 'delay-replies':
          setTimeout(() => client.write(bytes), behaviour.milliseconds);
          break;
        case 'reset-on-reply':
          client.resetAndDestroy();
          break;
        case 'swallow-replies':
        case 'cut':
          break;
      }
    });
    // A cut hides the end of the other side as well.
    client.on('close', () => {
      if (underway === 0 && behaviour.kind !== 'cut') upstream.destroy();
    });
    upstream.on('close', () => {
      if (behaviour.kind !== 'cut') client.destroy();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
  return {
    host: '127.0.0.1',
    port: address.port,
    behave: (next) => {
      // What was lost cannot be sent again, so an old connection would never make sense any more.
      if (behaviour.kind === 'cut' && next.kind !== 'cut') for (const socket of sockets) socket.destroy();
      behaviour = next;
    },
    deliver: () => {
      for (const send of held.splice(0)) send();
    },
    get connections() {
      return connections;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
