// Starts a cluster on Docker and takes it down again. Each node is two containers (3.2 of the design): a sandbox that
// only sleeps and owns the network namespace (address, name, firewall rules), and the node's own, which joins it, so
// that kill and start keep both. testcontainers finds the engine, but its GenericContainer can give no fixed address,
// no open stdin, no shared namespace and no kill, and polls slowly; so containers are made with its dockerode directly.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster, Node, NodeSpec } from '../../contract/cluster.ts';
import { HarnessError, messageOf } from '../../contract/errors.ts';
import { millis, type Millis } from '../../history/op.ts';
import { tarArchive } from './archive.ts';
import { dockerNode, type DockerNode } from './docker-node.ts';
import { ask, type Container, type Engine } from './engine.ts';
import { SANDBOX_IMAGE, type Image, type Images } from './images.ts';
import { memoryVolume } from './memory-volume.ts';
import { createNetwork, type ClusterNetwork } from './network.ts';
import { newSessionName, removeSessionNamed, sessionLabels } from './session.ts';
import { addressIn, NODES_MAX } from './subnet.ts';

export interface ClusterOptions {
  readonly engine: Engine;
  /** As `ensureImages` returned them; names every image of the specs, and the sandbox. */
  readonly images: Images;
  /** Ends the start: what was created is removed, and the signal's reason is thrown. */
  readonly signal?: AbortSignal;
  /** How long a node may take until it answers its ready probe. */
  readonly readyTimeLimit?: Millis;
}

const READY_TIME_LIMIT = millis(30_000);
/** Docker keeps what a node prints in files of the host: bounded, whatever a server thinks it has to say. */
const BOUNDED_LOG = { Type: 'json-file', Config: { 'max-size': '16m', 'max-file': '2' } };
const NO_LOG = { Type: 'none', Config: {} };

/**
 * A cluster of these nodes, all ready; whoever started it disposes it. Throws HarnessError with the log of the first
 * node that does not come up; then, and when `signal` is aborted, everything created is removed before it leaves.
 */
export async function startCluster(specs: readonly NodeSpec[], options: ClusterOptions): Promise<Cluster> {
  checkNames(specs);
  const { engine, images } = options;
  const session = newSessionName();
  const created: DockerNode[] = [];
  const remove = async (): Promise<void> => {
    for (const node of created) node.disconnect();
    await removeSessionNamed(engine, session);
  };
  const failed = new AbortController();
  const signal = AbortSignal.any([failed.signal, ...(options.signal === undefined ? [] : [options.signal])]);
  try {
    signal.throwIfAborted();
    const network = await createNetwork(engine, session);
    const starts = specs.map(async (spec, index) => {
      const node = await createNode(spec, addressIn(network.subnet, index), {
        engine,
        images,
        session,
        network,
        signal,
      });
      created.push(node);
      signal.throwIfAborted();
      await node.start();
      await node.ready(options.readyTimeLimit ?? READY_TIME_LIMIT, signal);
      return node;
    });
    // The first failure ends the others, and all have ended before anything is removed: a container that is still being
    // created would be overlooked.
    for (const start of starts) start.catch((error: unknown) => failed.abort(error));
    await Promise.allSettled(starts);
    signal.throwIfAborted();
    return clusterOf(session, await Promise.all(starts), images, remove);
  } catch (error) {
    try {
      await remove();
    } catch (removalError) {
      throw new HarnessError('environment', `${messageOf(error)}; ${messageOf(removalError)}`, {
        remedy: 'lockpick clean',
        cause: new AggregateError([error, removalError]),
      });
    }
    throw error;
  }
}

interface NodeSurroundings {
  readonly engine: Engine;
  readonly images: Images;
  readonly session: string;
  readonly network: ClusterNetwork;
  readonly signal: AbortSignal;
}

/** Both containers of a node: the sandbox runs, the node's own has its files and is not started. */
async function createNode(
  spec: NodeSpec,
  address: string,
  { engine, images, session, network, signal }: NodeSurroundings,
): Promise<DockerNode> {
  const { docker } = engine;
  const { name } = spec;
  const containerName = `lockpick-${session}-${name}`;
  const labels = sessionLabels(session);
  signal.throwIfAborted();
  const sandbox = await ask(
    `create the sandbox of node ${name}`,
    docker.createContainer({
      name: `${containerName}-sandbox`,
      Image: imageOf(images, SANDBOX_IMAGE).reference,
      Hostname: name,
      Labels: labels,
      HostConfig: {
        NetworkMode: network.name,
        CapAdd: ['NET_ADMIN'],
        LogConfig: NO_LOG,
        Mounts: (spec.sharedFolders ?? []).map(memoryVolume),
      },
      NetworkingConfig: {
        EndpointsConfig: { [network.name]: { IPAMConfig: { IPv4Address: address }, Aliases: [name] } },
      },
    }),
  );
  signal.throwIfAborted();
  await ask(`start the sandbox of node ${name}`, sandbox.start());
  const create = async (): Promise<Container> => {
    const container = await ask(
      `create node ${name}`,
      docker.createContainer({
        name: containerName,
        Image: imageOf(images, spec.image).reference,
        Labels: labels,
        ...(spec.entrypoint !== undefined && { Entrypoint: [...spec.entrypoint] }),
        ...(spec.command !== undefined && { Cmd: [...spec.command] }),
        Env: Object.entries(spec.environment ?? {}).map(([key, value]) => `${key}=${value}`),
        // What a stream node prints is its share of the journal: stored there, not once more by Docker.
        ...(spec.stream === true && { OpenStdin: true, StdinOnce: true }),
        HostConfig: {
          NetworkMode: `container:${sandbox.id}`,
          ...(spec.sharedFolders !== undefined && { VolumesFrom: [sandbox.id] }),
          LogConfig: spec.stream === true ? NO_LOG : BOUNDED_LOG,
        },
      }),
    );
    if (spec.files !== undefined && spec.files.length > 0)
      await ask(`put files into node ${name}`, container.putArchive(tarArchive(spec.files), { path: '/' }));
    return container;
  };
  signal.throwIfAborted();
  return dockerNode({ spec, address, container: await create(), create, sandbox });
}

function imageOf(images: Images, name: string): Image {
  const image = images[name];
  if (image === undefined)
    throw new HarnessError('internal', `image ${name} was not made sure of before the start`);
  return image;
}

function checkNames(specs: readonly NodeSpec[]): void {
  if (specs.length > NODES_MAX)
    throw new HarnessError(
      'usage',
      `${specs.length} nodes are more than one network can address (${NODES_MAX})`,
    );
  const seen = new Set<string>();
  for (const { name } of specs) {
    if (!/^[a-z0-9][a-z0-9-]+$/.test(name))
      throw new HarnessError('internal', `not a name for a node: ${name}`);
    if (seen.has(name)) throw new HarnessError('internal', `two nodes are called ${name}`);
    seen.add(name);
  }
}

function clusterOf(
  session: string,
  nodes: readonly Node[],
  images: Images,
  remove: () => Promise<void>,
): Cluster {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  let removed: Promise<void> | undefined;
  return {
    session,
    nodes: byName,
    images,
    node: (name) => {
      const node = byName.get(name);
      if (node === undefined) throw new HarnessError('internal', `the cluster has no node ${name}`);
      return node;
    },
    collectLogs: async (directory) => {
      await mkdir(directory, { recursive: true });
      await Promise.all(
        nodes.map(async (node) => writeFile(join(directory, `${node.name}.log`), await node.logs())),
      );
    },
    [Symbol.asyncDispose]: () => (removed ??= remove()),
  };
}
