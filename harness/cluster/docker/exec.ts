// Runs a command in a container, for at most so long. A command in a container that is stopped or frozen may never
// answer, so every exec has a limit; past it the stream is given up and the command ends with its container, since the
// engine has no call that kills an exec.

import { setTimeout as delay } from 'node:timers/promises';
import type { ExecResult } from '../../contract/cluster.ts';
import type { Millis } from '../../history/op.ts';
import { ask, type Container } from './engine.ts';
import { frameReader, tailOf } from './output.ts';
import { LATE, withinLimit } from './time-limit.ts';

const OUTPUT_BYTES_MAX = 1 << 20;

/**
 * The command's result, or `LATE`; then it may still be running. Throws HarnessError('environment') if the engine
 * refuses, as it does for a container that is not running. Costs about 60 ms.
 */
export async function execWithin(
  container: Container,
  command: readonly string[],
  timeLimit: Millis,
): Promise<ExecResult | typeof LATE> {
  const started = new AbortController();
  const result = await withinLimit(exec(container, command, started.signal), timeLimit);
  if (result === LATE) started.abort();
  return result;
}

async function exec(
  container: Container,
  command: readonly string[],
  givenUp: AbortSignal,
): Promise<ExecResult> {
  const what = `run ${command[0]} in a container`;
  const execution = await ask(
    what,
    container.exec({ Cmd: [...command], AttachStdout: true, AttachStderr: true }),
  );
  if (givenUp.aborted) throw new Error('given up before it was started');
  const stream = await ask(what, execution.start({ hijack: true, stdin: false }));
  const giveUp = (): unknown => stream.destroy();
  if (givenUp.aborted) giveUp();
  givenUp.addEventListener('abort', giveUp);
  const stdout = tailOf(OUTPUT_BYTES_MAX);
  const stderr = tailOf(OUTPUT_BYTES_MAX);
  stream.on('data', frameReader({ stdout: stdout.push, stderr: stderr.push }));
  await new Promise<void>((resolve) => {
    // Both a broken and a given-up connection end in `close`; the exit code tells whether the command had ended.
    stream.on('error', () => resolve());
    stream.on('close', () => resolve());
    stream.on('end', () => resolve());
  });
  for (;;) {
    const { Running, ExitCode } = await ask(what, execution.inspect());
    // The engine ends the stream a moment before it knows the exit code.
    if (!Running && ExitCode !== null)
      return { exitCode: ExitCode, stdout: stdout.text(), stderr: stderr.text() };
    if (givenUp.aborted) throw new Error('given up');
    await delay(5);
  }
}
