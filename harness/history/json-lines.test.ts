// The text form: what goes in comes out, what is malformed is refused with its line and the rule it breaks, and what a
// killed writer leaves behind is read up to its last whole line.

import { describe, expect, it } from 'vitest';
import { encodeEvent, encodeHeader } from './encode-event.ts';
import { decodeEvent, decodeHeader } from './decode-event.ts';
import { openReader, parseHistory } from './json-lines.ts';
import { HistoryError } from './history.ts';
import { fencingToken, millis, nanos, type Header, type HistoryEvent } from './op.ts';

const HEADER = '{"format":"lockpick-history","version":1}';
const at = nanos(1_203_400_000);

const events: readonly HistoryEvent[] = [
  { type: 'invoke', id: 1, time: at, process: 'c1', op: 'acquire', lock: 'k1' },
  {
    type: 'invoke',
    id: 2,
    time: at,
    process: 'c1.2',
    op: 'acquire',
    lock: 'k1',
    try: true,
    ttlMillis: millis(1000.5),
    owner: 'c1-2',
  },
  { type: 'invoke', id: 3, time: at, process: 'c1', op: 'renew', lock: 'k1', ttlMillis: millis(1000) },
  { type: 'invoke', id: 4, time: at, process: 'c1', op: 'release', lock: 'k1' },
  { type: 'invoke', id: 5, time: at, process: 'c1', op: 'read', store: 'none', key: 'k1', lock: 'k2' },
  {
    type: 'invoke',
    id: 6,
    time: at,
    process: 'c1',
    op: 'write',
    store: 'fence-on-write',
    key: 'k1',
    value: '9',
    base: '8',
    token: fencingToken('9223372036854775808'),
  },
  {
    type: 'invoke',
    id: 7,
    time: at,
    process: 'c1',
    op: 'cas',
    store: 'none',
    key: 'k1',
    value: '',
    base: '0',
  },
  { type: 'ok', id: 1, time: at, process: 'c1', op: 'acquire' },
  {
    type: 'ok',
    id: 2,
    time: at,
    process: 'c1.2',
    op: 'acquire',
    token: fencingToken('118'),
    validUntil: nanos(2_190_000_000),
  },
  { type: 'ok', id: 4, time: at, process: 'c1', op: 'release', released: false },
  { type: 'info', id: 3, time: at, process: 'c1', op: 'renew', error: 'timeout' },
  {
    type: 'fail',
    id: 6,
    time: at,
    process: 'c1',
    op: 'write',
    error: 'stale-token',
    highest: fencingToken('-3'),
  },
  {
    type: 'ok',
    id: 5,
    time: at,
    process: 'c1',
    op: 'read',
    value: 'line\nbreak \u2028 "quoted" \ud83d\udd12',
    version: '7',
    audit: [
      {
        seq: '12',
        id: 6,
        process: 'c1',
        token: fencingToken('4'),
        base: '8',
        version: '8',
        value: '9',
        accepted: true,
      },
      { seq: '13', id: 7, process: 'c1', base: '8', version: '9', value: '', accepted: false },
    ],
  },
  { type: 'lost', time: at, process: 'c1', lock: 'k1', reason: 'session-expired' },
  { type: 'down', time: at, process: 'c1', reason: 'killed' },
  {
    type: 'fault',
    phase: 'begin',
    id: 'f7',
    time: at,
    fault: 'pause',
    targets: ['c1'],
    params: { millis: 1500 },
  },
  {
    type: 'fault',
    phase: 'acted',
    id: 'f7',
    time: at,
    fault: 'pause',
    targets: ['c1'],
    evidence: { state: 'T', threads: [1, 2] },
  },
  { type: 'fault', phase: 'end', id: 'f7', time: at, fault: 'pause', targets: [] },
  { type: 'server', time: at, node: 'r1', role: 'primary' },
  { type: 'server', time: at, node: 'r1', role: 'replica', term: '4' },
];

