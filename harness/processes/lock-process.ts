// One lock client as the coordinator sees it: a process in a container, spoken to over its standard streams
// (`contract/control.ts`; the other end is `client/main.ts`). Measures its clock at the hello (I3), passes its events
// on, and knows when it died. A process that is killed ends here; its successor is a new `LockProcess`.

import type { Clock } from '../clock.ts';
import type { Node, NodeStream } from '../contract/cluster.ts';
import { decodeFromClient, type ClientConfig, type FromClient, type ToClient } from '../contract/control.ts';
import { HarnessError } from '../contract/errors.ts';
import { encodeEvent } from '../history/encode-event.ts';
import { decodeEvent } from '../history/decode-event.ts';
import { millis, nanos, type HistoryEvent, type Millis, type Nanos } from '../history/op.ts';

const HELLO_ROUNDS = 5;
const HELLO_TIME_LIMIT = millis(10_000);

/** How a process's stamps relate to ours. `offset` is subtracted from them; 0 where the clock is shared. */
export interface ClockReading {
  readonly shared: boolean;
  readonly offsetNanos: number;
  readonly errorNanos: number;
}

export interface LockProcessOptions {
  readonly name: string;
  readonly node: Node;
  readonly clock: Clock;
  /** The run's origin on CLOCK_MONOTONIC. */
  readonly origin: bigint;
  /** Called for each history event, in the order the process wrote them, stamped on the run's clock. */
  onEvent(event: HistoryEvent): void;
  /** Called once, after the last event, when the process has ended; `lastSeen`: its last stamp, `said`: why, if it did. */
  onEnd(process: LockProcess, lastSeen: Nanos, said: HarnessError | undefined): void;
}

type Reply = Extract<FromClient, { t: string }>['t'];

export class LockProcess {
  readonly name: string;
  readonly node: Node;
  /** It was told to quit; its end is no surprise. */
  quitting = false;
  readonly #options: LockProcessOptions;
  readonly #stream: NodeStream;
  readonly #waiting = new Map<Reply, { resolve(reply: FromClient): void; reject(error: unknown): void }>();
  #clockReading: ClockReading = { shared: true, offsetNanos: 0, errorNanos: 0 };
  #lastSeen: Nanos;
  #ended = false;
  #failure: HarnessError | undefined;

  private constructor(options: LockProcessOptions, stream: NodeStream) {
    this.name = options.name;
    this.node = options.node;
    this.#options = options;
    this.#stream = stream;
    this.#lastSeen = options.clock.now();
    stream.onLine((line) => {
      try {
        this.#receive(line);
      } catch (error) {
        this.#makesNoSense(line, error);
      }
    });
    stream.onEvent?.((event) => {
      try {
        this.#record(event);
      } catch (error) {
        this.#makesNoSense(encodeEvent(event), error);
      }
    });
    void stream.closed.then(() => this.#end());
  }

  /** Says hello over an open stream of a started node and measures the clock. */
  static async greet(options: LockProcessOptions, stream: NodeStream): Promise<LockProcess> {
    const process = new LockProcess(options, stream);
    const rounds: { sent: number; theirs: number; received: number }[] = [];
    for (let round = 0; round < HELLO_ROUNDS; round++) {
      const sent = options.clock.now();
      const reply = await process.#ask(
        { t: 'hello', origin: options.origin.toString(), round },
        'hello',
        HELLO_TIME_LIMIT,
      );
      if (reply.t === 'hello') rounds.push({ sent, theirs: reply.time, received: options.clock.now() });
    }
    process.#clockReading = readClock(rounds);
    return process;
  }

