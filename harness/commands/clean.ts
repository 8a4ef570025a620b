// `lockpick clean`: removes containers and networks that carry our label.

import { EXIT_CODE } from '../contract/errors.ts';
import { findEngine } from '../cluster/docker/engine.ts';
import { removeSessions } from '../cluster/docker/session.ts';

export async function cleanCommand(flags: { dead?: boolean }): Promise<number> {
  const removed = await removeSessions(await findEngine(), flags.dead === true ? 'dead' : 'all');
  if (removed.length === 0) process.stdout.write('nothing of ours was left\n');
  for (const session of removed) process.stdout.write(`removed ${session}\n`);
  return EXIT_CODE.ok;
}
