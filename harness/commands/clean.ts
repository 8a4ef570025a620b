// `lockpick clean`: removes containers and networks that carry our label.

import { EXIT_CODE } from '../contract/errors.ts';
import { connectEngine } from '../cluster/docker/engine.ts';
import { removeSessions, sweepDeadSessions } from '../cluster/docker/session.ts';

export async function cleanCommand(flags: { dead?: boolean }): Promise<number> {
  const engine = await connectEngine();
  const removed = flags.dead === true ? await sweepDeadSessions(engine) : await removeSessions(engine, 'all');
  process.stdout.write(
    removed.length === 0
      ? 'nothing of ours was left\n'
      : `removed:\n${removed.map((name) => `  ${name}\n`).join('')}`,
  );
  return EXIT_CODE.ok;
}
