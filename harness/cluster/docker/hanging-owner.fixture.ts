// A process that starts a cluster, says its session's name, and does nothing more: to be killed by a test.

import { client, redis, stage } from './cluster.fixture.ts';
import { startCluster } from './docker-cluster.ts';

const cluster = await startCluster([redis('r1'), client('c1', 'console.log(line)')], await stage());
process.stdout.write(`${cluster.session}\n`);
setInterval(() => {}, 1 << 30);
