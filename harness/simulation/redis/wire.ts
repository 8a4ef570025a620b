// A client's connection to a simulated Redis, in the place of ioredis: replies come in the order of the commands, and a
// connection that breaks rejects what is on its way in that driver's words.

import type { RedisReply } from '../../backends/redis/port.ts';
import type { Dial } from '../../backends/redis/port-over.ts';
import type { Machine } from '../program.ts';

/** As ioredis 6.0.0 says it. */
const CLOSED = 'Connection is closed.';
const NOT_WRITABLE = "Stream isn't writeable and enableOfflineQueue options is false";

interface Waiting {
  readonly resolve: (reply: RedisReply) => void;
  readonly reject: (error: Error) => void;
}

export function simulatedDial({ process, network, spec, nodeAt }: Machine): Dial {
  return ({ host }, timeLimit) =>
    new Promise((resolve) => {
      let given = false;
      const give = (wire: Awaited<ReturnType<Dial>>): void => {
        given = true;
        cancel();
        resolve(wire);
      };
      const cancel = process.after(timeLimit, () => give(undefined));
      let waiting: Waiting[] = [];
      const broke = (): void => {
        for (const { reject } of waiting) reject(new Error(CLOSED));
        waiting = [];
      };
      network.connect(
        { node: spec.name, process },
        nodeAt(host) ?? host,
        {
          message(message) {
            if (message.kind !== 'redis reply') return;
            const next = waiting.shift();
            if (message.reply instanceof Error) next?.reject(message.reply);
            else next?.resolve(message.reply);
          },
          closed: broke,
        },
        (socket) => {
          if (given) return socket?.close();
          if (socket === undefined) return give(undefined);
          const end = (): void => {
            socket.close();
            broke();
          };
          give({
            get isOpen() {
              return socket.isOpen;
            },
            call: (...words) =>
              new Promise<RedisReply>((resolveCall, reject) => {
                if (!socket.isOpen) return reject(new Error(NOT_WRITABLE));
                waiting.push({ resolve: resolveCall, reject });
                socket.send({ kind: 'redis command', words: words.map(String) });
              }),
            destroy: end,
            close: end,
          });
        },
      );
    });
}
