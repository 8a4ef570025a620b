// What a run recorded, as a schedule again: the rules it was given, or each fault at the time and on the nodes at which
// it happened. Pure.

import type { PlannedSchedule, Step } from '../contract/fault.ts';
import type { FaultSpan, History } from '../history/history.ts';
import { millis, type JsonRecord, type Millis } from '../history/op.ts';

/**
 * The faults that hit somebody, as timed steps of a load that lasts `timeLimit`. The load began with the first
 * invocation, which is what the times count from. Delays and targets drawn by chance are in them; chance in the service
 * and in the clients is not, so it is no more certain than the rules to show the same.
 */
export function scheduleAsRecorded(history: History, timeLimit: Millis): PlannedSchedule {
  const [first] = history.operations;
  const loadBegan = first?.invoked ?? 0;
  return {
    steps: history.faults
      .filter(({ targets }) => targets.length > 0)
      .map((fault) => stepOf(fault, (fault.begin - loadBegan) / 1e6, timeLimit)),
  };
}

function stepOf({ fault, targets, params, begin, end }: FaultSpan, began: number, timeLimit: Millis): Step {
  // What the nemesis added to the parameters of the step.
  const { target: _target, durationMillis, ...own } = params;
  const atMillis = Math.min(Math.max(0, Math.round(began)), timeLimit);
  const lasted = typeof durationMillis === 'number' ? durationMillis : ((end ?? begin) - begin) / 1e6;
  return {
    kind: 'at',
    atMillis: millis(atMillis),
    spec: {
      fault,
      target: { kind: 'nodes', names: targets },
      durationMillis: millis(Math.max(0, Math.min(lasted, timeLimit - atMillis))),
      ...withParams(own),
    },
  };
}

function withParams(params: JsonRecord): { readonly params?: JsonRecord } {
  return Object.keys(params).length === 0 ? {} : { params };
}
