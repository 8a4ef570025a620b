// Pairing: events become operations and spans, in order of invocation, whatever order the coordinator learned of them in.

import { describe, expect, it } from 'vitest';
import { parseHistory } from './json-lines.ts';
import type { History } from './history.ts';

function history(...events: object[]): History {
  return parseHistory(
    [{ format: 'lockpick-history', version: 1 }, ...events].map((event) => JSON.stringify(event)).join('\n'),
  );
}

describe('operations', () => {
  it('are paired by id, not by process, and come in order of invocation', () => {
    const { operations } = history(
      { type: 'invoke', id: 2, time: 20, process: 'c1', op: 'renew', lock: 'k1' },
      { type: 'invoke', id: 9, time: 10, process: 'c2', op: 'acquire', lock: 'k1', try: true },
      { type: 'invoke', id: 3, time: 20, process: 'c1', op: 'release', lock: 'k1' },
      { type: 'ok', id: 3, time: 40, process: 'c1', op: 'release', released: true },
      { type: 'fail', id: 9, time: 50, process: 'c2', op: 'acquire', error: 'busy' },
      { type: 'ok', id: 2, time: 30, process: 'c1', op: 'renew', validUntil: 99 },
    );
    expect(operations).toEqual([
      {
        id: 9,
        process: 'c2',
        invoked: 10,
        completed: 50,
        outcome: 'fail',
        error: 'busy',
        op: 'acquire',
        lock: 'k1',
        try: true,
      },
      {
        id: 2,
        process: 'c1',
        invoked: 20,
        completed: 30,
        outcome: 'ok',
        op: 'renew',
        lock: 'k1',
        validUntil: 99,
      },
      {
        id: 3,
        process: 'c1',
        invoked: 20,
        completed: 40,
        outcome: 'ok',
        op: 'release',
        lock: 'k1',
        released: true,
      },
    ]);
  });

  it('have an unknown outcome if they were never answered', () => {
    const { operations } = history({
      type: 'invoke',
      id: 1,
      time: 1,
      process: 'c1',
      op: 'acquire',
      lock: 'k1',
    });
    expect(operations).toMatchObject([{ outcome: 'info', completed: undefined }]);
  });

  it('have no token unless they were granted', () => {
    const { operations } = history(
      { type: 'invoke', id: 1, time: 1, process: 'c1', op: 'acquire', lock: 'k1' },
      { type: 'info', id: 1, time: 2, process: 'c1', op: 'acquire', token: '5', validUntil: 9 },
    );
    expect(operations[0]).not.toHaveProperty('token');
    expect(operations[0]).not.toHaveProperty('validUntil');
  });

  it('on a store are protected by the lock they name, else by that of the key', () => {
    const { operations } = history(
      { type: 'invoke', id: 1, time: 1, process: 'c1', op: 'read', store: 'none', key: 'k1' },
      { type: 'invoke', id: 3, time: 3, process: 'c1', op: 'read', store: 'none', key: 'a', lock: 'k3' },
      {
        type: 'invoke',
        id: 2,
        time: 2,
        process: 'c1',
        op: 'write',
        store: 'none',
        key: 'a',
        lock: 'k2',
        value: '1',
      },
    );
    expect(operations.map(({ lock }) => lock)).toEqual(['k1', 'k2', 'k3']);
  });
});

describe('faults', () => {
  it('are spans that remember what they were asked and what was seen', () => {
    const { faults } = history(
      {
        type: 'fault',
        phase: 'begin',
        id: 'f1',
        time: 10,
        fault: 'pause',
        targets: ['c1'],
        params: { millis: 5 },
      },
      {
        type: 'fault',
        phase: 'acted',
        id: 'f1',
        time: 20,
        fault: 'pause',
        targets: ['c1', 'c2'],
        evidence: { state: 'T' },
      },
      {
        type: 'fault',
        phase: 'end',
        id: 'f1',
        time: 30,
        fault: 'pause',
        targets: [],
        evidence: { after: 'S' },
      },
    );
    expect(faults).toEqual([
      {
        id: 'f1',
        fault: 'pause',
        targets: ['c1', 'c2'],
        params: { millis: 5 },
        begin: 10,
        acted: 20,
        end: 30,
        evidence: { state: 'T', after: 'S' },
      },
    ]);
  });

  it('may not have acted, and may not have ended', () => {
    const { faults } = history({
      type: 'fault',
      phase: 'begin',
      id: 'f1',
      time: 10,
      fault: 'kill',
      targets: ['r1'],
    });
    expect(faults).toMatchObject([{ acted: undefined, end: undefined, params: {}, evidence: {} }]);
  });
});

describe('the last stamps', () => {
  it('are the latest, not the last read', () => {
    const { lastSeen, end } = history(
      { type: 'invoke', id: 1, time: 50, process: 'c1', op: 'acquire', lock: 'k1' },
      { type: 'lost', time: 40, process: 'c1', lock: 'k1', reason: 'x' },
      { type: 'down', time: 60, process: 'c2', reason: 'finished' },
      { type: 'server', time: 70, node: 'r1', role: 'primary' },
    );
    expect([...lastSeen]).toEqual([
      ['c1', 50],
      ['c2', 60],
    ]);
    expect(end).toBe(70);
  });
});
