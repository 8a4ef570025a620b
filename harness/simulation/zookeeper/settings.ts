// The settings of a simulated ZooKeeper server: those that its node has in `zoo.cfg`.

import type { NodeSpec } from '../../contract/cluster.ts';

export interface ZooKeeperSettings {
  readonly tickMillis: number;
  /** A leader or follower that was silent for so long is given up. */
  readonly silenceMillis: number;
  readonly sessionMillisMax: number;
  /** The servers of the ensemble. */
  readonly members: readonly string[];
}

/** Throws if the node has no such file. */
export function settingsOf({ name, files = [] }: NodeSpec): ZooKeeperSettings {
  const content = files.find(({ path }) => path.endsWith('/zoo.cfg'))?.content;
  if (typeof content !== 'string') throw new Error(`node ${name} has no zoo.cfg`);
  const settings = content.split('\n').map((line): readonly [name: string, value: string] => {
    const at = line.indexOf('=');
    return [line.slice(0, at), line.slice(at + 1)];
  });
  const number = (wanted: string): number => Number(new Map(settings).get(wanted));
  const tickMillis = number('tickTime');
  return {
    tickMillis,
    silenceMillis: tickMillis * number('syncLimit'),
    sessionMillisMax: number('maxSessionTimeout'),
    // server.1=z1:2888:3888
    members: settings.flatMap(([key, value]) =>
      key.startsWith('server.') ? [value.slice(0, value.indexOf(':'))] : [],
    ),
  };
}
