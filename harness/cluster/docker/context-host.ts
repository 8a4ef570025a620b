// The engine of the docker command's current context (`docker context use …`; Colima and Docker Desktop set one).
// testcontainers does not look there, and images are built through the docker command: both must mean one engine.
// Layout of the context store: docker/cli, cli/context/store (metadata in meta/<sha256 of the name>/meta.json).

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

const configSchema = z.object({ currentContext: z.string().optional() });
const contextSchema = z.object({ Endpoints: z.object({ docker: z.object({ Host: z.string() }) }) });

/**
 * The socket address of the current context; undefined: the default context, or one that is not a local socket (that
 * may need certificates, which DOCKER_HOST alone does not carry).
 */
export function contextHost(environment: NodeJS.ProcessEnv): string | undefined {
  const folder = environment['DOCKER_CONFIG'] ?? join(homedir(), '.docker');
  const name =
    environment['DOCKER_CONTEXT'] ?? read(join(folder, 'config.json'), configSchema)?.currentContext;
  if (name === undefined || name === '' || name === 'default') return undefined;
  const digest = createHash('sha256').update(name).digest('hex');
  const host = read(join(folder, 'contexts', 'meta', digest, 'meta.json'), contextSchema)?.Endpoints.docker
    .Host;
  return host?.startsWith('unix://') === true ? host : undefined;
}

function read<T>(path: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
  } catch {
    return undefined;
  }
}
