// Sleeping on whatever calls back later.

import type { Clock, Timer } from '../clock.ts';

export function sleepOn(timer: Timer): Clock['sleep'] {
  return (duration, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const cancel = timer(duration, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      const onAbort = (): void => {
        cancel();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort);
    });
}
