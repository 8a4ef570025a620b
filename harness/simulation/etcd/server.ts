// A simulated etcd member: takes requests of clients, has them agreed upon by the cluster, applies what was agreed, and
// answers. The leader keeps the time of leases, and a new leader lets each run once more in full. Sources: etcd 3.5,
// server/etcdserver/v3_server.go, server/lease/lessor.go (Promote, runLoop).

import type { LeaseId, Transaction } from '../../backends/etcd/port.ts';
import { millis } from '../../history/op.ts';
import type { Accept, Socket } from '../network.ts';
import type { Machine } from '../program.ts';
import { openRaft } from '../raft/raft.ts';
import { openEtcdStore, type Applied, type Command } from './store.ts';

export type EtcdRequest =
  | { readonly kind: 'grant'; readonly ttlSeconds: number }
  | { readonly kind: 'keep alive'; readonly lease: LeaseId }
  | { readonly kind: 'revoke'; readonly lease: LeaseId }
  | { readonly kind: 'transact'; readonly transaction: Transaction }
  /** Answered when the key was deleted at that revision or later. */
  | { readonly kind: 'watch'; readonly key: string; readonly revision: bigint };

export type EtcdReply =
  | Applied
  | { readonly kind: 'leased'; readonly lease: LeaseId; readonly ttlSeconds: number }
  | { readonly kind: 'deleted' };

/** Between members, besides Raft's own messages. */
export type MemberMessage =
  | { readonly kind: 'forward'; readonly id: string; readonly command: Command }
  | { readonly kind: 'renew'; readonly id: string; readonly lease: LeaseId }
  | { readonly kind: 'renewed'; readonly id: string; readonly ttlSeconds: number };

const STARTING_MILLIS = { min: 60, max: 200 };
/** The leader looks for leases that are over so often (lessor.go, runLoop). */
const LEASE_CHECK = millis(500);
/** 5 s and two election time-outs (config.go, ReqTimeout). */
const requestMillis = (electionMillis: number): number => 5_000 + 2 * electionMillis;
const TRANSFER_POLL = millis(10);
const VERSION = '3.5.16';
const DUPLICATE_KEY = '3 INVALID_ARGUMENT: etcdserver: duplicate key given in txn request';

export function runEtcd(machine: Machine): void {
  const { process, network, random, spec } = machine;
  process.after(millis(random.real(STARTING_MILLIS.min, STARTING_MILLIS.max)), () => {
    network.listen(spec.name, process, openMember(machine));
  });
}

/** Who waits for what came of a proposal, or for a lead to propose it to. */
interface Waiting {
  readonly answer: (applied: EtcdReply) => void;
  /** Whoever asked still waits. */
  readonly isWanted: () => boolean;
}

