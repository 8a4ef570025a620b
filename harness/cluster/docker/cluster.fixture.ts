// Small clusters for tests on a real engine: one Redis, and clients that are a line of JavaScript.

import type { NodeSpec } from '../../contract/cluster.ts';
import { findEngine, type Engine } from './engine.ts';
import { ensureImages, type Images } from './images.ts';
import { listSessions } from './session.ts';

export async function stage(): Promise<{ engine: Engine; images: Images }> {
  const engine = await findEngine();
  return { engine, images: await ensureImages(engine, { names: ['redis', 'postgres', 'client'] }) };
}

export function redis(name: string): NodeSpec {
  return {
    name,
    role: 'server',
    image: 'redis',
    port: 6379,
    ready: { kind: 'tcp', send: 'PING\r\n', expect: '+PONG' },
  };
}

export function postgres(name: string): NodeSpec {
  return {
    name,
    role: 'store',
    image: 'postgres',
    port: 5432,
    ready: { kind: 'exec', command: ['pg_isready', '-q', '-h', '127.0.0.1'] },
  };
}

/** Runs `program` for each line it is sent, as `line`; ends when its stdin does. */
export function client(name: string, program: string): NodeSpec {
  const script = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => { ${program} })`;
  return { name, role: 'client', image: 'client', stream: true, command: ['node', '-e', script] };
}

/** What this process has on the engine. */
export async function leftByUs(engine: Engine): Promise<string[]> {
  const sessions = await listSessions(engine);
  return sessions.filter(({ owner }) => owner?.pid === process.pid).map(({ name }) => name);
}
