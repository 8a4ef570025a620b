// `lockpick doctor`: what is missing here, and how to get it.

import { styleText } from 'node:util';
import { EXIT_CODE } from '../contract/errors.ts';
import { surroundingsChecks } from '../cluster/docker/checks.ts';

const MARK = { ok: '✓ ok  ', warn: '! warn', fail: '✖ FAIL' } as const;
const COLOUR = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

export async function doctorCommand(flags: { json?: boolean }): Promise<number> {
  const checks = await surroundingsChecks();
  if (flags.json === true) process.stdout.write(`${JSON.stringify(checks, null, 2)}\n`);
  else
    for (const { name, status, detail, fix } of checks)
      process.stdout.write(
        `${styleText(COLOUR[status], MARK[status], { stream: process.stdout })}  ${name}: ${detail}\n` +
          (fix === undefined ? '' : `          → ${fix}\n`),
      );
  return checks.some(({ status }) => status === 'fail') ? EXIT_CODE.environment : EXIT_CODE.ok;
}
