// A client program under test, wherever it runs: speaks the control lines, keeps everything it wrote.

import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { decodeFromClient, type FromClient, type ToClient } from '../contract/control.ts';
import { decodeEvent } from '../history/decode-event.ts';
import type { HistoryEvent } from '../history/op.ts';

export interface ClientProcess {
  readonly events: readonly HistoryEvent[];
  send(command: ToClient): void;
  /** Sends a line that need not be a command. */
  sendLine(line: string): void;
  /** The next answer of that kind, or the one that came already and was not asked for. Rejects when the process ends. */
  answer<T extends FromClient['t']>(kind: T): Promise<Extract<FromClient, { t: T }>>;
  /** Its exit code, or the signal it died of. */
  readonly ended: Promise<number | string>;
  closeStdin(): void;
}

export function clientProcess(
  child: ChildProcess & { readonly stdin: Writable; readonly stdout: Readable },
): ClientProcess {
  const events: HistoryEvent[] = [];
  const answers: FromClient[] = [];
  const waiting: (() => void)[] = [];
  const wake = (): void => {
    for (const resume of waiting.splice(0)) resume();
  };
  let over = false;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = decodeFromClient(line);
    if (answer !== undefined) answers.push(answer);
    else events.push(decodeEvent(line, events.length + 2));
    wake();
  });
  const ended = new Promise<number | string>((resolve) => {
    child.on('close', (code, signal) => {
      over = true;
      wake();
      resolve(code ?? signal ?? 'unknown');
    });
  });
  return {
    events,
    ended,
    send: (command) => child.stdin.write(`${JSON.stringify(command)}\n`),
    sendLine: (line) => child.stdin.write(`${line}\n`),
    async answer<T extends FromClient['t']>(kind: T) {
      for (;;) {
        const found = answers.find((answer): answer is Extract<FromClient, { t: T }> => answer.t === kind);
        if (found !== undefined) {
          answers.splice(answers.indexOf(found), 1);
          return found;
        }
        if (over) throw new Error(`the client ended without "${kind}"; it said ${JSON.stringify(answers)}`);
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
        });
      }
    },
    closeStdin: () => child.stdin.end(),
  };
}
