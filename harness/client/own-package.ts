// What `import … from 'lockpick'` means in a user's module (config, adapter): this installation, whatever node_modules
// has, in a checkout and in the package alike.

import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

/** `lockpick.ts` in a checkout, `lockpick.js` in the package. */
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

export const ownPackage: Plugin = {
  name: 'lockpick',
  setup: (build) => {
    build.onResolve({ filter: /^lockpick$/ }, () => ({
      path: fileURLToPath(new URL(`../lockpick.${EXTENSION}`, import.meta.url)),
    }));
  },
};