function openMember({ process, network, disk, random, spec }: Machine): Accept {
  const { name, command: words = [] } = spec;
  const members = namesIn(flag(words, 'initial-cluster'));
  const electionMillis = Number(flag(words, 'election-timeout'));
  const store = openEtcdStore();
  const waiting = new Map<string, Waiting>();
  const unsent = new Map<string, Command>();
  const unrenewed = new Map<string, LeaseId>();
  /** Lease → when it is over, by the leader's clock. */
  const ends = new Map<LeaseId, number>();
  const watches = new Set<{ readonly key: string; readonly revision: bigint; readonly waiter: Waiting }>();
  let made = 0;
  let led = false;

  const raft = openRaft({
    name,
    peers: members.filter((member) => member !== name),
    process,
    random,
    disk: disk.etcd,
    nothing: { kind: 'nothing' },
    heartbeatMillis: Number(flag(words, 'heartbeat-interval')),
    electionMillis,
    send: (to, message) => network.post(name, to, { kind: 'raft', message }),
    apply({ id, command }) {
      const applied = store.apply(command);
      if (command.kind === 'grant') restartLease(command.lease, 0);
      else if (command.kind === 'revoke') {
        ends.delete(command.lease);
        tellWatches();
      }
      settle(id, command.kind === 'grant' ? { ...command, kind: 'leased' } : applied);
    },
    onLeader() {
      if (raft.role === 'leader' && !led)
        for (const lease of store.leases.keys()) restartLease(lease, electionMillis);
      led = raft.role === 'leader';
      if (raft.leader === undefined) return;
      for (const [id, command] of unsent) submit(id, command);
      for (const [id, lease] of unrenewed) renew(id, lease);
    },
  });

  const restartLease = (lease: LeaseId, extraMillis: number): void => {
    const ttlSeconds = store.leases.get(lease) ?? 0;
    ends.set(lease, process.now() + (ttlSeconds * 1_000 + extraMillis) * 1e6);
  };
  const settle = (id: string, reply: EtcdReply): void => {
    const waiter = waiting.get(id);
    waiting.delete(id);
    unsent.delete(id);
    unrenewed.delete(id);
    waiter?.answer(reply);
  };
  const tellWatches = (): void => {
    for (const watch of watches) {
      if (watch.waiter.isWanted() && !store.deletedSince(watch.key, watch.revision)) continue;
      watches.delete(watch);
      watch.waiter.answer({ kind: 'deleted' });
    }
  };

  const wait = (waiter: Waiting): string => {
    made += 1;
    const id = `${name} ${process.pid} ${made}`;
    waiting.set(id, waiter);
    process.after(millis(requestMillis(electionMillis)), () =>
      settle(id, { kind: 'refused', error: 'etcdserver: request timed out' }),
    );
    return id;
  };
  /** Without a leader it waits for one, as long as it is wanted. */
  const submit = (id: string, command: Command): void => {
    unsent.delete(id);
    if (waiting.get(id)?.isWanted() === false) return void waiting.delete(id);
    if (raft.role === 'leader') raft.propose(id, command);
    else if (raft.leader === undefined) unsent.set(id, command);
    else network.post(name, raft.leader, { kind: 'member', message: { kind: 'forward', id, command } });
  };
  const renew = (id: string, lease: LeaseId): void => {
    unrenewed.delete(id);
    if (raft.role === 'leader') renewed(id, renewHere(lease));
    else if (raft.leader === undefined) unrenewed.set(id, lease);
    else network.post(name, raft.leader, { kind: 'member', message: { kind: 'renew', id, lease } });
  };
  const renewHere = (lease: LeaseId): number => {
    const ttlSeconds = store.leases.get(lease);
    const end = ends.get(lease);
    // One that is over and not yet revoked is not renewed any more (lessor.go, Renew, waits for the revocation).
    if (ttlSeconds === undefined || end === undefined || end <= process.now()) return 0;
    restartLease(lease, 0);
    return ttlSeconds;
  };
  const renewed = (id: string, ttlSeconds: number): void =>
    settle(id, { kind: 'leased', lease: '', ttlSeconds });

  const checkLeases = (): void => {
    if (raft.role === 'leader')
      for (const [lease, end] of ends)
        if (end <= process.now()) raft.propose(`${name} ends ${lease}`, { kind: 'revoke', lease });
    process.after(LEASE_CHECK, checkLeases);
  };
  process.after(LEASE_CHECK, checkLeases);

  network.onPost(name, process, (from, message) => {
    if (message.kind === 'raft') raft.receive(from, message.message);
    else if (message.kind === 'member') {
      const told = message.message;
      // A member that does not lead any more drops it.
      if (told.kind === 'renewed') renewed(told.id, told.ttlSeconds);
      else if (raft.role !== 'leader') return;
      else if (told.kind === 'forward') raft.propose(told.id, told.command);
      else
        network.post(name, from, {
          kind: 'member',
          message: { kind: 'renewed', id: told.id, ttlSeconds: renewHere(told.lease) },
        });
    }
  });

  const serve = (request: EtcdRequest, waiter: Waiting): void => {
    switch (request.kind) {
      case 'grant': {
        const lease = String(random.integer(1, 2 ** 30) * 2 ** 20 + random.integer(0, 2 ** 20 - 1));
        return submit(wait(waiter), { kind: 'grant', lease, ttlSeconds: request.ttlSeconds });
      }
      case 'keep alive':
        return renew(wait(waiter), request.lease);
      case 'revoke':
        return submit(wait(waiter), request);
      case 'transact':
        if (putsTwice(request.transaction)) return waiter.answer({ kind: 'refused', error: DUPLICATE_KEY });
        return submit(wait(waiter), request);
      case 'watch': {
        watches.add({ key: request.key, revision: request.revision, waiter });
        return tellWatches();
      }
    }
  };

  const answerText = (text: string, socket: Socket): void => {
    const reply = (body: object | undefined): void => {
      const status = body === undefined ? '503 Service Unavailable' : '200 OK';
      socket.send({ kind: 'text', text: `HTTP/1.0 ${status}\r\n\r\n${JSON.stringify(body ?? {})}` });
      socket.close();
    };
    if (text.startsWith('GET /version')) return reply({ etcdserver: VERSION });
    if (text.includes('/maintenance/status'))
      return reply({
        header: { member_id: idOf(name) },
        ...(raft.leader !== undefined && { leader: idOf(raft.leader) }),
        raftTerm: String(raft.term),
        raftAppliedIndex: String(raft.applied),
      });
    const target = members.find((member) => text.includes(`"targetID":"${idOf(member)}"`));
    if (!text.includes('/transfer-leadership') || target === undefined || raft.role !== 'leader')
      return reply(undefined);
    raft.transfer(target);
    const deadline = process.now() + electionMillis * 1e6;
    const look = (): void => {
      if (raft.leader === target) return reply({});
      if (process.now() > deadline) return reply(undefined);
      process.after(TRANSFER_POLL, look);
    };
    look();
  };

  return (socket) => ({
    message(message) {
      if (message.kind === 'etcd request') {
        const { id } = message;
        serve(message.request, {
          isWanted: () => socket.isOpen,
          answer: (reply) => socket.send({ kind: 'etcd reply', id, reply }),
        });
      } else if (message.kind === 'probe') {
        // As /health: not well without a leader.
        if (raft.leader === undefined) socket.close();
        else socket.send({ kind: 'up' });
      } else if (message.kind === 'text') answerText(message.text, socket);
    },
    closed: () => undefined,
  });
}

/** Checked before it is proposed (v3rpc/key.go, checkTxnRequest). */
function putsTwice({ success, failure = [] }: Transaction): boolean {
  return [success, failure].some((operations) => {
    const keys = operations.flatMap((operation) => (operation.kind === 'put' ? [operation.key] : []));
    return new Set(keys).size < keys.length;
  });
}

function flag(words: readonly string[], name: string): string {
  return words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3) ?? '';
}

/** `e1=http://e1:2380,…` */
function namesIn(cluster: string): readonly string[] {
  return cluster.split(',').map((member) => member.split('=')[0] ?? '');
}

/** The digits of its name. */
function idOf(name: string): string {
  return name.replaceAll(/\D/g, '');
}
