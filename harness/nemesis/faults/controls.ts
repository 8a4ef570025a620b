// Sets what the shim in a node's process does (`docker/shim`), from the node's sandbox, with which it shares the pages.
// So a node that is stopped, cut off or down can be set as well. The layout is that of `docker/shim/raw.h`: the lowest
// byte of the first word says which of two slots counts; the other one is filled first.

import type { Node } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import { CONTROLS_FOLDER } from '../../contract/shim.ts';
import { millis } from '../../history/op.ts';

const TIME_LIMIT = millis(10_000);
const WORDS_PER_SLOT = 8;
const WORD_BYTES = 8;
const COUNTERS_AT = 3 * WORDS_PER_SLOT * WORD_BYTES;
/** Nothing in the node has asked the shim yet. */
const NO_PAGE = 3;

/** $1 the page, then the words of the slot but the first, which is the time. Prints that, in nanoseconds. */
const SET = `[ -s "$1" ] || exit ${NO_PAGE}
turn=$(( ($(od -An -N1 -tu1 "$1") + 1) % 256 ))
at=$((64 * (1 + turn % 2)))
page=$1 now=$(date +%s%N) bytes=
shift
for word in "$now" "$@"; do
  for shift in 0 8 16 24 32 40 48 56; do
    printf -v byte '\\\\%03o' $(((word >> shift) & 255))
    bytes+=$byte
  done
done
printf -v turn '\\\\%03o' "$turn"
printf "$bytes" | dd of="$page" bs=64 seek="$at" oflag=seek_bytes conv=notrunc status=none &&
printf "$turn" | dd of="$page" bs=1 conv=notrunc status=none &&
echo "$now"`;

export type Page = 'clock' | 'disk';

/**
 * Lets these settings count, each a whole number; the others are 0. Returns when it did, in nanoseconds of the engine's
 * wall clock; undefined: nothing in the node listens. Takes about 80 ms. Throws HarnessError('environment').
 */
export async function setControls(
  node: Node,
  page: Page,
  settings: readonly number[],
): Promise<number | undefined> {
  const words = Array.from({ length: WORDS_PER_SLOT - 1 }, (_, index) => String(settings[index] ?? 0));
  const command = ['bash', '-c', SET, 'set', `${CONTROLS_FOLDER}/${page}`, ...words];
  const { exitCode, stdout, stderr } = await node.execInSandbox(command, TIME_LIMIT);
  if (exitCode === NO_PAGE) return undefined;
  if (exitCode === 0) return Number(stdout);
  throw new HarnessError('environment', `the ${page} of node ${node.name} could not be set`, {
    detail: stderr,
  });
}

/** The first two counters that the shim keeps on a page that was set before. Throws HarnessError('environment'). */
export async function readCounters(node: Node, page: Page): Promise<readonly [number, number]> {
  const command = ['od', '-An', '-td8', `-j${COUNTERS_AT}`, '-N16', `${CONTROLS_FOLDER}/${page}`];
  const { exitCode, stdout, stderr } = await node.execInSandbox(command, TIME_LIMIT);
  const [first, second] = stdout.trim().split(/\s+/).map(Number);
  if (exitCode === 0 && first !== undefined && second !== undefined) return [first, second];
  throw new HarnessError('environment', `the ${page} of node ${node.name} could not be read`, {
    detail: stderr,
  });
}
