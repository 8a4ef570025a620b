// Documentation made from the registries: what runs, how it is used as a lock, what its errors mean, and what theory
// expects of every catalogued cell. Pure.

import { backends } from '../backends/index.ts';
import { catalogue } from '../plan/catalogue.ts';
import { cellName } from '../plan/cell-name.ts';
import { expectedWords, type Cell } from '../plan/cells/cell.ts';
import { DEFAULT_VARIANT, slackMillisOf, type Backend } from '../contract/backend.ts';
import type { ErrorMeaning, Recipe } from '../contract/lock-client.ts';
import { millis } from '../history/op.ts';
import { inlineCode, markdownTable } from '../reporters/markdown-table.ts';

/** Markdown. */
export function backendsPage(): string {
  return [
    '# Lock services, recipes, expectations',
    'Made from the code by `npm run docs`. A recipe is a way to use a service as a lock; what is _wrong on purpose_ is ' +
      'there to be caught. An error is `fail` if it is certain that nothing happened and never will, else `info`; what is ' +
      'in no table is `info`. A cell is what `lockpick run` takes: what is expected of it, and why.',
    backends.map(({ name }) => `- [${name}](#${name})`).join('\n'),
    ...backends.map(section),
  ].join('\n\n');
}

function section(backend: Backend): string {
  const { name, topology, variants = [], recipes, errors } = backend;
  const slackMillis = slackMillisOf(backend, { ttlMillis: millis(0) });
  const restarts =
    backend.leasesRestart === true ? ' and one more TTL, since a new leader restarts leases' : '';
  const cells = catalogue.filter((cell) => cell.backend === name);
  return [
    `## ${name}`,
    `An abandoned lock can be had again within ${slackMillis} ms after its TTL${restarts}.`,
    table(
      ['variant', 'what runs'],
      [{ name: DEFAULT_VARIANT, summary: topology }, ...variants].map(variantRow),
    ),
    `### Recipes of ${name}`,
    table(['recipe', 'what it does', 'fencing token', 'lease', 'wrong on purpose'], recipes.map(recipeRow)),
    `### Errors of ${name}`,
    table(['error', 'told by', 'outcome', 'meaning', 'source'], errors.map(errorRow)),
    `### Cells of ${name}`,
    table(['cell', 'expected', 'because'], cells.map(cellRow)),
  ].join('\n\n');
}

function variantRow({ name, summary }: { readonly name: string; readonly summary: string }): string[] {
  return [inlineCode(name), summary];
}

function recipeRow(recipe: Recipe): string[] {
  const { name, summary, tokenSource, flaw, register } = recipe;
  const inside = register === undefined ? '' : `; register \`${register.name}\`: ${register.summary}`;
  return [inlineCode(name), summary + inside, tokenSource ?? 'none', leaseOf(recipe), flaw ?? 'no'];
}

function leaseOf({ sessionBound, keepsAlive, renewAt }: Recipe): string {
  if (sessionBound === true) return 'none: as long as its session';
  if (keepsAlive === true) return 'kept alive by the library';
  return renewAt === undefined ? 'one TTL, not renewed' : `renewed after ${percent(renewAt)} of the TTL`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function errorRow({ error, match, definite, meaning, source }: ErrorMeaning): string[] {
  return [inlineCode(error), inlineCode(match.trim()), definite ? '`fail`' : '`info`', meaning, source];
}

function cellRow(cell: Cell): string[] {
  return [inlineCode(cellName(cell)), expectedWords(cell.expected), cell.because];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return markdownTable([head, ...rows]).join('\n');
}
