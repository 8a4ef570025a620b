// I1: the journal is append-only, what was appended more than 100 ms ago survives the death of its writer, and what
// survives is a history.

import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Journal, JournalError, readJournal } from './journal.ts';
import { nanos, type Header, type HistoryEvent } from './op.ts';

vi.mock('node:fs', { spy: true });

const header: Header = {
  format: 'lockpick-history',
  version: 1,
  clock: 'shared',
  clockErrorNanos: 0,
  meta: { backend: 'redis-single' },
};
const event = (id: number): HistoryEvent => ({
  type: 'invoke',
  id,
  time: nanos(id),
  process: 'c1',
  op: 'acquire',
  lock: 'k1',
});

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** A journal with one event, whose disk takes nothing more. */
function full(): Journal {
  const journal = new Journal(join(directory, 'history.jsonl'), header);
  journal.append(event(1));
  journal.flush();
  vi.mocked(writeSync).mockImplementation(() => {
    throw new Error('ENOSPC: no space left on device, write');
  });
  return journal;
}

describe('a journal', () => {
  it('is a history as soon as it is open, and after it is closed', () => {
    const path = join(directory, 'history.jsonl');
    using journal = new Journal(path, header);
    expect(readJournal(path).header).toEqual(header);
    journal.append(event(1));
    journal.append(event(2));
    journal.close();
    expect(readJournal(path).operations.map(({ id }) => id)).toEqual([1, 2]);
  });

  it('writes nothing over what is there', () => {
    const path = join(directory, 'history.jsonl');
    new Journal(path, header).close();
    expect(() => new Journal(path, header)).toThrow(/EEXIST/);
    expect(readJournal(path).operations).toEqual([]);
  });

  describe('on a disk that is full', () => {
    afterEach(() => vi.mocked(writeSync).mockReset());

    it('says so by a signal, takes no more, and leaves a history', () => {
      const journal = full();
      journal.append(event(2));
      expect(journal.failed.aborted).toBe(false);
      journal.flush();
      expect(() => journal.failed.throwIfAborted()).toThrow(JournalError);
      expect(() => journal.failed.throwIfAborted()).toThrow(`cannot write ${journal.path}: ENOSPC`);
      journal.append(event(3));
      expect(() => journal.close()).not.toThrow();
      expect(readJournal(journal.path).operations.map(({ id }) => id)).toEqual([1]);
    });

    it('throws when it is closed, if nobody could have seen it before', () => {
      const journal = full();
      journal.append(event(2));
      expect(() => journal.close()).toThrow(JournalError);
    });
  });

  it('tells its listeners of each event, after it was appended and in order', () => {
    using journal = new Journal(join(directory, 'history.jsonl'), header);
    const heard: HistoryEvent[] = [];
    journal.onEvent((heardOf) => heard.push(heardOf));
    journal.append(event(1));
    journal.append(event(2));
    expect(heard).toEqual([event(1), event(2)]);
  });

  it('hands over much at once without waiting', () => {
    const path = join(directory, 'history.jsonl');
    using journal = new Journal(path, header);
    for (let id = 1; id <= 2000; id++) journal.append(event(id));
    expect(readFileSync(path).length).toBeGreaterThan(100_000);
  });

  it('takes nothing once it is closed, and may be closed twice', () => {
    const journal = new Journal(join(directory, 'history.jsonl'), header);
    journal.close();
    journal.close();
    expect(() => journal.append(event(1))).toThrow('is closed');
  });

  it('is readable after a line that was torn', () => {
    const path = join(directory, 'history.jsonl');
    using journal = new Journal(path, header);
    journal.append(event(1));
    journal.close();
    appendFileSync(path, '{"type":"ok","id":1,"ti');
    expect(readJournal(path).operations).toMatchObject([{ id: 1, outcome: 'info' }]);
  });
});

describe('a killed writer', () => {
  it('loses at most 100 ms', async () => {
    const path = join(directory, 'history.jsonl');
    const writer = spawn(process.execPath, [join(import.meta.dirname, 'journal-writer.fixture.ts'), path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    writer.stdout.setEncoding('utf8');
    await new Promise<void>((resolve) => {
      writer.stdout.on('data', (chunk: string) => {
        text += chunk;
        if (text.split('\n').length > 400) resolve();
      });
    });
    writer.kill('SIGKILL');
    await new Promise((resolve) => writer.on('close', resolve));

    const { operations } = readJournal(path);
    expect(operations.map(({ id }) => id)).toEqual(operations.map((_, index) => index + 1));
    // On its own clock: what it did not live to do because the machine was busy elsewhere, it cannot have lost.
    const said = text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' ').map(Number));
    const [, last = 0] = said.at(-1) ?? [];
    const [due = 0] = said.findLast(([, at = 0]) => at < last - 0.1) ?? [];
    expect(due).toBeGreaterThan(0);
    expect(operations.length).toBeGreaterThanOrEqual(due);
  });
});
