// Runs as JUnit XML, which every CI shows: a cell is a suite, a seed a test. What theory expects is what passes; the
// replay command is in the output of each test. Format: the JUnit schema that Jenkins and GitLab read. Pure.

import { XMLBuilder } from 'fast-xml-parser';
import { cellName } from '../plan/cell-name.ts';
import type { Unit } from '../comparison/comparison.ts';
import { countsByCode } from '../terminal/final-words.ts';
import { replayCommand } from '../stored/stored-run.ts';

/** Of the stories of one run; the report has them all. */
const STORIES_MAX = 20;

/** Names are unique: a plan is once in a command, and differs from another of its cell by seed or settings. */
export function junitXml(units: readonly Unit[]): string {
  const cells = Map.groupBy(units, ({ plan }) => cellName(plan));
  const builder = new XMLBuilder({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    suppressEmptyNode: true,
    format: true,
  });
  const suites = [...cells].map(([cell, members]) => ({
    '@name': cell,
    ...tally(members),
    testcase: testcases(cell, members),
  }));
  const document: unknown = builder.build({
    '?xml': { '@version': '1.0', '@encoding': 'UTF-8' },
    testsuites: { '@name': 'lockpick', ...tally(units), testsuite: suites },
  });
  return String(document);
}

function tally(units: readonly Unit[]): Readonly<Record<string, string>> {
  const failed = units.filter(({ run }) => run?.verdict.asExpected === false);
  return {
    '@tests': String(units.length),
    '@failures': String(failed.length),
    '@errors': String(units.filter(({ run }) => run === undefined).length),
  };
}

function testcases(cell: string, units: readonly Unit[]): object[] {
  const seen = new Map<string, number>();
  return units.map((unit) => {
    const name = `seed ${unit.plan.seed}`;
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    return testcase(cell, nth === 1 ? name : `${name}, settings ${nth}`, unit);
  });
}

function testcase(cell: string, name: string, { plan, run }: Unit): object {
  const again = `again: ${replayCommand(plan, run?.directory)}`;
  const properties = [
    ['seed', plan.seed],
    ['on', plan.on ?? 'docker'],
  ];
  if (run !== undefined) {
    properties.push(['grade', run.verdict.grade], ['run', run.directory.name]);
    for (const [image, { reference, digest }] of Object.entries(run.surroundings.images))
      properties.push([`image ${image}`, `${reference} ${digest}`]);
  }
  return {
    '@name': text(name),
    '@classname': text(cell),
    properties: {
      property: properties.map(([key = '', value = '']) => ({ '@name': text(key), '@value': text(value) })),
    },
    ...(run === undefined && {
      error: { '@message': 'there is no run of it that is done', '@type': 'missing' },
    }),
    ...(run?.verdict.asExpected === false && {
      failure: {
        '@message': text(run.verdict.surprises.join('; ')),
        '@type': run.verdict.outcome,
        '#text': text(storiesOf(run.verdict)),
      },
    }),
    'system-out': text(
      run === undefined
        ? again
        : `${run.verdict.grade}: ${countsByCode([...run.verdict.findings, ...run.verdict.liveness]) || 'nothing found'}\n` +
            `report: ${run.directory.name}/report.html\n${again}`,
    ),
  };
}

function storiesOf({ findings, liveness }: NonNullable<Unit['run']>['verdict']): string {
  const all = [...findings, ...liveness];
  const more = all.length > STORIES_MAX ? [`and ${all.length - STORIES_MAX} more`] : [];
  return [...all.slice(0, STORIES_MAX).map(({ code, story }) => `${code}: ${story}`), ...more].join('\n');
}

/** XML 1.0 has no way to write control characters, nor halves of a pair; names of users and stories may have them. */
function text(value: string): string {
  // eslint-disable-next-line no-control-regex -- these are the ones
  return value.toWellFormed().replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '\uFFFD');
}
