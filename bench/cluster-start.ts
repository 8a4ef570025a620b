// How long a lock service takes from nothing to ready: `node bench/cluster-start.ts [backend…] [--times n]`. Starts the
// servers of each backend (its default variant), as a run does, and prints the milliseconds until every one of them
// answered its ready probe and the service was put together. Needs an engine; builds missing images first.

import { parseArgs } from 'node:util';
import { backends } from '../harness/backends/index.ts';
import { startCluster } from '../harness/cluster/docker/docker-cluster.ts';
import { findEngine } from '../harness/cluster/docker/engine.ts';
import { ensureImages } from '../harness/cluster/docker/images.ts';
import { DEFAULT_VARIANT } from '../harness/contract/backend.ts';
import { millis } from '../harness/history/op.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'string', default: '3' } },
});
const engine = await findEngine();

const rows: Record<string, string | number>[] = [];
for (const backend of backends) {
  if (positionals.length > 0 && !positionals.includes(backend.name)) continue;
  const specs = backend.servers({ variant: DEFAULT_VARIANT, ttlMillis: millis(1_000) });
  const images = await ensureImages(engine, { names: specs.map(({ image }) => image) });
  const took: number[] = [];
  for (let run = 0; run < Number(values.times); run++) {
    const began = performance.now();
    await using cluster = await startCluster(specs, { engine, images, readyTimeLimit: millis(120_000) });
    await backend.assemble?.(specs.map(({ name }) => cluster.node(name)));
    took.push(Math.round(performance.now() - began));
  }
  took.sort((a, b) => a - b);
  rows.push({
    backend: backend.name,
    servers: specs.length,
    min: took[0] ?? 0,
    median: took[took.length >> 1] ?? 0,
    max: took.at(-1) ?? 0,
  });
}
console.table(rows);
