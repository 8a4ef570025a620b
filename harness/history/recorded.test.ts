// Histories of other tools: what EDN may look like, what is left out, and where a damaged file is said to be damaged.

import { describe, expect, it } from 'vitest';
import type { Call } from './calls.ts';
import { formatOf, parseRecorded } from './recorded.ts';

function callsOf(text: string): readonly Call[] {
  const recorded = parseRecorded(text);
  if (!('calls' in recorded)) throw new Error('taken for one of ours');
  return recorded.calls.calls;
}

const invoke = '{:process 0, :type :invoke, :f :write, :value 3}';
const ok = '{:process 0, :type :ok, :f :write, :value 3}';

function event(type: string, name: string, value: string): string {
  return `{:process 0, :type :${type}, :f :${name}, :value ${value}}`;
}

describe('EDN', () => {
  it.each([
    ['one map a line', `${invoke}\n${ok}`],
    ['a vector', `[${invoke}\n ${ok}]`],
    ['a list', `(${invoke} ${ok})`],
    ['tagged records', `#jepsen.history.Op${invoke}\n#jepsen.history.Op ${ok}`],
    ['comments and discarded forms', `; nothing\n${invoke} #_ {:process 7} ; more\n#_#_ 1 2 ${ok}`],
    [
      'other fields',
      `{:index 0, :time 12, :process 0, :type :invoke, :f :write, :value 3, :error [:a "b"]}\n${ok}`,
    ],
    ['who is no client', `{:process :nemesis, :type :info, :f :start, :value nil}\n${invoke}\n${ok}`],
    ['Windows line ends', `${invoke}\r\n${ok}\r\n`],
  ])('with %s', (_name, text) => {
    expect(callsOf(text)).toMatchObject([
      { process: '0', name: 'write', argument: '3', result: '3', outcome: 'ok' },
    ]);
  });

  it('has strings with escapes, numbers of any size, nil, sets and nested values', () => {
    const value = String.raw`[nil "a\n\u00e9\\" 12345678901234567890N #{:x} {:k [1 2]} \c true 1.5]`;
    const [call] = callsOf(`{:process 0, :type :invoke, :f :txn, :value ${value}}`);
    expect(call?.argument).toEqual([
      null,
      'a\né\\',
      '12345678901234567890',
      ['x'],
      { k: ['1', '2'] },
      String.raw`\c`,
      'true',
      '1.5',
    ]);
  });

  it('has characters, by name or number too, whatever they are', () => {
    const value = String.raw`[\c \u00e9 \newline \space [\(] \" \; \, \\ \😀]`;
    const [call] = callsOf(`{:process 0, :type :invoke, :f :txn, :value ${value}}`);
    const characters = ['c', 'é', '\n', ' ', '(', '"', ';', ',', '\\', '😀'].map(
      (character) => `\\${character}`,
    );
    expect(call?.argument).toEqual(characters.map((text) => (text === '\\(' ? [text] : text)));
  });

  it('has independent keys as pairs', () => {
    const calls = callsOf(
      [
        event('invoke', 'read', '[7 nil]'),
        event('ok', 'read', '[7 3]'),
        event('invoke', 'cas', '[8 [3 4]]'),
        event('ok', 'cas', '[8 [3 4]]'),
        event('invoke', 'cas', '[3 4]'),
      ].join('\n'),
    );
    expect(calls).toMatchObject([
      { key: '7', argument: null, result: '3' },
      { key: '8', argument: ['3', '4'] },
      { argument: ['3', '4'] },
    ]);
    expect(calls[2]?.key).toBeUndefined();
  });

  it('pairs by process, and leaves open what never returned', () => {
    const text = [
      invoke,
      '{:process 1, :type :invoke, :f :read, :value nil}',
      '{:process 0, :type :info, :f :write, :value 3}',
    ].join('\n');
    expect(callsOf(text)).toMatchObject([
      { outcome: 'info', invoked: 0, returned: 2, line: 1 },
      { outcome: 'info', invoked: 1, returned: undefined, line: 2 },
    ]);
  });

  it.each([
    ['an unclosed map', `${invoke}\n{:process 0`, /line 2: the file ends before a "}"/],
    [
      'a character that is none',
      `${invoke}\n{:process 0, :type :ok, :f \\nil}`,
      /line 2: "\\nil" is no character/,
    ],
    [
      'a backslash alone',
      '{:process 0, :type :ok, :f \\ }',
      /line 1: a backslash is followed by no character/,
    ],
    ['an unclosed string', '{:process 0, :type :ok, :f "a', /line 1: the file ends within a string/],
    ['a closing too many', `${invoke}\n]`, /line 2: "\]" closes nothing/],
    ['a key twice', '{:process 0, :process 1}', /line 1: a map has the key "process" twice/],
    [
      'a key that objects have',
      '{:__proto__ {:process 0, :type :invoke, :f :read}}',
      /line 1: an operation has a :process/,
    ],
    ['a key without a value', '{:process 0 :type}', /line 1: a map has a key without a value/],
    ['no map', `${invoke}\n7`, /line 2: an operation is a map/],
    ['no process', '{:type :ok, :f :read}', /line 1: an operation has a :process/],
    ['no such type', '{:process 0, :type :done, :f :read}', /line 1: :type is/],
    ['no function', '{:process 0, :type :ok}', /line 1: an operation has an :f/],
    [
      'a second call',
      `${invoke}\n${invoke}`,
      /line 2: process 0 calls write before its last call has returned/,
    ],
    [
      'another return',
      `${invoke}\n{:process 0, :type :ok, :f :read}`,
      /line 2: process 0 called write, and read returns/,
    ],
    ['a bottomless vector', '['.repeat(500), /line 1: values are nested too deep/],
  ])('refuses %s, with the line', (_name, text, message) => {
    expect(() => parseRecorded(text)).toThrow(message);
  });
});

describe("the log of Jepsen's etcd test", () => {
  it('reads nothing as a value that was read', () => {
    const calls = callsOf(
      'INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.util - 0\t:ok\t:read\tnil\n' +
        'INFO jepsen.util - 0 :invoke :cas [1 2]\nINFO jepsen.util - 0 :fail :cas [1 2]\n',
    );
    expect(calls).toMatchObject([
      { name: 'read', argument: null, result: 'nil', outcome: 'ok' },
      { name: 'cas', argument: ['1', '2'], outcome: 'fail' },
    ]);
  });

  it('refuses any other line', () => {
    const text = 'INFO  jepsen.util - 0\t:invoke\t:read\tnil\nWARN something\n';
    expect(() => parseRecorded(text)).toThrow(/line 2: not a line of the log/);
  });
});

describe('the format', () => {
  it.each([
    ['{"format":"lockpick-history"', 'lockpick-history'],
    ['  { "no": "header" }', 'lockpick-history'],
    ['{:process 0, :type :ok, :f :get, :key "a", :value "b"}', 'porcupine-kv'],
    ['; a comment\n#jepsen.history.Op{:process 0', 'jepsen-edn'],
    ['[{:process 0', 'jepsen-edn'],
    ['INFO  jepsen.util - 0', 'porcupine-etcd'],
    ['id,process', undefined],
    ['', undefined],
  ])('of %s is %s', (text, format) => {
    expect(formatOf(text)).toBe(format);
  });
});
