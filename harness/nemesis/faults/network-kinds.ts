// The faults of the network as data, the same for real and for simulated networks: their names, what people are told of
// them, and what their parameters are when a step names none.

import type { LinkFault } from '../../contract/links.ts';
import type { JsonRecord } from '../../history/op.ts';

interface CutKind {
  readonly name: string;
  readonly summary: string;
  /** Parameters that are not for a step to choose. */
  readonly fixed: JsonRecord;
}

const REPLIES: JsonRecord = { shape: 'sides', way: 'in' };

/**
 * `partition`, and what it makes of replies: while they are held back the servers hear what a client asks for, and do it.
 * A reply that is still waited for when that ends arrives late, by TCP's own retransmission; so it is lost if the client
 * waits for a shorter time.
 */
export const CUTS: readonly CutKind[] = [
  {
    name: 'partition',
    summary: 'drops every packet between the nodes and others, both ways or one way, in some shape',
    fixed: {},
  },
  {
    name: 'reply-lost',
    summary: 'requests reach the servers; replies do not arrive while they are waited for',
    fixed: REPLIES,
  },
  {
    name: 'reply-late',
    summary: 'requests reach the servers; replies arrive when the fault is over',
    fixed: REPLIES,
  },
];

export const LINK_SUMMARY: Readonly<Record<LinkFault, string>> = {
  delay: 'packets take `delayMillis` longer',
  loss: '`percent` of the packets are lost',
  duplicate: '`percent` of the packets arrive twice',
  reorder: '`percent` of the packets overtake others',
  rate: 'links carry `kilobitPerSecond` and no more',
};

/** How bad a link is made. */
export interface Badness {
  readonly delayMillis: number;
  readonly percent: number;
  readonly kilobitPerSecond: number;
}
const DEFAULTS: Badness = { delayMillis: 200, percent: 20, kilobitPerSecond: 256 };

/** What a step asks for. */
export function badnessOf(params: JsonRecord): Badness {
  const asked = (name: keyof Badness): number => {
    const value = params[name];
    return typeof value === 'number' ? value : DEFAULTS[name];
  };
  return {
    delayMillis: asked('delayMillis'),
    percent: asked('percent'),
    kilobitPerSecond: asked('kilobitPerSecond'),
  };
}
