// Two line formats of Porcupine's test suite: the log of Jepsen's etcd test (`INFO jepsen.util - 3 :invoke :cas [1 2]`),
// and one map a line of a key-value store's operations (`{:process 3, :type :ok, :f :get, :key "a", :value "b"}`). In
// both nothing is a value that was read: the register, or the key, did not exist.

import { pairCalls, type CallEvent, type CallHistory, type CallValue } from './calls.ts';
import { HistoryError } from './history.ts';

const LOG_LINE = /^INFO\s+jepsen\.util\s+-\s+(\S+)\s+:(invoke|ok|fail|info)\s+:(\w+)\s+(.*)$/;

/** Throws `HistoryError` on a line that is no operation, or as `pairCalls` does. */
export function parseEtcdLog(text: string): CallHistory {
  const events: CallEvent[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, process, type, name, operand] = LOG_LINE.exec(line.trimEnd()) ?? [];
    if (process === undefined || name === undefined || operand === undefined || !isType(type))
      throw new HistoryError(index + 1, 'not a line of the log of a Jepsen test');
    const [, from, to] = /^\[(\S+) (\S+)\]$/.exec(operand) ?? [];
    const value: CallValue = from === undefined || to === undefined ? operand : [from, to];
    // A read is called with nil; it returns nil if there was nothing to read.
    const told = type === 'ok' || name !== 'read' ? value : null;
    events.push({ type, process, name, value: told, line: index + 1 });
  }
  return pairCalls(events);
}

function isType(word: string | undefined): word is CallEvent['type'] {
  return word === 'invoke' || word === 'ok' || word === 'fail' || word === 'info';
}
