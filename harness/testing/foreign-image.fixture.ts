// An image of Redis that is not ours, for tests of `--image`: nothing in it but the server and its libraries (no shell,
// no firewall, no client), another entry point and another user than in ours. Built from ours, since no registry may be
// in reach.

import { execFileSync } from 'node:child_process';
import { findEngine } from '../cluster/docker/engine.ts';
import { ensureImages } from '../cluster/docker/images.ts';

const REFERENCE = 'lockpick-test/foreign-redis:1';
const TIME_LIMIT_MILLIS = 60_000;

function dockerfile(ours: string): string {
  return `
FROM ${ours} AS ours
USER root
RUN mkdir -p /only/data && cp -L --parents /usr/bin/redis-server $(ldd /usr/bin/redis-server | grep -o '/[^ ]*') /only
FROM scratch
COPY --from=ours /only /
WORKDIR /data
ENTRYPOINT ["/usr/bin/redis-server", "--protected-mode", "no"]
`;
}

/** Its reference; disposing removes it. */
export async function foreignRedisImage(): Promise<{ readonly reference: string } & Disposable> {
  const { redis } = await ensureImages(await findEngine(), { names: ['redis'] });
  docker(['build', '-q', '-t', REFERENCE, '-'], dockerfile(redis?.reference ?? ''));
  return { reference: REFERENCE, [Symbol.dispose]: () => docker(['rmi', '-f', REFERENCE], '') };
}

function docker(args: readonly string[], input: string): void {
  execFileSync('docker', args, { input, timeout: TIME_LIMIT_MILLIS, stdio: ['pipe', 'ignore', 'pipe'] });
}
