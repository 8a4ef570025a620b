// `lockpick clean`: removes containers and networks that carry our label.

import { EXIT_CODE } from '../contract/errors.ts';
import { findEngine } from '../cluster/docker/engine.ts';
import { listSessions, removeSessions, sweepDeadSessions } from '../cluster/docker/session.ts';

export async function cleanCommand(flags: { dead?: boolean }): Promise<number> {
  const engine = await findEngine();
  const sessions = flags.dead === true ? await sweepDeadSessions(engine) : await listSessions(engine);
  if (flags.dead !== true) await removeSessions(engine, sessions);
  if (sessions.length === 0) process.stdout.write('nothing of ours was left\n');
  for (const { name, life, containers, networks } of sessions)
    process.stdout.write(
      `removed session ${name} (its process: ${life}): ${containers.length} containers, ${networks.length} networks\n`,
    );
  return EXIT_CODE.ok;
}
