// Users' own lock libraries (`--adapter ./my-lock.ts`): loads the module, checks what it exports, and gives the recipe
// to whoever needs it. Wrong adapters end here, with one message that says which field of which file is wrong.

import { z } from 'zod';
import type { Adapter } from '../contract/adapter.ts';
import { HarnessError, sayingWhere } from '../contract/errors.ts';
import type { Recipe } from '../contract/lock-client.ts';
import { backends } from '../backends/index.ts';
import { scenarios } from '../nemesis/schedule.ts';
import { issueField, issueWords } from '../plan/issue-words.ts';
import { EXPECTABLE_GRADES, known, type Plan } from '../plan/plan.ts';
import { loadUserModule, readFromUser } from './user-module.ts';

export interface LoadedAdapter {
  /** As the user wrote it. */
  readonly path: string;
  readonly adapter: Adapter;
}

const faults = scenarios.map(({ name }) => name);

const callable = z.custom<Adapter['open']>((value) => typeof value === 'function', 'must be a function');

const adapterSchema = z.strictObject({
  name: z
    .string()
    .max(64, 'must have no more than 64 characters: it is part of the names of directories')
    .regex(/^[a-z0-9]+([-.][a-z0-9]+)*$/, 'must be small letters, digits and hyphens, e.g. my-lock'),
  backend: z.string(),
  summary: z.string().min(1),
  polls: z.boolean(),
  ownerChecked: z.boolean(),
  open: callable,
  expected: z.record(z.string(), z.enum(EXPECTABLE_GRADES)).optional(),
  tokenSource: z.string().min(1).optional(),
  renewAt: z.number().gt(0).lt(1).optional(),
  sessionBound: z.literal(true).optional(),
  keepsAlive: z.literal(true).optional(),
  load: z
    .custom<NonNullable<Adapter['load']>>((value) => typeof value === 'function', 'must be a function')
    .optional(),
});

const loaded = new Map<string, Promise<LoadedAdapter>>();

/**
 * The adapter that the module at `path` exports; loaded once. Throws HarnessError('usage') that names the file and the
 * field.
 */
export function loadAdapter(path: string): Promise<LoadedAdapter> {
  const loading = loaded.get(path) ?? load(path);
  loaded.set(path, loading);
  return loading;
}

async function load(path: string): Promise<LoadedAdapter> {
  const { etcdProtocol } = await import('../client/etcd-protocol.ts');
  const exported = await loadUserModule('the adapter', path, [etcdProtocol]);
  // What CommonJS exports is the default of the module that it is bundled into.
  const adapter =
    exported['adapter'] ?? readFromUser('the adapter', path, () => memberOf(exported['default']));
  if (adapter === undefined)
    throw new HarnessError('usage', `the adapter ${path} exports nothing named \`adapter\``, {
      remedy: 'write `export const adapter: Adapter = { … }`; docs/test-your-own-lock.md has a whole one',
    });
  const parsed = readFromUser('the adapter', path, () =>
    adapterSchema.safeParse(adapter, { error: issueWords }),
  );
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    if (issue?.code === 'unrecognized_keys')
      sayingWhere(`the adapter ${path}`, () =>
        known('field', issue.keys[0], Object.keys(adapterSchema.shape)),
      );
    const field = issueField(issue);
    throw new HarnessError(
      'usage',
      `the adapter ${path}${field === '' ? '' : `, field \`${field}\``}: ${issue?.message ?? 'is wrong'}`,
      { remedy: 'docs/test-your-own-lock.md tells what each field is' },
    );
  }
  const { name, backend } = parsed.data;
  for (const fault of Object.keys(parsed.data.expected ?? {}))
    sayingWhere(`the adapter ${path}, field \`expected\``, () => known('fault', fault, faults));
  const served = backends.find((candidate) => candidate.name === backend);
  const names = backends.map((candidate) => candidate.name);
  sayingWhere(`the adapter ${path}, field \`backend\``, () => known('backend', backend, names));
  if (served?.recipes.some((recipe) => recipe.name === name) === true)
    throw new HarnessError('usage', `the adapter ${path} has the name of a built-in recipe: ${name}`, {
      remedy: 'choose another; verdicts are compared by it',
    });
  const { expected, tokenSource, renewAt, sessionBound, keepsAlive, load: loadDriver, ...rest } = parsed.data;
  return {
    path,
    adapter: {
      ...rest,
      ...(expected !== undefined && { expected }),
      ...(tokenSource !== undefined && { tokenSource }),
      ...(renewAt !== undefined && { renewAt }),
      ...(sessionBound !== undefined && { sessionBound }),
      ...(keepsAlive !== undefined && { keepsAlive }),
      ...(loadDriver !== undefined && { load: loadDriver }),
    },
  };
}

function memberOf(exported: unknown): unknown {
  return typeof exported === 'object' && exported !== null && 'adapter' in exported
    ? exported.adapter
    : undefined;
}

/** All of them. Throws HarnessError('usage') also if two have one name. */
export async function loadAdapters(paths: readonly string[]): Promise<readonly LoadedAdapter[]> {
  const all = await Promise.all(paths.map((path) => loadAdapter(path)));
  for (const [index, { adapter, path }] of all.entries()) {
    const twin = all.slice(0, index).find((other) => other.adapter.name === adapter.name);
    if (twin !== undefined)
      throw new HarnessError('usage', `the adapters ${twin.path} and ${path} are both named ${adapter.name}`);
  }
  return all;
}

/** The recipe of a parsed plan: one of ours, or the adapter's. Throws HarnessError('usage') if the file has changed. */
export async function recipeOf(plan: Plan): Promise<Recipe | undefined> {
  if (plan.adapter === undefined)
    return backends
      .find(({ name }) => name === plan.backend)
      ?.recipes.find(({ name }) => name === plan.recipe);
  const { adapter } = await loadAdapter(plan.adapter);
  if (adapter.name === plan.recipe && adapter.backend === plan.backend) return adapter;
  throw new HarnessError(
    'usage',
    `the adapter ${plan.adapter} is now ${adapter.backend}/${adapter.name}; the plan names ${plan.backend}/${plan.recipe}`,
  );
}
