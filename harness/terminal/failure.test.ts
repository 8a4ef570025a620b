// How a command fails: for each kind of error the exit code, and on stderr what is wrong, where, and what to do.

import { CommanderError } from 'commander';
import { afterEach, expect, it, vi } from 'vitest';
import { HarnessError, sayingWhere } from '../contract/errors.ts';
import { failure } from './failure.ts';

let said = '';
vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
  said += String(text);
  return true;
});
afterEach(() => {
  said = '';
});

const usage = new HarnessError('usage', '--ttl 1ms: must be 50ms to 10m');
const environment = new HarnessError('environment', 'no engine answers', { remedy: 'start one' });

function withStack(error: Error, line: string): Error {
  error.stack = `${error.name}: ${error.message}\n    at ${line}`;
  return error;
}

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

it.each<[string, unknown, number, string]>([
  ['wrong input', usage, 64, 'lockpick: --ttl 1ms: must be 50ms to 10m\n'],
  ['surroundings that fail', environment, 69, 'lockpick: no engine answers → start one\n'],
  [
    'a bug that was foreseen',
    new HarnessError('internal', 'a client sent what it cannot', { detail: 'c1: {"x":1}\n' }),
    70,
    'lockpick: a client sent what it cannot\nc1: {"x":1}\n',
  ],
  [
    'a cause that the message does not tell',
    new HarnessError('environment', 'cannot start r1', {
      remedy: 'see its log',
      cause: new Error('port 6379 is taken'),
      detail: 'exited with 1\n\n',
    }),
    69,
    'lockpick: cannot start r1 → see its log\n  cause: port 6379 is taken\nexited with 1\n',
  ],
  [
    'a place that is told first',
    thrownBy(() =>
      sayingWhere('plan.json', () => {
        throw new HarnessError('environment', 'no disk', { remedy: 'mount it', detail: 'EIO', cause: 'hw' });
      }),
    ),
    69,
    'lockpick: plan.json: no disk → mount it\n  cause: hw\nEIO\n',
  ],
  [
    'a cause that the message tells',
    new HarnessError('environment', 'cannot write x: ENOSPC', { cause: new Error('ENOSPC') }),
    69,
    'lockpick: cannot write x: ENOSPC\n',
  ],
  [
    'what commander has told of',
    new CommanderError(1, 'commander.unknownOption', "error: unknown option '--tll'"),
    64,
    '',
  ],
  ['help, which is none', new CommanderError(0, 'commander.helpDisplayed', '(outputHelp)'), 0, ''],
  [
    'a module of the user',
    withStack(new Error('too late'), 'lockpick-user-module:/home/me/lock.ts:3:7'),
    64,
    'lockpick: /home/me/lock.ts left something running, and it failed: too late → catch it there\n',
  ],
  [
    'a bug that was not',
    withStack(new TypeError('x is undefined'), 'judge (judge.ts:1:2)'),
    70,
    'lockpick: this is a bug of lockpick itself, please report it:\n' +
      'TypeError: x is undefined\n    at judge (judge.ts:1:2)\n',
  ],
  [
    'what is no error',
    'thrown',
    70,
    'lockpick: this is a bug of lockpick itself, please report it:\nthrown\n',
  ],
  [
    'a failure, and another while cleaning up',
    new SuppressedError(new Error('r1 does not go'), environment),
    69,
    'lockpick: no engine answers → start one\nlockpick: and while cleaning up: r1 does not go\n',
  ],
  [
    'several at once',
    new AggregateError([usage, environment, new Error('third')]),
    64,
    'lockpick: --ttl 1ms: must be 50ms to 10m\nlockpick: and: no engine answers\nlockpick: and: third\n',
  ],
])('%s', (_, error, code, words) => {
  expect(failure(error)).toBe(code);
  expect(said).toBe(words);
});

it.each<[string, unknown]>([
  ['a message', new HarnessError('usage', 'no lock \u001B[2J')],
  ['a detail', new HarnessError('environment', 'r1 died', { detail: '\u001B[2J' })],
  ['a bug', withStack(new Error('\u001B[2J'), 'judge')],
  ['what followed', new AggregateError([usage, new Error('\u001B[2J')])],
  ['a clean-up', new SuppressedError(new Error('\u001B[2J'), usage)],
])('does to a terminal what the words say, and nothing more: %s', (_, error) => {
  failure(error);
  expect(said).toContain(String.raw`\u001b[2J`);
  expect(said).not.toContain('\u001B');
});
