// `lockpick init`: a config file, a workflow and an example test for the user's project. Writes all of them or none, and
// never over a file that is there.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_CODE, HarnessError } from '../contract/errors.ts';
import { writeFile } from '../stored/results.ts';

const CONFIG = `import { defineConfig } from 'lockpick';

// A flag wins over a LOCKPICK_ variable, and that over this file. Every key: npx lockpick run --help
export default defineConfig({
  // A lock library of your own: see docs/test-your-own-lock.md of lockpick.
  // adapters: ['./my-lock.ts'],

  // What \`npx lockpick run\` runs. Without it, and with an adapter: every fault of its servers.
  cells: ['redis-single/fenced-incr/pause-holder'],
  seeds: 1,
  timeLimit: '10s',
});
`;

const TEST = `// Tortures the lock for some seconds: node --test lock-torture.mjs
// Needs a Docker engine; \`npx lockpick doctor\` says what is missing.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

test('the lock is as safe as theory says', { timeout: 600_000 }, () => {
  const { status, stdout, stderr } = spawnSync('npx', ['lockpick', 'run', '--json', '--quiet'], {
    encoding: 'utf8',
  });
  // 0: every run came out as expected. 64, 69 and 70 are not about the lock: wrong input, surroundings, a bug.
  assert.equal(status, 0, stderr + stdout);
  for (const line of stdout.trim().split('\\n')) {
    const { grade, power } = JSON.parse(line);
    assert.notEqual(grade, 'inconclusive');
    assert.ok(power.contendedHandoffs > 0);
  }
});
`;

const WORKFLOW = `name: lockpick
on:
  pull_request:
  schedule:
    - cron: '17 3 * * *'
jobs:
  torture:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v5
        with:
          node-version: 24
      - run: npm ci
      # Another seed every night, the same one all day; the log and the report name it.
      - run: echo "LOCKPICK_SEED=$(date -u +%Y%m%d)" >> "$GITHUB_ENV"
      - run: npx lockpick run
      - uses: actions/upload-artifact@v5
        if: always()
        with:
          name: lockpick
          path: results
`;

const FILES: Readonly<Record<string, string>> = {
  'lockpick.config.ts': CONFIG,
  'lock-torture.mjs': TEST,
  '.github/workflows/lockpick.yml': WORKFLOW,
};

/** Into `directory`. Throws HarnessError('usage') that names what is there, and then has written nothing. */
export function initCommand(directory: string): number {
  const there = Object.keys(FILES).filter((file) => existsSync(join(directory, file)));
  if (there.length > 0)
    throw new HarnessError(
      'usage',
      `${there.join(', ')} ${there.length === 1 ? 'is' : 'are'} there already`,
      {
        remedy: 'nothing was written; move it away, or start in another directory',
      },
    );
  for (const [file, text] of Object.entries(FILES)) {
    writeFile(join(directory, file), text);
    process.stdout.write(`${join(directory, file)}\n`);
  }
  process.stderr.write('next: npm install --save-dev lockpick && npx lockpick doctor && npx lockpick run\n');
  return EXIT_CODE.ok;
}
