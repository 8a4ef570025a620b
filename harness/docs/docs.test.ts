// The generated documentation is up to date and leaves nothing out; what any page refers to is there.

import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { backends } from '../backends/index.ts';
import { catalogue } from '../plan/catalogue.ts';
import { cellName } from '../plan/cell-name.ts';
import { LIVENESS_CODES, SAFETY_CODES } from '../../checkers/verdict.ts';
import { backendsPage } from './backends-page.ts';
import { generatedPages } from './pages.ts';
import { verdictsPage } from './verdicts-page.ts';

const root = join(import.meta.dirname, '../..');

describe('the generated pages', () => {
  it.each([...generatedPages()])('%s is what its sources say; npm run docs writes it', (path, text) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(text);
  });
});

describe('docs/verdicts.md', () => {
  it('shows every finding with a picture, and no operation that the history lacks', () => {
    const files = verdictsPage();
    const page = files.get('docs/verdicts.md') ?? '';
    for (const code of [...SAFETY_CODES, ...LIVENESS_CODES]) {
      expect(page).toContain(`## ${code}\n`);
      expect(files.get(`docs/verdicts/${code}.svg`)).toContain('<rect class="d-');
    }
  });
});

describe('docs/backends.md', () => {
  const page = backendsPage();

  it('names every variant, recipe, error and cell', () => {
    const names = [
      ...backends.flatMap(({ variants = [], recipes, errors }) => [
        ...[...variants, ...recipes].map(({ name }) => name),
        ...errors.map(({ error }) => error),
      ]),
      ...catalogue.map(cellName),
    ];
    expect(names.filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([]);
  });

  it('has no empty cell, and as many cells in every row as in its head', () => {
    const tables = page.split('\n\n').filter((block) => block.startsWith('|'));
    expect(tables).toHaveLength(4 * backends.length);
    for (const table of tables) {
      const widths = table.split('\n').map((row) => row.split(/(?<!\\)\|/).length);
      expect(new Set(widths).size).toBe(1);
      expect(table).not.toMatch(/\|[ ]*\|/);
    }
  });
});

/** Folders of the repository, as a path in a text begins. */
const FOLDERS = /^(harness|checkers|workloads|bench|docker|docs|\.github)\//;
/** Names that stand for others, as in `harness/backends/<name>/server.ts`. */
const PLACEHOLDER = /[<*]/;
/** Only where seeds are kept for longer than a night. */
const OPTIONAL = ['.github/failing-seeds.txt'];
const SOURCES = globSync('{harness,checkers,workloads,bench,docs}/**/*.{ts,css}', { cwd: root });

/** Whether a file is called so, or its path ends so. */
function isSource(name: string): boolean {
  return SOURCES.some((source) => `/${source}`.endsWith(`/${name}`));
}

/** What headings are linked by, as GitHub makes it. */
function anchorsOf(text: string): readonly string[] {
  return Array.from(text.matchAll(/^#+ (.*)$/gm), ([, words = '']) =>
    words
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

function isThere(link: string, page: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? join(root, page) : join(root, dirname(page), path);
  return (
    existsSync(target) &&
    (anchor === undefined || anchorsOf(readFileSync(target, 'utf8')).includes(anchor.toLowerCase()))
  );
}

describe.each(
  globSync(['*.md', '{bench,checkers,docker,results,workloads}/README.md', 'docs/**/*.md'], { cwd: root }),
)('%s', (page) => {
  const text = readFileSync(join(root, page), 'utf8');

  it('links to what is there', () => {
    const links = Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link);
    expect(links.filter((link) => !/^\w+:/.test(link) && !isThere(link, page))).toEqual([]);
  });

  it('names files that are there', () => {
    const named = Array.from(text.matchAll(/`([^`\s]+)`/g), ([, name = '']) => name);
    const paths = named.filter((name) => FOLDERS.test(name) && !PLACEHOLDER.test(name));
    expect(paths.filter((path) => !OPTIONAL.includes(path) && !existsSync(join(root, path)))).toEqual([]);
    const files = named.filter((name) => /^[\w/-]+\.(test\.|fixture\.)?(ts|css)$/.test(name));
    expect(files.filter((name) => name !== 'lockpick.config.ts' && !isSource(name))).toEqual([]);
  });
});
