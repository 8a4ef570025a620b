// What a node's process is doing, from the outside: the states of all threads of the process and of its children.
// Two sources, one judgement. `docker top` works with every engine and takes some 16 ms; on the engine's own kernel
// /proc says the same in under a millisecond, which decides whether a pause is proved within 25 ms.
// States: proc(5), field 3 of /proc/<pid>/stat; ps(1), PROCESS STATE CODES.

import { readFileSync, readdirSync } from 'node:fs';

/** One thread: its process, that one's parent, and its state's letter. */
export interface Thread {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

/**
 * Whether all threads of `root` and of the processes below it are stopped by a signal; undefined: `root` is not among
 * them, or dead. Commands that were exec-ed into the container are not below it and do not count.
 */
export function isStopped(threads: readonly Thread[], root: number): boolean | undefined {
  const family = new Set([root]);
  for (let size = 0; size < family.size;) {
    size = family.size;
    for (const { pid, parent } of threads) if (family.has(parent)) family.add(pid);
  }
  const alive = threads.filter(({ pid, state }) => family.has(pid) && !'ZX'.includes(state));
  return alive.some(({ pid }) => pid === root) ? alive.every(({ state }) => state === 'T') : undefined;
}

/** The arguments for `docker top` whose answer `parseTop` reads. `-L`: a row for each thread. */
export const TOP_ARGUMENTS = '-L -o pid,ppid,stat';

/** Reads the engine's answer to `docker top`; throws SyntaxError if it is not of that form. */
export function parseTop(answer: unknown): Thread[] {
  const rows: unknown =
    typeof answer === 'object' && answer !== null && 'Processes' in answer ? answer.Processes : undefined;
  if (!Array.isArray(rows)) throw new SyntaxError('docker top: no list of processes');
  return rows.map((row: unknown) => {
    const [pid, parent, state]: unknown[] = Array.isArray(row) ? row : [];
    if (typeof state !== 'string' || state === '')
      throw new SyntaxError(`docker top: ${JSON.stringify(row)}`);
    return { pid: Number(pid), parent: Number(parent), state: state.charAt(0) };
  });
}

/** Reads a /proc/<pid>/stat: parent and state. The name, in brackets, may itself contain brackets and spaces. */
export function parseStat(text: string): { state: string; parent: number } | undefined {
  const [state, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return state === undefined || parent === undefined ? undefined : { state, parent: Number(parent) };
}

/**
 * The threads of `root` and below, from /proc; undefined unless `root` is there and is a process of that container,
 * which its control group tells: the engine may run on another machine, and ids are used again.
 */
export function readThreads(root: number, containerId: string): Thread[] | undefined {
  try {
    if (!readFileSync(`/proc/${root}/cgroup`, 'utf8').includes(containerId)) return undefined;
    const threads: Thread[] = [];
    const family = [root];
    for (const pid of family) {
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const folder = `/proc/${pid}/task/${thread}`;
        const stat = parseStat(readFileSync(`${folder}/stat`, 'latin1'));
        if (stat !== undefined) threads.push({ pid, ...stat });
        family.push(...readFileSync(`${folder}/children`, 'latin1').split(' ').filter(Boolean).map(Number));
      }
    }
    return threads;
  } catch {
    // No /proc, no `children` in it, or a process that ended while we looked: the engine can still tell.
    return undefined;
  }
}
