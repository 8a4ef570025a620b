// The fault `disk-full`: the file system on which a server keeps its data has no room left. The server's data folder is
// one of limited size that it shares with its sandbox; a file that takes all that is left is put there, and removed
// later. Proved by a write to it that is refused for lack of room. Many servers end when that happens; healed it is
// when there is room again and the server, started again if it had ended, answers.

import { monotonicClock, monotonicOrigin } from '../../clock.ts';
import type { Node } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import type { NodeFaultKind } from '../../contract/fault.ts';
import { millis } from '../../history/op.ts';
import { notApplicable } from './not-applicable.ts';
import { restartServer, type RestartOptions } from './restart.ts';
import { millisSince, putInForce } from './scope.ts';

const TIME_LIMIT = millis(20_000);
const READY_TIME_LIMIT = millis(30_000);
const FILLER = 'lockpick-filler';
/** $1 the folder. `cat` ends when there is no room; so does what is tried then. */
const FILL = `cat /dev/zero >"$1/${FILLER}" 2>/dev/null
echo x 2>/dev/null >"$1/${FILLER}-more" && exit 1
df --output=avail -B1 "$1" | tail -1`;
const EMPTY = `rm -f "$1/${FILLER}" "$1/${FILLER}-more" && echo x >"$1/${FILLER}" && rm "$1/${FILLER}"`;

/** Acts in about 0.1 s. */
export function diskFullFault(options: RestartOptions = {}): NodeFaultKind {
  const clock = monotonicClock(monotonicOrigin());
  return {
    name: 'disk-full',
    summary: "leaves no room on a server's disk, and starts it again later if it ended of that",
    hurts: 'resources',
    inject: async (node) => {
      const folder = node.spec.sharedFolders?.find(({ holds }) => holds === 'disk')?.path;
      if (folder === undefined)
        return notApplicable(`no folder is known in which a server like ${node.name} may run out of room`);
      const began = clock.now();
      return putInForce(
        async () => {
          const { exitCode, stdout } = await inFolder(node, FILL, folder);
          if (exitCode !== 0) return undefined;
          return { folder, freeBytes: Number(stdout), provedMillis: millisSince(clock, began) };
        },
        async () => {
          const { exitCode, stderr } = await inFolder(node, EMPTY, folder);
          if (exitCode !== 0)
            throw new HarnessError('environment', `the disk of node ${node.name} is still full`, {
              detail: stderr,
            });
          const healing = clock.now();
          const ended = (await node.state()).kind === 'exited';
          if (ended) await restartServer(node, { clock, exitedAt: began }, options);
          else await node.ready(READY_TIME_LIMIT);
          return { ended, readyMillis: millisSince(clock, healing) };
        },
      );
    },
  };
}

function inFolder(node: Node, script: string, folder: string): ReturnType<Node['execInSandbox']> {
  return node.execInSandbox(['bash', '-c', script, 'disk', folder], TIME_LIMIT);
}
