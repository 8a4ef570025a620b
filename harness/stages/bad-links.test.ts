// By which means each bad link is made, on which kernel, and the error where there is none.

import { describe, expect, it } from 'vitest';
import { checkLinks } from './bad-links.ts';
import { HarnessError } from '../contract/errors.ts';
import { LINK_FAULTS, linkWayOf, type LinkAbilities } from '../contract/links.ts';
import { disciplineOf, ruleOf } from '../nemesis/faults/links.ts';
import { shapeCommands, unshapeCommands } from '../nemesis/faults/shaping.ts';

const ALL: LinkAbilities = { netem: true, tbf: true, statistic: true, tee: true };
const NO_NETEM: LinkAbilities = { ...ALL, netem: false };
const NOTHING: LinkAbilities = { netem: false, tbf: false, statistic: false, tee: false };
const badness = { delayMillis: 150, percent: 25, kilobitPerSecond: 64 };

describe('bad links', () => {
  it.each([
    ['all there is', ALL, ['netem', 'netem', 'netem', 'netem', 'tbf']],
    ['no netem', NO_NETEM, ['hold', 'statistic', 'tee', undefined, 'tbf']],
    ['nothing', NOTHING, ['hold', undefined, undefined, undefined, undefined]],
  ] as const)('with %s', (_, can, ways) => {
    expect(LINK_FAULTS.map((fault) => linkWayOf(fault, can))).toEqual(ways);
  });

  it('refuses what cannot be done before anything starts, and says what would help', () => {
    expect(() => checkLinks(['pause', 'reorder'], ALL)).not.toThrow();
    expect(() => checkLinks(['delay', 'rate'], NO_NETEM)).not.toThrow();
    expect(() => checkLinks(['pause', 'reorder'], NO_NETEM)).toThrow(HarnessError);
    expect(() => checkLinks(['pause', 'reorder'], NO_NETEM)).toThrow(
      expect.objectContaining({
        code: 'environment',
        message: expect.stringContaining('reorder'),
        remedy: expect.stringMatching(/modprobe .*sch_netem/),
      }),
    );
  });

  it('tells tc what is meant, for those peers only', () => {
    expect(LINK_FAULTS.map((fault) => disciplineOf(fault, badness))).toEqual([
      'netem delay 150ms',
      'netem loss 25%',
      'netem duplicate 25%',
      'netem delay 150ms reorder 25%',
      'tbf rate 64kbit burst 4kb latency 2s',
    ]);
    expect(shapeCommands(16, 'netem delay 150ms', ['10.0.0.2', '10.0.0.3'])).toEqual([
      "tc qdisc show dev eth0 root | grep -q '^qdisc htb 1:' || tc qdisc add dev eth0 root handle 1: htb",
      'tc class add dev eth0 parent 1: classid 1:11 htb rate 10gbit',
      'tc qdisc add dev eth0 parent 1:11 handle 110: netem delay 150ms',
      'tc filter add dev eth0 parent 1: protocol ip prio 0x11 u32 match ip dst 10.0.0.2/32 flowid 1:11',
      'tc filter add dev eth0 parent 1: protocol ip prio 0x11 u32 match ip dst 10.0.0.3/32 flowid 1:11',
    ]);
    expect(unshapeCommands(16)[1]).toBe('tc class del dev eth0 classid 1:11 2>/dev/null || true');
  });

  it('tells iptables what is meant', () => {
    expect(ruleOf('statistic', badness, '10.0.0.2')).toBe(
      '-d 10.0.0.2 -m statistic --mode random --probability 0.25 -j DROP',
    );
    expect(ruleOf('tee', badness, '10.0.0.2')).toBe(
      '-d 10.0.0.2 -m statistic --mode random --probability 0.25 -j TEE --gateway 10.0.0.2',
    );
  });
});
