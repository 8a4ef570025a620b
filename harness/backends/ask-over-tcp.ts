// A question put to a server over TCP from inside its own network namespace, where no partition and no published port
// matter: bash in the node's sandbox, which is ours, while a server's image may have nothing. For one-shot protocols
// in which the server closes the connection after its answer.

import type { Node } from '../contract/cluster.ts';
import { millis, type Millis } from '../history/op.ts';

/** $1 address, $2 port, $3 what to send. */
const SCRIPT = 'exec 3<>"/dev/tcp/$1/$2" && printf %s "$3" >&3 && cat <&3';
/** What the script calls itself. */
const ASK = 'ask';
/** What the sandbox itself may take on top. */
const EXEC_MARGIN_MILLIS = 5_000;

/** All that it answered; undefined: nobody listens, or no whole answer came in time. */
export async function askOverTcp(
  node: Node,
  question: string,
  timeLimit: Millis,
): Promise<string | undefined> {
  const seconds = String(timeLimit / 1_000);
  const address = [node.address, String(node.spec.port)];
  const command = ['timeout', '-s', 'KILL', seconds, 'bash', '-c', SCRIPT, ASK, ...address, question];
  const { exitCode, stdout } = await node.execInSandbox(command, millis(timeLimit + EXEC_MARGIN_MILLIS));
  return exitCode === 0 ? stdout : undefined;
}

/** The question in a command of `askOverTcp`, for a sandbox that is not real; undefined: it is another command. */
export function askedOverTcp(
  command: readonly string[],
): { readonly question: string; readonly timeLimit: Millis } | undefined {
  const at = command.indexOf(ASK);
  const question = command[at + 3];
  if (command[6] !== SCRIPT || question === undefined) return undefined;
  return { question, timeLimit: millis(Number(command[3]) * 1_000) };
}
