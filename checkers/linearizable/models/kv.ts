// One key of a key-value store: get, put, append. A partition is one key, so what is left is a text.

import { Kind, NONE, type StoreEntries } from '../entries.ts';
import { callsBy, machineOf, observesByKind, type Model } from '../model.ts';

export const kv: Model<StoreEntries> = {
  name: 'kv',
  summary: 'texts by key: get, put, append',
  judges: [Kind.read, Kind.write, Kind.append],
  skips: [],
  machine(entries) {
    const { kind, value, values } = entries;
    return machineOf<string>(
      {
        initial: values[0] ?? '',
        key: (text) => text,
        step(text, entry) {
          const index = value[entry] ?? NONE;
          const operand = values[index] ?? '';
          switch (kind[entry] ?? 0) {
            case Kind.read:
              return index === NONE || operand === text ? text : undefined;
            case Kind.write:
              return operand;
            default:
              return text + operand;
          }
        },
        total: (entry) => kind[entry] !== Kind.read,
        blind: (entry) => kind[entry] === Kind.write,
        // Appending only makes a text longer.
        outOfReach: (text, entry) => {
          const index = value[entry] ?? NONE;
          return index !== NONE && !(values[index] ?? '').startsWith(text);
        },
        observes: observesByKind(entries, Kind.read),
        describe: (text) => `the value is ${JSON.stringify(shortened(text))}`,
      },
      callsBy(entries, value),
    );
  },
};

function shortened(text: string): string {
  return text.length <= 60 ? text : `…${text.slice(-60)}`;
}
