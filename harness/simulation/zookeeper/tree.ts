// What a simulated ZooKeeper server holds once it has applied so much of the log: nodes and sessions. The same commands
// give the same tree on every server. When a session is over is not decided here but by the leader, who has it closed.
// Sources: ZooKeeper 3.9, DataTree, PrepRequestProcessor.pRequest2Txn. Nodes have no content and no access lists.

import type { NodeStat } from '../../backends/zookeeper/port.ts';

export type CreateMode = 'persistent' | 'ephemeral-sequential';

export type TreeCommand =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'open'; readonly session: string; readonly timeoutMillis: number }
  | { readonly kind: 'close'; readonly session: string }
  | { readonly kind: 'create'; readonly session: string; readonly path: string; readonly mode: CreateMode }
  | { readonly kind: 'remove'; readonly session: string; readonly path: string }
  /** Refused by the leader before it was proposed, and counted all the same. */
  | { readonly kind: 'refuse'; readonly error: string };

/** By the names of `KeeperException.Code`. */
export type Written =
  | { readonly kind: 'done' }
  | { readonly kind: 'created'; readonly path: string }
  | { readonly kind: 'error'; readonly error: string };

interface TreeNode {
  readonly createdBy: bigint;
  /** The session of an ephemeral node; empty: none. */
  readonly owner: string;
  /** How many children were ever created: what the next one is numbered by. */
  created: number;
  readonly children: Set<string>;
}

export interface Tree {
  /** The transaction that was applied last: the leader's epoch, and a number in it. */
  readonly zxid: bigint;
  /** Session → its time-out in milliseconds. */
  readonly sessions: ReadonlyMap<string, number>;
  apply(term: number, command: TreeCommand): Written;
  /** Of the leader under which the last transaction was made. */
  readonly epoch: number;
  /** `listener` is told of every node that is deleted, in order, before anybody is answered. */
  onDeleted(listener: (path: string) => void): void;
  stat(path: string): NodeStat | undefined;
  /** undefined: there is no such node. */
  children(path: string): readonly string[] | undefined;
}

const ROOT = '/';
const NO_OWNER = '0000000000000000';
const EPOCH_BITS = 32n;

const failed = (error: string): Written => ({ kind: 'error', error });

export function openTree(): Tree {
  const nodes = new Map<string, TreeNode>([
    [ROOT, { createdBy: 0n, owner: '', created: 0, children: new Set() }],
  ]);
  const sessions = new Map<string, number>();
  let zxid = 0n;
  let tellDeleted: ((path: string) => void) | undefined;

  const create = ({ session, path, mode }: Extract<TreeCommand, { kind: 'create' }>): Written => {
    const parent = nodes.get(parentOf(path));
    if (parent === undefined) return failed('NO_NODE');
    if (parent.owner !== '') return failed('NO_CHILDREN_FOR_EPHEMERALS');
    const isEphemeral = mode === 'ephemeral-sequential';
    const name = isEphemeral ? `${path}${String(parent.created).padStart(10, '0')}` : path;
    if (nodes.has(name)) return failed('NODE_EXISTS');
    parent.created += 1;
    parent.children.add(name.slice(name.lastIndexOf('/') + 1));
    nodes.set(name, { createdBy: zxid, owner: isEphemeral ? session : '', created: 0, children: new Set() });
    return { kind: 'created', path: name };
  };
  const remove = (path: string): Written => {
    const node = nodes.get(path);
    if (node === undefined) return failed('NO_NODE');
    if (node.children.size > 0) return failed('NOT_EMPTY');
    nodes.delete(path);
    nodes.get(parentOf(path))?.children.delete(path.slice(path.lastIndexOf('/') + 1));
    tellDeleted?.(path);
    return { kind: 'done' };
  };

  return {
    get zxid() {
      return zxid;
    },
    sessions,
    get epoch() {
      return Number(zxid >> EPOCH_BITS);
    },
    onDeleted(listener) {
      tellDeleted = listener;
    },
    apply(term, command) {
      const epoch = BigInt(term) << EPOCH_BITS;
      zxid = zxid < epoch ? epoch : zxid + 1n;
      switch (command.kind) {
        case 'nothing':
          return { kind: 'done' };
        case 'refuse':
          return failed(command.error);
        case 'open':
          sessions.set(command.session, command.timeoutMillis);
          return { kind: 'done' };
        case 'close': {
          if (!sessions.delete(command.session)) return failed('SESSION_EXPIRED');
          for (const [path, { owner }] of nodes) if (owner === command.session) remove(path);
          return { kind: 'done' };
        }
        case 'create':
          return sessions.has(command.session) ? create(command) : failed('SESSION_EXPIRED');
        case 'remove':
          return sessions.has(command.session) ? remove(command.path) : failed('SESSION_EXPIRED');
      }
    },
    stat(path) {
      const node = nodes.get(path);
      return node && { createdBy: node.createdBy, owner: node.owner === '' ? NO_OWNER : node.owner };
    },
    children(path) {
      const node = nodes.get(path);
      return node && [...node.children];
    },
  };
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || ROOT;
}
