// Which addresses a cluster gets: a /24 of our own, so that every node has a fixed address that survives kill and start.
// The pool is 10.213.0.0/16: private (RFC 1918), outside the ranges that Docker gives out by itself (172.17.0.0/12 and
// 192.168.0.0/16), and unlikely to be anybody's LAN. Pure; `network.ts` asks the engine.

const POOL = '10.213';
const SUBNETS = 256;
/** .0 is the subnet, .1 the gateway, .255 the broadcast address. */
const FIRST_HOST = 2;
const LAST_HOST = 254;

/** The most nodes one subnet can address. */
export const NODES_MAX = LAST_HOST - FIRST_HOST + 1;

interface Range {
  readonly first: number;
  readonly last: number;
}

/** All subnets of the pool that meet none of the `taken` ones (`a.b.c.d/n`), starting with number `from`. */
export function freeSubnets(taken: readonly string[], from: number): string[] {
  const ranges = taken.map(rangeOf).filter((range) => range !== undefined);
  return Array.from({ length: SUBNETS }, (_, index) => `${POOL}.${(from + index) % SUBNETS}.0/24`).filter(
    (subnet) => {
      const range = rangeOf(subnet);
      return (
        range !== undefined && !ranges.some(({ first, last }) => first <= range.last && range.first <= last)
      );
    },
  );
}

/** The address of the node number `index`, from 0 to `NODES_MAX` − 1, in a subnet of the pool. */
export function addressIn(subnet: string, index: number): string {
  if (index < 0 || index >= NODES_MAX) throw new RangeError(`a subnet has no address for node ${index}`);
  return subnet.replace(/\.0\/24$/, `.${FIRST_HOST + index}`);
}

/** undefined: not an IPv4 range. */
function rangeOf(subnet: string): Range | undefined {
  const [address = '', length = '32'] = subnet.split('/');
  const bytes = address.split('.').map(Number);
  if (bytes.length !== 4 || bytes.some((byte) => !(byte >= 0 && byte <= 255))) return undefined;
  const size = 2 ** (32 - Number(length));
  const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  const first = value - (value % size);
  return { first, last: first + size - 1 };
}
