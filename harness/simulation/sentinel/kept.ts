// What a simulated Sentinel keeps in its configuration file, and so knows again when it is started again.

export interface GroupSettings {
  readonly quorum: number;
  readonly downAfterMillis: number;
  readonly failoverMillis: number;
  readonly parallelSyncs: number;
}

export interface Kept {
  readonly name: string;
  primary: string;
  settings: GroupSettings;
  /** In which epoch the primary was made one. */
  configEpoch: number;
  currentEpoch: number;
  /** Whom it has voted for last, and in which epoch. */
  vote: { readonly leader: string; readonly epoch: number };
  replicas: string[];
  /** Identity → address. */
  readonly sentinels: Map<string, string>;
}
