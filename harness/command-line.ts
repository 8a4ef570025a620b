// argv → command: the composition root. Names every command, flag and example; loads what a command needs only when it
// runs, so that `--help` stays quick. How a command fails is told in `terminal/failure.ts`.

import manifest from '../package.json' with { type: 'json' };
import { Command, Option } from 'commander';
import type { ConvertFlags } from './commands/convert.ts';
import { EXIT_CODE } from './contract/errors.ts';
import {
  choicesFor,
  refuseUnknownVariables,
  withBatchFlags,
  withOutput,
  withPlanFlags,
  withProfile,
  withReporters,
} from './settings/options.ts';
import { failure } from './terminal/failure.ts';

/** Nothing of ours goes on once a command is over. */
const END_AFTER_MILLIS = 500;

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

  withOutput(withReporters(withBatchFlags(withPlanFlags(lockpick.command('run')))))
    .description('plan → start → torture → heal → check → report')
    .argument('[cells...]', 'backend[:variant][/recipe[/fault[/workload]]]; * matches any catalogued one')
    .addHelpText(
      'after',
      examples(
        'lockpick run redis-single --time-limit 20s',
        "lockpick run 'redis-single/*/pause-holder' --seeds 3 --out nightly",
        'lockpick run --adapter ./my-lock.ts',
      ),
    )
    .action(async (cells: string[], _flags: object, command: Command) => {
      const { runCommand } = await import('./commands/run.ts');
      process.exitCode = await runCommand(cells, await choicesFor(command));
    });

  withProfile(
    withOutput(withReporters(withBatchFlags(withPlanFlags(lockpick.command('compare'))))),
    'standard',
  )
    .description('the standard comparison: every catalogued cell, one matrix')
    .argument('[cells...]', 'only these')
    .addHelpText(
      'after',
      examples(
        'lockpick compare --profile smoke',
        'lockpick compare --profile nightly --seed 20260501 --shard 2/12 --out shard',
        'lockpick compare --resume --out shard',
      ),
    )
    .action(async (cells: string[], _flags: object, command: Command) => {
      const { compareCommand } = await import('./commands/run.ts');
      process.exitCode = await compareCommand(cells, await choicesFor(command));
    });

  withOutput(withReporters(lockpick.command('merge')))
    .description('join the shards of a comparison: all runs in one place, one summary')
    .argument('<directories...>', 'what --out was for each shard')
    .addHelpText(
      'after',
      examples('lockpick merge shard-1 shard-2 --out all', 'lockpick merge shards/* --out all --json'),
    )
    .action(async (directories: string[], _flags: object, command: Command) => {
      const { mergeCommand } = await import('./commands/merge.ts');
      process.exitCode = mergeCommand(directories, await choicesFor(command));
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
    .command('convert')
    .description('a stored history for other tools: Knossos and elle-cli, trace viewers, spreadsheets')
    .argument('<path>', 'a history of ours, .gz and .zst as well, or the directory of a run')
    .addOption(
      new Option('--to <form>', 'what to make of it')
        .choices(['edn', 'chrome-trace', 'csv'])
        .makeOptionMandatory(),
    )
    .option('--from <duration>', 'only what was not over by then, since the start of the run')
    .option('--until <duration>', 'only what had begun by then')
    .option('--key <name>', 'only one lock (k1), or one key of a store (none/k1)')
    .option('-o, --output <file>', 'where to write it (default: stdout)')
    .addHelpText(
      'after',
      examples(
        'lockpick convert results/latest --to edn --key k1 -o k1.edn',
        'lockpick convert history.jsonl --to chrome-trace --from 4s --until 6s -o trace.json',
      ),
    )
    .action(async (path: string, flags: ConvertFlags) => {
      const { convertCommand } = await import('./commands/convert.ts');
      await convertCommand(path, flags);
    });

  withProfile(withPlanFlags(lockpick.command('list')), 'none: all cells, one seed')
    .description('what would run: cells, what theory expects of them and why, and how long it takes')
    .argument(
      '[cells...]',
      'as `run` takes them; none, and no flag that names a part: all that are catalogued',
    )
    .option('--json', 'as JSON on stdout')
    .addHelpText(
      'after',
      examples("lockpick list 'redis-single/watchdog/*' --json", 'lockpick list --profile standard'),
    )
    .action(async (cells: string[], _flags: object, command: Command) => {
      const { listCommand } = await import('./commands/list.ts');
      process.exitCode = await listCommand(cells, await choicesFor(command));
    });

  withReporters(lockpick.command('report'))
    .description('make the reports again from stored runs')
    .argument('<runs...>', 'directories of runs; several give one page')
    .option(
      '--output <file>',
      'where the page is written (default: report.html in the run, or beside several)',
    )
    .addHelpText(
      'after',
      examples(
        'lockpick report results/latest',
        'lockpick report results/2026* --output all.html --reporter html,junit',
      ),
    )
    .action(async (runs: string[], _flags: object, command: Command) => {
      const { reportCommand } = await import('./commands/report.ts');
      process.exitCode = reportCommand(runs, await choicesFor(command));
    });

  withOutput(lockpick.command('replay'))
    .description('the plan and the recorded schedule of a run again, and how often the same is found')
    .argument('<run>', 'directory of a run, or of a finding: results/<run>/findings/<id>')
    .option('--times <n>', 'so often (default: 1)')
    .option('--as-recorded', 'each fault at its recorded time, on the nodes it hit, instead of by the rules')
    .addHelpText(
      'after',
      examples(
        'lockpick replay results/latest --times 20',
        'lockpick replay results/latest/findings/7f3c --as-recorded --json',
      ),
    )
    .action(async (run: string, _flags: object, command: Command) => {
      const { replayCommand } = await import('./commands/replay.ts');
      process.exitCode = await replayCommand(run, await choicesFor(command));
    });

  withOutput(lockpick.command('shrink'))
    .description('the fewest faults, clients and seconds of a simulated run that still show its finding')
    .argument('<run>', 'directory of a run, or of the finding to keep: results/<run>/findings/<id>')
    .addHelpText(
      'after',
      examples('lockpick shrink results/latest', 'lockpick shrink results/latest/findings/7f3c --json'),
    )
    .action(async (run: string, _flags: object, command: Command) => {
      const { shrinkCommand } = await import('./commands/shrink.ts');
      process.exitCode = await shrinkCommand(run, await choicesFor(command));
    });

  lockpick
    .command('explain')
    .description('what a finding means, which designs cannot have it, what to do about it')
    .argument('[codes...]', 'such as double-grant; none: all of them, a line each')
    .option('--json', 'as JSON on stdout')
    .option('--no-color', 'no colour (NO_COLOR works as well)')
    .addHelpText('after', examples('lockpick explain belief-overlap', 'lockpick explain --json'))
    .action(async (codes: string[], flags: object) => {
      const { explainCommand } = await import('./commands/explain.ts');
      process.exitCode = explainCommand(codes, flags);
    });

  lockpick
    .command('init')
    .description('a config file, a CI workflow and an example test in your project')
    .argument('[directory]', 'where the project is', '.')
    .addHelpText('after', examples('lockpick init', 'lockpick init packages/locks'))
    .action(async (directory: string) => {
      const { initCommand } = await import('./commands/init.ts');
      process.exitCode = initCommand(directory);
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
export async function main(argv: readonly string[]): Promise<void> {
  // A full disk behind stdout, or a reader that went away (`| head`): without its result a command has not succeeded.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') process.stderr.write(`lockpick: cannot write the result: ${error.message}\n`);
    process.exitCode = EXIT_CODE.environment;
  });
  // What nobody awaits, of ours or of an adapter. Node would end with 1, which means a violation.
  process.on('uncaughtException', (error) => process.exit(failure(error)));
  const lockpick = program();
  for (const command of [lockpick, ...lockpick.commands]) command.exitOverride();
  lockpick.hook('preAction', async (_program, command) => {
    if (command.getOptionValue('color') === false) {
      process.env['NO_COLOR'] = '1';
      // Node lets it win; here the flag does.
      delete process.env['FORCE_COLOR'];
    }
    await refuseUnknownVariables(lockpick, process.env);
  });
  try {
    await lockpick.parseAsync(argv, { from: 'user' });
  } catch (error) {
    process.exitCode = failure(error);
  }
  endSoon();
}

/** What a user's module left running, such as a timer, would keep the process for ever. Output is written to its end. */
function endSoon(): void {
  setTimeout(() => {
    if (process.stdout.writableLength + process.stderr.writableLength === 0) process.exit();
    endSoon();
  }, END_AFTER_MILLIS).unref();
}
