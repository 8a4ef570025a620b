// What a Redis recipe may do: send one command to one server. `port-over.ts` has the port, over a real connection or a
// simulated one, so a recipe is written once (1.4). It must not know recipes or locks.

import type { Nanos } from '../../history/op.ts';
import type { LockClient, Outcome, Recipe } from '../../contract/lock-client.ts';

/** A reply as RESP2 has it; text is UTF-8. */
export type RedisReply = null | number | string | readonly RedisReply[];

/** Its name and its arguments. */
export type Command = readonly [name: string, ...args: (string | number)[]];

export interface RedisPort extends AsyncDisposable {
  /**
   * Sends one command; never rejects. `fail`: refused before it ran, or never sent. `info`: it may have run or may yet
   * run; the connection has been given up by then, and the next command goes out on a new one.
   */
  command(...words: Command): Promise<Outcome<RedisReply>>;
  /**
   * Sends several commands one after another on the same connection, without waiting for replies in between. Whatever
   * becomes of one, the others are sent.
   */
  sequence(...commands: readonly Command[]): Promise<readonly Outcome<RedisReply>[]>;
  /** Whether the server has a command of that name; it is asked once a connection. False if it cannot be asked. */
  offers(name: string): Promise<boolean>;
}

/** A recipe over one Redis server, whatever stands behind the port. Whoever opened the port closes it. */
export interface RedisRecipe extends Omit<Recipe, 'open'> {
  lockClient(redis: RedisPort, now: () => Nanos): Omit<LockClient, keyof AsyncDisposable>;
}
