// How the report writes times, counts and names for people. Pure; the same everywhere on the page.

import type { FaultSpan } from '../history/history.ts';
import type { Json, Nanos } from '../history/op.ts';

/** Names longer than this are cut: a history may hold any text. */
const NAME_CHARACTERS_MAX = 80;

/** A moment of the run: `4.201 s`. */
export function moment(time: number): string {
  return `${(time / 1e9).toFixed(3)} s`;
}

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

/** `a`, `a and b`, `a, b and c`. */
export function listed(items: readonly string[]): string {
  if (items.length < 2) return items.join('');
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1) ?? ''}`;
}

/** A name of a process, lock, key, node or file, cut if it is absurdly long. */
export function name(text: string, charactersMax = NAME_CHARACTERS_MAX): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1)}…`;
}

/** `blockedByOp` → `blocked by op`. */
export function spaced(key: string): string {
  return key.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
}

/** Any JSON value as short text. */
export function jsonText(value: Json | undefined, charactersMax = 400): string {
  return name(typeof value === 'string' ? value : (JSON.stringify(value) ?? '–'), charactersMax);
}

const DONE_TO: Readonly<Record<string, string>> = {
  pause: 'paused',
  kill: 'killed',
  partition: 'cut off',
  'reply-lost': 'left without replies',
  'reply-late': 'left waiting for replies',
  'restart-empty': 'restarted empty',
  stall: 'stalled',
  failover: 'made to lead',
  'clock-jump': 'given a wrong clock',
  'clock-drift': 'given a clock that drifts',
  'clock-strobe': 'given a clock that goes to and fro',
  delay: 'put on a slow link',
  loss: 'put on a lossy link',
  duplicate: 'sent packets twice',
  reorder: 'sent packets out of order',
  rate: 'put on a narrow link',
  'cpu-starve': 'starved of processor time',
  'disk-full': 'left without disk space',
  'slow-fsync': 'given a slow disk',
};

/** The same without whom: `cut off`. */
export function faultWords({ fault }: FaultSpan): string {
  return DONE_TO[fault] ?? name(fault);
}

/** What a fault did to its targets: `c3 was paused`. */
export function faultClause(span: FaultSpan, tense: 'was' | 'had been' = 'was'): string {
  const targets = listed(span.targets.map((target) => name(target)));
  const done = DONE_TO[span.fault];
  if (targets === '') return `a fault (${name(span.fault)}) was in force`;
  const verb = tense === 'was' && span.targets.length > 1 ? 'were' : tense;
  return done === undefined ? `${targets} ${verb} under ${name(span.fault)}` : `${targets} ${verb} ${done}`;
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
  return until === undefined ? `${moment(from)} – never` : `${moment(from)} – ${moment(until)}`;
}
