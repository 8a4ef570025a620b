// `docs/verdicts.md`: each finding with a small history in which it is, its picture, and what to do about it. The words
// are those of the report and of `lockpick explain`; the stories are what the rules say of the histories. Pure but for
// reading those.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkHistory } from '../../checkers/check.ts';
import {
  LIVENESS_CODES,
  POWER_CODES,
  SAFETY_CODES,
  type Finding,
  type LivenessCode,
  type SafetyCode,
} from '../../checkers/verdict.ts';
import type { History } from '../history/history.ts';
import { parseHistory } from '../history/json-lines.ts';
import { judge } from '../judge.ts';
import { CODE_MEANING } from '../report/meaning.ts';
import { findingPicture } from '../report/picture.ts';
import { LOCKPICK } from '../terminal/invocation.ts';

const ROOT = join(import.meta.dirname, '../..');

type ShownCode = SafetyCode | LivenessCode;
const CODES: readonly ShownCode[] = [...SAFETY_CODES, ...LIVENESS_CODES];

/** Of which history each finding is shown: cut down from a run where one showed it, made by hand where none did. */
const EXAMPLES: Readonly<Record<ShownCode, string>> = {
  'double-grant': 'docs/verdicts/double-grant.jsonl',
  'belief-overlap': 'docs/verdicts/belief-overlap.jsonl',
  'expired-grant': 'docs/verdicts/expired-grant.jsonl',
  'late-loss-notice': 'docs/verdicts/late-loss-notice.jsonl',
  'token-regression': 'docs/verdicts/token-regression.jsonl',
  'stale-write-accepted': 'checkers/histories/store-fencing/bad/lower-token-after-higher.jsonl',
  'stale-write-landed': 'docs/verdicts/stale-write-landed.jsonl',
  'lost-update': 'docs/verdicts/lost-update.jsonl',
  'foreign-release': 'docs/verdicts/foreign-release.jsonl',
  'not-linearizable': 'checkers/histories/lease-mutex/bad/granted-before-the-end.jsonl',
  oversold: 'docs/verdicts/oversold.jsonl',
  'duplicate-effect': 'checkers/histories/duplicate-effect/bad/delivered-twice.jsonl',
  'stuck-lock': 'docs/verdicts/stuck-lock.jsonl',
  'not-reacquired': 'checkers/histories/liveness/bad/never-recovers.jsonl',
  starved: 'checkers/histories/liveness/bad/passed-by-two.jsonl',
  'orphan-state': 'checkers/histories/liveness/bad/left-behind-and-gone-later.jsonl',
};

/** A page and its pictures: path from the root of the repository → text. */
export function verdictsPage(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const shown = CODES.map((code) => {
    const { section, picture } = finding(code);
    files.set(pictureOf(code), picture);
    return section;
  });
  const text = [
    '# Verdicts, one by one',
    'Made by `npm run docs`. What each finding proves, whose fault it is, and a history in which it is, cut down to the ' +
      'lines that matter. Judge them yourself, or change a time stamp and see the finding go:',
    `\`\`\`\n${LOCKPICK} check docs/verdicts/double-grant.jsonl\n\`\`\``,
    'In the pictures time runs to the right and every client has a lane. A hatched bar is what the client _believed_, the ' +
      'thin line above it what the service had certainly _promised_; a black one an operation from call to answer, with its number in the ' +
      'history, hatched ground a fault, from the proof that it acts to the proof that it is over, outlined from its order. The dashed line is the moment from which nobody can deny it.',
    contents(),
    ...shown,
    '## Why a clean result may mean little',
    'These are no findings: they are why a run is `inconclusive`, or a warning beside its grade.',
    ...POWER_CODES.map(
      (code) => `- **\`${code}\`**: ${CODE_MEANING[code].proves} ${CODE_MEANING[code].remedy}`,
    ),
  ].join('\n\n');
  return files.set('docs/verdicts.md', `${text}\n`);
}

function contents(): string {
  return CODES.map((code) => `- [\`${code}\`](#${code}): ${CODE_MEANING[code].proves}`).join('\n');
}

function pictureOf(code: ShownCode): string {
  return `docs/verdicts/${code}.svg`;
}

function finding(code: ShownCode): { readonly section: string; readonly picture: string } {
  const path = EXAMPLES[code];
  const text = readFileSync(join(ROOT, path), 'utf8');
  const history = parseHistory(text);
  const found = findingsIn(text, history).find((other) => other.code === code);
  const picture = found === undefined ? undefined : pictureIn(history, found);
  if (found === undefined || picture === undefined) throw new Error(`${path} does not show ${code}`);
  const { proves, blame, notIn, remedy } = CODE_MEANING[code];
  const section = [
    `## ${code}`,
    `**${proves}** ${blame}`,
    `> ${found.story}`,
    `![${code}](verdicts/${code}.svg)`,
    `${String(history.header.meta['about'])} [The history](${path.replace(/^docs\//, '').replace(/^checkers/, '../checkers')}), of ${history.operations.length} operations.`,
    `**Who cannot have it.** ${notIn}`,
    `**What to do.** ${remedy}`,
  ].join('\n\n');
  return { section, picture };
}

function findingsIn(text: string, history: History): readonly Finding[] {
  const { findings, liveness } = judge(history, null, () => 0);
  const { model } = history.header.meta;
  return [
    ...findings,
    ...liveness,
    ...(typeof model === 'string' ? checkHistory(text, { model }).findings : []),
  ];
}

function pictureIn(history: History, found: Finding): string | undefined {
  const plan = {
    backend: '',
    recipe: '',
    workload: '',
    fault: '',
    seed: '',
    ttlMillis: 0,
    clients: 0,
    locks: 0,
    timeLimitMillis: 0,
  };
  const provenance = {
    started: '',
    versions: {},
    images: {},
    host: { cpus: 0, memoryBytes: 0, kernel: '', engine: '' },
    replayCommand: '',
  };
  const verdict = judge(history, null, () => 0);
  return findingPicture({ name: '', plan, history, verdict, provenance }, found);
}
