// The registry of workloads: one line for each.

import type { Workload } from '../harness/contract/workload.ts';
import { counter } from './counter.ts';
import { longHold } from './long-hold.ts';
import { mutex } from './mutex.ts';

export const workloads: readonly Workload[] = [counter, longHold, mutex];
