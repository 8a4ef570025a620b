// The words of a wrong value, through the schemas of zod that people's input meets.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { issueWords } from './issue-words.ts';

const step = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('at'), atMillis: z.int() }),
  z.strictObject({ kind: z.literal('when') }),
]);

describe('the words of a wrong value', () => {
  it.each([
    ['a number that is none', z.coerce.number(), 'abc', 'must be a number'],
    ['half a client', z.int(), 1.5, 'must be a whole number'],
    ['too few', z.number().min(1), 0, 'must be at least 1'],
    ['nothing', z.number().gt(0), 0, 'must be more than 0'],
    ['all', z.number().lt(1), 1, 'must be less than 1'],
    ['one of two kinds', z.union([z.string(), z.number()]), true, 'is of a kind that is not understood'],
    ['no choice', z.enum(['a', 'b']), undefined, 'is missing'],
    ['a short text', z.string().min(3), 'ab', 'must be at least 3 characters'],
    ['too many', z.number().max(100), 101, 'must be at most 100'],
    ['an empty text', z.string().min(1), '', 'must not be empty'],
    ['a long text', z.string().max(3), 'abcd', 'must be at most 3 characters'],
    ['an empty list', z.array(z.string()).min(1), [], 'must not be empty'],
    ['a long list', z.array(z.string()).max(1), ['a', 'b'], 'must be at most 1 entries'],
    ['a list that is none', z.array(z.string()), 1, 'must be a list'],
    ['a function that is none', z.strictObject({ open: z.function() }), { open: 1 }, 'must be a function'],
    ['one of few', z.enum(['safe', 'unsafe', 'both']), 'x', 'must be safe, unsafe or both'],
    ['the only one', z.literal('all'), 'x', 'must be all'],
    ['a kind of step', step, { kind: 'x' }, 'must be at or when'],
    ['what is missing', step, { kind: 'at' }, 'is missing'],
    ['a field more', step, { kind: 'when', a: 1, b: 2 }, 'unknown field "a", "b"'],
    ['what a schema says itself', z.string().min(1, 'says so'), '', 'says so'],
  ])('are ours: %s', (_, schema, value, words) => {
    const { error } = schema.safeParse(value, { error: issueWords });
    expect(error?.issues.map(({ message }) => message)).toEqual([words]);
  });
});
