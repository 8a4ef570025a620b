// Which error a command of many runs ends with. The runs themselves need containers: `cli.containers.test.ts`.

import { expect, it, vi } from 'vitest';
import { concludeAfter } from './batch.ts';

const ofRun = new Error('the engine went away');
const ofSummary = new Error('nothing to summarise');
const fails = (): never => {
  throw ofSummary;
};

it('ends with the error of the run, and only tells that of the summary', () => {
  const told = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  expect(() => concludeAfter(ofRun, fails)).toThrow(ofRun);
  expect(told.mock.calls.join('')).toContain('nothing to summarise');
  told.mockRestore();
});

it('summarises also after an error', () => {
  const conclude = vi.fn<() => void>();
  expect(() => concludeAfter(ofRun, conclude)).toThrow(ofRun);
  expect(conclude).toHaveBeenCalledOnce();
});

it('ends with the error of the summary where there is no other', () => {
  expect(() => concludeAfter(undefined, fails)).toThrow(ofSummary);
});