describe('the text form', () => {
  it.each(events.map((event) => [encodeEvent(event), event] as const))('brings back %s', (line, event) => {
    expect(line).not.toContain('\n');
    expect(decodeEvent(line, 1)).toEqual(event);
  });

  it('is the same to the byte whoever made the event, and plain JSON', () => {
    const odd = events.map((event) =>
      event.type === 'invoke' ? { ...event, process: 'c "1"\\\n\u2028é', lock: '\u0007' } : event,
    );
    for (const event of [...events, ...odd].filter((each) => 'op' in each)) {
      const line = encodeEvent(event);
      const backwards = reversed(event) as HistoryEvent;
      expect(encodeEvent(backwards)).toBe(line);
      expect(JSON.stringify(JSON.parse(line))).toBe(line);
    }
  });

  it('brings back a header with meta it does not know', () => {
    const header: Header = {
      format: 'lockpick-history',
      version: 1,
      clock: 'measured',
      clockErrorNanos: 1500,
      meta: { backend: 'redis-single', closedByDown: true, plannedFaults: ['pause'], weather: { wind: 3 } },
    };
    expect(decodeHeader(encodeHeader(header))).toEqual(header);
  });

  it('fills in what a header leaves out', () => {
    expect(decodeHeader(HEADER)).toEqual({
      format: 'lockpick-history',
      version: 1,
      clock: 'shared',
      clockErrorNanos: 0,
      meta: {},
    });
  });

  it('ignores fields it does not know, and takes null for absent', () => {
    const line = '{"type":"down","time":5,"process":"c1","reason":null,"mood":"bad","lock":7}';
    expect(decodeEvent(line, 1)).toEqual({ type: 'down', time: 5, process: 'c1', reason: '' });
  });

  it('takes numbers where the format has decimal texts', () => {
    const line = '{"type":"ok","id":1,"time":5,"process":3,"op":"acquire","token":118}';
    expect(decodeEvent(line, 1)).toMatchObject({ process: '3', token: 118n });
  });
});

/** The rule that a file breaks, and its line. */
function refusal(text: string): { line: number; rule: string } {
  try {
    parseHistory(text);
  } catch (error) {
    if (error instanceof HistoryError) return { line: error.line, rule: error.rule };
    throw error;
  }
  throw new Error('it was not refused');
}

function file(...lines: string[]): string {
  return `${[HEADER, ...lines].join('\n')}\n`;
}

const invoke = (id: number, time: number, rest = '"op":"acquire","lock":"k1"'): string =>
  `{"type":"invoke","id":${id},"time":${time},"process":"c1",${rest}}`;
const ok = (id: number, time: number, rest = '"process":"c1","op":"acquire"'): string =>
  `{"type":"ok","id":${id},"time":${time},${rest}}`;
const fault = (phase: string, time: number, rest = ''): string =>
  `{"type":"fault","phase":"${phase}","id":"f1","time":${time},"fault":"pause","targets":["c1"]${rest}}`;

