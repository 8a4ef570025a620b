// Lets etcd3 be bundled: it reads its protocol from files beside its code, which a program of one file does not have.
// Here they are read when the program is made, and their content put where etcd3 would read them.

import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';
import protobuf from 'protobufjs';

/** As written in etcd3 1.1.2, lib/connection-pool.js. */
const READS_FILE = '(0, proto_loader_1.loadSync)(`${__dirname}/../proto/rpc.proto`';
const TAKES_CONTENT = '(0, proto_loader_1.fromJSON)(';

/** Throws, and so fails the build, if etcd3 is not written as expected. */
export const etcdProtocol: Plugin = {
  name: 'etcd-protocol',
  setup: (build) => {
    build.onLoad({ filter: /etcd3[\\/]lib[\\/]connection-pool\.js$/ }, async ({ path }) => {
      const code = await readFile(path, 'utf8');
      if (!code.includes(READS_FILE)) throw new Error('etcd3 does not read its protocol as it did in 1.1.2');
      return { contents: code.replace(READS_FILE, TAKES_CONTENT + (await protocolText(path))), loader: 'js' };
    });
  },
};

async function protocolText(library: string): Promise<string> {
  const root = new protobuf.Root();
  // etcd3 reads it with the same option.
  await root.load(join(dirname(library), '../proto/rpc.proto'), { keepCase: true });
  return JSON.stringify(root.toJSON());
}
