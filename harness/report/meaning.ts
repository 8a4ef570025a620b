// What each finding code and grade means, in words: the table of 2.3 of the design as data. Pure.

import type { FindingCode, Grade } from '../../checkers/verdict.ts';

export interface CodeMeaning {
  /** What one finding of this code proves. */
  readonly proves: string;
  /** Who is to blame, or what it amounts to. */
  readonly blame: string;
  /** For counting: `3 lost updates`. */
  readonly counted: readonly [one: string, many: string];
  /** Which mark it has on the timeline. */
  readonly mark: 'exclusion' | 'store' | 'liveness';
}

export const CODE_MEANING: Readonly<Record<FindingCode, CodeMeaning>> = {
  'double-grant': {
    proves: 'The lock was granted to one client while the tenure of another was certainly in force.',
    blame: 'The lock service or the recipe: it gave the lock twice.',
    counted: ['double grant', 'double grants'],
    mark: 'exclusion',
  },
  'belief-overlap': {
    proves: 'Two clients believed at the same time that they held the lock.',
    blame: 'Inherent to leases when a holder is paused or cut off; harmless only if the resource checks.',
    counted: ['overlap of beliefs', 'overlaps of beliefs'],
    mark: 'exclusion',
  },
  'expired-grant': {
    proves: 'An acquire succeeded with no validity left.',
    blame: 'The client library.',
    counted: ['expired grant', 'expired grants'],
    mark: 'exclusion',
  },
  'late-loss-notice': {
    proves: 'A client went on believing after its tenure had ended.',
    blame: 'The client library.',
    counted: ['late notice of a loss', 'late notices of a loss'],
    mark: 'exclusion',
  },
  'token-regression': {
    proves: 'A later grant carried a fencing token that is not above the earlier one.',
    blame: 'The source of the tokens.',
    counted: ['token regression', 'token regressions'],
    mark: 'exclusion',
  },
  'stale-write-accepted': {
    proves: 'The fenced store accepted a write whose token is below one it had accepted before.',
    blame: 'The store, or the source of the tokens.',
    counted: ['stale write accepted by a fenced store', 'stale writes accepted by a fenced store'],
    mark: 'store',
  },
  'stale-write-landed': {
    proves: 'The unfenced store took a write from a holder after the lock had been granted to another.',
    blame: 'There is no fencing: this is the harm.',
    counted: ['stale write that landed', 'stale writes that landed'],
    mark: 'store',
  },
  'lost-update': {
    proves:
      'A write was computed from a version that was no longer current, and overwrote what came between.',
    blame: 'This is the harm.',
    counted: ['lost update', 'lost updates'],
    mark: 'store',
  },
  'foreign-release': {
    proves: "A release or renewal by one owner ended or extended another owner's tenure.",
    blame: 'The recipe.',
    counted: ['foreign release', 'foreign releases'],
    mark: 'exclusion',
  },
  'not-linearizable': {
    proves: 'No order of the operations satisfies the model.',
    blame: 'The service.',
    counted: ['history without an order', 'histories without an order'],
    mark: 'exclusion',
  },
  oversold: {
    proves: 'More was sold than was in stock.',
    blame: 'The defence under test.',
    counted: ['oversold item', 'oversold items'],
    mark: 'store',
  },
  'duplicate-effect': {
    proves: 'An effect that may happen once happened again.',
    blame: 'The defence under test.',
    counted: ['duplicate effect', 'duplicate effects'],
    mark: 'store',
  },
  'stuck-lock': {
    proves: 'Nobody live held the lock, and still it could not be taken.',
    blame: 'Liveness: reported beside the grade.',
    counted: ['stuck lock', 'stuck locks'],
    mark: 'liveness',
  },
  'not-reacquired': {
    proves: 'The lock was not acquired again in time after the last fault had ended.',
    blame: 'Liveness: reported beside the grade.',
    counted: ['lock not acquired again', 'locks not acquired again'],
    mark: 'liveness',
  },
  starved: {
    proves: 'A client that kept asking was never given the lock.',
    blame: 'Liveness: reported beside the grade.',
    counted: ['starved client', 'starved clients'],
    mark: 'liveness',
  },
  'orphan-state': {
    proves: 'State was left behind in the service that no live client owns.',
    blame: 'Liveness: reported beside the grade.',
    counted: ['piece of orphan state', 'pieces of orphan state'],
    mark: 'liveness',
  },
  'fault-had-no-effect': {
    proves: 'A fault was injected, and nothing showed that it acted.',
    blame: 'The harness: a clean result means less.',
    counted: ['fault without effect', 'faults without effect'],
    mark: 'liveness',
  },
  'harness-stalled': {
    proves: 'The harness itself was stalled for a while.',
    blame: 'The harness: a clean result means less.',
    counted: ['stall of the harness', 'stalls of the harness'],
    mark: 'liveness',
  },
  'clock-uncertain': {
    proves: 'The clocks of the clients could not be compared closely enough.',
    blame: 'The harness: a clean result means less.',
    counted: ['uncertain clock', 'uncertain clocks'],
    mark: 'liveness',
  },
  'too-little-load': {
    proves: 'Too little happened for a clean result to mean anything.',
    blame: 'The harness: a clean result means less.',
    counted: ['lack of load', 'lacks of load'],
    mark: 'liveness',
  },
};

export interface GradeMeaning {
  readonly word: string;
  readonly means: string;
}

export const GRADE_MEANING: Readonly<Record<Grade, GradeMeaning>> = {
  safe: { word: 'safe', means: 'No rule was broken, as far as this run could show.' },
  'safe-with-fencing': {
    word: 'safe with fencing',
    means: 'Exclusion failed, but tokens kept their promise and the fenced store stayed clean.',
  },
  unsafe: { word: 'unsafe', means: 'A rule was broken that no fencing made good.' },
  inconclusive: { word: 'inconclusive', means: 'Too little was tried to say anything.' },
};

/** The kinds of faults lockpick knows, in words: what a run without them has not tested. */
export const FAULT_KINDS: Readonly<Record<string, string>> = {
  pause: 'pauses',
  kill: 'kills',
  'restart-empty': 'restarts with an empty disk',
  partition: 'network partitions',
  'reply-lost': 'lost replies',
  'reply-late': 'late replies',
  delay: 'slow links',
  loss: 'lossy links',
  'clock-jump': 'clock jumps',
  failover: 'failovers',
};
