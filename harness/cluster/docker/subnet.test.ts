// Subnets that meet nobody else's.

import { describe, expect, it } from 'vitest';
import { addressIn, freeSubnets, NODES_MAX } from './subnet.ts';

describe('freeSubnets', () => {
  it('begins where it is told and goes round', () => {
    const subnets = freeSubnets([], 4_711 * 256 + 254);
    expect(subnets.slice(0, 3)).toEqual(['10.213.254.0/24', '10.213.255.0/24', '10.213.0.0/24']);
    expect(new Set(subnets).size).toBe(256);
  });

  it('leaves out what a smaller or larger range takes', () => {
    expect(freeSubnets(['10.213.1.128/25', '10.213.3.7/32'], 0).slice(0, 3)).toEqual([
      '10.213.0.0/24',
      '10.213.2.0/24',
      '10.213.4.0/24',
    ]);
    expect(freeSubnets(['10.213.0.1/17'], 0)[0]).toBe('10.213.128.0/24');
    expect(freeSubnets(['10.0.0.0/8'], 0)).toEqual([]);
    expect(freeSubnets(['0.0.0.0/0'], 0)).toEqual([]);
  });

  it('ignores what is no IPv4 range or lies elsewhere', () => {
    expect(freeSubnets(['fe80::1/64', '172.17.0.0/16', '127.0.0.1/8', '10.212.255.0/24'], 0)).toHaveLength(
      256,
    );
  });
});

describe('addressIn', () => {
  it('gives every node its own, and none to the gateway', () => {
    expect(addressIn('10.213.7.0/24', 0)).toBe('10.213.7.2');
    expect(addressIn('10.213.7.0/24', NODES_MAX - 1)).toBe('10.213.7.254');
    expect(() => addressIn('10.213.7.0/24', NODES_MAX)).toThrow(RangeError);
  });
});
