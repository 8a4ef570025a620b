// What members that agree by Raft keep, and what they say to each other. Does not know what the commands are.

export interface LogEntry<Command> {
  readonly term: number;
  /** Of the proposal, unique in the cluster. */
  readonly id: string;
  readonly command: Command;
}

/** What a member must not forget. */
export interface RaftDisk<Command> {
  term: number;
  votedFor: string | undefined;
  readonly log: LogEntry<Command>[];
}

export type RaftMessage<Command> = { readonly term: number } & (
  | {
      readonly kind: 'ask';
      readonly ahead: boolean;
      readonly forced: boolean;
      readonly index: number;
      readonly lastTerm: number;
    }
  | { readonly kind: 'vote'; readonly ahead: boolean; readonly granted: boolean }
  | {
      readonly kind: 'append';
      readonly index: number;
      readonly indexTerm: number;
      readonly entries: readonly LogEntry<Command>[];
      readonly commit: number;
    }
  | { readonly kind: 'appended'; readonly ok: boolean; readonly index: number }
  | { readonly kind: 'take over' }
);

/** Of a member that was never there before. */
export function emptyRaftDisk<Command>(): RaftDisk<Command> {
  return { term: 0, votedFor: undefined, log: [] };
}

export function wipeRaftDisk<Command>(disk: RaftDisk<Command>): void {
  disk.term = 0;
  disk.votedFor = undefined;
  disk.log.length = 0;
}
