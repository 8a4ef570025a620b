// What is measured: histories with the model that judges them, in the order of the table. The shapes are those on which
// general checkers are known to be quick, to be slow, and to give up.

import type { Shape } from './generator.ts';

export interface Row {
  readonly name: string;
  readonly shape: Shape;
  /** A model of `lockpick check`; `search:` before it: by search alone, even if there is a checker that needs none; `rules`: the rules and no model. */
  readonly judgedBy: string;
}

const LOCK: Shape = {
  of: 'lock',
  seed: '1',
  operations: 1_000,
  clients: 5,
  names: 1,
  unknown: 0,
  failed: 0,
  values: Infinity,
  violation: 'none',
};

type Change = Partial<Shape>;

const row = (judgedBy: string, change: Change, lead = ''): Row => {
  const shape = { ...LOCK, ...change };
  return { name: `${lead}${inWords(shape)}`, shape, judgedBy };
};
const locks = (change: Change): Row => row('owned-mutex', change);
const registers = (change: Change): Row => row('register', { of: 'register', clients: 10, ...change });
const searched = (change: Change): Row => row('search:owned-mutex', change, 'general search: ');
const ruled = (change: Change): Row => row('rules', change, 'all rules: ');

export const ROWS: readonly Row[] = [
  locks({ unknown: 0.05, violation: 'overlap' }),
  locks({ clients: 30, unknown: 0.2, failed: 0.3, violation: 'overlap' }),
  locks({ operations: 10_000 }),
  locks({ operations: 10_000, violation: 'overlap' }),
  locks({ operations: 10_000, unknown: 0.05 }),
  locks({ operations: 10_000, unknown: 0.05, violation: 'overlap' }),
  locks({ operations: 10_000, unknown: 0.2 }),
  locks({ operations: 1_000_000, clients: 30, unknown: 0.01 }),
  locks({
    operations: 1_000_000,
    clients: 100,
    names: 100,
    unknown: 0.01,
    failed: 0.3,
    violation: 'overlap',
  }),
  locks({ operations: 1_000_000, clients: 100, names: 100 }),
  row('fenced-mutex', { operations: 10_000, unknown: 0.05, violation: 'token-swap' }),
  registers({ unknown: 0.05, violation: 'overlap' }),
  registers({ clients: 30, violation: 'overlap' }),
  registers({ unknown: 0.05, values: 100, violation: 'overlap' }),
  registers({ clients: 30, values: 100, violation: 'overlap' }),
  registers({ operations: 100_000, names: 100, unknown: 0.01 }),
  searched({ operations: 10_000 }),
  searched({ operations: 100_000 }),
  searched({ operations: 1_000_000 }),
  searched({ unknown: 0.05, violation: 'overlap' }),
  ruled({ operations: 1_000_000, clients: 100, names: 100, unknown: 0.01, failed: 0.3 }),
  ruled({ operations: 1_000_000, clients: 30, unknown: 0.01, violation: 'overlap' }),
];

/** `10,000 ops, 5 clients, 5 % unknown, invalid` */
function inWords({ of, operations, clients, names, unknown, failed, values, violation }: Shape): string {
  const many = of === 'lock' ? `${names} locks` : `${names} keys`;
  return [
    `${of}, ${operations.toLocaleString('en')} ops`,
    `${clients} clients`,
    ...(names === 1 ? [] : [many]),
    ...percent(unknown, 'unknown'),
    ...percent(failed, 'refused tries'),
    ...(values === Infinity || of === 'lock' ? [] : [`${values} values`]),
    ...(violation === 'none' ? [] : [violation === 'overlap' ? 'invalid' : 'two tokens swapped']),
  ].join(', ');
}

function percent(part: number, what: string): string[] {
  return part === 0 ? [] : [`${part * 100} % ${what}`];
}
