// The engine that `docker context use` chose.

import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextHost } from './context-host.ts';

const folder = mkdtempSync(join(tmpdir(), 'lockpick-context-'));
afterAll(() => rmSync(folder, { recursive: true }));

function store(name: string, host: string): void {
  const meta = join(folder, 'contexts', 'meta', createHash('sha256').update(name).digest('hex'));
  mkdirSync(meta, { recursive: true });
  writeFileSync(
    join(meta, 'meta.json'),
    JSON.stringify({ Name: name, Endpoints: { docker: { Host: host } } }),
  );
}

describe('contextHost', () => {
  it('is undefined without a configuration, and for the default context', () => {
    expect(contextHost({ DOCKER_CONFIG: folder })).toBeUndefined();
    expect(contextHost({ DOCKER_CONFIG: folder, DOCKER_CONTEXT: 'default' })).toBeUndefined();
  });

  it('finds the current context, which the environment overrides', () => {
    store('colima', 'unix:///home/user/.colima/docker.sock');
    store('desktop', 'unix:///home/user/.docker/desktop.sock');
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ currentContext: 'colima' }));
    expect(contextHost({ DOCKER_CONFIG: folder })).toBe('unix:///home/user/.colima/docker.sock');
    expect(contextHost({ DOCKER_CONFIG: folder, DOCKER_CONTEXT: 'desktop' })).toBe(
      'unix:///home/user/.docker/desktop.sock',
    );
  });

  it('leaves alone a context that is not a local socket', () => {
    store('far', 'tcp://far:2376');
    expect(contextHost({ DOCKER_CONFIG: folder, DOCKER_CONTEXT: 'far' })).toBeUndefined();
  });
});
