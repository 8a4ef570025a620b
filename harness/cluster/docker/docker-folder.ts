// Where the scripts of the `docker/` folder are: two levels above the sources in a checkout, one more in the compiled
// package. The only file that knows.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HarnessError } from '../../contract/errors.ts';

/** The path of a script in `docker/`. Throws HarnessError('internal') if the package is incomplete. */
export function dockerScript(name: string): string {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, 'docker', name);
    if (existsSync(path)) return path;
  }
  throw new HarnessError('internal', `docker/${name} is missing from the package`);
}
