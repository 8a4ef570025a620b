// Loaded into every thread of a process (`node --import`): lets the one that is told to simulate a seed die of it, while
// it simulates; or the main one, once a run in a directory is under way. Which seed or directory and of what is in the
// environment.

import { globSync } from 'node:fs';
import { isMainThread, parentPort } from 'node:worker_threads';
import type { ToThread } from './simulated-runs.ts';

const { DIES_WITH_SEED, DIES_ONCE_RECORDED, DIES_OF } = process.env;

const DEATHS: Readonly<Record<string, () => void>> = {
  error: () => {
    throw new TypeError('nobody catches this');
  },
  rejection: () => void Promise.reject(new TypeError('nobody catches this')),
  exit: () => process.exit(3),
  memory: () => {
    const hoard: number[][] = [];
    for (;;) hoard.push(Array.from({ length: 1e6 }, (_, index) => index * 1.5));
  },
};

function die(): void {
  DEATHS[DIES_OF ?? '']?.();
}

if (isMainThread && DIES_ONCE_RECORDED !== undefined)
  setInterval(() => {
    if (globSync('*/history.jsonl', { cwd: DIES_ONCE_RECORDED }).length > 0) die();
  }, 50);
if (!isMainThread)
  parentPort?.on('message', (message: ToThread) => {
    // Some turns of the event loop later: within the run.
    const wait = (turns: number): void => void (turns === 0 ? die() : setImmediate(() => wait(turns - 1)));
    if (message.t === 'run' && message.plan.seed === DIES_WITH_SEED) wait(20);
  });
