// What one cluster has on the engine: everything it creates carries the session's and the owner's label, and whatever
// carries them can be found and removed again. Used at the end of a cluster, at the start of the next one (what a
// killed run left behind), and by `lockpick clean`. testcontainers' reaper does a part of this from a container of its
// own; it needs an image from a registry and the engine's socket inside a container, so it is not used.

import { setTimeout as delay } from 'node:timers/promises';
import { monotonicOrigin } from '../../clock.ts';
import { HarnessError } from '../../contract/errors.ts';
import { ask, engineStatus, type Engine } from './engine.ts';
import { encodeOwner, lifeOf, lookFor, parseOwner, thisProcess, type Life, type Owner } from './owner.ts';

export const SESSION_LABEL = 'lockpick.session';
const OWNER_LABEL = 'lockpick.owner';

export interface Session {
  readonly name: string;
  readonly owner: Owner | undefined;
  /** Of the owner, as far as it can be seen from here. */
  readonly life: Life;
  readonly containers: readonly string[];
  readonly networks: readonly string[];
}

/** A name no other session has: of this process, at this time. */
export function newSessionName(): string {
  return `${process.pid.toString(36)}-${monotonicOrigin().toString(36).slice(-7)}`;
}

/** The labels of everything this process creates for the session. */
export function sessionLabels(session: string): Record<string, string> {
  return { [SESSION_LABEL]: session, [OWNER_LABEL]: encodeOwner(thisProcess()) };
}

/** Every session that has something on the engine, or the one of that name. */
export async function listSessions(engine: Engine, name?: string): Promise<Session[]> {
  const filters = { label: [name === undefined ? SESSION_LABEL : `${SESSION_LABEL}=${name}`] };
  const [containers, networks] = await Promise.all([
    ask('list containers', engine.docker.listContainers({ all: true, filters })),
    ask('list networks', engine.docker.listNetworks({ filters })),
  ]);
  const self = thisProcess();
  const sessions = new Map<string, Session & { containers: string[]; networks: string[] }>();
  const sessionOf = (
    labels: Readonly<Record<string, string>>,
  ): { containers: string[]; networks: string[] } => {
    const label = labels[SESSION_LABEL] ?? '';
    const known = sessions.get(label);
    if (known !== undefined) return known;
    const owner = parseOwner(labels[OWNER_LABEL]);
    const session = { name: label, owner, life: lifeOf(owner, self, lookFor), containers: [], networks: [] };
    sessions.set(label, session);
    return session;
  };
  for (const { Id, Labels } of containers) sessionOf(Labels).containers.push(Id);
  for (const { Id, Labels } of networks) sessionOf(Labels ?? {}).networks.push(Id);
  return [...sessions.values()];
}

/**
 * Removes what sessions left behind whose owner is surely gone; never touches one that may be alive. Returns a line for
 * each.
 */
export async function sweepDeadSessions(engine: Engine): Promise<readonly string[]> {
  return removeSessions(engine, 'dead');
}

/**
 * Removes the containers, running or not, and networks of the sessions: of `all`, live ones included, or of the `dead`.
 * Tries everything, looks again until nothing is left, then throws the first error. Returns a line for each session.
 */
export async function removeSessions(engine: Engine, which: 'all' | 'dead'): Promise<readonly string[]> {
  const sessions = (await listSessions(engine)).filter(({ life }) => which === 'all' || life === 'dead');
  const outcomes = await Promise.allSettled(sessions.map((session) => removeSession(engine, session)));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return sessions.map(describeSession);
}

/** The same for one session, which may have nothing. */
export async function removeSessionNamed(engine: Engine, name: string): Promise<void> {
  const [session] = await listSessions(engine, name);
  if (session !== undefined) await removeSession(engine, session);
}

/** `session 1x-8yz of process 4711 (dead): 14 containers, 1 networks`. */
export function describeSession({ name, owner, life, containers, networks }: Session): string {
  const process = owner === undefined ? 'an unknown process' : `process ${owner.pid}`;
  return `session ${name} of ${process} (${life}): ${containers.length} containers, ${networks.length} networks`;
}

/** Somebody else may be removing the same thing at the same time; it is gone when it is no longer listed. */
const ROUNDS = 20;
const ROUND_PAUSE_MILLIS = 100;
const GONE = 404;

async function removeSession(engine: Engine, session: Session): Promise<void> {
  let firstError: unknown;
  let left: Session | undefined = session;
  for (let round = 0; round < ROUNDS; round++) {
    if (round > 1) await delay(ROUND_PAUSE_MILLIS);
    const refused = await removeOnce(engine, left);
    firstError ??= refused;
    [left] = await listSessions(engine, session.name);
    if (left === undefined) return;
  }
  // The engine at times counts a member that it has itself removed, until it is restarted. Such a network does no harm;
  // the next start tries again, and says so.
  if (left?.containers.length === 0) return;
  throw new HarnessError('environment', `session ${session.name} could not be removed from the engine`, {
    remedy: 'try lockpick clean, or restart the engine',
    cause: firstError,
  });
}

/** Containers first: a network with a member cannot be removed. */
async function removeOnce(engine: Engine, { containers, networks }: Session): Promise<unknown> {
  const removals = await Promise.allSettled(
    containers.map((id) =>
      ask('remove a container', engine.docker.getContainer(id).remove({ force: true, v: true })),
    ),
  );
  const more = await Promise.allSettled(
    networks.map((id) => ask('remove a network', engine.docker.getNetwork(id).remove())),
  );
  return [...removals, ...more]
    .filter((outcome) => outcome.status === 'rejected')
    .map((outcome): unknown => outcome.reason)
    .find((reason) => engineStatus(reason) !== GONE);
}
