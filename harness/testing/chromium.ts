// A Chromium for tests and measurements of the page: where it is, and how it is started so that it asks nobody for
// anything by itself. Knows nothing of reports.

import { existsSync } from 'node:fs';
import { chromium, type BrowserContext } from 'playwright-core';

/** undefined: there is none here. */
export const CHROMIUM = [
  process.env['LOCKPICK_CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== '' && existsSync(path));

/** `profile`: a folder of its own. */
export function startChromium(profile: string): Promise<BrowserContext> {
  return chromium.launchPersistentContext(profile, {
    ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }),
    headless: true,
    viewport: { width: 1280, height: 900 },
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
