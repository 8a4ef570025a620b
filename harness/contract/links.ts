// Bad links, and the means by which a kernel can make them: what can be done where is decided here, once, for the run
// that needs it, for `doctor` that tells of it, and for the faults themselves.

/** What was tried on the kernel of the engine's machine, and worked. */
export interface LinkAbilities {
  /** The queueing discipline `netem`, behind `htb`, which tells peers apart. */
  readonly netem: boolean;
  /** The queueing discipline `tbf`, behind `htb`. */
  readonly tbf: boolean;
  /** The match `statistic` of iptables. */
  readonly statistic: boolean;
  /** The target `TEE` of iptables, with `statistic`. */
  readonly tee: boolean;
}

export const LINK_FAULTS = ['delay', 'loss', 'duplicate', 'reorder', 'rate'] as const;
export type LinkFault = (typeof LINK_FAULTS)[number];

/** `hold`: drop packets one way for a while; TCP delivers them late. Long delays only. */
export type LinkWay = 'netem' | 'tbf' | 'statistic' | 'tee' | 'hold';

/** How it is done there; undefined: not at all. */
export function linkWayOf(fault: LinkFault, can: LinkAbilities): LinkWay | undefined {
  if (fault === 'rate') return can.tbf ? 'tbf' : undefined;
  if (can.netem) return 'netem';
  switch (fault) {
    case 'delay':
      return 'hold';
    case 'loss':
      return can.statistic ? 'statistic' : undefined;
    case 'duplicate':
      return can.tee ? 'tee' : undefined;
    case 'reorder':
      return undefined;
  }
}

/** What to do where a way is missing. */
export const LINK_REMEDY =
  "a kernel with netem, htb and tbf on the engine's machine: modprobe -a sch_netem sch_htb sch_tbf";
