// The quick way from a line of a history to its event, for lines as the journal writes nearly all of them: an invocation
// or a completion, one flat JSON object without blanks, its texts printable ASCII without escapes, its numbers whole. Of any
// other line, malformed ones included, this says nothing, and `decode-event.ts` reads it by `JSON.parse`; the two agree on
// every line that this one reads. It goes over the bytes once and makes a text only where it has not seen the same before.

import type { FencingToken, Invoke, Millis, Nanos, OpName, Completion, Outcome } from './op.ts';

/** Reads the line of `bytes` from `start` to before `end`; undefined: it is not plain. */
export type PlainLines = (bytes: Uint8Array, start: number, end: number) => Invoke | Completion | undefined;

/** The fields that a plain line may have. Their numbers are their positions here. */
const FIELDS = [
  'type',
  'id',
  'time',
  'process',
  'op',
  'lock',
  'try',
  'shared',
  'ttlMillis',
  'owner',
  'store',
  'key',
  'value',
  'base',
  'token',
  'error',
  'validUntil',
  'released',
  'version',
  'highest',
] as const;
type Field = (typeof FIELDS)[number];

const OPS: readonly OpName[] = ['acquire', 'renew', 'release', 'read', 'write', 'cas'];
const TYPES: readonly (Invoke | Completion)['type'][] = ['invoke', 'ok', 'fail', 'info'];

const FIELD = Object.fromEntries(FIELDS.map((name, number) => [name, number])) as Record<Field, number>;
/** By number, as they stand in a line: with quotes and colon. */
const FIELD_NAMES = FIELDS.map((name) => new TextEncoder().encode(`"${name}":`));
/** Sets of fields are BIT. */
const BIT = Object.fromEntries(FIELDS.map((name, number) => [name, 1 << number])) as Record<Field, number>;
const bits = (...names: readonly Field[]): number => names.reduce((set, name) => set | BIT[name], 0);

const NUMBERS = bits('id', 'time', 'ttlMillis', 'validUntil');
const FLAGS = bits('try', 'shared', 'released');
const TOKENS = bits('token', 'highest');
/** Texts that are hardly ever the same twice. */
const UNIQUE = bits('owner', 'value');

/** What an operation must say when it is invoked. */
const REQUIRED: Readonly<Record<OpName, number>> = {
  acquire: bits('lock'),
  renew: bits('lock'),
  release: bits('lock'),
  read: bits('key'),
  write: bits('key', 'value'),
  cas: bits('key', 'value'),
};
const REQUIRED_OF_ALL = bits('type', 'id', 'time', 'process', 'op');

/** Longer texts are rare, and a call takes only so many arguments. */
const TEXT_LENGTH_MAX = 1024;
/** A number of so many digits is exact. */
const DIGITS_MAX = 15;
/** In nanoseconds it must be exact, too. */
const TTL_MILLIS_MAX = Number.MAX_SAFE_INTEGER / 1e6;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPENING = 0x7b;
const CLOSING = 0x7d;

