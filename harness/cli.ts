#!/usr/bin/env node
// argv → command: the composition root. Names every command, flag and example; loads what a command needs only when it
// runs, so that `--help` stays quick. All that goes wrong ends here, as one message and the right exit code (2.4).

import manifest from '../package.json' with { type: 'json' };
import { Command, CommanderError, Option } from 'commander';
import { EXIT_CODE, HarnessError, messageOf } from './contract/errors.ts';
import { PLAN_FLAGS } from './plan-flags.ts';

/** Flags that shape a plan; each has its `LOCKPICK_…` twin. */
function withPlanFlags(command: Command): Command {
  for (const { flag, value, says } of PLAN_FLAGS)
    command.addOption(
      new Option(`--${flag} <${value}>`, says).env(`LOCKPICK_${flag.replaceAll('-', '_').toUpperCase()}`),
    );
  return command
    .option('--seeds <n>', 'run each cell with this many seeds', '1')
    .option('--image <name=reference>', 'use another image for a server', collect, [])
    .addOption(new Option('--on <where>', 'where the servers run').choices(['docker']).default('docker'));
}

function collect(value: string, previous: readonly string[]): string[] {
  return [...previous, value];
}

function withOutput(command: Command): Command {
  return command
    .addOption(new Option('--out <directory>', 'where runs are kept').default('results').env('LOCKPICK_OUT'))
    .option('--json', 'machine-readable result on stdout')
    .option('--quiet', 'no progress')
    .option('--no-color', 'no colour (NO_COLOR works as well)');
}

function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`;
}

function program(): Command {
  const lockpick = new Command('lockpick')
    .description('Is my distributed lock safe, and if not, what exactly goes wrong?')
    .version(manifest.version)
    .showSuggestionAfterError(true)
    .configureHelp({ showGlobalOptions: true })
    .addHelpText(
      'after',
      examples('lockpick run redis-single/fenced-incr/pause-holder', 'lockpick check results/latest'),
    );

  withOutput(withPlanFlags(lockpick.command('run')))
    .description('plan → start → torture → heal → check → report')
    .argument('[cells...]', 'backend[:variant][/recipe[/fault[/workload]]]; * matches any catalogued one')
    .addHelpText(
      'after',
      examples(
        'lockpick run redis-single --time-limit 20s',
        "lockpick run 'redis-single/*/pause-holder' --seeds 3 --out nightly",
      ),
    )
    .action(async (cells: string[], flags: Readonly<Record<string, unknown>>) => {
      const { runCommand } = await import('./commands/run.ts');
      process.exitCode = await runCommand(cells, flags);
    });

  lockpick
    .command('check')
    .description('judge a stored history: ours, of a run, or of another test (Jepsen EDN, Porcupine logs)')
    .argument('<paths...>', 'files, .gz and .zst as well, or directories of runs')
    .option('--model <model>', 'judge by this model instead of the rules: owned-mutex, semaphore:3, …')
    .option('--initial <value>', 'what a register holds at first')
    .addOption(
      new Option('--failed-release <reading>', 'what a release that failed did (default: unknown)').choices([
        'held',
        'unknown',
        'released',
      ]),
    )
    .addOption(
      new Option('--failed-cas <reading>', 'what a failed cas or try proves (default: ignored)').choices([
        'evidence',
        'ignored',
      ]),
    )
    .option('--budget <steps>', 'of the search, for each lock or key (default: 100000000)')
    .option('--json', 'the verdict as JSON on stdout, one line a history')
    .option('--no-color', 'no colour')
    .addHelpText(
      'after',
      examples('lockpick check results/latest', 'lockpick check history.edn --model owned-mutex --json'),
    )
    .action(async (paths: string[], flags: object) => {
      const { checkCommand } = await import('./commands/check.ts');
      process.exitCode = await checkCommand(paths, flags);
    });

  lockpick
    .command('list')
    .description('what can run: cells, what theory expects of them, and why')
    .argument('[cells...]')
    .option('--json', 'as JSON on stdout')
    .addHelpText('after', examples('lockpick list', "lockpick list 'redis-single/watchdog' --json"))
    .action(async (cells: string[], flags: object) => {
      const { listCommand } = await import('./commands/list.ts');
      process.exitCode = listCommand(cells, flags);
    });

  lockpick
    .command('report')
    .description('make the HTML report again from stored runs')
    .argument('<runs...>', 'directories of runs; several give one page')
    .option('--output <file>', 'where to write it (default: report.html in the run, or beside several)')
    .addHelpText(
      'after',
      examples('lockpick report results/latest', 'lockpick report results/2026* --output all.html'),
    )
    .action(async (runs: string[], flags: object) => {
      const { reportCommand } = await import('./commands/report.ts');
      process.exitCode = reportCommand(runs, flags);
    });

  lockpick
    .command('doctor')
    .description('what is missing here, and how to get it')
    .option('--json', 'as JSON on stdout')
    .addHelpText('after', examples('lockpick doctor', 'lockpick doctor --json'))
    .action(async (flags: object) => {
      const { doctorCommand } = await import('./commands/doctor.ts');
      process.exitCode = await doctorCommand(flags);
    });

  lockpick
    .command('clean')
    .description('remove every container and network labelled as ours, those of running sessions included')
    .option('--dead', 'only what sessions left behind whose process is gone')
    .addHelpText('after', examples('lockpick clean', 'lockpick clean --dead'))
    .action(async (flags: object) => {
      const { cleanCommand } = await import('./commands/clean.ts');
      process.exitCode = await cleanCommand(flags);
    });

  return lockpick;
}

/** Parses and runs. Returns after the command has ended; sets `process.exitCode`. Never throws. */
async function main(argv: readonly string[]): Promise<void> {
  const lockpick = program();
  for (const command of [lockpick, ...lockpick.commands]) command.exitOverride();
  try {
    await lockpick.parseAsync(argv, { from: 'user' });
  } catch (error) {
    process.exitCode = failure(error);
  }
}

/** Prints what went wrong, once, and gives the exit code. The first cause wins; what went wrong after it is added. */
function failure(error: unknown): number {
  if (error instanceof SuppressedError) {
    const code = failure(error.suppressed);
    process.stderr.write(`lockpick: and while cleaning up: ${messageOf(error.error)}\n`);
    return code;
  }
  // Commander has printed its own message, with the nearest names.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODE.ok : EXIT_CODE.usage;
  if (error instanceof HarnessError) {
    const remedy = error.remedy === undefined ? '' : ` → ${error.remedy}`;
    const detail = error.detail === undefined ? '' : `\n${error.detail.trimEnd()}`;
    const cause = error.cause === undefined ? '' : `\n  cause: ${messageOf(error.cause)}`;
    process.stderr.write(`lockpick: ${error.message}${remedy}${cause}${detail}\n`);
    return EXIT_CODE[error.code];
  }
  process.stderr.write(`lockpick: this is a bug of lockpick itself, please report it:\n${stackOf(error)}\n`);
  return EXIT_CODE.internal;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

// A full disk behind stdout, or a reader that went away (`| head`): without its result a command has not succeeded.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') process.stderr.write(`lockpick: cannot write the result: ${error.message}\n`);
  process.exitCode = EXIT_CODE.environment;
});
await main(process.argv.slice(2));
