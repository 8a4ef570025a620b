// A history in any of the formats that can be read, told apart by its first characters. Our own format is read into a
// `History`, with times, faults and stores; the others into calls, which is all they have. Pure.

import { parseEdnHistory } from './edn.ts';
import type { CallHistory } from './calls.ts';
import { HistoryError, type History } from './history.ts';
import { parseHistory } from './json-lines.ts';
import { parseEtcdLog } from './porcupine-log.ts';

/** Ours, Jepsen's EDN, the log of Jepsen's etcd test and the key-value lines as Porcupine's test suite keeps them. */
export type HistoryFormat = 'lockpick-history' | 'jepsen-edn' | 'porcupine-etcd' | 'porcupine-kv';

export type Recorded =
  | { readonly format: 'lockpick-history'; readonly history: History }
  | { readonly format: Exclude<HistoryFormat, 'lockpick-history'>; readonly calls: CallHistory };

/** How much of a file tells its format. */
export const FORMAT_CHARACTERS = 4096;

/** undefined: none of them. A file of ours that is damaged is still ours. */
export function formatOf(beginning: string): HistoryFormat | undefined {
  const text = beginning.replace(/^(?:\s|;[^\n]*(?:\n|$))+/, '');
  if (/^\{\s*"/.test(text)) return 'lockpick-history';
  if (/^INFO\s+jepsen\.util\b/.test(text)) return 'porcupine-etcd';
  if (/^\{[^{}\n]*:f :(?:get|put|append)\b[^{}\n]*:key "/.test(text)) return 'porcupine-kv';
  if (/^(?:[[({]|#[\w.]+\s*\{)/.test(text)) return 'jepsen-edn';
  return undefined;
}

/** Throws `HistoryError` with line and rule. O(size log size). */
export function parseRecorded(text: string): Recorded {
  const format = formatOf(text.slice(0, FORMAT_CHARACTERS));
  switch (format) {
    case 'lockpick-history':
      return { format, history: parseHistory(text) };
    case 'porcupine-etcd':
      return { format, calls: parseEtcdLog(text) };
    case 'porcupine-kv':
    case 'jepsen-edn':
      return { format, calls: parseEdnHistory(text) };
    case undefined:
      if (text.trim() === '') throw new HistoryError(1, 'the file is empty');
      throw new HistoryError(
        1,
        'neither the header of a lockpick history, nor EDN, nor a line of a Jepsen log',
      );
  }
}
