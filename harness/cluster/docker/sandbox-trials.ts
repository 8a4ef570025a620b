// What a sandbox on this engine can do to packets, found out by doing it: a container that is there for the trial only,
// with no network of its own, is told what the faults would tell a node's. Asked by `doctor`, and before a run that
// has faults of the kind, so that a kernel that cannot is known before anything has started.

import type { LinkAbilities } from '../../contract/links.ts';
import { millis } from '../../history/op.ts';
import { ask, type Container, type Engine } from './engine.ts';
import { execWithin } from './exec.ts';
import { newSessionName, removeSessionNamed, sessionLabels } from './session.ts';
import { LATE } from './time-limit.ts';

const TIME_LIMIT = millis(10_000);

/** Removes it afterwards. Throws HarnessError. */
export async function inThrowawaySandbox<T>(
  engine: Engine,
  reference: string,
  use: (sandbox: Container) => Promise<T>,
): Promise<T> {
  const session = newSessionName();
  try {
    const sandbox = await ask(
      'create a sandbox',
      engine.docker.createContainer({
        Image: reference,
        Labels: sessionLabels(session),
        HostConfig: { CapAdd: ['NET_ADMIN'], NetworkMode: 'none', LogConfig: { Type: 'none', Config: {} } },
      }),
    );
    await ask('start a sandbox', sandbox.start());
    return await use(sandbox);
  } finally {
    await removeSessionNamed(engine, session);
  }
}

/** undefined: it worked; else what was complained of. */
export async function tryIn(sandbox: Container, script: string): Promise<string | undefined> {
  const result = await execWithin(sandbox, ['bash', '-c', script], TIME_LIMIT);
  if (result === LATE) return `no answer within ${TIME_LIMIT} ms`;
  return result.exitCode === 0 ? undefined : result.stderr.trim().split('\n').at(-1);
}

const PEER = '192.0.2.1';

/** Each way by itself, on a fresh root. */
export async function tryLinkAbilities(sandbox: Container): Promise<LinkAbilities> {
  const behindHtb = async (discipline: string): Promise<boolean> =>
    (await tryIn(
      sandbox,
      [
        'tc qdisc del dev lo root 2>/dev/null',
        'set -e',
        'tc qdisc add dev lo root handle 1: htb',
        'tc class add dev lo parent 1: classid 1:1 htb rate 10gbit',
        `tc qdisc add dev lo parent 1:1 handle 10: ${discipline}`,
        `tc filter add dev lo parent 1: protocol ip prio 1 u32 match ip dst ${PEER}/32 flowid 1:1`,
      ].join('\n'),
    )) === undefined;
  const rule = async (target: string): Promise<boolean> =>
    (await tryIn(
      sandbox,
      `iptables -A OUTPUT -d ${PEER} -m statistic --mode random --probability 0.1 -j ${target}`,
    )) === undefined;
  return {
    netem: await behindHtb('netem delay 1ms'),
    tbf: await behindHtb('tbf rate 1mbit burst 4kb latency 1s'),
    statistic: await rule('DROP'),
    tee: await rule(`TEE --gateway ${PEER}`),
  };
}

/** The same, for a run. Throws HarnessError. */
export async function linkAbilities(engine: Engine, sandbox: string): Promise<LinkAbilities> {
  return inThrowawaySandbox(engine, sandbox, tryLinkAbilities);
}
