// Finds the Docker engine and puts questions to it. testcontainers does the finding (DOCKER_HOST, the usual sockets,
// Docker Desktop, rootless); from there on its dockerode is used directly, see `docker-cluster.ts` for the reason.
// testcontainers takes some 0.3 s to load, so nothing may import it before a command needs an engine.

import { constants, accessSync, existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { relative } from 'node:path';
import type { ContainerRuntimeClient } from 'testcontainers';
import { HarnessError, messageOf } from '../../contract/errors.ts';
import { millis, type Millis } from '../../history/op.ts';
import { contextHost } from './context-host.ts';
import { dockerScript } from './docker-folder.ts';
import { LATE, withinLimit } from './time-limit.ts';

type Docker = ContainerRuntimeClient['container']['dockerode'];
export type Container = ReturnType<Docker['getContainer']>;

export interface Engine {
  readonly docker: Docker;
  /** Pulls an image with the user's registry credentials. Rejects with the registry's complaint. */
  pull(reference: string): Promise<void>;
}

/** An engine that refuses the connection is known at once; only one that swallows it takes this long. */
const FIND_TIME_LIMIT = millis(5_000);
/** No single question takes this long unless the engine hangs. */
const CALL_TIME_LIMIT = millis(60_000);
const USUAL_SOCKET = '/var/run/docker.sock';

/** The engine that the docker command would talk to. Throws HarnessError('environment') with the remedy. */
export async function findEngine(): Promise<Engine> {
  const wanted = process.env['DOCKER_HOST'] ?? contextHost(process.env);
  // In the environment, so that the docker command of `images.ts` takes the same one.
  if (wanted !== undefined) process.env['DOCKER_HOST'] = wanted;
  const { getContainerRuntimeClient, ImageName } = await import('testcontainers');
  let client: ContainerRuntimeClient | typeof LATE;
  try {
    client = await withinLimit(getContainerRuntimeClient(), FIND_TIME_LIMIT);
  } catch (error) {
    throw noEngine(messageOf(error));
  }
  if (client === LATE) throw noEngine(`nothing within ${FIND_TIME_LIMIT} ms`);
  const docker = client.container.dockerode;
  // Where the asked-for socket does not answer testcontainers goes on to the usual ones: another engine than asked.
  if (wanted?.startsWith('unix://') === true && socketOf(docker) !== new URL(wanted).pathname)
    throw noEngine(`only another one does, at ${socketOf(docker)}`);
  const { image } = client;
  return { docker, pull: (reference) => image.pull(ImageName.fromString(reference)) };
}

/** The engine's version, interface and platform in one line, for provenance. */
export async function describeEngine(engine: Engine): Promise<string> {
  const { Version, ApiVersion, Os, Arch, KernelVersion } = await ask(
    'tell its version',
    engine.docker.version(),
  );
  return `Docker ${Version} (API ${ApiVersion}, ${Os}/${Arch}, kernel ${KernelVersion})`;
}

function socketOf(docker: Docker): string {
  const modem: unknown = docker.modem;
  if (typeof modem !== 'object' || modem === null || !('socketPath' in modem)) return 'none';
  return String(modem.socketPath);
}

function noEngine(detail: string): HarnessError {
  const host = process.env['DOCKER_HOST'];
  if (host !== undefined)
    return new HarnessError('environment', `no Docker engine answers at ${host}`, {
      remedy: 'start it, or choose another with DOCKER_HOST or docker context use',
      detail,
    });
  if (existsSync(USUAL_SOCKET) && !mayUse(USUAL_SOCKET)) {
    const { username } = userInfo();
    return new HarnessError('environment', `user ${username} may not talk to the Docker engine`, {
      remedy: `sudo usermod -aG docker ${username}, then log in again`,
      detail,
    });
  }
  return new HarnessError('environment', 'no Docker engine answers on this machine', {
    remedy: existsSync('/etc/debian_version')
      ? `sudo bash ${relative(process.cwd(), dockerScript('engine.sh'))} start`
      : 'start Docker, or install it: https://docs.docker.com/engine/install/',
    detail,
  });
}

function mayUse(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The engine's answer to one question. Throws HarnessError('environment') that says what was asked, with the engine's
 * own error as its cause (see `engineStatus`), or that no answer came within the time limit.
 */
export async function ask<T>(
  what: string,
  answer: Promise<T>,
  timeLimit: Millis = CALL_TIME_LIMIT,
): Promise<T> {
  let result: T | typeof LATE;
  try {
    result = await withinLimit(answer, timeLimit);
  } catch (error) {
    const gone = /no such container/i.test(messageOf(error));
    throw new HarnessError('environment', `the Docker engine could not ${what}: ${messageOf(error).trim()}`, {
      ...(gone && { remedy: 'who removed it? A run needs its containers until it ends' }),
      cause: error,
    });
  }
  if (result === LATE)
    throw new HarnessError('environment', `the Docker engine did not ${what} within ${timeLimit} ms`);
  return result;
}

/** The HTTP status with which the engine refused, of its own error or of one thrown by `ask`. */
export function engineStatus(error: unknown): number | undefined {
  if (error instanceof HarnessError) return engineStatus(error.cause);
  const status: unknown =
    typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' ? status : undefined;
}
