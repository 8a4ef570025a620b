// What processes on this engine can be made to suffer, found out by doing it to one: a container of the shim's image
// that is there for the trial only gets a wrong clock and next to no processor time. Asked by `doctor`.

import { CONTROLS_FOLDER } from '../../contract/shim.ts';
import { millis } from '../../history/op.ts';
import { ask, type Container, type Engine } from './engine.ts';
import { execWithin } from './exec.ts';
import { memoryVolume } from './memory-volume.ts';
import { newSessionName, removeSessionNamed, sessionLabels } from './session.ts';
import { SHIM_LIBRARY } from './shim.ts';
import { LATE } from './time-limit.ts';

const TIME_LIMIT = millis(20_000);
/** 2^43 ns, which is one bit of the offset on a page of zeros: byte 77 (`docker/shim/raw.h`, `clock.c`). */
const AHEAD_SECONDS = 8_796;
const CLOCK = `true_time=$(date +%s)
export LD_PRELOAD=${SHIM_LIBRARY}
date >/dev/null
printf '\\010' | LD_PRELOAD= dd of=${CONTROLS_FOLDER}/clock bs=1 seek=77 conv=notrunc status=none || exit
echo $(( $(date +%s) - true_time ))`;
/** Some 0.3 s of work. */
const WORK = 'for ((i = 0; i < 100000; i++)); do :; done';
const PERIOD_MICROS = 100_000;
const QUOTA_MICROS = 10_000;

/** Complaints; undefined: it worked. */
export interface ShimTrials {
  readonly clock: string | undefined;
  readonly quota: string | undefined;
}

/** `reference`: of the shim's image. Throws HarnessError. */
export async function tryShim(engine: Engine, reference: string): Promise<ShimTrials> {
  const session = newSessionName();
  try {
    const container = await ask(
      'create a container of the shim',
      engine.docker.createContainer({
        Image: reference,
        Cmd: ['sleep', 'infinity'],
        Labels: sessionLabels(session),
        HostConfig: {
          NetworkMode: 'none',
          LogConfig: { Type: 'none', Config: {} },
          Mounts: [memoryVolume({ path: CONTROLS_FOLDER, bytes: 1 << 20 })],
        },
      }),
    );
    await ask('start a container of the shim', container.start());
    return { clock: await tryClock(container), quota: await tryQuota(container) };
  } finally {
    await removeSessionNamed(engine, session);
  }
}

async function tryClock(container: Container): Promise<string | undefined> {
  const result = await execWithin(container, ['bash', '-c', CLOCK], TIME_LIMIT);
  if (result === LATE) return `no answer within ${TIME_LIMIT} ms`;
  if (result.exitCode !== 0) return result.stderr.trim().split('\n').at(-1);
  const ahead = Number(result.stdout);
  return Math.abs(ahead - AHEAD_SECONDS) < 60
    ? undefined
    : `a process shows ${ahead} s more where ${AHEAD_SECONDS} were asked for`;
}

async function tryQuota(container: Container): Promise<string | undefined> {
  await ask(
    'limit the processor time of a container',
    container.update({ CpuPeriod: PERIOD_MICROS, CpuQuota: QUOTA_MICROS }),
  );
  if ((await execWithin(container, ['bash', '-c', WORK], TIME_LIMIT)) === LATE)
    return `no answer within ${TIME_LIMIT} ms`;
  const { cpu_stats } = await ask(
    'measure a container',
    container.stats({ stream: false, 'one-shot': true }),
  );
  return cpu_stats.throttling_data.throttled_periods > 0 ? undefined : 'a quota denies a container nothing';
}
