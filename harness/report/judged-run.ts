// What the report is made from: one run with its plan, its history and its verdict. Plain fields, so that a stored run
// of any age can be shown; whoever renders a report fills them in.

import type { History } from '../history/history.ts';
import type { Verdict } from '../../checkers/verdict.ts';

/** What the matrix counts: also a run that the page does not show. */
export interface ComparedRun {
  /** The name of its directory. */
  readonly name: string;
  readonly plan: ReportedPlan;
  readonly verdict: Verdict;
  /** Where it has a page of its own, as seen from this one. */
  readonly page?: string;
}

export interface JudgedRun extends ComparedRun {
  readonly history: History;
  /** What servers and clients printed; absent: it was not kept. */
  readonly logs?: readonly NodeLog[];
  readonly provenance: Provenance;
}

export interface NodeLog {
  readonly node: string;
  readonly text: string;
}

/** The part of a plan that readers want to see. */
export interface ReportedPlan {
  readonly backend: string;
  /** Of the backend's topology; absent or `default`: the usual one. */
  readonly variant?: string;
  readonly recipe: string;
  readonly workload: string;
  readonly fault: string;
  readonly seed: string;
  readonly ttlMillis: number;
  readonly clients: number;
  readonly locks: number;
  readonly timeLimitMillis: number;
  /** `simulation`: on virtual time, no real server took part; absent or else: on real ones. */
  readonly on?: string | undefined;
}

interface Provenance {
  /** Wall time at which the run started, as text. */
  readonly started: string;
  /** Program → version: lockpick, Node, servers, drivers. */
  readonly versions: Readonly<Record<string, string>>;
  /** Image name → what was used. */
  readonly images: Readonly<Record<string, { readonly reference: string; readonly digest: string }>>;
  readonly host: {
    readonly cpus: number;
    readonly memoryBytes: number;
    readonly kernel: string;
    readonly engine: string;
  };
  /** Makes the same run again. */
  readonly replayCommand: string;
  /** Why theory expects what the verdict says is expected, in words. */
  readonly expectedBecause?: string;
}
