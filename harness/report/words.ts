// How the report writes times, counts and names for people. Pure; the same everywhere on the page.

import { seconds } from '../../checkers/wording.ts';
import type { Json, Nanos } from '../history/op.ts';

/** Names longer than this are cut: a history may hold any text. */
const NAME_CHARACTERS_MAX = 80;
const CLAUSE_CHARACTERS_MAX = 400;

/** A length of time in the unit that suits it: `0.51 s`, `12 ms`, `340 µs`. */
export function duration(nanos: number): string {
  if (nanos >= 0.1e9) return `${(nanos / 1e9).toFixed(nanos < 10e9 ? 2 : 1)} s`;
  if (nanos >= 1e6) return `${(nanos / 1e6).toFixed(nanos < 10e6 ? 1 : 0)} ms`;
  return `${Math.round(nanos / 1e3)} µs`;
}

/** `5,120`. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 grant`, `5,120 grants`; the plural is the singular with an s unless given. */
export function counted(value: number, singular: string, plural = `${singular}s`): string {
  return `${count(value)} ${value === 1 ? singular : plural}`;
}

/** A name of a process, lock, key, node or file, cut if it is absurdly long. */
export function name(text: string, charactersMax = NAME_CHARACTERS_MAX): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1)}…`;
}

/** What is told in a clause, cut in the same way. */
export function clause(text: string): string {
  return name(text, CLAUSE_CHARACTERS_MAX);
}

/** `blockedByOp` → `blocked by op`. */
export function spaced(key: string): string {
  return key.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
}

/** Any JSON value as short text. */
export function jsonText(value: Json | undefined, charactersMax = CLAUSE_CHARACTERS_MAX): string {
  return name(typeof value === 'string' ? value : (JSON.stringify(value) ?? '–'), charactersMax);
}

/** The lane a process belongs to: a restarted client `c3.2` goes on in the lane of `c3`. */
export function laneName(process: string, known: ReadonlySet<string>): string {
  const restarted = /^(.+)\.\d+$/s.exec(process)?.[1];
  return restarted !== undefined && known.has(restarted) ? restarted : process;
}

/** Orders names as people do: c2 before c10. */
export function byName(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** The interval as text: `4.201 s – 4.714 s`; an open end is `never`. */
export function interval(from: Nanos, until: Nanos | undefined): string {
  return until === undefined ? `${seconds(from)} – never` : `${seconds(from)} – ${seconds(until)}`;
}