  get clockReading(): ClockReading {
    return this.#clockReading;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** What made it unusable (it said `failed`, or wrote nonsense), if anything did. */
  get failure(): HarnessError | undefined {
    return this.#failure;
  }

  /** What it takes for the time of day, in milliseconds since 1970; undefined: it does not answer, or not in time. */
  async readTime(timeLimit: Millis): Promise<number | undefined> {
    const { origin } = this.#options;
    try {
      const reply = await this.#ask({ t: 'hello', origin: origin.toString(), round: 0 }, 'hello', timeLimit);
      return reply.t === 'hello' ? reply.wallMillis : undefined;
    } catch (error) {
      // Stopped, or dead: whatever became of it is found out elsewhere.
      if (error instanceof HarnessError) return undefined;
      throw error;
    }
  }

  async setup(config: ClientConfig, timeLimit: Millis): Promise<void> {
    await this.#ask({ t: 'setup', config }, 'ready', timeLimit);
  }

  start(): void {
    this.#send({ t: 'start' });
  }

  /** Resolves when its current session has ended; undefined effect on a process that has ended. */
  async stop(timeLimit: Millis): Promise<void> {
    await this.#ask({ t: 'stop' }, 'stopped', timeLimit);
  }

  async tryEach(locks: readonly string[], timeLimit: Millis): Promise<void> {
    const message: ToClient = { t: 'try-each', locks, timeLimitMillis: timeLimit };
    await this.#ask(message, 'tried', millis(timeLimit + 10_000));
  }

  async readAll(timeLimit: Millis): Promise<void> {
    await this.#ask({ t: 'read-all' }, 'read', timeLimit);
  }

  /** Asks it to exit and waits until it has. */
  async quit(timeLimit: Millis): Promise<void> {
    this.quitting = true;
    this.#send({ t: 'quit' });
    await Promise.race([this.#stream.closed, this.#options.clock.sleep(timeLimit)]);
  }

  #send(message: ToClient): void {
    if (!this.#ended) this.#stream.send(JSON.stringify(message));
  }

  async #ask(message: ToClient, reply: Reply, timeLimit: Millis): Promise<FromClient> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#ended)
      throw new HarnessError('internal', `${this.name} has ended and cannot be asked for ${reply}`);
    const timer = new AbortController();
    const answer = new Promise<FromClient>((resolve, reject) => {
      this.#waiting.set(reply, { resolve, reject });
    });
    this.#send(message);
    try {
      return await Promise.race([answer, this.#timeout(reply, timeLimit, timer.signal)]);
    } finally {
      timer.abort();
      this.#waiting.delete(reply);
    }
  }

  async #timeout(reply: Reply, timeLimit: Millis, signal: AbortSignal): Promise<never> {
    await this.#options.clock.sleep(timeLimit, signal);
    throw new HarnessError('environment', `client ${this.name} did not say ${reply} within ${timeLimit} ms`, {
      detail: await this.node.logs(),
      remedy: 'is the machine overloaded? see logs/ in the run directory',
    });
  }

  #receive(line: string): void {
    const message = decodeFromClient(line);
    if (message !== undefined) {
      if (message.t === 'failed')
        return this.#fail(new HarnessError(message.code, `client ${this.name}: ${message.error}`));
      return this.#waiting.get(message.t)?.resolve(message);
    }
    this.#record(decodeEvent(line, 0));
  }

  #record(event: HistoryEvent): void {
    const received = this.#options.clock.now();
    const time = nanos(event.time - this.#clockReading.offsetNanos);
    if (time > received + this.#clockReading.errorNanos)
      throw new Error(`its stamp ${time} is later than its arrival ${received}`);
    if (time > this.#lastSeen) this.#lastSeen = time;
    this.#options.onEvent(time === event.time ? event : { ...event, time });
  }

  #makesNoSense(line: string, cause: unknown): void {
    const said = `${this.name} wrote a line that makes no sense: ${line.slice(0, 200)}`;
    this.#fail(new HarnessError('internal', said, { cause }));
  }

  #fail(error: HarnessError): void {
    this.#failure ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(this.#failure);
  }

  #end(): void {
    const said = this.#failure;
    this.#ended = true;
    this.#fail(
      new HarnessError('environment', `client ${this.name} ended`, {
        remedy: 'see logs/ in the run directory',
      }),
    );
    this.#options.onEnd(this, this.#lastSeen, said);
  }
}

/**
 * Shared if every answer was stamped between question and arrival. Else the offset is that of the quickest round, known
 * to half its round trip.
 */
export function readClock(
  rounds: readonly { readonly sent: number; readonly theirs: number; readonly received: number }[],
): ClockReading {
  if (rounds.every(({ sent, theirs, received }) => sent <= theirs && theirs <= received))
    return { shared: true, offsetNanos: 0, errorNanos: 0 };
  const [best] = rounds.toSorted((a, b) => a.received - a.sent - (b.received - b.sent));
  if (best === undefined) return { shared: false, offsetNanos: 0, errorNanos: Number.MAX_SAFE_INTEGER };
  return {
    shared: false,
    offsetNanos: Math.round(best.theirs - (best.sent + best.received) / 2),
    errorNanos: Math.ceil((best.received - best.sent) / 2),
  };
}
