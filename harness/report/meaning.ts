// What each finding code and grade means, in words: the table of 2.3 of the design as data. Pure.

import type { FindingCode, Grade } from '../../checkers/verdict.ts';

export interface CodeMeaning {
  /** What one finding of this code proves. */
  readonly proves: string;
  /** Who is to blame, or what it amounts to. */
  readonly blame: string;
  /** Which designs cannot have it, and why. */
  readonly notIn: string;
  /** What to do about it. */
  readonly remedy: string;
  /** For counting: `3 lost updates`. */
  readonly counted: readonly [one: string, many: string];
  /** Which mark it has on the timeline. */
  readonly mark: 'exclusion' | 'store' | 'liveness';
}

export const CODE_MEANING: Readonly<Record<FindingCode, CodeMeaning>> = {
  'double-grant': {
    proves: 'The lock was granted to one client while the tenure of another was certainly in force.',
    blame: 'The lock service or the recipe: it gave the lock twice.',
    notIn:
      'A lock whose grants are agreed on by a majority before they are answered (etcd, ZooKeeper), and one server that has every grant on disk before it answers. Asynchronous replication with failover can have it, and so can votes that are forgotten in a restart.',
    remedy:
      'Use a service that agrees on grants before it answers; with Redis, one server with appendfsync always and no failover, or WAIT for all replicas and refuse what is not confirmed. Or take a fencing token from a source that survives the same failure, and let the resource refuse older ones.',
    counted: ['double grant', 'double grants'],
    mark: 'exclusion',
  },
  'belief-overlap': {
    proves: 'Two clients believed at the same time that they held the lock.',
    blame: 'Inherent to leases when a holder is paused or cut off; harmless only if the resource checks.',
    notIn:
      'A lock without a lease, such as a session-bound advisory lock: nobody else is let in while the session lives, for which it pays with waiting. Every lease has it when its holder is stopped for longer than the lease: no client can see its own pause.',
    remedy:
      'Do not try to make the lease longer than every pause. Give each grant a fencing token and have the resource refuse lower ones than it has seen, on reads as well as on writes, or make the work conditional on the version that was read.',
    counted: ['overlap of beliefs', 'overlaps of beliefs'],
    mark: 'exclusion',
  },
  'expired-grant': {
    proves: 'An acquire succeeded with no validity left.',
    blame: 'The client library.',
    notIn:
      'A library that measures how long the acquire took and refuses what is left of a lease that has run out.',
    remedy:
      "Take the time before the request leaves, subtract it and the clock's tolerance from the TTL, and give the lock back if nothing is left.",
    counted: ['expired grant', 'expired grants'],
    mark: 'exclusion',
  },
  'late-loss-notice': {
    proves: 'A client went on believing after its tenure had ended.',
    blame: 'The client library.',
    notIn:
      'A library that counts its own deadline from before its last renewal left, and says that the lock is lost when that has passed, whether or not the service answers.',
    remedy:
      'Keep a local deadline on a monotonic clock, and stop the work at it without waiting for the service to say so. Stop on every notice of the library; do not only log it.',
    counted: ['late notice of a loss', 'late notices of a loss'],
    mark: 'exclusion',
  },
  'token-regression': {
    proves: 'A later grant carried a fencing token that is not above the earlier one.',
    blame: 'The source of the tokens.',
    notIn:
      "Tokens that are the order of the service's own log: etcd revisions, ZooKeeper's czxid, a counter changed in the same transaction as the grant. A counter that each client keeps, that expires with the lock, or that failover can lose has it.",
    remedy:
      'Make the token in the same atomic step as the grant, in a counter that never expires and that is as durable as the resource it protects.',
    counted: ['token regression', 'token regressions'],
    mark: 'exclusion',
  },
  'stale-write-accepted': {
    proves: 'The fenced store accepted a write whose token is below one it had accepted before.',
    blame: 'The store, or the source of the tokens.',
    notIn:
      'A store that compares token and highest token seen in the same atomic step as the write, and keeps the mark in the row that it protects.',
    remedy:
      'Check in one conditional update (… WHERE highest <= token), not with a read before a write; raise the mark on reads with a token as well.',
    counted: ['stale write accepted by a fenced store', 'stale writes accepted by a fenced store'],
    mark: 'store',
  },
  'stale-write-landed': {
    proves: 'The unfenced store took a write from a holder after the lock had been granted to another.',
    blame: 'There is no fencing: this is the harm.',
    notIn:
      'A store that checks a token or the version that was read. No lock service can rule it out: the late write is sent to somebody else.',
    remedy:
      'Fence the store: a token check, a version check (compare-and-set), or a condition in the update itself. The unfenced store of a run shows the harm on purpose; what counts is whether the fenced one beside it stayed clean.',
    counted: ['stale write that landed', 'stale writes that landed'],
    mark: 'store',
  },
  'lost-update': {
    proves:
      'A write was computed from a version that was no longer current, and overwrote what came between.',
    blame: 'This is the harm.',
    notIn:
      "A store in which each write is conditional on the version it was computed from, or that fences reads as well as writes. Fencing writes alone can have it: a stale holder writes once more before the new holder's first write.",
    remedy:
      'Write conditionally on the version that was read (compare-and-set, SELECT … FOR UPDATE in one transaction), or let a read with a token raise the mark as well.',
    counted: ['lost update', 'lost updates'],
    mark: 'store',
  },
  'foreign-release': {
    proves: "A release or renewal by one owner ended or extended another owner's tenure.",
    blame: 'The recipe.',
    notIn:
      'A lock whose release and renewal compare the owner in the same atomic step (a script, a transaction), with a value that no other attempt ever had.',
    remedy:
      'Give every attempt a fresh random value, and release and renew by compare-and-delete and compare-and-extend in one step. DEL, GET then DEL, and EXPIRE without a comparison all have it.',
    counted: ['foreign release', 'foreign releases'],
    mark: 'exclusion',
  },
  'not-linearizable': {
    proves: 'No order of the operations satisfies the model.',
    blame: 'The service.',
    notIn: 'A service that takes every operation through one log or one server, reads included.',
    remedy:
      'Look at the shortest part without an order that the finding shows. Turn off stale reads; read from the leader, or with a quorum.',
    counted: ['history without an order', 'histories without an order'],
    mark: 'exclusion',
  },
  oversold: {
    proves: 'More was sold than was in stock.',
    blame: 'The defence under test.',
    notIn:
      'A defence that makes the check and the sale one atomic step: a conditional update, a row lock over both, a version check.',
    remedy:
      'Put the condition into the update itself (… SET stock = stock - 1 WHERE stock > 0), and do not rely on the lock for it.',
    counted: ['oversold item', 'oversold items'],
    mark: 'store',
  },
  'duplicate-effect': {
    proves: 'An effect that may happen once happened again.',
    blame: 'The defence under test.',
    notIn: 'A defence with an idempotency key that the store keeps unique.',
    remedy:
      'Give each effect a key that is the same in every repetition, and let a unique constraint refuse the second.',
    counted: ['duplicate effect', 'duplicate effects'],
    mark: 'store',
  },
  'stuck-lock': {
    proves: 'Nobody live held the lock, and still it could not be taken.',
    blame: 'Liveness: reported beside the grade.',
    notIn:
      'A lock in which taking it and making it end are one step (SET NX PX; a key with its lease; an ephemeral node), and whose client can find again what it created when the reply was lost.',
    remedy:
      'Set the expiry in the same command that takes the lock; mark what you create with a value of your own, and look for it after an error; delete it if you do not want it any more.',
    counted: ['stuck lock', 'stuck locks'],
    mark: 'liveness',
  },
  'not-reacquired': {
    proves: 'The lock was not acquired again in time after the last fault had ended.',
    blame: 'Liveness: reported beside the grade.',
    notIn:
      'A service that elects a leader, and clients that reconnect, within the time that the backend documents after the last fault ended.',
    remedy:
      'Look at what the clients were answered after the last fault: a connection that is never given up, a back-off without an upper end, or a cluster that does not come together again.',
    counted: ['lock not acquired again', 'locks not acquired again'],
    mark: 'liveness',
  },
  starved: {
    proves:
      'A client that kept asking was passed again and again by others who asked later, and never had the lock.',
    blame: 'Liveness: reported beside the grade.',
    notIn: 'A lock that serves in the order of asking (a queue of etcd or ZooKeeper nodes).',
    remedy:
      'Use a queueing recipe, or add chance to the pause between two tries so that no client is always late.',
    counted: ['starved client', 'starved clients'],
    mark: 'liveness',
  },
  'orphan-state': {
    proves:
      'Nobody live held the lock, and still it was refused for longer than any lease could last. Later it could be had: state had been left behind in the service.',
    blame: 'Liveness: reported beside the grade.',
    notIn: 'A recipe whose state ends with the session or the lease that made it.',
    remedy:
      'Bind every key and node to a lease or a session; after an error remove what the attempt may have left.',
    counted: ['piece of orphan state', 'pieces of orphan state'],
    mark: 'liveness',
  },
  'fault-had-no-effect': {
    proves: 'A fault was injected, and nothing showed that it acted.',
    blame: 'The harness: a clean result means less.',
    notIn: 'Not a property of a lock: the run itself was too weak to say something about it.',
    remedy:
      "Look at the fault's evidence in the report; check the surroundings with `lockpick doctor` (NET_ADMIN, netem).",
    counted: ['fault without effect', 'faults without effect'],
    mark: 'liveness',
  },
  'harness-stalled': {
    proves: 'The harness itself was stalled for a while.',
    blame: 'The harness: a clean result means less.',
    notIn: 'Not a property of a lock: the machine had no time for the run.',
    remedy: 'Use fewer clients, or a machine with more processors and nothing else to do; then run it again.',
    counted: ['stall of the harness', 'stalls of the harness'],
    mark: 'liveness',
  },
  'clock-uncertain': {
    proves: 'The clocks of the clients could not be compared closely enough.',
    blame: 'The harness: a clean result means less.',
    notIn:
      'Not a property of a lock: with containers of one kernel all stamps are on one clock, and it does not occur.',
    remedy: 'Run clients and servers on one engine, or take a longer TTL than the error of the clock.',
    counted: ['uncertain clock', 'uncertain clocks'],
    mark: 'liveness',
  },
  'too-little-load': {
    proves: 'Too little happened for a clean result to mean anything.',
    blame: 'The harness: a clean result means less.',
    notIn: 'Not a property of a lock: it was not tried hard enough.',
    remedy: 'Give it more time (--time-limit), more clients, fewer locks, or shorter work (--think).',
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
  'power-loss': 'losses of power',
  'restart-empty': 'restarts with an empty disk',
  partition: 'network partitions',
  'reply-lost': 'lost replies',
  'reply-late': 'late replies',
  delay: 'slow links',
  loss: 'lossy links',
  duplicate: 'packets that come twice',
  reorder: 'packets out of order',
  rate: 'narrow links',
  'clock-jump': 'clock jumps',
  'clock-drift': 'clocks that drift',
  'clock-strobe': 'clocks that go to and fro',
  failover: 'failovers',
  stall: 'stalls shorter than a lease',
  'cpu-starve': 'starved processors',
  'disk-full': 'full disks',
  'slow-fsync': 'slow disks',
};
