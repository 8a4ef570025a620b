// Enforces what the compiler cannot: who may import whom (1.1 of the design, ARCHITECTURE.md), and that time, chance and
// the results directory each have one reader. Works on import specifiers and source text alone.

import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const sources = globSync('{harness,checkers,workloads,bench}/**/*.ts', { cwd: root }).toSorted();
const tests = /\.(test|fixture)\.ts$/;

/** Layer → the layers it may import, besides itself. Anything that is not a layer is a file of the root. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'harness/history': [],
  'harness/clock.ts': ['harness/history'],
  'harness/rng.ts': ['harness/contract'],
  'harness/contract': ['harness/history', 'checkers/verdict.ts'],
  checkers: ['harness/history'],
  workloads: ['harness/contract', 'harness/history', 'checkers'],
  'harness/client': [
    'harness/contract',
    'harness/history',
    'harness/backends',
    'harness/postgres-store',
    'workloads',
    'harness/clock.ts',
    'harness/rng.ts',
  ],
  'harness/nemesis': ['harness/contract', 'harness/history', 'harness/clock.ts', 'harness/rng.ts'],
  'harness/cluster': ['harness/contract', 'harness/history', 'harness/clock.ts', 'harness/rng.ts'],
  'harness/postgres': ['harness/contract', 'harness/history'],
  'harness/backends': [
    'harness/contract',
    'harness/history',
    'harness/postgres',
    'harness/clock.ts',
    'harness/rng.ts',
  ],
  'harness/postgres-store': [
    'harness/contract',
    'harness/history',
    'harness/postgres',
    'harness/clock.ts',
    'harness/rng.ts',
  ],
  'harness/simulation': [
    'harness/contract',
    'harness/history',
    'harness/client',
    'harness/nemesis',
    'harness/backends',
    'harness/postgres',
    'harness/postgres-store',
    'harness/clock.ts',
    'harness/rng.ts',
  ],
  'harness/convert': ['harness/history', 'checkers'],
  'harness/report': [
    'harness/history',
    'checkers/verdict.ts',
    'checkers/wording.ts',
    'harness/comparison/breaking-faults.ts',
    'harness/comparison/defences.ts',
    'harness/comparison/interval.ts',
    'harness/comparison/rates.ts',
    'harness/comparison/trends.ts',
  ],
};

/** The layer with the longest matching prefix; undefined: a file of the root, which may import everything. */
function layerOf(file: string): string | undefined {
  return Object.keys(MAY_IMPORT)
    .filter((layer) => file === layer || file.startsWith(`${layer}/`))
    .toSorted((a, b) => b.length - a.length)[0];
}

interface Import {
  readonly from: string;
  readonly to: string;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const specifiers = text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.{1,2}\/[^']+)'/g);
  return [...specifiers].map(([, specifier = '']) => ({
    from: file,
    to: normalize(join(dirname(file), specifier)),
  }));
}

function allowed({ from, to }: Import): boolean {
  const layer = layerOf(from);
  if (layer === undefined) return true;
  return [layer, ...(MAY_IMPORT[layer] ?? [])].some((other) => to === other || to.startsWith(`${other}/`));
}

