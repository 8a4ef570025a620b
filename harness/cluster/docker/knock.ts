// Asks a server over TCP from inside its own network namespace, where no partition and no published port matter: a
// short bash script run in the node's sandbox, which is ours and has bash, while a server's image may have nothing.

import type { ProbeAnswer } from '../../contract/cluster.ts';
import { millis, type Millis } from '../../history/op.ts';
import type { Container } from './engine.ts';
import { execWithin } from './exec.ts';
import { LATE } from './time-limit.ts';

/** $1 address, $2 port, $3 what to send, $4 what must come back first. */
const SCRIPT = `
exec 3<>"/dev/tcp/$1/$2" || exit 3
[ -n "$4" ] || exit 0
printf %s "$3" >&3
IFS= read -r -N "\${#4}" reply <&3
[ "$reply" = "$4" ] || exit 4
`;
/** The exit code of `timeout` when it had to end the script. */
const TIMED_OUT = 124;
const NOT_CONNECTED = 3;
/** What the exec itself may take on top; past it the answer counts as silence. */
const EXEC_MARGIN_MILLIS = 5_000;

export interface Knock {
  readonly address: string;
  readonly port: number;
  /** Nothing is sent, and a bare connection is an answer, if `expect` is empty. */
  readonly send: string;
  readonly expect: string;
}

/** Knocks once. Throws HarnessError('environment') only if the engine fails or the sandbox is gone. */
export async function knock(
  sandbox: Container,
  { address, port, send, expect }: Knock,
  timeLimit: Millis,
): Promise<ProbeAnswer> {
  const seconds = String(timeLimit / 1000);
  const command = ['timeout', seconds, 'bash', '-c', SCRIPT, 'knock', address, String(port), send, expect];
  const result = await execWithin(sandbox, command, millis(timeLimit + EXEC_MARGIN_MILLIS));
  if (result === LATE || result.exitCode === TIMED_OUT) return 'silent';
  if (result.exitCode === 0) return 'answers';
  if (result.exitCode !== NOT_CONNECTED) return 'declines';
  return result.stderr.includes('refused') ? 'refused' : 'silent';
}
