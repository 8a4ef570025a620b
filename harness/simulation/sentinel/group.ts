// What a simulated Sentinel knows of the group that it watches, and what it does about it: finds its replicas and the
// other Sentinels, agrees with them that the primary is down, is elected for a failover or votes, promotes a replica, lets
// the others follow it, and puts right who does not follow. One Sentinel at a time leads a failover, in an epoch of its
// own; the others learn of it from what it publishes. Source: Redis 8.0, sentinel.c, whose names of states are kept.

import { decodeHello, encodeHello } from './hello.ts';
import { openInstance, PERIOD, type Instance } from './instance.ts';
import type { Kept } from './kept.ts';
import { bestReplica } from './selection.ts';
import { NOBODY, openVotes } from './votes.ts';
import type { Machine } from '../program.ts';

type FailoverState =
  | 'none'
  | 'wait start'
  | 'select slave'
  | 'send slaveof noone'
  | 'wait promotion'
  | 'reconf slaves'
  | 'update config';

export interface Group {
  /** Of the primary, as a client is told: the promoted replica as soon as it is one. */
  readonly address: string;
  readonly kept: Kept;
  /** `watches`: it asks, and draws no conclusions. */
  tick(how: 'acts' | 'watches'): void;
  hear(hello: string): void;
  /** The answer to `is-master-down-by-addr`. */
  whetherDown(address: string, epoch: number, candidate: string): readonly [number, string, number];
  /** Orders a failover of a primary that is well; the answer. */
  order(): 'OK' | 'INPROG' | 'NOGOODSLAVE';
  /** `ok`, `sdown`, `odown`. */
  readonly status: string;
}

const ELECTION_MILLIS_MAX = 10_000;
const DESYNC_MILLIS_MAX = 1_000;
const RECONF_MILLIS_MAX = 10_000;
/** What is not as it should be is put right only when it has been so for a while. */
const PATIENCE_MILLIS = PERIOD.publish * 4;