/** What only the named files may do, and how to see that a file does it. */
const ONLY: readonly { readonly what: string; readonly pattern: RegExp; readonly files: RegExp }[] = [
  {
    what: 'read the time',
    pattern: /\bDate\.now\b|\bnew Date\b|\bperformance\.now\b|\bhrtime\b/,
    files: /^harness\/clock\.ts$|^bench\//,
  },
  {
    what: 'draw by chance',
    pattern: /\bMath\.random\b|\brandomInt\b|\brandomBytes\b|\brandomUUID\b/,
    files: /^harness\/rng\.ts$/,
  },
  {
    what: 'exit the process',
    pattern: /\bprocess\.exit\(/,
    files: /^harness\/(client\/main|command-line)\.ts$/,
  },
];

describe('tidy', () => {
  it('finds the sources', () => {
    expect(sources.length).toBeGreaterThan(20);
  });

  it('lets no layer import what it must not know', () => {
    const wrong = sources
      .filter((file) => !tests.test(file))
      .flatMap(importsOf)
      .filter((found) => !allowed(found));
    expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  it('sees a forbidden import', () => {
    expect(allowed({ from: 'checkers/tokens.ts', to: 'harness/cluster/docker/engine.ts' })).toBe(false);
    expect(allowed({ from: 'harness/report/html.ts', to: 'checkers/tokens.ts' })).toBe(false);
    expect(allowed({ from: 'harness/nemesis/nemesis.ts', to: 'harness/cluster/docker/engine.ts' })).toBe(
      false,
    );
  });

  it('lets only tests import fixtures, and only tests and measurements what is made for both', () => {
    const programs = sources.filter((file) => !tests.test(file)).flatMap(importsOf);
    expect(programs.filter(({ to }) => tests.test(to))).toEqual([]);
    const isMeasurement = /^(bench|harness\/testing)\/|^harness\/docs\/screenshot\.ts$/;
    const shared = programs.filter(({ to }) => to.startsWith('harness/testing/'));
    expect(shared.length).toBeGreaterThan(0);
    expect(shared.filter(({ from }) => !isMeasurement.test(from))).toEqual([]);
  });

  it('keeps checkers free of Node', () => {
    const wrong = sources
      .filter((file) => file.startsWith('checkers/') && !tests.test(file))
      .filter((file) => /from 'node:/.test(readFileSync(join(root, file), 'utf8')));
    expect(wrong).toEqual([]);
  });

  it('keeps the library, and all that it loads, free of Node and of packages', () => {
    const loaded = new Set(['checkers/check.ts']);
    for (const file of loaded) for (const { to } of importsOf(file)) loaded.add(to);
    const others = [...loaded].flatMap((file) =>
      [
        ...readFileSync(join(root, file), 'utf8').matchAll(/^(?:import|export)[^;]*from '([^.'][^']*)'/gm),
      ].map(([, specifier]) => `${file} → ${specifier}`),
    );
    const globals =
      /\bBuffer[.(]|: Buffer\b|\bprocess\.(?:env|on|std|exit|version)|\b(?:setImmediate|require)\(/;
    const nodes = [...loaded].filter((file) =>
      globals.test(withoutComments(readFileSync(join(root, file), 'utf8'))),
    );
    expect(loaded.size).toBeGreaterThan(30);
    expect(others).toEqual([]);
    expect(nodes).toEqual([]);
  });

  it.each(ONLY)('lets only the named files $what', ({ pattern, files }) => {
    const wrong = sources
      .filter((file) => !tests.test(file) && !files.test(file))
      .filter((file) => pattern.test(withoutComments(readFileSync(join(root, file), 'utf8'))));
    expect(wrong).toEqual([]);
  });

  it('starts every file with what it is', () => {
    const wrong = sources.filter((file) => !/^(#!.*\n)?\/\/ /.test(readFileSync(join(root, file), 'utf8')));
    expect(wrong).toEqual([]);
  });
});

describe('package-lock.json', () => {
  interface Locked {
    readonly version?: string;
    readonly resolved?: string;
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly devDependencies?: Readonly<Record<string, string>>;
    readonly optionalDependencies?: Readonly<Record<string, string>>;
  }
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, Locked>>;
  };
  const known = new Set(Object.keys(packages).map(nameOf));

  it('has every package that another one names, so that `npm ci` takes it, for other platforms too', () => {
    const missing = Object.entries(packages).flatMap(
      ([path, { dependencies, devDependencies, optionalDependencies }]) =>
        Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
          .filter((name) => !known.has(name))
          .map((name) => `${path || 'package.json'} → ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it('names no registry', () => {
    expect(Object.values(packages).filter(({ resolved }) => resolved?.startsWith('http'))).toEqual([]);
  });
});

function nameOf(path: string): string {
  return path.replace(/^.*node_modules\//, '');
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}
