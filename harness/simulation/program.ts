// What runs in a simulated node: a server's program or a client's. The node starts it with a process of its own, as
// often as it is started; what must outlive the process is on the node's disk.

import type { NodeSpec } from '../contract/cluster.ts';
import type { Random } from '../contract/workload.ts';
import type { HistoryEvent } from '../history/op.ts';
import type { Disk } from './disk.ts';
import type { Network } from './network.ts';
import type { SimulatedProcess } from './process.ts';

export interface Machine {
  readonly spec: NodeSpec;
  readonly process: SimulatedProcess;
  readonly network: Network;
  readonly disk: Disk;
  /** Of this node. */
  readonly random: Random;
  /** The name of the node that has an address. */
  readonly nodeAt: (address: string) => string | undefined;
  readonly addressOf: (node: string) => string;
  readonly output: ProgramOutput;
}

/** The standard streams of a program; only those with `stream: true` in their specification have an input. */
export interface ProgramOutput {
  print(line: string): void;
  /** In the place of the line that says it. */
  readonly record: (event: HistoryEvent) => void;
  onInput(listener: (line: string) => void): void;
}

/** Begins to run. That of a server or the store is callbacks alone and settles no promise. */
export type Program = (machine: Machine) => void;
