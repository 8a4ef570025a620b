// First of the page's modules: from the columns in the page to numbers that can be drawn fast. The other end of
// `timeline-columns.ts`. Touches no element but the one it is given.

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
 * @property {Float64Array} id
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
 * Inflates what stands in `element`. Rejects if the browser cannot inflate.
 * @param {HTMLElement} element
 * @returns {Promise<Model>}
 */
export async function unpacked(element) {
  const text = atob(element.textContent ?? '');
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  /** @type {TimelineColumns} */
  const columns = JSON.parse(await new Response(inflated).text());
  return modelOf(columns);
}

/**
 * @param {TimelineColumns} columns
 * @returns {Model}
 */
function modelOf(columns) {
  const { operations, grants, processes, end } = columns;
  const from = summed(operations.invoked);
  const lane = Uint16Array.from(operations.process, (process) => processes[process]?.lane ?? 0);
  const until = from.map((time, index) => {
    const took = operations.took[index] ?? -1;
    return took < 0 ? (processes[operations.process[index] ?? 0]?.ended ?? end) : time + took;
  });
  const granted = Float64Array.from(grants.operation, (operation) => until[operation] ?? 0);
  return {
    columns,
    end: Math.max(end, 1),
    operations: { length: from.length, id: summed(operations.id), from, until, lane },
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
 * Undoes the differences of a growing column.
 * @param {readonly number[]} differences
 */
function summed(differences) {
  let sum = 0;
  return Float64Array.from(differences, (difference) => (sum += difference));
}
