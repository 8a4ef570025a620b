// First of the page's modules: from the columns in the page to numbers that can be drawn fast. The other end of
// `timeline-columns.ts`, and of packed pages. Touches no element but the one it is given.

import { inflateSync } from 'fflate';

/** @import { TimelineColumns } from '../timeline-columns.ts' */

/**
 * Everything the timeline draws, in typed arrays. Times are microseconds since the start of the run.
 * @typedef {object} Model
 * @property {TimelineColumns} columns texts and small lists, as they came
 * @property {number} end
 * @property {Operations} operations in order of invocation
 * @property {Grants} grants in order of the grant
 */
/**
 * @typedef {object} Operations
 * @property {number} length
 * @property {Float64Array} from
 * @property {Float64Array} until where it never completed: the end of its process
 * @property {Uint16Array} lane
 */
/**
 * @typedef {object} Grants
 * @property {number} length
 * @property {Float64Array} from
 * @property {Float64Array} until
 * @property {Float64Array} tenureUntil
 * @property {Uint16Array} lane
 * @property {Uint32Array} lock
 */

/**
 * The columns that stand in `element`.
 * @param {{ textContent: string | null }} element
 * @returns {Model}
 */
export function unpacked(element) {
  return modelOf(columnsIn(inflated(element)));
}

/**
 * The bytes that stand in `element`, deflated and in base64. At once, and not by the browser's stream: what is in sight
 * is drawn before the page counts as loaded, when it may be printed or have its picture taken.
 * @param {{ textContent: string | null }} element
 */
export function inflated(element) {
  const text = atob((element.textContent ?? '').trim());
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return inflateSync(bytes);
}

/**
 * The head, and the columns that it announces.
 * @param {Uint8Array} bytes
 * @returns {TimelineColumns}
 */
function columnsIn(bytes) {
  const headLength = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const { forms, ...head } = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headLength)));
  const source = { bytes, at: 4 + headLength };
  for (const { table, column, by, sparse, rows } of forms) {
    head[table] ??= {};
    const groupedBy = by.map((/** @type {string} */ other) => head[table][other]);
    head[table][column] = columnFrom(source, { rows, sparse, by: groupedBy });
  }
  return head;
}

/**
 * @param {{ bytes: Uint8Array, at: number }} source read from `at` on, which moves
 * @param {{ rows: number, sparse: boolean, by: ArrayLike<number>[] }} form
 */
function columnFrom(source, { rows, sparse, by }) {
  const { bytes } = source;
  let { at } = source;
  const values = new Float64Array(rows);
  const [group, groups] = groupsOf(by, rows);
  const last = new Float64Array(groups);
  let widest = 0;
  for (let row = 0; row < rows; row++) {
    let byte = bytes[at++] ?? 0;
    let code = byte % 128;
    for (let place = 128; byte >= 128; place *= 128) {
      byte = bytes[at++] ?? 0;
      code += (byte % 128) * place;
    }
    if (sparse && code === 0) continue;
    if (sparse) code -= 1;
    const own = group[row] ?? 0;
    const value = (last[own] ?? 0) + (code % 2 === 1 ? -(code + 1) / 2 : code / 2);
    last[own] = value;
    values[row] = value;
    if (value > widest) widest = value;
    else if (-value > widest) widest = -value;
  }
  source.at = at;
  return widest < 2 ** 31 ? Int32Array.from(values) : values;
}

/**
 * A number for each row, the same where all columns `by` say the same, and how many numbers there may be.
 * @param {ArrayLike<number>[]} by
 * @param {number} rows
 * @returns {[Uint32Array, number]}
 */
function groupsOf(by, rows) {
  const group = new Uint32Array(rows);
  let groups = 1;
  for (const column of by) {
    let size = 1;
    for (let row = 0; row < rows; row++) size = Math.max(size, (column[row] ?? 0) + 1);
    for (let row = 0; row < rows; row++) group[row] = (group[row] ?? 0) * size + (column[row] ?? 0);
    groups *= size;
  }
  return [group, groups];
}

/**
 * @param {TimelineColumns} columns
 * @returns {Model}
 */
function modelOf(columns) {
  const { operations, grants, processes, end } = columns;
  const { length } = operations.invoked;
  const from = new Float64Array(length);
  const until = new Float64Array(length);
  const lane = new Uint16Array(length);
  for (let index = 0; index < length; index++) {
    const process = processes[operations.process[index] ?? 0];
    const took = operations.took[index] ?? -1;
    from[index] = operations.invoked[index] ?? 0;
    until[index] = took < 0 ? (process?.ended ?? end) : (operations.invoked[index] ?? 0) + took;
    lane[index] = process?.lane ?? 0;
  }
  const granted = Float64Array.from(grants.operation, (operation) => until[operation] ?? 0);
  return {
    columns,
    end: Math.max(end, 1),
    operations: { length, from, until, lane },
    grants: {
      length: granted.length,
      from: granted,
      until: granted.map((time, index) => time + (grants.held[index] ?? 0)),
      tenureUntil: granted.map((time, index) => time + (grants.tenure[index] ?? 0)),
      lane: Uint16Array.from(grants.operation, (operation) => lane[operation] ?? 0),
      lock: Uint32Array.from(grants.operation, (operation) => operations.lock[operation] ?? 0),
    },
  };
}

/**
 * What an operation carried, in words: token, value, version.
 * @param {TimelineColumns} columns
 * @param {number} operation
 */
export function factsOf({ operations, words }, operation) {
  const { token, value, base, highest } = operations;
  return /** @type {const} */ ([
    ['token', token],
    ['value', value],
    ['from version', base],
    ['highest token', highest],
  ])
    .flatMap(([what, column]) => {
      const code = column[operation] ?? 0;
      return code === 0 ? [] : `${what} ${code > 0 ? code - 1 : words[-code]}`;
    })
    .join(', ');
}
