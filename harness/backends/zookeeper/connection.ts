// The real connection to an ensemble: node-zookeeper-client, which keeps a session open by itself. What it lacks is made
// up for in `session.ts` and `watch-connection.ts`.

import type { Client } from 'node-zookeeper-client';
import { machineTimer } from '../../clock.ts';
import { loadDriver } from './driver.ts';
import { portsOver } from './port-over.ts';
import type { OpenWire } from './wire.ts';

const openWire: OpenWire = async (servers, { timeoutMillis, spinMillis }) => {
  const { createClient, CreateMode } = await loadDriver();
  const client = createClient(servers.map(({ host, port }) => `${host}:${port}`).join(','), {
    sessionTimeout: timeoutMillis,
    spinDelay: spinMillis,
    retries: 0,
  });
  const modes = {
    persistent: CreateMode.PERSISTENT,
    'ephemeral-sequential': CreateMode.EPHEMERAL_SEQUENTIAL,
  };
  return {
    get sessionId() {
      return client.getSessionId().toString('hex');
    },
    get timeoutMillis() {
      return client.getSessionTimeout();
    },
    on: (event, listener) => void client.on(event, listener),
    connect: () => client.connect(),
    create: (path, mode, answer) => client.create(path, modes[mode], answer),
    remove: (path, answer) => client.remove(path, answer),
    children: (path, answer) => client.getChildren(path, answer),
    exists: (path, answer) =>
      client.exists(path, (error, stat) => {
        // The library has `null` for no such node, whatever its types say.
        if (error || !stat) return answer(error);
        const { czxid, ephemeralOwner } = stat;
        answer(null, { createdBy: czxid.readBigInt64BE(), owner: ephemeralOwner.toString('hex') });
      }),
    // Reading the data leaves no watch behind where there is no node; asking whether it exists does.
    watch: (path, changed, answer) => client.getData(path, changed, answer),
    drop: () => destroySocket(client),
    goodbye: () => sayGoodbye(client),
  };
};

/** Over node-zookeeper-client. */
export const openZooKeeperPort = portsOver(openWire, machineTimer);

/** `close` writes to a socket that the library may not have yet, and throws. */
function sayGoodbye(client: Client): void {
  try {
    client.close();
  } catch {
    // Without a socket there is nobody to say it to.
  }
}

/** The socket is the library's own and not part of its interface; nothing else ends a connection and keeps the session. */
function destroySocket(client: Client): void {
  const manager: unknown = Reflect.get(client, 'connectionManager');
  const socket: unknown =
    typeof manager === 'object' && manager !== null ? Reflect.get(manager, 'socket') : undefined;
  if (hasDestroy(socket)) socket.destroy();
}

function hasDestroy(value: unknown): value is { destroy(): void } {
  return (
    typeof value === 'object' && value !== null && 'destroy' in value && typeof value.destroy === 'function'
  );
}
