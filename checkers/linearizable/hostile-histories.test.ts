// Instances like the public histories but nastier (most outcomes unknown, few values, every operation open at once), as
// the text of their formats, against the definition spelled out once more over calls: nothing of models, entries or
// search is shared, so a mistake in reading an outcome shows as well.

import { describe, expect, it } from 'vitest';
import type { Call, CallHistory, CallValue } from '../../harness/history/calls.ts';
import { parseRecorded, type HistoryFormat } from '../../harness/history/recorded.ts';
import { checkModel, type ModelOptions } from './check-model.ts';
import { chance, TEST_BUDGET, type Chance } from './reference.fixture.ts';

/** As both formats write it. */
function words(value: CallValue): string {
  return Array.isArray(value) ? `[${value.join(' ')}]` : typeof value === 'string' ? value : 'nil';
}

/** What a call does to the value of its key; undefined: it cannot happen there. */
type Effect = (state: string, call: Call) => string | undefined;

const registerEffect: Effect = (state, { name, argument, result, outcome }) => {
  if (name === 'write') return words(argument);
  if (name === 'read') return outcome === 'info' || result === state ? state : undefined;
  const [from, to] = argument as readonly string[];
  if (outcome === 'fail') return from === state ? undefined : state;
  return from === state ? to : undefined;
};

const kvEffect: Effect = (state, { name, argument, result, outcome }) => {
  if (name === 'put') return words(argument);
  if (name === 'append') return state + words(argument);
  return outcome === 'info' || result === state ? state : undefined;
};

function deadlineOf({ outcome, returned }: Call): number {
  return outcome === 'info' ? Infinity : (returned ?? Infinity);
}

/** Whether some order of the calls of one key works; a failed call counts only if `judgesFailed`. */
function hasOrder(calls: readonly Call[], initial: string, effect: Effect, judgesFailed: boolean): boolean {
  const judged = calls.filter(({ outcome }) => outcome !== 'fail' || judgesFailed);
  const extend = (state: string, left: readonly Call[]): boolean => {
    const deadline = Math.min(...left.map(deadlineOf));
    if (deadline === Infinity) return true;
    return left.some((call) => {
      if (call.invoked > deadline) return false;
      const next = effect(state, call);
      return (
        next !== undefined &&
        extend(
          next,
          left.filter((other) => other !== call),
        )
      );
    });
  };
  return extend(initial, judged);
}

interface Family {
  readonly format: HistoryFormat;
  readonly options: ModelOptions;
  readonly effect: Effect;
  readonly initial: string;
  /** The name of a random operation and what it is called with. */
  readonly draw: (random: Chance) => { name: string; argument: CallValue; canFail: boolean };
  readonly write: (event: DrawnEvent) => string;
}

interface DrawnEvent {
  readonly process: number;
  readonly type: string;
  readonly name: string;
  readonly key: string;
  readonly value: CallValue;
}

const digits = ['1', '2', '3'];
const drawRegister: Family['draw'] = (random) => {
  const name = random.pick(['read', 'write', 'cas', 'cas']);
  if (name === 'read') return { name, argument: null, canFail: false };
  if (name === 'write') return { name, argument: random.pick(digits), canFail: false };
  return { name, argument: [random.pick(digits), random.pick(digits)], canFail: true };
};

const families: readonly Family[] = [
  {
    format: 'porcupine-etcd',
    options: { model: 'cas-register', initial: 'nil', failedCas: 'evidence' },
    effect: registerEffect,
    initial: 'nil',
    draw: drawRegister,
    write: ({ process, type, name, value }) =>
      `INFO  jepsen.util - ${process}\t:${type}\t:${name}\t${words(value)}`,
  },
  {
    format: 'jepsen-edn',
    options: { model: 'cas-register', initial: '1' },
    effect: registerEffect,
    initial: '1',
    draw: drawRegister,
    write: ({ process, type, name, value }) =>
      `{:process ${process}, :type :${type}, :f :${name}, :value ${words(value)}}`,
  },
  {
    format: 'porcupine-kv',
    options: {},
    effect: kvEffect,
    initial: '',
    draw(random) {
      const name = random.pick(['get', 'get', 'append', 'append', 'put']);
      return { name, argument: name === 'get' ? null : random.pick(['a', 'b']), canFail: false };
    },
    write: ({ process, type, name, key, value }) =>
      `{:process ${process}, :type :${type}, :f :${name}, :key "${key}", :value ${typeof value === 'string' ? JSON.stringify(value) : 'nil'}}`,
  },
];

/** A server that keeps one value a key, and clients that mostly do not hear what it did. */
function drawText(random: Chance, { draw, write, initial, effect }: Family): string {
  const state = new Map<string, string>();
  const lines: string[] = [];
  const open: { event: DrawnEvent; type: string }[] = [];
  const answer = (index: number): void => {
    const [ended] = open.splice(index, 1);
    if (ended !== undefined && ended.type !== 'none') lines.push(write({ ...ended.event, type: ended.type }));
  };
  const count = 5 + random.below(5);
  for (let process = 0; process < count; process++) {
    const { name, argument, canFail } = draw(random);
    const key = random.pick(['x', 'x', 'y']);
    const event = { process, name, key, value: argument };
    lines.push(write({ ...event, type: 'invoke' }));
    const before = state.get(key) ?? initial;
    const call = { process: '', name, argument, result: before, invoked: 0, returned: 0, line: 0 };
    const after = effect(before, { ...call, outcome: 'ok' });
    const acts = random.below(3) > 0;
    if (acts && after !== undefined) state.set(key, after);
    // Sometimes a lie: what was read a moment ago, or an outcome that did not happen.
    const lies = random.below(5) === 0;
    const type =
      acts && random.below(5) > 1
        ? after === undefined
          ? canFail && !lies
            ? 'fail'
            : 'info'
          : lies && canFail
            ? 'fail'
            : 'ok'
        : random.pick(['info', 'none']);
    const read = lies ? random.pick([...digits, initial]) : before;
    open.push({ event: { ...event, type, value: argument ?? (type === 'ok' ? read : null) }, type });
    while (open.length > 4 || (open.length > 0 && random.below(2) === 0)) answer(random.below(open.length));
  }
  while (open.length > 0) answer(random.below(open.length));
  return lines.join('\n');
}

function truth({ calls }: CallHistory, { effect, initial, options }: Family): 'valid' | 'invalid' {
  const keys = [...Map.groupBy(calls, ({ key = '' }) => key).values()];
  const isValid = keys.every((own) => hasOrder(own, initial, effect, options.failedCas === 'evidence'));
  return isValid ? 'valid' : 'invalid';
}

describe.each(families)('hostile histories as $format', (family) => {
  it('are judged as the definition says', () => {
    const random = chance(43);
    const seen = { valid: 0, invalid: 0 };
    for (let round = 0; round < 2_000 * TEST_BUDGET; round++) {
      const text = drawText(random, family);
      const recorded = parseRecorded(text);
      if ('history' in recorded) throw new Error('taken for one of ours');
      const expected = truth(recorded.calls, family);
      const { verdict } = checkModel(recorded, family.options);
      if (verdict !== expected) throw new Error(`${verdict}, but ${expected}:\n${text}`);
      seen[expected]++;
    }
    expect(seen.valid).toBeGreaterThan(200);
    expect(seen.invalid).toBeGreaterThan(100);
  });

  it('are told apart by their first line', () => {
    const random = chance(47);
    expect(parseRecorded(drawText(random, family)).format).toBe(family.format);
  });
});
