// The phrases that stories are made of. A story is two or three plain sentences with times in seconds of the run's
// clock, so that a reader can find every moment in the timeline. Pure; knows no rule.

import type { FaultSpan, History } from '../harness/history/history.ts';
import type { Grant } from '../harness/history/grants.ts';
import type { Millis, Nanos } from '../harness/history/op.ts';
import { faultsWithin, hits } from './finding.ts';

/** `4.201 s` */
export function seconds(time: Nanos | number): string {
  return `${(time / 1e9).toFixed(3)} s`;
}

/** `1 s`, `0.5 s`: a duration as it was asked for. */
function duration(millis: Millis): string {
  return `${millis / 1000} s`;
}

/** `one, two and three` */
export function list(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
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

/** What a fault did to its targets: `were paused`. */
const DONE: Readonly<Record<string, string>> = {
  pause: 'paused',
  freeze: 'paused',
  kill: 'killed',
  partition: 'cut off',
  'reply-lost': 'left without replies',
  'reply-late': 'left waiting for replies',
  'restart-empty': 'restarted empty',
  failover: 'promoted',
};

/** `c3 was paused from 4.300 s to 5.801 s (fault f7)` */
function faultPhrase(fault: FaultSpan): string {
  const { id, targets } = fault;
  const done = DONE[fault.fault] ?? `hit by ${fault.fault}`;
  return `${list(targets)} ${targets.length > 1 ? 'were' : 'was'} ${done} ${spanPhrase(fault)} (fault ${id})`;
}

function spanPhrase({ fault, begin, acted, end }: FaultSpan): string {
  // It is over when it is done, and done at some time before it was proved to be.
  if (fault === 'failover' && acted !== undefined) return `between ${seconds(begin)} and ${seconds(acted)}`;
  return `from ${seconds(acted ?? begin)}${end === undefined ? ', to the end of the history' : ` to ${seconds(end)}`}`;
}

/** More of them make no story; a finding lists them all. */
const FAULTS_NAMED_MAX = 3;

/** The faults in force at some time of [from, to], whomever they hit, as a sentence with a space after it; else empty. */
export function meanwhile(history: History, from: Nanos, to: Nanos): string {
  const faults = faultsWithin(history, from, to);
  if (faults.length === 0) return '';
  const named = faults.slice(0, FAULTS_NAMED_MAX).map(faultPhrase);
  const others = faults.length - named.length;
  const more = others === 0 ? [] : [`${others} more ${others === 1 ? 'fault was' : 'faults were'} in force`];
  return `Meanwhile ${list([...named, ...more])}. `;
}

/** The faults that hit this process at some time of [from, to], as a clause `, and …` to follow its name; else empty. */
export function faultClause(history: History, process: string, from: Nanos, to: Nanos): string {
  const phrases = faultsWithin(history, from, to)
    .filter((fault) => hits(fault, process))
    .map(faultPhrase);
  return phrases.length === 0 ? '' : `; ${list(phrases)}`;
}
