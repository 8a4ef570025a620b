// How long a client that is cut off from the lock service goes on believing after another one was granted its lock:
// `node bench/late-loss.ts [--ttl milliseconds] [--times n]`. Our deadlines beside the libraries' own notices, on real
// servers; a negative figure is a notice that came before the grant. Needs an engine; builds missing images first.

import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { etcd } from '../harness/backends/etcd/server.ts';
import { startStage, type Stage } from '../harness/testing/service-stage.ts';
import { loadDriver } from '../harness/backends/zookeeper/driver.ts';
import { zookeeper } from '../harness/backends/zookeeper/server.ts';
import { DEFAULT_VARIANT, type Backend } from '../harness/contract/backend.ts';
import type { AcquireRequest, Recipe } from '../harness/contract/lock-client.ts';
import { millis, type Nanos } from '../harness/history/op.ts';

/** The cut lasts this many TTLs; who has not been told by then is told, if at all, because it heard from a server. */
const CUT_OF_TTL = 5;

const { values } = parseArgs({
  options: { ttl: { type: 'string', default: '2000' }, times: { type: 'string', default: '3' } },
});
const ttlMillis = millis(Number(values.ttl));
const times = Number(values.times);

/** A holder that can be cut off, and when it was told that its lock is gone. */
interface Holder extends AsyncDisposable {
  readonly network: { cut(): void; heal(): void };
  toldAt(): Nanos | undefined;
}

interface Path {
  readonly name: string;
  readonly backend: Backend;
  /** Whoever waits for the lock meanwhile uses this one. */
  readonly recipe: string;
  readonly hold: (stage: Stage, recipe: Recipe, lock: string) => Promise<Holder>;
}

const paths: readonly Path[] = [
  { name: 'lease-queue (our deadline)', backend: etcd, recipe: 'lease-queue', hold: holdByRecipe },
  { name: 'etcd3 1.1.2, its own notice', backend: etcd, recipe: 'etcd3-lock', hold: holdByRecipe },
  {
    name: 'ephemeral-sequential (our deadline)',
    backend: zookeeper,
    recipe: 'ephemeral-sequential',
    hold: holdByRecipe,
  },
  {
    name: 'node-zookeeper-client 1.1.3, its own notice',
    backend: zookeeper,
    recipe: 'ephemeral-sequential',
    hold: holdByLibrary,
  },
];

let attempts = 0;
function request(lock: string): AcquireRequest {
  attempts += 1;
  return { lock, ttlMillis, owner: `owner-${attempts}`, patienceMillis: millis(ttlMillis * CUT_OF_TTL) };
}

async function holdByRecipe(stage: Stage, recipe: Recipe, lock: string): Promise<Holder> {
  const client = await stage.connect(recipe);
  const attempt = request(lock);
  const outcome = await client.locks.acquire(attempt);
  if (outcome.kind !== 'ok') throw new Error(`not granted: ${outcome.error}`);
  return { ...client, toldAt: () => client.losses.get(attempt.owner) };
}

/** A node in the recipe's queue, made and watched with nothing but the library. */
async function holdByLibrary(stage: Stage, recipe: Recipe, lock: string): Promise<Holder> {
  const client = await stage.connect(recipe);
  const { createClient, CreateMode } = await loadDriver();
  const servers = client.proxies.map(({ host, port }) => `${host}:${port}`).join(',');
  const library = createClient(servers, { sessionTimeout: ttlMillis, spinDelay: 50, retries: 0 });
  let told: Nanos | undefined;
  await new Promise<void>((resolve) => {
    library.once('connected', resolve);
    library.connect();
  });
  for (const event of ['disconnected', 'expired'] as const)
    library.once(event, () => (told ??= stage.clock.now()));
  const folder = `/lockpick/${lock}`;
  await new Promise<void>((resolve, reject) => {
    library.mkdirp(folder, (error) => (error ? reject(error) : resolve()));
  });
  await new Promise<void>((resolve, reject) => {
    library.create(`${folder}/library-`, CreateMode.EPHEMERAL_SEQUENTIAL, (error) =>
      error ? reject(error) : resolve(),
    );
  });
  return { ...client, toldAt: () => told };
}

interface Window {
  /** From the next grant until the holder was told; undefined: not while it was cut off. */
  readonly millis: number | undefined;
}

async function windowOf({ backend, recipe: name, hold }: Path, stage: Stage, lock: string): Promise<Window> {
  const recipe = backend.recipes.find((candidate) => candidate.name === name);
  if (recipe === undefined) throw new Error(`no recipe ${name}`);
  await using next = await stage.connect(recipe);
  await using holder = await hold(stage, recipe, lock);
  holder.network.cut();
  const cutAt = stage.clock.now();
  let grantedAt: Nanos | undefined;
  while (grantedAt === undefined) {
    const outcome = await next.locks.acquire(request(lock));
    if (outcome.kind === 'ok') grantedAt = stage.clock.now();
    else await delay(5);
  }
  const end = cutAt + ttlMillis * CUT_OF_TTL * 1e6;
  while (holder.toldAt() === undefined && stage.clock.now() < end) await delay(5);
  const told = holder.toldAt();
  holder.network.heal();
  return { millis: told === undefined ? undefined : (told - grantedAt) / 1e6 };
}

function figure(windowMillis: number | undefined): string {
  return windowMillis === undefined ? 'not while cut off' : String(Math.round(windowMillis));
}

const rows: Record<string, string | number>[] = [];
for (const backend of [etcd, zookeeper]) {
  await using stage = await startStage(backend, {
    variant: DEFAULT_VARIANT,
    ttlMillis,
    commandTimeLimit: millis(500),
  });
  for (const path of paths.filter((candidate) => candidate.backend === backend)) {
    const windows = await Promise.all(
      Array.from({ length: times }, (_, index) =>
        windowOf(path, stage, `late-${paths.indexOf(path)}-${index}`),
      ),
    );
    const told = windows.flatMap(({ millis: took }) => took ?? []).toSorted((a, b) => a - b);
    rows.push({
      path: path.name,
      ttl: ttlMillis,
      told: `${told.length} of ${times}`,
      min: figure(told[0]),
      median: figure(told[told.length >> 1]),
      max: figure(told.at(-1)),
    });
  }
}
console.table(rows);
