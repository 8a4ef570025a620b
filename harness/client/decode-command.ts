// One line from the coordinator as a command. Both ends are always of one build (the coordinator bundles the client
// from its own sources), so only the kind is checked here; a plan's values were checked by `parsePlan`.

import type { ToClient } from '../contract/control.ts';

const KINDS: ReadonlySet<unknown> = new Set<ToClient['t']>([
  'hello',
  'setup',
  'start',
  'stop',
  'try-each',
  'read-all',
  'quit',
]);

/** Throws SyntaxError if the line is no command. */
export function decodeCommand(line: string): ToClient {
  const value: unknown = JSON.parse(line);
  if (isCommand(value)) return value;
  throw new SyntaxError(`not a command: ${line.slice(0, 200)}`);
}

function isCommand(value: unknown): value is ToClient {
  return typeof value === 'object' && value !== null && 't' in value && KINDS.has(value.t);
}
