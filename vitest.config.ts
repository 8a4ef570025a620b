// Two rings of tests: `unit` needs nothing but Node; `containers` needs a Docker engine and runs one file at a time,
// because its timings (faults, leases) must not compete for the processors.

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{harness,checkers,workloads,bench}/**/*.test.ts'],
          exclude: ['**/*.containers.test.ts'],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'containers',
          include: ['{harness,workloads}/**/*.containers.test.ts'],
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
