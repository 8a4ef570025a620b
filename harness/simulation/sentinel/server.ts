// A simulated Sentinel: its clock, by which it looks after the group ten to twenty times a second, and the commands that
// clients, an operator and other Sentinels send. One that finds that its clock has jumped, or that it stood still, trusts
// itself for nothing but watching for half a minute. Source: Redis 8.0, sentinel.c (sentinelTimer, sentinelCommand).

import { millis } from '../../history/op.ts';
import type { RedisReply } from '../../backends/redis/port.ts';
import type { Accept } from '../network.ts';
import type { Machine } from '../program.ts';
import { RedisError } from '../redis/keyspace.ts';
import { openGroup, type Group } from './group.ts';
import { HELLO_CHANNEL } from './hello.ts';
import type { GroupSettings, Kept } from './kept.ts';

const STARTING_MILLIS = { min: 20, max: 60 };
const VERSION = '8.0.2';
/** Turns of its clock a second; drawn anew after each, so that Sentinels do not act at the same time. */
const HERTZ = { min: 10, max: 19 };
const TILT = { trigger: 2_000, millis: 30_000 } as const;
/** Of a group that is monitored and not set otherwise. */
const DEFAULTS: Omit<GroupSettings, 'quorum'> = {
  downAfterMillis: 30_000,
  failoverMillis: 180_000,
  parallelSyncs: 1,
};

export function runSentinel(machine: Machine): void {
  const { process, network, random, spec } = machine;
  process.after(millis(random.real(STARTING_MILLIS.min, STARTING_MILLIS.max)), () => {
    network.listen(spec.name, process, openSentinel(machine));
  });
}

function openSentinel(machine: Machine): Accept {
  const { process, disk, random, spec } = machine;
  const identity = `sentinel ${spec.name}`;
  const now = (): number => Math.floor(process.wallMillis());
  const watching = (kept: Kept): Group => openGroup(machine, kept, identity);
  let group = disk.sentinel.kept && watching(disk.sentinel.kept);
  let lastTurn = now();
  let tiltedAt: number | undefined;

  const turn = (): void => {
    const elapsed = now() - lastTurn;
    lastTurn = now();
    if (elapsed < 0 || elapsed > TILT.trigger) tiltedAt = now();
    if (tiltedAt !== undefined && now() - tiltedAt >= TILT.millis) tiltedAt = undefined;
    group?.tick(tiltedAt === undefined ? 'acts' : 'watches');
    process.after(millis(1_000 / random.integer(HERTZ.min, HERTZ.max)), turn);
  };
  turn();

  const known = (name: string | undefined): Group => {
    if (group === undefined || group.kept.name !== name)
      throw new RedisError('ERR No such master with that name');
    return group;
  };
  const sentinel = (name: string, args: readonly string[]): RedisReply => {
    const [first = '', second = '', third = '', fourth = ''] = args;
    switch (name) {
      case 'MONITOR':
        if (group !== undefined) throw new RedisError('ERR Duplicate master name.');
        disk.sentinel.kept = {
          name: first,
          primary: second,
          settings: { ...DEFAULTS, quorum: Number(fourth) },
          configEpoch: 0,
          currentEpoch: 0,
          vote: { leader: '', epoch: 0 },
          replicas: [],
          sentinels: new Map(),
        };
        group = watching(disk.sentinel.kept);
        return 'OK';
      case 'SET': {
        const { kept } = known(first);
        const value = (option: string, otherwise: number): number => {
          const at = args.indexOf(option, 1);
          return at < 0 ? otherwise : Number(args[at + 1]);
        };
        const { settings } = kept;
        kept.settings = {
          quorum: value('quorum', settings.quorum),
          downAfterMillis: value('down-after-milliseconds', settings.downAfterMillis),
          failoverMillis: value('failover-timeout', settings.failoverMillis),
          parallelSyncs: value('parallel-syncs', settings.parallelSyncs),
        };
        return 'OK';
      }
      case 'GET-MASTER-ADDR-BY-NAME':
        return group?.kept.name === first ? [group.address, '6379'] : null;
      case 'FAILOVER': {
        const answer = known(first).order();
        if (answer === 'INPROG') throw new RedisError('INPROG Failover already in progress');
        if (answer === 'NOGOODSLAVE') throw new RedisError('NOGOODSLAVE No suitable replica to promote');
        return 'OK';
      }
      case 'IS-MASTER-DOWN-BY-ADDR': {
        const answer = group?.whetherDown(first, Number(third), fourth) ?? [0, '*', 0];
        return tiltedAt === undefined ? answer : [0, answer[1], answer[2]];
      }
      default:
        throw new RedisError(`ERR Unknown sentinel subcommand '${name}'`);
    }
  };
  const info = (section: string | undefined): string => {
    if (section === 'server') return `redis_version:${VERSION}\r\n`;
    if (group === undefined) return '';
    const { status, address, kept } = group;
    const view = `status=${status},address=${address}:6379,slaves=${kept.replicas.length}`;
    return `master0:name=${kept.name},${view},sentinels=${kept.sentinels.size + 1}\r\n`;
  };
  const perform = ([name = '', ...args]: readonly string[]): RedisReply | RedisError => {
    try {
      switch (name.toUpperCase()) {
        case 'PING':
          return 'PONG';
        case 'ROLE':
          return ['sentinel', group === undefined ? [] : [group.kept.name]];
        case 'INFO':
          return info(args[0]);
        case 'PUBLISH':
          if (args[0] === HELLO_CHANNEL) group?.hear(args[1] ?? '');
          return 1;
        case 'SENTINEL':
          return sentinel((args[0] ?? '').toUpperCase(), args.slice(1));
        default:
          throw new RedisError(`ERR unknown command '${name}', with args beginning with: `);
      }
    } catch (error) {
      if (error instanceof RedisError) return error;
      throw error;
    }
  };

  return (socket) => ({
    message(message) {
      if (message.kind === 'redis command')
        socket.send({ kind: 'redis reply', reply: perform(message.words) });
      else if (message.kind === 'probe') socket.send({ kind: 'up' });
      else if (message.kind === 'text') {
        socket.send({ kind: 'text', text: printed(perform(message.text.split(' '))) });
        socket.close();
      }
    },
    closed: () => undefined,
  });
}

/** As redis-cli prints it when nobody reads it at a terminal. */
function printed(reply: RedisReply | RedisError): string {
  if (reply instanceof RedisError) return reply.message;
  if (Array.isArray(reply)) return reply.map(printed).join('\n');
  return String(reply ?? '');
}
