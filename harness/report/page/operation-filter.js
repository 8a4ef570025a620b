// Which operations a reader asks for: `lock:k2 type:info dur>1s near:7f3c`. Every word must fit. Numbers and texts only:
// no element, no canvas.

import { factsOf } from './unpack.js';

/** @import { Model } from './unpack.js' */

/** @typedef {(operation: number) => boolean} Fits */

/** Microseconds. */
const UNITS = new Map([
  ['us', 1],
  ['µs', 1],
  ['ms', 1e3],
  ['s', 1e6],
  ['', 1e6],
]);

/** Around a finding, microseconds. */
const NEAR = 50_000;

export const FILTER_KEYS =
  'lock, process, op, type, error, store, id, token, near (a finding); dur and at with > or <';

/**
 * Throws an Error that says which word is meant by nobody.
 * @param {Model} model
 * @param {string} text
 * @returns {Fits}
 */
export function operationFilter(model, text) {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const tests = words.map((word) => wordTest(model, word));
  return (operation) => tests.every((fits) => fits(operation));
}

/**
 * @param {Model} model
 * @param {string} word
 * @returns {Fits}
 */
function wordTest(model, word) {
  const compared = /^(dur|at)([<>])([\d.]+)(us|µs|ms|s|)$/.exec(word);
  if (compared !== null) return comparison(model, compared);
  const [, key = '', wanted = ''] = /^([a-z]+):(.*)$/.exec(word) ?? [];
  if (key === '') {
    if (/^(dur|at)[<>]/.test(word)) throw new Error(`${word}: a time is written like 1s, 20ms or 300us`);
    return anywhere(model, word);
  }
  const { columns } = model;
  const { operations } = columns;
  const processes = columns.processes.map(({ name }) => name);
  switch (key) {
    case 'lock':
      return among(columns.locks, operations.lock, (text) => text === wanted);
    case 'process':
      return among(processes, operations.process, (text) => text === wanted || text.startsWith(`${wanted}.`));
    case 'op':
      return among(columns.kinds, operations.kind, (text) => text === wanted);
    case 'type':
      return among(columns.outcomes, operations.outcome, (text) => text === wanted);
    case 'error':
      return among(columns.words, operations.error, (text) => text !== '' && text.includes(wanted));
    case 'store':
      return among(columns.words, operations.store, (text) => text !== '' && text.includes(wanted));
    case 'id':
      return (operation) => String(operations.id[operation]) === wanted.replace('#', '');
    case 'token':
      return (operation) => (operations.token[operation] ?? 0) - 1 === Number(wanted);
    case 'near':
      return nearFinding(model, wanted);
    default:
      throw new Error(`${key}: is no such word; there are ${FILTER_KEYS}`);
  }
}

/**
 * @param {readonly string[]} texts
 * @param {ArrayLike<number>} column indices of them
 * @param {(text: string) => boolean} wanted
 * @returns {Fits}
 */
function among(texts, column, wanted) {
  const fitting = texts.map(wanted);
  return (operation) => fitting[column[operation] ?? 0] === true;
}

/**
 * @param {Model} model
 * @param {string} word
 * @returns {Fits}
 */
function anywhere(model, word) {
  const { columns } = model;
  const { operations } = columns;
  const has = (/** @type {string} */ text) => text.includes(word);
  const tests = [
    among(columns.locks, operations.lock, has),
    among(
      columns.processes.map(({ name }) => name),
      operations.process,
      has,
    ),
    among(columns.kinds, operations.kind, has),
    among(columns.words, operations.error, has),
    among(columns.words, operations.store, has),
  ];
  const id = word.startsWith('#') ? Number(word.slice(1)) : Number.NaN;
  return (operation) =>
    operations.id[operation] === id ||
    tests.some((fits) => fits(operation)) ||
    factsOf(columns, operation).includes(word);
}

/**
 * @param {Model} model
 * @param {RegExpExecArray} compared
 * @returns {Fits}
 */
function comparison({ operations }, [, key, sign, figure = '', unit = '']) {
  const limit = Number(figure) * (UNITS.get(unit) ?? 1e6);
  const of = (/** @type {number} */ operation) =>
    key === 'at'
      ? (operations.from[operation] ?? 0)
      : (operations.until[operation] ?? 0) - (operations.from[operation] ?? 0);
  return sign === '>' ? (operation) => of(operation) > limit : (operation) => of(operation) < limit;
}

/**
 * What a finding names, and what its processes did a little before and after.
 * @param {Model} model
 * @param {string} wanted the beginning of its id
 * @returns {Fits}
 */
function nearFinding({ columns, operations }, wanted) {
  const finding = columns.findings.find(({ anchor }) => anchor.startsWith(`/f/${wanted}`));
  if (finding === undefined || wanted === '')
    throw new Error(`near:${wanted} is the beginning of no finding’s id`);
  const named = new Set(finding.operations);
  const lanes = new Set(finding.operations.map((operation) => operations.lane[operation]));
  return (operation) =>
    named.has(operation) ||
    (lanes.has(operations.lane[operation]) &&
      (operations.until[operation] ?? 0) >= finding.from - NEAR &&
      (operations.from[operation] ?? 0) <= finding.until + NEAR);
}
