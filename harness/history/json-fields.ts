// The fields of one JSON object, read by name and checked: what is missing or of another type is refused with the line it
// stands on. `decode-event.ts` says which fields there are; this knows what a text, a stamp or a token looks like. Pure.

import { HistoryError } from './history.ts';
import { fencingToken, millis, nanos, type OpName } from './op.ts';

const OP_NAMES: ReadonlySet<string> = new Set<OpName>([
  'acquire',
  'renew',
  'release',
  'read',
  'write',
  'cas',
]);

export function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Of milliseconds that are exact in nanoseconds, too. */
export function isDuration(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER / 1e6;
}

export function isTextRecord(value: unknown): value is Record<string, string> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && isTextList(Object.values(value))
  );
}

function parseObject(text: string, line: number): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new HistoryError(line, 'not a JSON value');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new HistoryError(line, 'not a JSON object');
  return value as Record<string, unknown>;
}

/** As JSON, of a length that a person reads. */
export function shortened(value: unknown): string {
  return JSON.stringify(value).slice(0, 60);
}

/** Reads the fields of one JSON object, or refuses the line. `null` counts as absent. */
export class Fields {
  readonly #fields: Record<string, unknown>;
  readonly #line: number;

  constructor(source: string | Record<string, unknown>, line: number) {
    this.#line = line;
    this.#fields = typeof source === 'string' ? parseObject(source, line) : source;
  }

  refuse(rule: string): never {
    throw new HistoryError(this.#line, rule);
  }

  has(name: string): boolean {
    const value = this.#fields[name];
    return value !== undefined && value !== null;
  }

  #wrong(name: string, expected: string): never {
    const value = this.#fields[name];
    return this.refuse(
      value === undefined
        ? `field "${name}" is missing`
        : `field "${name}" is ${shortened(value)}, not ${expected}`,
    );
  }

  text(name: string): string {
    const value = this.#fields[name];
    return typeof value === 'string' ? value : this.#wrong(name, 'a text');
  }

  /** A text, or a number taken as its decimal text. */
  scalar(name: string): string {
    const value = this.#fields[name];
    if (typeof value === 'string') return value;
    // A larger one has been rounded by whoever read it as a number.
    return Number.isSafeInteger(value) ? String(value) : this.#wrong(name, 'a text');
  }

  number(name: string): number {
    const value = this.#fields[name];
    return typeof value === 'number' ? value : this.#wrong(name, 'a number');
  }

  flag(name: string): boolean {
    const value = this.#fields[name];
    return typeof value === 'boolean' ? value : this.#wrong(name, 'true or false');
  }

  nanos(name: string): ReturnType<typeof nanos> {
    const value = this.#fields[name];
    return Number.isSafeInteger(value) ? nanos(value as number) : this.#wrong(name, 'whole nanoseconds');
  }

  duration(name: string): ReturnType<typeof millis> {
    const value = this.#fields[name];
    return isDuration(value) ? millis(value) : this.#wrong(name, 'milliseconds');
  }

  token(name: string): ReturnType<typeof fencingToken> {
    const text = this.scalar(name);
    return /^-?\d+$/.test(text) ? fencingToken(text) : this.#wrong(name, 'a decimal token');
  }

  id(): number {
    const value = this.#fields['id'];
    return Number.isSafeInteger(value) ? (value as number) : this.#wrong('id', 'a whole number');
  }

  process(): string {
    return this.scalar('process');
  }

  opName(): OpName {
    const op = this.text('op');
    return OP_NAMES.has(op) ? (op as OpName) : this.refuse(`unknown operation ${shortened(op)}`);
  }

  texts(name: string): string[] {
    const value = this.#fields[name];
    return isTextList(value) ? value : this.#wrong(name, 'a list of texts');
  }

  record(name: string): Record<string, unknown> {
    const value = this.#fields[name];
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : this.#wrong(name, 'an object');
  }

  records(name: string): Fields[] {
    const value = this.#fields[name];
    if (!Array.isArray(value)) return this.#wrong(name, 'a list of objects');
    return value.map((item: unknown) => {
      if (typeof item !== 'object' || item === null) return this.#wrong(name, 'a list of objects');
      return new Fields(item as Record<string, unknown>, this.#line);
    });
  }
}
