// The options that several commands share, their environment variables, and what a parsed command line says about them.
// Light on purpose: `--help` loads it.

import { Option, type Command } from 'commander';
import { EXPORTED_REPORTS, KEEP_CHOICES, PROFILE_NAMES } from '../plan/choices.ts';
import { HarnessError } from '../contract/errors.ts';
import { PLAN_FLAGS } from './plan-flags.ts';
import type { Choices } from './settings.ts';

/** Read by tests, benches and scripts, not by a command. */
const OTHER_VARIABLES = [
  'LOCKPICK_REQUIRE_ALL',
  'LOCKPICK_PULL_SECONDS',
  'LOCKPICK_CHROMIUM',
  'LOCKPICK_CELLS',
  'LOCKPICK_EXHAUSTIVE',
  'LOCKPICK_TEST_BUDGET',
];

function variableOf(flag: string): string {
  return `LOCKPICK_${flag.replaceAll('-', '_').toUpperCase()}`;
}

/** An option with its `LOCKPICK_…` twin. */
function option(flag: string, value: string, says: string): Option {
  return new Option(`--${flag} <${value}>`, says).env(variableOf(flag));
}

function collect(value: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

/** Flags that shape a plan. */
export function withPlanFlags(command: Command): Command {
  for (const { flag, value, says } of PLAN_FLAGS) command.addOption(option(flag, value, says));
  return command
    .addOption(option('seeds', 'n', 'run each cell with this many seeds'))
    .addOption(
      option('image', 'name=reference', 'use another image for a server; may be given again').argParser(
        collect,
      ),
    )
    .addOption(
      option('schedule', 'file', 'when which faults happen, in the place of what the cells would do'),
    )
    .addOption(option('adapter', 'file', 'a lock library of your own; may be given again').argParser(collect))
    .addOption(option('config', 'file', 'instead of lockpick.config.ts'));
}

/** What a command that runs many plans does with them. */
export function withBatchFlags(command: Command): Command {
  return command
    .addOption(option('shard', 'i/n', 'only every n-th unit of cells × seeds; `lockpick merge` joins them'))
    .option('--resume', 'take runs that are done in --out as they are, and its seed')
    .addOption(
      option('keep', 'when', 'of which runs history, logs and report are kept (default: always)').choices(
        KEEP_CHOICES,
      ),
    );
}

export function withProfile(command: Command, fallback: string): Command {
  return command.addOption(
    option('profile', 'name', `which cells, and how many seeds (default: ${fallback})`).choices(
      PROFILE_NAMES,
    ),
  );
}

export function withReporters(command: Command): Command {
  return command.addOption(
    option(
      'reporter',
      'names',
      `what is written beside the verdict: ${EXPORTED_REPORTS.join(',')} (default: all)`,
    ).argParser(collect),
  );
}

export function withOutput(command: Command): Command {
  return command
    .addOption(option('out', 'directory', 'where runs are kept (default: results)'))
    .option('--json', 'machine-readable result on stdout')
    .option('--quiet', 'no progress')
    .option('--no-color', 'no colour (NO_COLOR works as well)');
}

/** flag > variable > config file; loads the config if there is one. */
export async function choicesFor(command: Command): Promise<Choices> {
  const [{ choicesOf, textChoice }, { loadConfig }] = await Promise.all([
    import('./settings.ts'),
    import('./load-config.ts'),
  ]);
  const parsed = command.options.map((each) => ({
    name: each.attributeName(),
    flag: each.long ?? each.flags,
    variable: each.envVar,
    value: command.getOptionValue(each.attributeName()) as unknown,
    source: command.getOptionValueSource(each.attributeName()),
  }));
  const config = parsed.some(({ name }) => name === 'config')
    ? await loadConfig(textChoice(choicesOf(parsed, undefined), 'config'))
    : undefined;
  return choicesOf(parsed, config);
}

/** Throws HarnessError('usage') if a `LOCKPICK_…` variable is set that no command of `program` reads. */
export async function refuseUnknownVariables(
  program: Command,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const known = knownVariables(program);
  const unknown = Object.keys(environment).find(
    (name) => name.startsWith('LOCKPICK_') && !known.includes(name),
  );
  if (unknown === undefined) return;
  const { default: leven } = await import('leven');
  const near = known.toSorted((a, b) => leven(a, unknown) - leven(b, unknown)).slice(0, 3);
  throw new HarnessError('usage', `unknown environment variable ${unknown}`, {
    remedy: `did you mean ${near.join(', ')}? Else unset it`,
  });
}

export function knownVariables(program: Command): readonly string[] {
  const read = program.commands.flatMap(({ options }) => options.flatMap(({ envVar }) => envVar ?? []));
  return [...new Set([...read, ...OTHER_VARIABLES])];
}
