// The three Sentinels: how they run, how they are told what to watch, and who they say leads. Their settings are far
// quicker than the defaults (30 s to notice, 180 s for a failover), so that a short run sees one.

import type { Roles } from '../../contract/backend.ts';
import type { Node, NodeSpec } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import { millis } from '../../history/op.ts';
import { monotonicClock, monotonicOrigin } from '../../clock.ts';
import { askRole } from '../redis-replicated/roles.ts';
import { versionInInfo } from '../redis/version.ts';

/** What the Sentinels call the group. */
export const GROUP = 'lockpick';
const PORT = 26379;
const NAMES: readonly string[] = ['s1', 's2', 's3'];
const QUORUM = 2;
/** Long enough that a busy machine is not taken for a dead primary. */
const DOWN_AFTER_MILLIS = 2_000;
const FAILOVER_TIME_LIMIT_MILLIS = 5_000;

const COMMAND_TIME_LIMIT = millis(5_000);
/** Sentinels find each other by what they publish every two seconds (sentinel_publish_period, sentinel.c, Redis 8.0). */
const AGREED_TIME_LIMIT_MILLIS = 20_000;
const HANDED_OVER_TIME_LIMIT_MILLIS = 10_000;
const POLL = millis(100);

export function isSentinel(name: string): boolean {
  return NAMES.includes(name);
}

export function sentinelNodes(): readonly NodeSpec[] {
  return NAMES.map((name) => ({
    name,
    role: 'server',
    image: 'redis',
    entrypoint: ['redis-server', '/data/sentinel.conf', '--sentinel'],
    // A Sentinel keeps what it knows in its configuration file.
    files: [{ path: '/data/sentinel.conf', content: `port ${PORT}\ndir /data\n`, writable: true }],
    port: PORT,
    ready: { kind: 'tcp', send: 'PING\r\n', expect: '+PONG' },
  }));
}

/** Lets them watch the primary, and waits until each knows its two replicas and both of its peers. */
export async function watchPrimary(sentinels: readonly Node[], primary: Node): Promise<void> {
  const settings = [
    ['down-after-milliseconds', DOWN_AFTER_MILLIS],
    ['failover-timeout', FAILOVER_TIME_LIMIT_MILLIS],
    ['parallel-syncs', 2],
  ];
  await Promise.all(
    sentinels.map(async (sentinel) => {
      await tell(sentinel, 'MONITOR', GROUP, primary.address, String(primary.spec.port), String(QUORUM));
      await tell(sentinel, 'SET', GROUP, ...settings.flat().map(String));
    }),
  );
  const agreed = `status=ok,address=${primary.address}:${primary.spec.port},slaves=2,sentinels=${NAMES.length}`;
  await until('the Sentinels did not find each other', AGREED_TIME_LIMIT_MILLIS, async () => {
    const views = await Promise.all(sentinels.map((node) => command(node, 'INFO', 'sentinel')));
    return views.every((view) => view.includes(agreed)) ? true : undefined;
  });
}

/** A Sentinel does not close the connection when told to QUIT, so it is asked through its own program. */
export async function sentinelVersion(sentinel: Node): Promise<string> {
  return versionInInfo(sentinel, await command(sentinel, 'INFO', 'server'));
}

export const watchedRoles: Roles = {
  ask: async (node) => (isSentinel(node.name) ? undefined : askRole(node)),
  // The Sentinels choose the replica themselves, and change the old primary some seconds later.
  promote: async (_node, servers) => {
    const before = await primaryOf(servers);
    const sentinel = servers.find(({ name }) => isSentinel(name));
    if (sentinel === undefined) throw new HarnessError('internal', 'a group without Sentinels');
    await tell(sentinel, 'FAILOVER', GROUP);
    const promoted = await until(
      'the Sentinels did not hand over',
      HANDED_OVER_TIME_LIMIT_MILLIS,
      async () => {
        const address = await command(sentinel, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', GROUP);
        return servers.find((node) => node.address === address.split('\n')[0] && node.name !== before?.name);
      },
    );
    return { orderedFrom: sentinel.name, promoted: promoted.name, before: before?.name ?? null };
  },
};

async function primaryOf(servers: readonly Node[]): Promise<Node | undefined> {
  const seen = await Promise.all(servers.map(async (node) => ({ node, role: await watchedRoles.ask(node) })));
  return seen.find(({ role }) => role?.role === 'primary')?.node;
}

async function command(node: Node, ...words: readonly string[]): Promise<string> {
  const { stdout } = await node.exec(['redis-cli', '-p', String(PORT), ...words], COMMAND_TIME_LIMIT);
  return stdout.trim();
}

/** Throws HarnessError('environment') unless it says OK. */
async function tell(sentinel: Node, ...words: readonly string[]): Promise<void> {
  const reply = await command(sentinel, 'SENTINEL', ...words);
  if (reply !== 'OK')
    throw new HarnessError('environment', `Sentinel ${sentinel.name} did not obey ${words.join(' ')}`, {
      detail: reply,
    });
}

async function until<T>(
  complaint: string,
  timeLimitMillis: number,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const clock = monotonicClock(monotonicOrigin());
  while (clock.now() < timeLimitMillis * 1e6) {
    const seen = await look();
    if (seen !== undefined) return seen;
    await clock.sleep(POLL);
  }
  throw new HarnessError('environment', `${complaint} within ${timeLimitMillis} ms`);
}
