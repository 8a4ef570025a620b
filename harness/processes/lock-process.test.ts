// The coordinator's end of one client process, over a fake stream: the clock is measured (I3), events are passed on in
// order and on the run's clock, and a process that talks nonsense, fails or dies is noticed.

import { describe, expect, it } from 'vitest';
import { monotonicClock, monotonicOrigin } from '../clock.ts';
import type { Node, NodeStream } from '../contract/cluster.ts';
import type { ToClient } from '../contract/control.ts';
import { millis, type HistoryEvent, type Nanos } from '../history/op.ts';
import { LockProcess, readClock } from './lock-process.ts';

interface Rig {
  readonly process: Promise<LockProcess>;
  readonly events: HistoryEvent[];
  readonly ends: Nanos[];
  readonly told: ToClient[];
  readonly say: (line: object) => void;
  readonly sayRaw: (line: string) => void;
  readonly die: () => void;
}

/** A client whose clock is `offsetNanos` ahead of ours; it answers hello by itself. */
function rig(offsetNanos = 0): Rig {
  const origin = monotonicOrigin();
  const clock = monotonicClock(origin);
  const events: HistoryEvent[] = [];
  const ends: Nanos[] = [];
  const told: ToClient[] = [];
  const listeners: ((line: string) => void)[] = [];
  const { promise: closed, resolve: die } = Promise.withResolvers<void>();
  const sayRaw = (line: string): void => {
    for (const listener of listeners) listener(line);
  };
  const stream: NodeStream = {
    send: (line) => {
      const message = JSON.parse(line) as ToClient;
      told.push(message);
      if (message.t === 'hello')
        setTimeout(() =>
          sayRaw(
            JSON.stringify({
              t: 'hello',
              round: message.round,
              time: clock.now() + offsetNanos,
              wallMillis: 0,
            }),
          ),
        );
    },
    onLine: (listener) => listeners.push(listener),
    closed,
  };
  const node: Pick<Node, 'name' | 'logs'> = { name: 'c1', logs: async () => 'its last words' };
  const process = LockProcess.greet(
    {
      name: 'c1',
      node: node as Node,
      clock,
      origin,
      onEvent: (event) => events.push(event),
      onEnd: (_process, lastSeen) => ends.push(lastSeen),
    },
    stream,
  );
  return {
    process,
    events,
    ends,
    told,
    say: (line) => sayRaw(JSON.stringify(line)),
    sayRaw,
    die,
  };
}

const invoke = (time: number): object => ({
  type: 'invoke',
  id: 1,
  time,
  process: 'c1',
  op: 'acquire',
  lock: 'k1',
});

describe('LockProcess', () => {
  it('finds a shared clock and passes events on as they are', async () => {
    const { process, events, say } = rig();
    expect((await process).clockReading).toEqual({ shared: true, offsetNanos: 0, errorNanos: 0 });
    say(invoke(5));
    expect(events).toEqual([expect.objectContaining({ type: 'invoke', time: 5 })]);
  });

  it('measures a clock that is ahead, and brings stamps to the run’s clock', async () => {
    const { process, events, say } = rig(5e9);
    const { clockReading } = await process;
    expect(clockReading.shared).toBe(false);
    expect(Math.abs(clockReading.offsetNanos - 5e9)).toBeLessThanOrEqual(clockReading.errorNanos);
    say(invoke(5e9 + 1000));
    expect(events[0]?.time).toBe(5e9 + 1000 - clockReading.offsetNanos);
  });

  it('resolves a request when it is answered', async () => {
    const { process, told, say } = rig();
    const stopped = (await process).stop(millis(1000));
    await Promise.resolve();
    expect(told.at(-1)).toEqual({ t: 'stop' });
    say({ t: 'stopped' });
    await expect(stopped).resolves.toBeUndefined();
  });

  it('gives up a request after its time limit, with the client’s log', async () => {
    const { process } = rig();
    await expect((await process).stop(millis(20))).rejects.toMatchObject({
      code: 'environment',
      message: expect.stringContaining('did not say stopped within 20 ms'),
      detail: 'its last words',
    });
  });

  it('takes a stamp later than its arrival for what it is: a broken clock or a broken client', async () => {
    const { process, events, say } = rig();
    const client = await process;
    say(invoke(Number.MAX_SAFE_INTEGER));
    expect(events).toEqual([]);
    expect(client.failure).toMatchObject({ code: 'internal' });
  });

  it.each(['not json', '{"type":"ok","id":1}', '{"t":'])('refuses the line %s', async (line) => {
    const { process, sayRaw } = rig();
    const client = await process;
    sayRaw(line);
    expect(client.failure?.message).toContain('makes no sense');
  });

  it('passes on what the client itself says went wrong', async () => {
    const { process, say } = rig();
    const setup = (await process).readAll(millis(1000));
    say({ t: 'failed', code: 'environment', error: 'the store is gone' });
    await expect(setup).rejects.toMatchObject({
      code: 'environment',
      message: 'client c1: the store is gone',
    });
  });

  it('knows the last stamp of a process that died, and fails who waits for it', async () => {
    const { process, ends, say, die } = rig();
    const client = await process;
    say(invoke(77));
    const stopped = client.stop(millis(1000));
    const last = client.clockReading;
    die();
    await expect(stopped).rejects.toMatchObject({ message: 'client c1 ended' });
    expect(client.ended).toBe(true);
    expect(ends).toHaveLength(1);
    expect(last.shared).toBe(true);
  });
});

describe('readClock', () => {
  it('takes the quickest round when the clock is not shared', () => {
    expect(
      readClock([
        { sent: 0, theirs: 1_000_500, received: 1000 },
        { sent: 2000, theirs: 1_002_100, received: 2100 },
      ]),
    ).toEqual({ shared: false, offsetNanos: 1_000_050, errorNanos: 50 });
  });

  it('is not shared if a single answer lies outside its round', () => {
    expect(
      readClock([
        { sent: 0, theirs: 50, received: 100 },
        { sent: 200, theirs: 150, received: 300 },
      ]).shared,
    ).toBe(false);
  });
});
