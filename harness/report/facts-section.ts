// What surrounds a run: its faults (planned, acted, evidence, healed), what it ran on and with. Pure.

import { list, seconds } from '../../checkers/wording.ts';
import type { JsonRecord } from '../history/op.ts';
import { html, type Html } from './html.ts';
import type { RunView } from './run-view.ts';
import { count, duration, jsonText, name, spaced } from './words.ts';

const FAULT_ROWS_MAX = 500;

/** One row a fault. */
export function faultsSection(view: RunView): Html {
  const { faults } = view.run.history;
  if (faults.length === 0) return html`<p>No fault was injected.</p>`;
  return html` <div class="scroll" tabindex="0" role="group" aria-label="Faults">
      <table>
        <thead>
          <tr>
            <th scope="col">Fault</th>
            <th scope="col">Targets</th>
            <th scope="col">Planned</th>
            <th scope="col">Ordered</th>
            <th scope="col">Proved to act by</th>
            <th scope="col">Over by</th>
            <th scope="col">Evidence</th>
          </tr>
        </thead>
        <tbody>
          ${faults.slice(0, FAULT_ROWS_MAX).map(
            (fault) =>
              html`<tr>
                <td><code>${name(fault.id)}</code> ${name(fault.fault)}</td>
                <td>${list(fault.targets.map((target) => name(target))) || 'none found'}</td>
                <td>${recordText(fault.params)}</td>
                <td class="number">${seconds(fault.begin)}</td>
                <td class="number">
                  ${
                    fault.acted === undefined
                      ? html`<strong>no: does not count</strong>`
                      : `${seconds(fault.acted)} (+${duration(fault.acted - fault.begin)})`
                  }
                </td>
                <td class="number">
                  ${fault.end === undefined ? 'not in this history' : seconds(fault.end)}
                </td>
                <td>${recordText(fault.evidence)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${faults.length > FAULT_ROWS_MAX ? html`<p class="soft">${count(faults.length - FAULT_ROWS_MAX)} more faults are in history.jsonl.</p>` : undefined}`;
}

/** Versions, digests, plan, host. */
export function provenanceSection(view: RunView): Html {
  const { plan, provenance, history, name: runName } = view.run;
  const { host } = provenance;
  const rows: readonly (readonly [string, string])[] = [
    ['Run', name(runName, 200)],
    ['Started', name(provenance.started)],
    ['Backend, recipe', view.cell],
    ['Workload, fault', `${name(plan.workload)}, ${name(plan.fault)}`],
    ['Seed', name(plan.seed)],
    [
      'Load',
      `${count(plan.clients)} clients on ${count(plan.locks)} locks for ${duration(plan.timeLimitMillis * 1e6)}`,
    ],
    ['TTL', duration(plan.ttlMillis * 1e6)],
    ['Host', `${host.cpus} processors, ${(host.memoryBytes / 2 ** 30).toFixed(1)} GiB, ${name(host.kernel)}`],
    ['Engine', name(host.engine)],
    ...Object.entries(provenance.versions).map(
      ([program, version]) => [name(program), name(version)] as const,
    ),
    ...serverVersions(history.header.meta['serverVersions']),
    ...Object.entries(provenance.images).map(
      ([image, { reference, digest }]) =>
        [`Image ${name(image)}`, `${name(reference, 200)} ${name(digest)}`] as const,
    ),
  ];
  return html`<dl class="facts">
    ${rows.map(
      ([key, value]) =>
        html`<div>
          <dt>${key}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

/** Of a history of any origin. */
function serverVersions(said: unknown): (readonly [string, string])[] {
  if (typeof said !== 'object' || said === null) return [];
  return Object.entries(said).map(([server, version]) => [`Server ${name(server)}`, name(String(version))]);
}

function recordText(record: JsonRecord): string {
  return Object.entries(record)
    .flatMap(([key, value]) => {
      if (value === undefined) return [];
      const millis = /^(.+)Millis$/.exec(key)?.[1];
      return millis !== undefined && typeof value === 'number'
        ? `${name(spaced(millis))} ${duration(value * 1e6)}`
        : `${name(spaced(key))}: ${jsonText(value, 120)}`;
    })
    .join(', ');
}
