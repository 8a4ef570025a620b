// The one error that means "our surroundings failed" (no engine, a node that does not come up, a bad plan): a run
// that ends with it is not judged. What the system under test does wrong is never an error but an `Outcome` (I4).

/** `usage` 64: the input is wrong. `environment` 69: engine, image, memory, store. `internal` 70: our own bug. */
export type HarnessErrorCode = 'usage' | 'environment' | 'internal';

export const EXIT_CODE = {
  ok: 0,
  violation: 1,
  inconclusive: 2,
  threshold: 3,
  usage: 64,
  environment: 69,
  internal: 70,
  interrupted: 130,
  terminated: 143,
} as const;

export class HarnessError extends Error {
  readonly code: HarnessErrorCode;
  /** What to do about it, one sentence. */
  readonly remedy: string | undefined;
  /** What was run or asked, and what came back, for the log. */
  readonly detail: string | undefined;
  constructor(
    code: HarnessErrorCode,
    message: string,
    options: { remedy?: string | undefined; detail?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HarnessError';
    this.code = code;
    this.remedy = options.remedy;
    this.detail = options.detail;
  }
}

/** What `make` returns. Of a HarnessError that it throws, `where` is told first. */
export function sayingWhere<T>(where: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof HarnessError)) throw error;
    const { code, message, remedy, detail, cause } = error;
    throw new HarnessError(code, `${where}: ${message}`, { remedy, detail, cause });
  }
}

/** What an error says, whatever was thrown; of one that was followed by others while cleaning up, the first. */
export function messageOf(error: unknown): string {
  if (error instanceof SuppressedError) return messageOf(error.suppressed);
  return error instanceof Error ? error.message : String(error);
}
