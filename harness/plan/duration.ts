// Durations as people write them: a number and a unit, `1s`, `250ms`, `2m`, or a bare `0`. The only parser of them.

import { millis, type Millis } from '../history/op.ts';

const MILLIS_PER_UNIT: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** undefined: not a duration. */
export function parseDuration(text: string): Millis | undefined {
  if (text.trim() === '0') return millis(0);
  const match = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)\s*$/.exec(text);
  const factor = MILLIS_PER_UNIT[match?.[2] ?? ''];
  // To the nanosecond: 2052.102 × 1000 is 2052101.9999999998, and what `formatDuration` writes must be read back as it was.
  const duration = Math.round(Number(match?.[1]) * (factor ?? NaN) * 1e6) / 1e6;
  return Number.isFinite(duration) ? millis(duration) : undefined;
}

/** A span `20ms..60ms`, or one duration for both ends. undefined: neither. */
export function parseSpan(text: string): { min: Millis; max: Millis } | undefined {
  const [first = '', second = first, ...more] = text.split('..');
  const min = parseDuration(first);
  const max = parseDuration(second);
  if (min === undefined || max === undefined || more.length > 0 || min > max) return undefined;
  return { min, max };
}

/** The shortest exact form: 1500 → `1.5s`, 250 → `250ms`. */
export function formatDuration(duration: number): string {
  if (duration >= 60_000 && duration % 60_000 === 0) return `${duration / 60_000}m`;
  return duration >= 1000 ? `${duration / 1000}s` : `${duration}ms`;
}
