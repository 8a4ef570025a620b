// What the `params` of a fault may say, kind by kind, so that a schedule with a wrong one ends before anything is started.
// What they mean is in `faults/`, where a wrong one is our own bug. Pure; `docs/schedules.md` is for users.

import type { Json, JsonRecord } from '../history/op.ts';

/** `nodes`: everybody whom a step may name. */
interface Rule {
  readonly must: string;
  readonly holds: (value: Json, nodes: readonly string[]) => boolean;
  readonly needed?: true;
}

type Rules = Readonly<Record<string, Rule>>;

const number = (must: string, holds: (value: number) => boolean): Rule => ({
  must,
  holds: (value) => typeof value === 'number' && Number.isFinite(value) && holds(value),
});
const oneOf = (...words: readonly string[]): Rule => ({
  must: `be one of ${words.join(', ')}`,
  holds: (value) => typeof value === 'string' && words.includes(value),
});
const needed = (rule: Rule): Rule => ({ ...rule, needed: true });

const aboveZero = number('be a number above 0', (value) => value > 0);
const notZero = number('be a number other than 0', (value) => value !== 0);
const percent = number('be a number from 0 to 100', (value) => value >= 0 && value <= 100);
const share = number('be a number above 0 and not above 1', (value) => value > 0 && value <= 1);

const sides = oneOf('servers', 'clients', 'everyone', 'one-server', 'minority', 'majority');
const from: Rule = {
  must: `${sides.must}, or a list of names of nodes`,
  holds: (value, nodes) =>
    Array.isArray(value)
      ? value.length > 0 && value.every((name) => nodes.includes(String(name)))
      : sides.holds(value, nodes),
};

const network: Rules = {
  from,
  turn: number('be a whole number from 0', (value) => Number.isSafeInteger(value) && value >= 0),
  way: oneOf('both', 'in', 'out'),
  shape: oneOf('sides', 'islands', 'bridge', 'ring'),
};

/** Kinds that are not here have no parameters. */
const RULES: ReadonlyMap<string, Rules> = new Map<string, Rules>([
  ['pause', { freezer: { must: 'be true or false', holds: (value) => typeof value === 'boolean' } }],
  ['failover', { to: oneOf('least', 'furthest') }],
  ['partition', network],
  ['reply-lost', network],
  ['reply-late', network],
  ['delay', { ...network, delayMillis: aboveZero }],
  ['loss', { ...network, percent }],
  ['duplicate', { ...network, percent }],
  ['reorder', { ...network, delayMillis: aboveZero, percent }],
  ['rate', { ...network, kilobitPerSecond: aboveZero }],
  ['clock-jump', { byMillis: needed(notZero) }],
  ['clock-drift', { rate: needed(aboveZero) }],
  ['clock-strobe', { byMillis: needed(notZero), phaseMillis: needed(aboveZero) }],
  ['cpu-starve', { share }],
  ['slow-fsync', { delayMillis: needed(aboveZero) }],
]);

/** What is wrong with the parameters of a fault, and with which; undefined: nothing. */
export function wrongParam(
  fault: string,
  params: JsonRecord,
  nodes: readonly string[],
): { readonly name: string; readonly reason: string } | undefined {
  const rules = new Map(Object.entries(RULES.get(fault) ?? {}));
  for (const [name, value = null] of Object.entries(params)) {
    const rule = rules.get(name);
    if (rule === undefined) {
      const known = rules.size === 0 ? 'it has none' : `it has ${[...rules.keys()].join(', ')}`;
      return { name, reason: `no parameter of ${fault}; ${known}` };
    }
    if (!rule.holds(value, nodes)) return { name, reason: `must ${rule.must}` };
  }
  for (const [name, rule] of rules)
    if (rule.needed === true && params[name] === undefined)
      return { name, reason: `is missing; ${fault} needs it: it must ${rule.must}` };
  return undefined;
}
