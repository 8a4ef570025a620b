// Delta debugging: which few of many things are enough to show something. Source: Zeller, Hildebrandt, "Simplifying and
// Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002, algorithm ddmin. Knows nothing of what the things are.

/**
 * A part of `all` that shows it and of which no single one can be left out, in the order of `all`, given that `all`
 * shows it. Asks O(n²) times at worst, O(log n) if one is enough.
 */
export async function smallestPart<T>(
  all: readonly T[],
  shows: (part: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  if (await shows([])) return [];
  let part = all;
  for (let pieces = 2; part.length > 1;) {
    const chunks = inPieces(part, pieces);
    const chunk = await firstThatShows(chunks, shows);
    if (chunk !== undefined) {
      part = chunk;
      pieces = 2;
      continue;
    }
    const whole = part;
    // Of two pieces each is what is left without the other.
    const rest =
      pieces === 2
        ? undefined
        : await firstThatShows(
            chunks.map((without) => whole.filter((one) => !without.includes(one))),
            shows,
          );
    if (rest !== undefined) {
      part = rest;
      pieces -= 1;
    } else if (pieces === part.length) return part;
    else pieces = Math.min(part.length, pieces * 2);
  }
  return part;
}

/** As equal as can be; `pieces` is at most their number. */
function inPieces<T>(whole: readonly T[], pieces: number): readonly (readonly T[])[] {
  const cut = (nth: number): number => Math.floor((nth * whole.length) / pieces);
  return Array.from({ length: pieces }, (_, nth) => whole.slice(cut(nth), cut(nth + 1)));
}

/** undefined: none does. */
export async function firstThatShows<T>(
  candidates: Iterable<T>,
  shows: (candidate: T) => Promise<boolean>,
): Promise<T | undefined> {
  for (const candidate of candidates) if (await shows(candidate)) return candidate;
  return undefined;
}
