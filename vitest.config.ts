// Four rings of tests: `unit` needs nothing but Node and a minute; `sweep` goes through all there is of something, such as
// every catalogued cell in simulation, and takes minutes of processor time; `browser` opens reports in Chromium, and is
// skipped without; `containers` needs a Docker engine and runs one file at a time, because its timings (faults, leases) must
// not compete for the processors.

import { defineConfig } from 'vitest/config';
import { messageOf } from './harness/contract/errors.ts';
import { findEngine } from './harness/cluster/docker/engine.ts';

/** What a test waits for comes at once, or when a busy machine gets to it. */
const patience = { poll: { timeout: 20_000 } };
/** Of a test that cannot run here; with LOCKPICK_REQUIRE_ALL it fails instead of being skipped. */
const NONE = /(?!)/;

const required = process.env['LOCKPICK_REQUIRE_ALL'] !== undefined;
const engine = required || (await engineAnswers());

async function engineAnswers(): Promise<boolean> {
  try {
    await findEngine();
    return true;
  } catch (error) {
    process.stderr.write(`tests with containers are skipped: ${messageOf(error)}\n`);
    return false;
  }
}

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{harness,checkers,workloads,bench}/**/*.test.ts'],
          exclude: ['**/*.{sweep,browser,containers}.test.ts'],
          testTimeout: 30_000,
          expect: patience,
          maxWorkers: '100%',
          // Zero would count as none, and run last.
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'sweep',
          include: ['{harness,checkers,workloads,bench}/**/*.sweep.test.ts'],
          testTimeout: 30_000,
          expect: patience,
          maxWorkers: '100%',
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'browser',
          include: ['{harness,checkers,workloads,bench}/**/*.browser.test.ts'],
          testTimeout: 30_000,
          expect: patience,
          maxWorkers: '100%',
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'containers',
          include: ['{harness,checkers,workloads,bench}/**/*.containers.test.ts'],
          fileParallelism: false,
          // After all the others: what fails without containers is known within minutes.
          sequence: { groupOrder: 3 },
          // Of the tests of a file that say that they may run beside each other.
          maxConcurrency: 2,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          expect: patience,
          ...(engine ? {} : { testNamePattern: NONE }),
        },
      },
    ],
  },
});
