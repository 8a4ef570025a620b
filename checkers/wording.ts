// The phrases that stories are made of, and the report says the same with. A story is two or three plain sentences with
// times in seconds of the run's clock, so that a reader can find every moment in the timeline. Pure; knows no rule.
//
// A history has three stamps of a fault: when it was ordered, when it was proved to act, when it was proved to be over.
// When it began to act, and when it ceased to, is somewhere between those, so nothing here says "from" or "to" of a fault.

import type { FaultSpan, History } from '../harness/history/history.ts';
import type { Grant } from '../harness/history/grants.ts';
import type { Millis, Nanos } from '../harness/history/op.ts';
import { faultsWithin, hits } from './finding.ts';

/** `4.201 s`: a moment of the run, or a length of time. */
export function seconds(time: Nanos | number): string {
  return `${(time / 1e9).toFixed(3)} s`;
}

/** `1 s`, `0.5 s`: a duration as it was asked for. */
function duration(millis: Millis): string {
  return `${millis / 1000} s`;
}

/** `one, two and three` */
export function list(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;
}

/** `c3 was granted k2 at 4.201 s (op 118) for 1 s with token 7` */
export function grantPhrase(grant: Grant): string {
  const { process, lock, acquire, token } = grant;
  return [
    `${process} was granted ${acquire.shared === true ? 'a share of ' : ''}${lock} at ${seconds(acquire.completed ?? acquire.invoked)} (op ${acquire.id})`,
    acquire.ttlMillis === undefined ? '' : ` for ${duration(acquire.ttlMillis)}`,
    token === undefined ? '' : ` with token ${token}`,
  ].join('');
}

/** What has been done to the targets when the fault is proved to act. */
const DONE: Readonly<Record<string, string>> = {
  pause: 'paused',
  freeze: 'paused',
  stall: 'stalled',
  kill: 'killed',
  'power-loss': 'cut off from its power',
  'restart-empty': 'killed and emptied',
  partition: 'cut off',
  'reply-lost': 'left without replies',
  'reply-late': 'left waiting for replies',
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
export function doneWords({ fault }: Pick<FaultSpan, 'fault'>): string {
  return DONE[fault] ?? `hit by ${fault}`;
}

/**
 * Whom it acts on; empty: nobody says. A failover's target is only where it was ordered: who leads since then stands in
 * what proved it.
 */
export function struckBy({ fault, targets, evidence }: FaultSpan): readonly string[] {
  if (fault !== 'failover') return targets;
  const { promoted } = evidence;
  return typeof promoted === 'string' ? [promoted] : [];
}

/** `c3 was paused`; of what was not proved to act `r1 was to be killed`; `c1 and c2 were being cut off`. */
export function doneTo(span: FaultSpan, aspect: 'done' | 'under way' = 'done'): string {
  const struck = struckBy(span);
  const whom = struck.length > 0 ? list(struck) : span.fault === 'failover' ? 'another server' : 'something';
  const verb = struck.length > 1 ? 'were' : 'was';
  const how = span.acted === undefined ? ' to be' : aspect === 'under way' ? ' being' : '';
  return `${whom} ${verb}${how} ${doneWords(span)}`;
}

/** `ordered at 4.250 s, proved by 4.300 s, over by 5.801 s` */
export function faultTimes({ fault, begin, acted, end }: FaultSpan): string {
  const proved = acted === undefined ? 'not proved to act' : `proved by ${seconds(acted)}`;
  const over = end === undefined ? 'not over in this history' : `over by ${seconds(end)}`;
  // Who was made to lead goes on leading: nothing of it is ever over.
  return [`ordered at ${seconds(begin)}`, proved, ...(fault === 'failover' ? [] : [over])].join(', ');
}

/** `c3 was paused (fault f7: ordered at 4.250 s, proved by 4.300 s, over by 5.801 s)` */
export function faultPhrase(span: FaultSpan): string {
  return `${doneTo(span)} (fault ${span.id}: ${faultTimes(span)})`;
}

/** More of them make no story; a finding lists them all. */
const FAULTS_NAMED_MAX = 3;

/** The faults that may have acted at some time of [from, to], whomever they hit, as a sentence with a space after it; else empty. */
export function faultsAround(history: History, from: Nanos, to: Nanos): string {
  const faults = faultsWithin(history, from, to);
  if (faults.length === 0) return '';
  const named = faults.slice(0, FAULTS_NAMED_MAX).map(faultPhrase);
  const others = faults.length - named.length;
  const more =
    others === 0 ? [] : [`there ${others === 1 ? 'was 1 more fault' : `were ${others} more faults`}`];
  return `About that time ${list([...named, ...more])}. `;
}

/** Those of them that hit this process, as a clause `; …` to follow its name; else empty. */
export function faultClause(history: History, process: string, from: Nanos, to: Nanos): string {
  const phrases = faultsWithin(history, from, to)
    .filter((fault) => hits(fault, process))
    .map(faultPhrase);
  return phrases.length === 0 ? '' : `; ${list(phrases)}`;
}
