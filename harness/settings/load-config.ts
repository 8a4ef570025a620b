// Finds, loads and validates the config file: `--config`, else `lockpick.config.{ts,mts,js,mjs,json}` in the working
// directory. No file is no error unless one was named.

import { existsSync } from 'node:fs';
import { HarnessError, sayingWhere } from '../contract/errors.ts';
import { issueField, issueWords } from '../plan/issue-words.ts';
import type { ConfigLayer } from './settings.ts';

const NAMES = ['ts', 'mts', 'js', 'mjs', 'json'].map((extension) => `lockpick.config.${extension}`);

/** undefined: there is none. Throws HarnessError('usage') that names the file and the key. */
export async function loadConfig(named?: string): Promise<ConfigLayer | undefined> {
  const file = named ?? NAMES.find((candidate) => existsSync(candidate));
  if (file === undefined) return undefined;
  const [{ loadUserModule, readFromUser }, { CONFIG_KEYS, configSchema }] = await Promise.all([
    import('./user-module.ts'),
    import('./config.ts'),
  ]);
  const exported = await loadUserModule('the config', file);
  if (exported['default'] === undefined)
    throw new HarnessError('usage', `the config ${file} has no default export`, {
      remedy: 'write `export default defineConfig({ … })`',
    });
  const parsed = readFromUser('the config', file, () =>
    configSchema.safeParse(exported['default'], { error: issueWords }),
  );
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    if (issue?.code === 'unrecognized_keys') {
      const { known } = await import('../plan/plan.ts');
      sayingWhere(file, () => known('key', issue.keys[0], Object.keys(configSchema.shape)));
    }
    const key = issueField(issue);
    throw new HarnessError(
      'usage',
      `${file}${key === '' ? '' : `, ${key}`}: ${issue?.message ?? 'is wrong'}`,
    );
  }
  const config: Readonly<Record<string, unknown>> = parsed.data;
  const options = Object.entries(CONFIG_KEYS);
  return {
    file,
    keys: CONFIG_KEYS,
    values: { ...config, ...Object.fromEntries(options.map(([option, key]) => [option, config[key]])) },
  };
}