describe('a malformed history', () => {
  it.each<[rule: string, line: number, text: string]>([
    ['the file is empty; a history starts with its header', 1, ''],
    ['the file is empty; a history starts with its header', 1, '\n\n'],
    ['not a JSON value', 1, 'time,process\n1,2\n'],
    ['the header\'s format is "jepsen", not "lockpick-history"', 1, '{"format":"jepsen","version":1}\n'],
    ['field "format" is missing', 1, '{"version":1}\n'],
    [
      'version 2 of the format; this program reads version 1',
      1,
      '{"format":"lockpick-history","version":2}\n',
    ],
    ['clockErrorNanos is negative', 1, `${HEADER.slice(0, -1)},"clockErrorNanos":-1}\n`],
    [
      'field "clockErrorNanos" is 0.5, not whole nanoseconds',
      1,
      `${HEADER.slice(0, -1)},"clockErrorNanos":0.5}\n`,
    ],
    ['field "meta" is [], not an object', 1, `${HEADER.slice(0, -1)},"meta":[]}\n`],
    ['meta.ownerChecked is not a boolean', 1, `${HEADER.slice(0, -1)},"meta":{"ownerChecked":"no"}}\n`],
    ['meta.slackMillis is negative', 1, `${HEADER.slice(0, -1)},"meta":{"slackMillis":-1}}\n`],
    ['meta.ttlMillis is out of range', 1, `${HEADER.slice(0, -1)},"meta":{"ttlMillis":1e999}}\n`],
    [
      'field "ttlMillis" is 1e+300, not milliseconds',
      2,
      file(invoke(1, 1, '"op":"acquire","lock":"k1","ttlMillis":1e300')),
    ],
    [
      'meta.plannedFaults is not a list of texts',
      1,
      `${HEADER.slice(0, -1)},"meta":{"plannedFaults":[1]}}\n`,
    ],
    ['meta.slackMillis is out of range', 1, `${HEADER.slice(0, -1)},"meta":{"slackMillis":1e15}}\n`],
    ['meta.stores is not an object of texts', 1, `${HEADER.slice(0, -1)},"meta":{"stores":"none"}}\n`],
    ['meta.stores is not an object of texts', 1, `${HEADER.slice(0, -1)},"meta":{"stores":{"a":5}}}\n`],
    ['meta.stores is not an object of texts', 1, `${HEADER.slice(0, -1)},"meta":{"stores":["none"]}}\n`],
    [
      'meta.kind is "latch"; known are mutex, semaphore, reentrant, read-write',
      1,
      `${HEADER.slice(0, -1)},"meta":{"kind":"latch"}}\n`,
    ],
    ['meta.permits is not a whole number from 1', 1, `${HEADER.slice(0, -1)},"meta":{"permits":0}}\n`],
    ['meta.stock is not a string', 1, `${HEADER.slice(0, -1)},"meta":{"stock":1.5}}\n`],
    ['meta.stock is "-3", not a whole number', 1, `${HEADER.slice(0, -1)},"meta":{"stock":"-3"}}\n`],
    ['meta.keptAlive is not a boolean', 1, `${HEADER.slice(0, -1)},"meta":{"keptAlive":"no"}}\n`],
    ['not a JSON value', 3, file(invoke(1, 1), '{"type":', ok(1, 2))],
    ['not a JSON object', 2, file('[1]')],
    ['not a JSON object', 2, file('null')],
    ['field "time" is missing', 2, file('{"type":"down","process":"c1"}')],
    ['field "time" is 1.5, not whole nanoseconds', 2, file(invoke(1, 1.5))],
    ['field "time" is 1e+300, not whole nanoseconds', 2, file('{"type":"down","time":1e300,"process":"c1"}')],
    ['field "time" is "5", not whole nanoseconds', 2, file('{"type":"down","time":"5","process":"c1"}')],
    ['unknown event type "okay"', 2, file('{"type":"okay","time":1}')],
    ['unknown operation "lock"', 2, file(invoke(1, 1, '"op":"lock","lock":"k1"'))],
    [
      'field "id" is "1", not a whole number',
      2,
      file('{"type":"invoke","id":"1","time":1,"process":"c1","op":"acquire","lock":"k"}'),
    ],
    ['field "process" is missing', 2, file('{"type":"invoke","id":1,"time":1,"op":"acquire","lock":"k"}')],
    ['field "lock" is missing', 2, file(invoke(1, 1, '"op":"release"'))],
    ['field "key" is missing', 2, file(invoke(1, 1, '"op":"read","store":"none"'))],
    ['field "value" is missing', 2, file(invoke(1, 1, '"op":"write","key":"k1"'))],
    [
      'field "try" is "yes", not true or false',
      2,
      file(invoke(1, 1, '"op":"acquire","lock":"k1","try":"yes"')),
    ],
    [
      'field "ttlMillis" is -1, not milliseconds',
      2,
      file(invoke(1, 1, '"op":"acquire","lock":"k1","ttlMillis":-1')),
    ],
    [
      'field "token" is "0x10", not a decimal token',
      3,
      file(invoke(1, 1), ok(1, 2, '"process":"c1","op":"acquire","token":"0x10"')),
    ],
    // 2^53 + 1 as a number is 2^53: two tokens would look the same.
    [
      'field "token" is 9007199254740992, not a text',
      3,
      file(invoke(1, 1), ok(1, 2, '"process":"c1","op":"acquire","token":9007199254740993')),
    ],
    [
      'field "token" is 1.5, not a text',
      3,
      file(invoke(1, 1), ok(1, 2, '"process":"c1","op":"acquire","token":1.5')),
    ],
    [
      'field "audit" is {}, not a list of objects',
      3,
      file(invoke(1, 1, '"op":"read","key":"k"'), ok(1, 2, '"process":"c1","op":"read","audit":{}')),
    ],
    [
      'field "audit" is [1], not a list of objects',
      3,
      file(invoke(1, 1, '"op":"read","key":"k"'), ok(1, 2, '"process":"c1","op":"read","audit":[1]')),
    ],
    [
      'field "accepted" is missing',
      3,
      file(
        invoke(1, 1, '"op":"read","key":"k"'),
        ok(
          1,
          2,
          '"process":"c1","op":"read","audit":[{"seq":"1","id":1,"process":"c1","base":"0","version":"0","value":"1"}]',
        ),
      ),
    ],
    ['unknown fault phase "started"', 2, file(fault('started', 1))],
    [
      'field "targets" is "c1", not a list of texts',
      2,
      file('{"type":"fault","phase":"begin","id":"f1","time":1,"fault":"pause","targets":"c1"}'),
    ],
    ['duplicate operation id 1', 3, file(invoke(1, 1), invoke(1, 2))],
    ['duplicate operation id 1', 4, file(invoke(1, 1), ok(1, 2), invoke(1, 3))],
    ['completion of operation 1 without an invocation', 2, file(ok(1, 1), invoke(1, 1))],
    ['second completion of operation 1', 4, file(invoke(1, 1), ok(1, 2), ok(1, 3))],
    [
      'operation 1 was invoked by c1 and completed by c2',
      3,
      file(invoke(1, 1), ok(1, 2, '"process":"c2","op":"acquire"')),
    ],
    [
      'operation 1 was invoked as acquire and completed as release',
      3,
      file(invoke(1, 1), ok(1, 2, '"process":"c1","op":"release"')),
    ],
    ['time goes backwards within operation 1: 5 then 4', 3, file(invoke(1, 5), ok(1, 4))],
    ['fault f1 begins twice', 3, file(fault('begin', 1), fault('begin', 2))],
    ['fault f1: end without a begin', 2, file(fault('end', 1))],
    [
      'the harness event is about a time from 6, which is after its own, 5',
      2,
      file(JSON.stringify({ type: 'harness', since: 6, time: 5, loopDelayMillis: 1 })),
    ],
    ['time goes backwards within fault f1', 3, file(fault('begin', 5), fault('acted', 4))],
    ['fault f1: second acted', 4, file(fault('begin', 1), fault('acted', 2), fault('acted', 3))],
  ])('is refused: %s', (rule, line, text) => {
    expect(refusal(text)).toEqual({ line, rule });
  });

  it('names the line of the file, empty lines counted', () => {
    expect(refusal(file('', invoke(1, 1), '', ok(2, 2))).line).toBe(5);
  });

  it('says line and rule in its message', () => {
    expect(() => parseHistory(file(ok(9, 1)))).toThrow(
      'line 2: completion of operation 9 without an invocation',
    );
  });
});

