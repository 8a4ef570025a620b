// What a server says of its version, found in its answer.

import type { Node } from '../contract/cluster.ts';
import { HarnessError } from '../contract/errors.ts';

/** The first group of `pattern` in the answer of `node`. Throws HarnessError('environment') if it is not there. */
export function versionIn({ name }: Pick<Node, 'name'>, answer: string | undefined, pattern: RegExp): string {
  const version = answer === undefined ? undefined : pattern.exec(answer)?.[1];
  if (version !== undefined) return version;
  throw new HarnessError('environment', `node ${name} does not say which version it is`, {
    remedy: 'is the image one of this lock service?',
    detail: answer ?? 'no answer',
  });
}
