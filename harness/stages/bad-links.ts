// The faults of bad links for one run: where a plan has any, the kernel is asked what it can do before anything starts,
// and what it cannot do is an error of the surroundings, never a fault that is skipped.

import { SANDBOX_IMAGE, type Images } from '../cluster/docker/images.ts';
import type { Engine } from '../cluster/docker/engine.ts';
import { linkAbilities } from '../cluster/docker/sandbox-trials.ts';
import { HarnessError } from '../contract/errors.ts';
import type { FaultKind } from '../contract/fault.ts';
import { LINK_FAULTS, LINK_REMEDY, linkWayOf, type LinkAbilities } from '../contract/links.ts';
import { linkFaults } from '../nemesis/faults/links.ts';
import type { Network } from '../nemesis/faults/network.ts';

/** Those of `faults` that are of this kind. Throws HarnessError('environment') if one cannot be done here. */
export async function linkFaultsFor(
  faults: readonly string[],
  { engine, images }: { readonly engine: Engine; readonly images: Images },
): Promise<(network: Network) => readonly FaultKind[]> {
  const sandbox = images[SANDBOX_IMAGE];
  if (!LINK_FAULTS.some((fault) => faults.includes(fault))) return () => [];
  if (sandbox === undefined) throw new HarnessError('internal', 'the sandbox image was not made sure of');
  const can = await linkAbilities(engine, sandbox.reference);
  checkLinks(faults, can);
  return (network) => linkFaults(network, can);
}

/** Throws HarnessError('environment') that names the first that cannot be done. */
export function checkLinks(faults: readonly string[], can: LinkAbilities): void {
  const missing = LINK_FAULTS.find((fault) => faults.includes(fault) && linkWayOf(fault, can) === undefined);
  if (missing === undefined) return;
  throw new HarnessError('environment', `the fault ${missing} cannot be done on this kernel`, {
    remedy: `${LINK_REMEDY}; lockpick doctor tells what can be done here`,
  });
}
