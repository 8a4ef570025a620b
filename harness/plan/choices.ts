// What flags and config keys may be, in one place. Light on purpose: `--help` loads it.

export const PROFILE_NAMES = ['smoke', 'standard', 'nightly'] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

/** `json` is summary.json; a run's own verdict.json is always written, because it says that the run is done. */
export const EXPORTED_REPORTS = ['html', 'junit', 'markdown', 'json'] as const;
export type ReportName = (typeof EXPORTED_REPORTS)[number];

/** Where a plan can run: in containers, or simulated. */
export const PLACES = ['docker', 'simulation'] as const;
/** `auto`: in containers if there is an engine, and else simulated. */
export const PLACE_CHOICES = [...PLACES, 'auto'] as const;

/** With how many seeds each cell may run. */
export const SEEDS = { min: 1, max: 10_000 } as const;

/** Of which runs more than plan and verdict is kept. */
export const KEEP_CHOICES = ['on-failure', 'always', 'never'] as const;
export type Keep = (typeof KEEP_CHOICES)[number];