const ZERO = 0n as FencingToken;
type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Keeps the names that it has seen, so one for each file. */
export function plainLines(): PlainLines {
  const names = createNames([...FIELDS, ...OPS, ...TYPES]);
  /** By number of the field. */
  const texts = FIELDS.map(() => '');
  const numbers = new Float64Array(FIELDS.length);
  const tokens = FIELDS.map((): FencingToken => ZERO);

  let at = 0;
  /** The position of the closing quote of the text that begins at `at`, or -1; `hash` is that of the text. */
  let hash = 0;
  const endOfText = (bytes: Uint8Array, end: number): number => {
    let sum = 0;
    const last = Math.min(end, at + TEXT_LENGTH_MAX + 1);
    for (let place = at; place < last; place++) {
      const byte = bytes[place] ?? 0;
      if (byte === QUOTE) {
        hash = sum;
        return place;
      }
      if (byte === BACKSLASH || byte < 0x20 || byte > 0x7e) return -1;
      sum = (Math.imul(sum, 31) + byte) | 0;
    }
    return -1;
  };
  /** The number whose digits begin at `at`, or -1. Moves past it. */
  const wholeNumber = (bytes: Uint8Array, end: number): number => {
    const start = at;
    let place = start;
    let number = 0;
    for (; place < end; place++) {
      const digit = (bytes[place] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) break;
      number = number * 10 + digit;
    }
    at = place;
    const digits = place - start;
    const plain = digits > 0 && digits <= DIGITS_MAX && (digits === 1 || bytes[start] !== 0x30);
    return plain ? number : -1;
  };
  /** Reads what stands at `at` as the value of field number `field`, and moves past it. False: it is not plain. */
  const readValue = (bytes: Uint8Array, end: number, field: number): boolean => {
    const kind = 1 << field;
    if ((kind & NUMBERS) !== 0) {
      const number = wholeNumber(bytes, end);
      numbers[field] = number;
      return number >= 0;
    }
    if ((kind & FLAGS) !== 0) {
      const isTrue = bytes[at] === 0x74;
      numbers[field] = Number(isTrue);
      const word = isTrue ? 'true' : 'false';
      for (let index = 0; index < word.length; index++)
        if (bytes[at++] !== word.charCodeAt(index)) return false;
      return true;
    }
    if (bytes[at++] !== QUOTE) return false;
    if ((kind & TOKENS) !== 0) {
      const number = wholeNumber(bytes, end);
      if (number < 0) return false;
      tokens[field] = BigInt(number) as FencingToken;
      return bytes[at++] === QUOTE;
    }
    const close = endOfText(bytes, end);
    if (close < 0) return false;
    texts[field] = (kind & UNIQUE) !== 0 ? asciiText(bytes, at, close) : names.textOf(bytes, at, close, hash);
    at = close + 1;
    return true;
  };
  /** By number of a field, and last of none: which one followed it last. */
  const follower = new Uint8Array(FIELDS.length + 1);
  /** The number of the field whose name stands at `at` and follows `before`, or -1. Moves past the colon. */
  const readName = (bytes: Uint8Array, end: number, before: number): number => {
    // Nearly always it is the one that did last time.
    const expected = follower[before] ?? 0;
    const name = FIELD_NAMES[expected];
    let place = 0;
    if (name !== undefined) while (place < name.length && name[place] === bytes[at + place]) place++;
    if (place === name?.length) {
      at += place;
      return expected;
    }
    if (bytes[at++] !== QUOTE) return -1;
    const close = endOfText(bytes, end);
    if (close < 0 || bytes[close + 1] !== COLON) return -1;
    const field = names.numberOf(bytes, at, close, hash);
    if (field >= FIELDS.length) return -1;
    at = close + 2;
    follower[before] = field;
    return field;
  };
  /** The fields that were read, as bits; 0: the line is not plain. */
  const readFields = (bytes: Uint8Array, end: number): number => {
    let seen = 0;
    let byte = bytes[at++];
    if (byte !== OPENING) return 0;
    let before: number = FIELDS.length;
    do {
      const field = readName(bytes, end, before);
      if (field < 0 || (seen & (1 << field)) !== 0) return 0;
      seen |= 1 << field;
      before = field;
      if (!readValue(bytes, end, field)) return 0;
      byte = bytes[at++];
    } while (byte === COMMA);
    return byte === CLOSING && at === end ? seen : 0;
  };

  const text = (name: Field): string => texts[FIELD[name]] ?? '';
  const number = (name: Field): number => numbers[FIELD[name]] ?? 0;
  const token = (name: Field): FencingToken => tokens[FIELD[name]] ?? ZERO;

  const invokeOf = (seen: number, op: OpName): Invoke => {
    const event: Writable<Invoke> = {
      type: 'invoke',
      id: number('id'),
      time: number('time') as Nanos,
      process: text('process'),
      op,
    };
    if ((seen & BIT.lock) !== 0) event.lock = text('lock');
    if ((seen & BIT.try) !== 0) event.try = number('try') === 1;
    if ((seen & BIT.shared) !== 0) event.shared = number('shared') === 1;
    if ((seen & BIT.ttlMillis) !== 0) event.ttlMillis = number('ttlMillis') as Millis;
    if ((seen & BIT.owner) !== 0) event.owner = text('owner');
    if ((seen & BIT.store) !== 0) event.store = text('store');
    if ((seen & BIT.key) !== 0) event.key = text('key');
    if ((seen & BIT.value) !== 0) event.value = text('value');
    if ((seen & BIT.base) !== 0) event.base = text('base');
    if ((seen & BIT.token) !== 0) event.token = token('token');
    return event;
  };
  const completionOf = (seen: number, type: Outcome, op: OpName): Completion => {
    const event: Writable<Completion> = {
      type,
      id: number('id'),
      time: number('time') as Nanos,
      process: text('process'),
      op,
    };
    if ((seen & BIT.error) !== 0) event.error = text('error');
    if ((seen & BIT.token) !== 0) event.token = token('token');
    if ((seen & BIT.validUntil) !== 0) event.validUntil = number('validUntil') as Nanos;
    if ((seen & BIT.released) !== 0) event.released = number('released') === 1;
    if ((seen & BIT.value) !== 0) event.value = text('value');
    if ((seen & BIT.version) !== 0) event.version = text('version');
    if ((seen & BIT.highest) !== 0) event.highest = token('highest');
    return event;
  };

  return (bytes, start, end) => {
    at = start;
    const seen = readFields(bytes, end);
    if ((seen & REQUIRED_OF_ALL) !== REQUIRED_OF_ALL) return undefined;
    const op = text('op');
    if (!isOpName(op)) return undefined;
    const type = text('type');
    if (type === 'ok' || type === 'fail' || type === 'info') return completionOf(seen, type, op);
    if (type !== 'invoke' || (seen & REQUIRED[op]) !== REQUIRED[op]) return undefined;
    return (seen & BIT.ttlMillis) === 0 || number('ttlMillis') <= TTL_MILLIS_MAX
      ? invokeOf(seen, op)
      : undefined;
  };
}