describe('a torn file', () => {
  const whole = file(invoke(1, 1), ok(1, 2));

  it('is read up to its last whole line, wherever it was torn', () => {
    const last = whole.trimEnd().lastIndexOf('\n') + 1;
    for (let length = last; length < whole.length - 1; length++)
      expect(parseHistory(whole.slice(0, length)).operations[0]?.completed).toBeUndefined();
    expect(parseHistory(whole.slice(0, -1)).operations[0]?.completed).toBe(2);
  });

  it('is not empty because its header is torn', () => {
    expect(refusal(HEADER.slice(0, 30))).toMatchObject({ line: 1, rule: 'not a JSON value' });
  });

  it('may begin with a byte order mark', () => {
    expect(parseHistory(`\uFEFF${whole}`).operations).toHaveLength(1);
  });

  it('may be nothing but a header', () => {
    expect(parseHistory(HEADER).operations).toEqual([]);
  });

  it('is refused if a line in the middle is torn', () => {
    expect(refusal(file(invoke(1, 1), '{"type":"ok","id":1', invoke(2, 3))).line).toBe(3);
  });
});

describe('hostile lines', () => {
  it.each([
    ['a name that objects have', '{"type":"down","time":1,"process":"__proto__"}'],
    ['a polluting field', '{"type":"down","time":1,"process":"c1","__proto__":{"reason":"x"}}'],
    ['a long text', `{"type":"down","time":1,"process":"${'c'.repeat(1_000_000)}"}`],
  ])('are events like others: %s', (_, line) => {
    expect(parseHistory(file(line)).downs).toHaveLength(1);
    expect(({} as Record<string, unknown>)['reason']).toBeUndefined();
  });

  it.each([
    ['deep nesting', '['.repeat(100_000)],
    ['a control character', '{"type":"down","time":1,"process":"c\u0001"}'],
    ['a second value', '{"type":"down","time":1,"process":"c1"} {}'],
    ['a byte order mark', '\ufeff{"type":"down","time":1,"process":"c1"}'],
  ])('are refused: %s', (_, line) => {
    expect(refusal(file(line))).toEqual({ line: 2, rule: 'not a JSON value' });
  });

  it('keeps a message short', () => {
    expect(
      refusal(file(`{"type":"down","time":"${'9'.repeat(100_000)}","process":"c1"}`)).rule.length,
    ).toBeLessThan(120);
    expect(refusal(file(`{"type":"${'x'.repeat(100_000)}","time":1}`)).rule.length).toBeLessThan(120);
  });

  it('are refused where they are not UTF-8, or two names would become one', () => {
    const asked = Buffer.from('{"type":"down","time":1,"process":"c\xff"}\n', 'latin1');
    const reader = openReader();
    reader.take(Buffer.from(`${HEADER}\n`));
    expect(() => reader.take(asked)).toThrow('line 2: the line is not UTF-8');
  });

  it('reads lines that end with a carriage return', () => {
    expect(parseHistory(file(invoke(1, 1), ok(1, 2)).replaceAll('\n', '\r\n')).operations).toHaveLength(1);
  });
});

/** The same with all its fields the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, field]) => [name, reversed(field)]),
  );
}
