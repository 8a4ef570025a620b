// Every small history there is, once. Whether a history is linearizable depends on which operation ended before which one
// began and on nothing else of time, and such an interval order has one shortest form: closed intervals over stamps at each
// of which something begins and something ends (Greenough 1976; counted by Bousquet-Mélou et al. 2010). An operation of unknown
// outcome ends before nothing, so it ends at the last stamp. Histories that differ in the names of owners or values are
// one. Knows no checker.

import { isDeepStrictEqual } from 'node:util';
import { Kind, NEVER } from './entries.ts';
import type { Part, Span } from './reference.fixture.ts';

/** The interval orders on `count` operations, each operation as a span; all different. */
export function intervalOrders(count: number): Span[][] {
  return Array.from({ length: count }, (_, index) => index + 1).flatMap((stamps) => over(stamps, count));
}

/** Those whose shortest form has so many stamps. */
function over(stamps: number, count: number): Span[][] {
  const cells = Array.from({ length: stamps }, (_, invoked) =>
    Array.from({ length: stamps - invoked }, (_unused, more) => ({ invoked, returned: invoked + more })),
  ).flat();
  const chosen = (left: number, from: number): Span[][] =>
    left === 0
      ? [[]]
      : cells
          .slice(from)
          .flatMap((cell, index) => chosen(left - 1, from + index).map((rest) => [cell, ...rest]));
  return chosen(count, 0).filter((spans) =>
    Array.from({ length: stamps }, (_, stamp) => stamp).every(
      (stamp) =>
        spans.some(({ invoked }) => invoked === stamp) && spans.some(({ returned }) => returned === stamp),
    ),
  );
}

/** What a history may be made of. */
export interface Letters {
  readonly alphabet: readonly Part[];
  /** By letter the letter it becomes, for each way to give owners or values other names. */
  readonly renamings: readonly (readonly number[])[];
}

/** `names`: owners, or values but the first, which may change places. */
export function lettersOf(
  alphabet: readonly Part[],
  by: 'owner' | 'value',
  names: readonly number[],
): Letters {
  const renamings = permutations(names).map((changed) => {
    const nameOf = (name: number): number => changed[names.indexOf(name)] ?? name;
    return alphabet.map((part) => {
      const renamed: Part = {
        ...part,
        ...(by === 'owner' && part.owner !== undefined && { owner: nameOf(part.owner) }),
        ...(by === 'value' && part.value !== undefined && { value: nameOf(part.value) }),
        ...(by === 'value' && part.expected !== undefined && { expected: nameOf(part.expected) }),
      };
      const letter = alphabet.findIndex((other) => isDeepStrictEqual(other, renamed));
      if (letter === -1) throw new Error(`no letter for ${JSON.stringify(renamed)}`);
      return letter;
    });
  });
  return { alphabet, renamings };
}

function permutations<T>(things: readonly T[]): T[][] {
  return things.length === 0
    ? [[]]
    : things.flatMap((thing, index) =>
        permutations(things.toSpliced(index, 1)).map((rest) => [thing, ...rest]),
      );
}

export interface SmallHistory {
  readonly parts: readonly Part[];
  /** In the shortest form, in order of invocation. */
  readonly spans: readonly Span[];
}

/** Every history of `count` operations, but for other names and for gaps in the numbering of tokens. */
export function* smallHistories({ alphabet, renamings }: Letters, count: number): Generator<SmallHistory> {
  for (const spans of intervalOrders(count)) {
    const last = Math.max(...spans.map(({ returned }) => returned));
    const sameAsBefore = spans.map(
      ({ invoked, returned }, index) =>
        spans[index - 1]?.invoked === invoked && spans[index - 1]?.returned === returned,
    );
    const allowed = spans.map(({ returned }) =>
      [...alphabet.keys()].filter((letter) => alphabet[letter]?.unknown !== true || returned === last),
    );
    const word: number[] = [];
    yield* extend();

    function* extend(): Generator<SmallHistory> {
      const position = word.length;
      if (position === count) {
        if (isFirst() && hasDenseTokens()) {
          const parts = word.map((letter) => alphabet[letter] ?? { kind: Kind.read });
          yield { parts, spans };
        }
        return;
      }
      for (const letter of allowed[position] ?? []) {
        if (sameAsBefore[position] === true && letter < (word[position - 1] ?? 0)) continue;
        word.push(letter);
        yield* extend();
        word.pop();
      }
    }

    /** No renaming makes a word that comes before it. */
    function isFirst(): boolean {
      return renamings.every((renaming) => {
        const other = word.map((letter) => renaming[letter] ?? 0);
        for (let from = 0, to = 0; from < count; from = to) {
          to++;
          while (to < count && sameAsBefore[to] === true) to++;
          const sorted = other.slice(from, to).sort((a, b) => a - b);
          for (const [index, letter] of sorted.entries()) {
            const own = word[from + index] ?? 0;
            if (letter !== own) return letter > own;
          }
        }
        return true;
      });
    }

    function hasDenseTokens(): boolean {
      const tokens = new Set(word.flatMap((letter) => alphabet[letter]?.token ?? []));
      return tokens.size === 0 || Math.max(...tokens) === tokens.size - 1;
    }
  }
}

/**
 * The same history with all stamps different: at each stamp everything begins, in some order, before anything ends, in some
 * order. All such orders together are all orders of events that give this interval order.
 */
export function* eventOrders({ parts, spans }: SmallHistory): Generator<Span[]> {
  const last = Math.max(...spans.map(({ returned }) => returned));
  const runs = Array.from({ length: last + 1 }, (_, stamp) => [
    permutations([...spans.keys()].filter((index) => spans[index]?.invoked === stamp)),
    permutations(
      [...spans.keys()].filter((index) => spans[index]?.returned === stamp && parts[index]?.unknown !== true),
    ),
  ]).flat();
  const found = spans.map(() => ({ invoked: 0, returned: NEVER }));
  yield* fill(0, 0);

  function* fill(run: number, stamp: number): Generator<Span[]> {
    if (run === runs.length) {
      yield found.map((span) => ({ ...span }));
      return;
    }
    for (const order of runs[run] ?? []) {
      for (const [index, operation] of order.entries()) {
        const span = found[operation];
        if (span !== undefined) span[run % 2 === 0 ? 'invoked' : 'returned'] = stamp + index;
      }
      yield* fill(run + 1, stamp + order.length);
    }
  }
}