export function openGroup(machine: Machine, kept: Kept, identity: string): Group {
  const { process, random } = machine;
  const now = (): number => Math.floor(process.wallMillis());
  const replicas = new Map<string, Instance>();
  const votes = openVotes(kept, identity, {
    now,
    votedFor(candidate) {
      if (candidate !== identity) failoverStart = now() + random.integer(0, DESYNC_MILLIS_MAX - 1);
    },
  });
  let primary: Instance;
  let primaryDownSince = 0;
  let state: FailoverState = 'none';
  let stateSince = 0;
  let failoverStart = 0;
  let failoverEpoch = 0;
  let isForced = false;
  let isTilted = false;
  let promoted: Instance | undefined;
  /** Replica → how far it is with following the promoted one, and since when. */
  const reconf = new Map<Instance, { state: 'sent' | 'in progress' | 'done'; since: number }>();

  const watch = (address: string, kind: Instance['kind']): Instance => {
    const instance: Instance = openInstance(
      machine,
      { address, kind, downAfterMillis: () => kept.settings.downAfterMillis },
      { onSaid: () => refresh(instance), onHello: hear },
    );
    return instance;
  };
  const addReplica = (address: string): void => {
    if (replicas.has(address) || address === primary.address) return;
    replicas.set(address, watch(address, 'replica'));
    kept.replicas = [...replicas.keys()];
  };
  const addPeer = (peer: string, address: string): void => {
    if (peer === identity || votes.has(peer)) return;
    votes.add(peer, watch(address, 'sentinel'));
    kept.sentinels.set(peer, address);
  };
  const enter = (next: FailoverState): void => {
    state = next;
    stateSince = now();
  };

  /** Who the primary is has changed; everything but the other Sentinels is seen afresh. */
  const switchTo = (address: string): void => {
    const others = [...new Set([...replicas.keys(), primary.address])].filter((other) => other !== address);
    primary.close();
    for (const replica of replicas.values()) replica.close();
    replicas.clear();
    reconf.clear();
    promoted = undefined;
    primaryDownSince = 0;
    isForced = false;
    failoverStart = 0;
    votes.reset();
    enter('none');
    primary = watch(address, 'primary');
    kept.primary = address;
    kept.replicas = [];
    for (const other of others) addReplica(other);
  };

  const wasDownWithin = ({ lastDown }: Instance, millis: number): boolean =>
    lastDown !== 0 && now() - lastDown <= millis;
  const primaryLooksSane = (): boolean =>
    primary.said?.role === 'primary' && primary.downSince === 0 && now() - primary.saidAt < PERIOD.info * 2;

  /** A server has said how it is. */
  const refresh = (instance: Instance): void => {
    const { said } = instance;
    if (said === undefined) return;
    if (instance === primary) {
      for (const address of said.role === 'primary' ? said.replicas : []) addReplica(address);
      return;
    }
    if (isTilted) return;
    if (said.role === 'primary') {
      if (instance === promoted && state === 'wait promotion') {
        kept.configEpoch = failoverEpoch;
        enter('reconf slaves');
        publishSoon();
      } else if (
        instance !== promoted &&
        primaryLooksSane() &&
        !wasDownWithin(instance, PATIENCE_MILLIS) &&
        now() - instance.roleSince > PATIENCE_MILLIS
      )
        follow(instance, primary.address);
      return;
    }
    if (
      said.primary !== primary.address &&
      state === 'none' &&
      primaryLooksSane() &&
      !wasDownWithin(instance, kept.settings.failoverMillis) &&
      now() - instance.followsSince > kept.settings.failoverMillis
    )
      follow(instance, primary.address);
    const progress = reconf.get(instance);
    if (progress?.state === 'sent' && said.primary === promoted?.address)
      reconf.set(instance, { state: 'in progress', since: now() });
    else if (progress?.state === 'in progress' && said.linkUp)
      reconf.set(instance, { state: 'done', since: now() });
  };

  const address = (): string =>
    promoted !== undefined && (state === 'reconf slaves' || state === 'update config')
      ? promoted.address
      : primary.address;
  const hello = (): string =>
    encodeHello({
      host: machine.addressOf(machine.spec.name),
      identity,
      currentEpoch: kept.currentEpoch,
      name: kept.name,
      primary: address(),
      configEpoch: kept.configEpoch,
    });
  const publishSoon = (): void => {
    for (const instance of [primary, ...replicas.values(), ...votes.instances]) instance.publishSoon();
  };
  function hear(text: string): void {
    const heard = decodeHello(text);
    if (heard.name !== kept.name || heard.identity === identity) return;
    addPeer(heard.identity, heard.host);
    kept.currentEpoch = Math.max(kept.currentEpoch, heard.currentEpoch);
    if (kept.configEpoch >= heard.configEpoch) return;
    kept.configEpoch = heard.configEpoch;
    if (heard.primary !== primary.address) switchTo(heard.primary);
  }

  const judgePrimary = (): void => {
    if (primary.downSince === 0 || votes.agreeing < kept.settings.quorum) primaryDownSince = 0;
    else if (primaryDownSince === 0) primaryDownSince = now();
  };

  const startFailover = (): void => {
    enter('wait start');
    kept.currentEpoch += 1;
    failoverEpoch = kept.currentEpoch;
    failoverStart = now() + random.integer(0, DESYNC_MILLIS_MAX - 1);
  };
  const abort = (): void => {
    isForced = false;
    promoted = undefined;
    reconf.clear();
    enter('none');
  };
  const selectReplica = (): Instance | undefined =>
    bestReplica([...replicas.values()], primary, {
      now: now(),
      downAfterMillis: kept.settings.downAfterMillis,
    });
  const letOthersFollow = (target: Instance): void => {
    const others = [...replicas.values()].filter((replica) => replica !== target);
    for (const [replica, { state: progress, since }] of reconf)
      if (progress === 'sent' && now() - since > RECONF_MILLIS_MAX) reconf.delete(replica);
    let busy = [...reconf.values()].filter(({ state: progress }) => progress !== 'done').length;
    for (const replica of others) {
      if (busy >= kept.settings.parallelSyncs) break;
      if (reconf.has(replica) || !replica.isConnected) continue;
      follow(replica, target.address);
      reconf.set(replica, { state: 'sent', since: now() });
      busy += 1;
    }
    const isOver = now() - stateSince > kept.settings.failoverMillis;
    if (isOver)
      for (const replica of others)
        if (replica.isConnected && !reconf.has(replica)) follow(replica, target.address);
    if (isOver || others.every((replica) => reconf.get(replica)?.state === 'done' || replica.downSince !== 0))
      enter('update config');
  };
  const goOn = (): void => {
    switch (state) {
      case 'none':
      case 'update config':
        return;
      case 'wait start': {
        if (isForced || votes.elected(failoverEpoch) === identity) return enter('select slave');
        const limit = Math.min(ELECTION_MILLIS_MAX, kept.settings.failoverMillis);
        if (now() - failoverStart > limit) abort();
        return;
      }
      case 'select slave':
        promoted = selectReplica();
        return promoted === undefined ? abort() : enter('send slaveof noone');
      case 'send slaveof noone':
        if (promoted?.isConnected === true) {
          follow(promoted, '');
          return enter('wait promotion');
        }
        if (now() - stateSince > kept.settings.failoverMillis) abort();
        return;
      case 'wait promotion':
        if (now() - stateSince > kept.settings.failoverMillis) abort();
        return;
      case 'reconf slaves':
        if (promoted !== undefined) letOthersFollow(promoted);
    }
  };

  primary = watch(kept.primary, 'primary');
  for (const replica of kept.replicas) addReplica(replica);
  for (const [peer, host] of kept.sentinels) addPeer(peer, host);

  return {
    get address() {
      return address();
    },
    kept,
    get status() {
      if (primaryDownSince !== 0) return 'odown';
      return primary.downSince === 0 ? 'ok' : 'sdown';
    },
    tick(how) {
      isTilted = how === 'watches';
      const { failoverMillis } = kept.settings;
      const hurried = primaryDownSince !== 0 || state !== 'none';
      primary.tick(hello(), false);
      for (const replica of replicas.values()) replica.tick(hello(), hurried);
      for (const instance of votes.instances) instance.tick(hello(), false);
      if (isTilted) return;
      for (const instance of [...votes.instances, ...replicas.values()]) instance.judge();
      primary.judge();
      judgePrimary();
      if (primaryDownSince !== 0 && state === 'none' && now() - failoverStart >= failoverMillis * 2) {
        startFailover();
        votes.ask(primary, identity, 'at once');
      }
      goOn();
      votes.ask(primary, state === 'none' ? NOBODY : identity, 'periodically');
      if (state === 'update config' && promoted !== undefined) switchTo(promoted.address);
    },
    hear,
    whetherDown(asked, epoch, candidate) {
      const isDown = asked === primary.address && primary.downSince !== 0 ? 1 : 0;
      if (candidate === NOBODY) return [isDown, NOBODY, 0];
      const { leader, epoch: voted } = votes.vote(epoch, candidate);
      return [isDown, leader, voted];
    },
    order() {
      if (state !== 'none') return 'INPROG';
      if (selectReplica() === undefined) return 'NOGOODSLAVE';
      startFailover();
      isForced = true;
      return 'OK';
    },
  };
}

/** Lets a server follow that address, or lead if it is empty; and ends its clients, who have to look who leads. */
function follow(instance: Instance, address: string): void {
  instance.send(['REPLICAOF', ...(address === '' ? ['NO', 'ONE'] : [address, '6379'])]);
  instance.send(['CLIENT', 'KILL', 'TYPE', 'normal']);
}
