// Why a history is not linearizable, as findings: the first return that no order explains, the operations that contradict
// each other, the longest orders that were possible; in words, and as numbers for whoever draws them. Pure.

import { nanos, type JsonRecord } from '../../harness/history/op.ts';
import type { Recorded } from '../../harness/history/recorded.ts';
import { findingOf, type Faulted } from '../finding.ts';
import type { Finding } from '../verdict.ts';
import { list, seconds } from '../wording.ts';
import type { JudgedPartition, ModelResult } from './check-model.ts';
import { claimOf } from './claims.ts';
import type { Contradiction } from './decide.ts';
import { NEVER } from './entries.ts';

/** So many locks or keys are explained; of a lock that locks nothing the hundredth says no more than the first. */
const EXPLAINED_MAX = 100;
/** Of an order only its end is told: what led to the state in which the refuted operation cannot follow. */
const LAST_TOLD = 10;

export interface Explained {
  readonly findings: readonly Finding<'not-linearizable'>[];
  /** Locks or keys that are not linearizable either and have no finding. */
  readonly omitted: number;
}

/** Of a result that `checkModel` made of `recorded`. */
export function explain(recorded: Recorded, result: ModelResult): Explained {
  const telling = tellerOf(recorded);
  const findings: Finding<'not-linearizable'>[] = [];
  let omitted = 0;
  for (const partition of result.partitions) {
    if (partition.found.verdict !== 'invalid') continue;
    if (findings.length === EXPLAINED_MAX) omitted++;
    else findings.push(explainOne(telling, result, partition, partition.found.contradiction()));
  }
  return { findings, omitted };
}

interface Teller extends Faulted {
  readonly processOf: (id: number) => string;
  /** When or where in the file it was: `op 7, 1.203 s to 1.204 s`, `line 4 to line 9`. */
  readonly whereabouts: (id: number) => string;
  readonly times: (id: number) => { readonly since: number; readonly at: number };
}

function tellerOf(recorded: Recorded): Teller {
  if ('calls' in recorded) {
    const { calls, lines } = recorded.calls;
    return {
      faults: [],
      header: { clockErrorNanos: 0 },
      processOf: (id) => calls[id]?.process ?? '',
      whereabouts(id) {
        const { line, returned } = calls[id] ?? { line: 0, returned: undefined };
        return returned === undefined ? `line ${line}` : `line ${line} to line ${lines[returned]}`;
      },
      times(id) {
        const { invoked, returned } = calls[id] ?? { invoked: 0, returned: undefined };
        return { since: invoked, at: returned ?? invoked };
      },
    };
  }
  const { operations, faults, header } = recorded.history;
  const byId = new Map(operations.map((operation) => [operation.id, operation]));
  return {
    faults,
    header,
    processOf: (id) => byId.get(id)?.process ?? '',
    whereabouts(id) {
      const { invoked = 0, completed } = byId.get(id) ?? {};
      return `op ${id}, ${seconds(invoked)}${completed === undefined ? '' : ` to ${seconds(completed)}`}`;
    },
    times(id) {
      const { invoked = 0, completed } = byId.get(id) ?? {};
      return { since: invoked, at: completed ?? invoked };
    },
  };
}

function explainOne(
  teller: Teller,
  { catalogued, reading }: ModelResult,
  { name, entries }: JudgedPartition,
  { refuted, conflict, given, isMinimal, context, reason, orders, isShortest }: Contradiction,
): Finding<'not-linearizable'> {
  const idOf = (entry: number): number => entries.id[entry] ?? 0;
  const told = (entry: number): JsonRecord => {
    const id = idOf(entry);
    const { since, at } = teller.times(id);
    return {
      op: id,
      process: teller.processOf(id),
      claim: claimOf(entries, entry),
      where: teller.whereabouts(id),
      invoked: since,
      ...(entries.returned[entry] !== NEVER && { returned: at }),
    };
  };
  const sentence = (entry: number): string => {
    const id = idOf(entry);
    const process = teller.processOf(id);
    const actor = /^\d+$/.test(process) ? `process ${process}` : process;
    return `${actor} ${claimOf(entries, entry)} (${teller.whereabouts(id)})`;
  };
  const returnedBy = entries.returned.filter((stamp) => stamp <= (entries.returned[refuted] ?? 0)).length;
  const returned = entries.returned.filter((stamp) => stamp !== NEVER).length;
  const subject = name === '' ? 'The history' : `${catalogued.of === 'lock' ? 'Lock' : 'Key'} ${name}`;
  const [longest] = orders;
  const lastOfLongest = longest?.entries.at(-1);
  const story = [
    `${subject} does not behave as ${catalogued.model.name} (${catalogued.model.summary}): ${MEANING[reason]}.`,
    `${list(conflict.map(sentence))}.`,
    isMinimal ? smallestOf(conflict.length, given) : '',
    context.length > 0 ? `With that goes what else is known of it: ${list(context.map(sentence))}.` : '',
    longest === undefined || lastOfLongest === undefined
      ? ''
      : `All that returned before can be put in order, the last being that ${sentence(lastOfLongest)}: then ${longest.state}, and it cannot go on.`,
  ];
  const ids = [...new Set(conflict.map(idOf))];
  return findingOf(teller, {
    code: 'not-linearizable',
    ...(name !== '' && (catalogued.of === 'lock' ? { lock: name } : { store: name })),
    processes: [...new Set(ids.map(teller.processOf))],
    ops: ids,
    since: nanos(Math.min(...ids.map((id) => teller.times(id).since))),
    at: nanos(teller.times(idOf(refuted)).at),
    story: story.filter((part) => part !== '').join(' '),
    evidence: {
      model: reading.model,
      reason,
      refuted: told(refuted),
      prefix: { returned: returnedBy, of: returned, isShortest },
      conflict: conflict.map(told),
      given,
      isMinimal,
      context: context.map(told),
      orders: orders.map(({ entries: order, state }) => ({
        length: order.length,
        last: order.slice(-LAST_TOLD).map(told),
        state,
      })),
    },
  });
}

/** That so many operations are the smallest contradiction. */
function smallestOf(count: number, given: number): string {
  const beside = given === 0 ? 'whatever else happened' : `after the ${given} answers of before`;
  return count === 1
    ? `That alone cannot be, ${beside}.`
    : `These ${count} answers contradict each other ${beside}; without any one of them there would be an order.`;
}

/** What is wrong, a whole clause. */
const MEANING: Readonly<Record<Contradiction['reason'], string>> = {
  'held-by-another': 'two owners held the lock at the same time',
  'point-inside-hold': 'somebody held the lock all the time in which another must have held it',
  'disowned-while-holding': 'an owner was told that the lock was not his while he held it',
  'success-without-hold': 'somebody released or renewed a lock that he had never acquired',
  'success-after-end': 'an owner succeeded at something after his hold had ended',
  'busy-while-free': 'a try was refused as busy while nobody can have held the lock',
  'token-order': 'tokens do not grow from one tenure to the next',
  'no-opposite': 'the lock was acquired while it was held, or released while it was free',
  'read-of-nothing': 'a value was seen that nobody can have written',
  'read-before-write': 'a value was seen before it was there, or after it had been overwritten',
  'two-successors': 'one value was exchanged twice',
  'writes-interleave': 'of two values each was there both before and after the other',
  'stale-without-higher': 'a token was refused as stale before a higher one can have been shown',
  'no-order': 'whatever the order of what came before, one operation cannot take effect',
};