function isOpName(text: string): text is OpName {
  return Object.hasOwn(REQUIRED, text);
}

/** Texts that come again and again, each made once. */
interface Names {
  /** Its number, in order of first appearance; -1: it is new, and there are too many to keep it. */
  numberOf(bytes: Uint8Array, start: number, end: number, hash: number): number;
  textOf(bytes: Uint8Array, start: number, end: number, hash: number): string;
}

/** A power of two. No more names than half of it are kept. */
const SLOTS = 1 << 16;

/** A hash table with open addressing; `first` get the first numbers. */
function createNames(first: readonly string[]): Names {
  const texts: string[] = [];
  const slots = new Int32Array(SLOTS).fill(-1);
  const numberOf: Names['numberOf'] = (bytes, start, end, hash) => {
    let slot = Math.imul(hash, 0x9e3779b1) >>> 16;
    for (; ; slot = (slot + 1) & (SLOTS - 1)) {
      const known = slots[slot] ?? -1;
      if (known < 0) break;
      if (equals(texts[known] ?? '', bytes, start, end)) return known;
    }
    if (texts.length >= SLOTS / 2) return -1;
    slots[slot] = texts.length;
    return texts.push(asciiText(bytes, start, end)) - 1;
  };
  for (const text of first) {
    let hash = 0;
    for (let index = 0; index < text.length; index++)
      hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0;
    const number = numberOf(new TextEncoder().encode(text), 0, text.length, hash);
    // The program's own text, which compares faster.
    texts[number] = text;
  }
  return {
    numberOf,
    textOf(bytes, start, end, hash) {
      const number = numberOf(bytes, start, end, hash);
      return number < 0 ? asciiText(bytes, start, end) : (texts[number] ?? '');
    },
  };
}

const codes: number[] = [];

/** For texts as short as these as quick as Node's Buffer, which is not everywhere, and twice as quick as a TextDecoder. */
function asciiText(bytes: Uint8Array, start: number, end: number): string {
  codes.length = end - start;
  for (let place = start; place < end; place++) codes[place - start] = bytes[place] ?? 0;
  return String.fromCharCode.apply(null, codes);
}

function equals(text: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let index = 0; index < text.length; index++)
    if (text.charCodeAt(index) !== bytes[start + index]) return false;
  return true;
}
