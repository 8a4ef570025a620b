// How sure one can be of a proportion that was seen `hits` times in `trials`: the exact 95 % interval of Clopper and
// Pearson (Biometrika 26, 1934). It covers the true rate in at least 95 % of all experiments, whatever the rate, and
// says something useful of 0 in n, where others give up. Of two proportions the exact test of Fisher (1922). Pure.

export interface Proportion {
  readonly hits: number;
  readonly trials: number;
}

/** Both ends are in [0, 1]. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Probability that the true rate lies beyond one of the ends. */
const TAIL = 0.025;
/** A double has 52 bits of mantissa: more halvings change nothing. */
const HALVINGS = 60;

/** Throws RangeError unless 0 ≤ hits ≤ trials, both whole. [0, 1] if nothing was tried. O(trials). */
export function exactInterval({ hits, trials }: Proportion): Interval {
  if (!Number.isInteger(hits) || !Number.isInteger(trials) || hits < 0 || hits > trials)
    throw new RangeError(`${hits} of ${trials} is no proportion`);
  return {
    low: hits === 0 ? 0 : rateWhere((rate) => upperTail(trials, hits, rate) > TAIL),
    high: hits === trials ? 1 : rateWhere((rate) => 1 - upperTail(trials, hits + 1, rate) < TAIL),
  };
}

/** The smallest rate at which `holds`, which is false below and true above. */
function rateWhere(holds: (rate: number) => boolean): number {
  let below = 0;
  let above = 1;
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (below + above) / 2;
    if (holds(middle)) above = middle;
    else below = middle;
  }
  return above;
}

/** P(X ≥ least) for X binomial with this many trials. Sums in logarithms, so that many trials do not underflow. */
function upperTail(trials: number, least: number, rate: number): number {
  if (rate <= 0) return least <= 0 ? 1 : 0;
  if (rate >= 1) return 1;
  const odds = Math.log(rate) - Math.log1p(-rate);
  let logTerm = trials * Math.log1p(-rate);
  let sum = 0;
  for (let successes = 0; successes <= trials; successes++) {
    if (successes >= least) sum += Math.exp(logTerm);
    logTerm += Math.log(trials - successes) - Math.log(successes + 1) + odds;
  }
  return Math.min(sum, 1);
}

/**
 * If both have the same true rate, how likely the first has as few hits as it has, or fewer, given how many there are in
 * all: the lower tail of the hypergeometric distribution. 1 if nothing was tried. O(trials of both).
 */
export function chanceOfSoFew(one: Proportion, other: Proportion): number {
  const trials = one.trials + other.trials;
  const hits = one.hits + other.hits;
  const ways = logFactorials(trials);
  const choose = (of: number, chosen: number): number =>
    (ways[of] ?? 0) - (ways[chosen] ?? 0) - (ways[of - chosen] ?? 0);
  const all = choose(trials, one.trials);
  let sum = 0;
  for (let few = Math.max(0, hits - other.trials); few <= one.hits; few++)
    sum += Math.exp(choose(hits, few) + choose(trials - hits, one.trials - few) - all);
  return Math.min(sum, 1);
}

function logFactorials(most: number): Float64Array {
  const logs = new Float64Array(most + 1);
  for (let n = 2; n <= most; n++) logs[n] = (logs[n - 1] ?? 0) + Math.log(n);
  return logs;
}

/** `17 of 20 [0.62, 0.97]` */
export function intervalText(proportion: Proportion): string {
  const { low, high } = exactInterval(proportion);
  return `${proportion.hits} of ${proportion.trials} [${low.toFixed(2)}, ${high.toFixed(2)}]`;
}

/** Events per 1,000 trials with their interval: `850 [621, 968]`; `0 [0, 0.37]` where whole numbers would hide it. */
export function perThousandText(proportion: Proportion): string {
  return outOf(1000, proportion);
}

/** `85 % [62, 97]` */
export function percentText(proportion: Proportion): string {
  return outOf(100, proportion).replace(' ', ' % ');
}

function outOf(whole: number, proportion: Proportion): string {
  const { low, high } = exactInterval(proportion);
  const rate = proportion.trials === 0 ? 0 : proportion.hits / proportion.trials;
  const [seen, least, most] = [rate, low, high].map((part) => {
    const value = part * whole;
    return value === 0 || value >= 10 ? value.toFixed(0) : value.toPrecision(2);
  });
  return `${seen} [${least}, ${most}]`;
}
