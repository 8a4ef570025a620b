// Jepsen's histories: EDN, as one vector or list of maps or as one map after another, with or without record tags. What
// is written there becomes calls; who did not call but was hurt (the nemesis) is left out. Written by hand because
// a refused file must say in which line, and the readers to be had do not know.

import { isList, isRecord, pairCalls, type CallEvent, type CallHistory, type CallValue } from './calls.ts';
import { HistoryError } from './history.ts';

/** Throws `HistoryError` on what is no EDN or no operation, or as `pairCalls` does. O(size). */
export function parseEdnHistory(text: string): CallHistory {
  const reader = ednReader(text);
  const events: CallEvent[] = [];
  for (let form = reader.next(); form !== undefined; form = reader.next()) {
    const operations = form.elements ?? [form];
    for (const { value, line } of operations) {
      const event = eventOf(value, line);
      if (event !== undefined) events.push(event);
    }
  }
  return pairCalls(events);
}

/** undefined: not an operation of a client. */
function eventOf(value: CallValue, line: number): CallEvent | undefined {
  if (!isRecord(value)) throw new HistoryError(line, 'an operation is a map');
  const { process, type, f: name } = value;
  if (typeof process !== 'string') throw new HistoryError(line, 'an operation has a :process');
  if (!/^-?\d+$/.test(process)) return undefined;
  if (type !== 'invoke' && type !== 'ok' && type !== 'fail' && type !== 'info')
    throw new HistoryError(line, ':type is :invoke, :ok, :fail or :info');
  if (typeof name !== 'string') throw new HistoryError(line, 'an operation has an :f');
  const operand = value['value'] ?? null;
  if (typeof value['key'] === 'string')
    return { type, process, name, key: value['key'], value: operand, line };
  const { key, value: own } = independent(name, operand);
  return { type, process, name, ...(key !== undefined && { key }), value: own, line };
}

/** Of tests over independent keys the value is `[key value]`; a register alone never has two to read or write. */
function independent(name: string, value: CallValue): { readonly key?: string; readonly value: CallValue } {
  if (!isList(value) || value.length !== 2) return { value };
  const [key = null, own = null] = value;
  const isPair = name === 'cas' ? isList(own) || own === null : name === 'read' || name === 'write';
  return isPair && typeof key === 'string' ? { key, value: own } : { value };
}

/** A value of the outermost level, and where it begins; of a vector or list also its elements. */
interface Form {
  readonly value: CallValue;
  readonly line: number;
  readonly elements?: readonly Form[];
}

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '(': ')', '{': '}' };
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };
/** White space, commas and comments. */
const BLANK = /(?:[\s,]|;[^\n]*)+/y;
const ATOM = /[^\s,;"()[\]{}]+/y;
const STRING = /"((?:[^"\\]|\\.)*)"/sy;
/** What stands after the backslash of a character: one of anything but white space, and all that belongs to a name. */
const CHARACTER = /\\(\S[^\s,;"()[\]{}]*)/uy;
const NAMED_CHARACTERS: Readonly<Record<string, string>> = {
  newline: '\n',
  return: '\r',
  space: ' ',
  tab: '\t',
  formfeed: '\f',
  backspace: '\b',
};
/** Nesting beyond this is no history. */
const DEPTH_MAX = 100;

function ednReader(text: string): { next(): Form | undefined } {
  let at = 0;
  let counted = 0;
  let line = 1;
  /** Takes what `pattern` matches here. */
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  const lineHere = (): number => {
    for (let end = text.indexOf('\n', counted); end !== -1 && end < at; end = text.indexOf('\n', counted)) {
      line++;
      counted = end + 1;
    }
    return line;
  };
  const refuse = (rule: string): never => {
    throw new HistoryError(lineHere(), rule);
  };
  /** Skips what is between values, discarded ones (`#_ value`) too. */
  const skip = (depth: number): void => {
    for (take(BLANK); text.startsWith('#_', at); take(BLANK)) {
      at += 2;
      skip(depth);
      readValue(depth + 1);
    }
  };

  /** Everything up to `closing`. */
  const readForms = (closing: string, depth: number): Form[] => {
    const forms: Form[] = [];
    for (skip(depth); text[at] !== closing; skip(depth)) {
      if (at >= text.length) refuse(`the file ends before a "${closing}"`);
      forms.push({ line: depth === 1 ? lineHere() : 0, value: readValue(depth) });
    }
    at++;
    return forms;
  };
  const readMap = (depth: number): CallValue => {
    const forms = readForms('}', depth);
    if (forms.length % 2 !== 0) refuse('a map has a key without a value');
    const map = new Map<string, CallValue>();
    for (let index = 0; index < forms.length; index += 2) {
      const key = forms[index]?.value ?? null;
      const name = typeof key === 'string' ? key : JSON.stringify(key);
      if (map.has(name)) refuse(`a map has the key ${JSON.stringify(name)} twice`);
      map.set(name, forms[index + 1]?.value ?? null);
    }
    return Object.fromEntries(map);
  };
  const readValue = (depth: number): CallValue => {
    if (depth > DEPTH_MAX) refuse('values are nested too deep');
    const first = text[at] ?? '';
    if (first === '{') {
      at++;
      return readMap(depth + 1);
    }
    const closing = CLOSING[first];
    if (closing !== undefined) {
      at++;
      return readForms(closing, depth + 1).map(({ value }) => value);
    }
    if (first === '"') {
      const [, content] = take(STRING) ?? refuse('the file ends within a string');
      return (content ?? '').replaceAll(/\\(u[0-9a-fA-F]{4}|.)/gs, (_, escape: string) =>
        escape.length === 5
          ? String.fromCodePoint(Number.parseInt(escape.slice(1), 16))
          : (ESCAPES[escape] ?? escape),
      );
    }
    if (first === '\\') {
      const [, name = ''] = take(CHARACTER) ?? refuse('a backslash is followed by no character');
      // With its backslash: it is not the text of one character.
      return `\\${characterOf(name) ?? refuse(`"\\${name}" is no character`)}`;
    }
    if (text.startsWith('#{', at)) {
      at += 2;
      return readForms('}', depth + 1).map(({ value }) => value);
    }
    const [atom] =
      take(ATOM) ?? refuse(first === '' ? 'the file ends within a value' : `"${first}" closes nothing`);
    if (atom.startsWith('#')) {
      skip(depth);
      return readValue(depth + 1);
    }
    return atomValue(atom);
  };

  return {
    next() {
      skip(0);
      if (at >= text.length) return undefined;
      const first = text[at] ?? '';
      const here = lineHere();
      if (first !== '[' && first !== '(') return { line: here, value: readValue(0) };
      at++;
      const elements = readForms(CLOSING[first] ?? '', 1);
      return { line: here, value: null, elements };
    },
  };
}

/** undefined: there is none of this name. */
function characterOf(name: string): string | undefined {
  if (/^.$/su.test(name)) return name;
  const [, digits] = /^u([0-9a-fA-F]{4})$/.exec(name) ?? [];
  if (digits !== undefined) return String.fromCharCode(Number.parseInt(digits, 16));
  return Object.hasOwn(NAMED_CHARACTERS, name) ? NAMED_CHARACTERS[name] : undefined;
}

/** Keywords lose their colon, whole numbers their `N`; `nil` is null. All else is what it says. */
function atomValue(atom: string): CallValue {
  if (atom === 'nil') return null;
  if (atom.startsWith(':')) return atom.slice(1);
  return /^[+-]?\d+N$/.test(atom) ? atom.slice(0, -1) : atom;
}
