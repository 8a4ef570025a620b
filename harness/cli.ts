#!/usr/bin/env node
// The program `lockpick`. What is loaded after the cache is on is stripped of its types and compiled only once on a
// machine, and not in every process: that is most of what a short command takes. Node 20 has no such cache.

import module from 'node:module';

module.enableCompileCache?.();
const { main } = await import('./command-line.ts');
await main(process.argv.slice(2));
