// Giving back until it is done, and what may be said about it then.

import { describe, expect, it } from 'vitest';
import { fakeClock } from '../client/fakes.fixture.ts';
import type { Outcome } from '../contract/lock-client.ts';
import { releaseUntilDone } from './until-done.ts';

type Removal = Outcome<{ readonly existed: boolean }>;

const done = (existed: boolean): Removal => ({ kind: 'ok', value: { existed } });
const unknown: Removal = { kind: 'info', error: 'timeout' };
const refused: Removal = { kind: 'fail', error: 'unavailable' };

/** Removals that answer so, one after the other; the last one for ever. */
async function released(answers: readonly Removal[], worthwhile: () => boolean = () => true) {
  const clock = fakeClock();
  let asked = 0;
  const outcome = releaseUntilDone(
    clock,
    async () => answers[Math.min(asked++, answers.length - 1)] ?? refused,
    worthwhile,
  );
  await clock.elapse(1_000);
  return { outcome: await outcome, asked };
}

describe('releaseUntilDone', () => {
  it('is one request where it is answered', async () => {
    expect(await released([done(true)])).toEqual({
      outcome: { kind: 'ok', value: { released: true } },
      asked: 1,
    });
    expect((await released([done(false)])).outcome).toEqual({ kind: 'ok', value: { released: false } });
  });

  it('does not say that it came too late if an earlier try may have removed it', async () => {
    expect((await released([unknown, done(false)])).outcome).toEqual({ kind: 'ok', value: {} });
    expect((await released([unknown, refused, done(false)])).outcome).toEqual({ kind: 'ok', value: {} });
    // It was there, so no earlier try had removed it; or no earlier try was sent.
    expect((await released([unknown, done(true)])).outcome).toEqual({
      kind: 'ok',
      value: { released: true },
    });
    expect((await released([refused, done(false)])).outcome).toEqual({
      kind: 'ok',
      value: { released: false },
    });
  });

  it('answers after a few tries, and goes on behind the scenes', async () => {
    const answers = [...Array.from({ length: 8 }, () => unknown), done(true)];
    expect(await released(answers)).toEqual({ outcome: unknown, asked: 9 });
  });

  it('goes on only for as long as it is worth it', async () => {
    let left = 2;
    expect(await released([unknown], () => left-- > 0)).toEqual({ outcome: unknown, asked: 3 });
  });
});
