// The registry of workloads: one line for each.

import type { Workload } from '../harness/contract/workload.ts';
import { counter } from './counter.ts';
import { cron } from './cron.ts';
import { fencedRegister } from './fenced-register.ts';
import { handover } from './handover.ts';
import { inventory } from './inventory.ts';
import { longHold } from './long-hold.ts';
import { manyLocks } from './many-locks.ts';
import { mutex } from './mutex.ts';
import { nested } from './nested.ts';
import { permits } from './permits.ts';
import { readersWriters } from './readers-writers.ts';

export const workloads: readonly Workload[] = [
  counter,
  cron,
  fencedRegister,
  handover,
  inventory,
  longHold,
  manyLocks,
  mutex,
  nested,
  permits,
  readersWriters,
];
