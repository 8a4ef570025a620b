// What a simulated Sentinel publishes for the others: who it is, and whom it takes for the primary. Source: Redis 8.0,
// sentinel.c, sentinelSendHello; ports are left out.

interface Hello {
  /** Address of the Sentinel. */
  readonly host: string;
  readonly identity: string;
  readonly currentEpoch: number;
  /** Of the group. */
  readonly name: string;
  readonly primary: string;
  /** In which epoch that was made the primary. */
  readonly configEpoch: number;
}

export const HELLO_CHANNEL = '__sentinel__:hello';

export function encodeHello({ host, identity, currentEpoch, name, primary, configEpoch }: Hello): string {
  return [host, identity, currentEpoch, name, primary, configEpoch].join(',');
}

export function decodeHello(text: string): Hello {
  const [host = '', identity = '', currentEpoch, name = '', primary = '', configEpoch] = text.split(',');
  return {
    host,
    identity,
    currentEpoch: Number(currentEpoch),
    name,
    primary,
    configEpoch: Number(configEpoch),
  };
}
