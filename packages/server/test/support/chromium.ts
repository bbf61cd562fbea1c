import { existsSync } from 'node:fs';

/** The browser of browser tests; undefined: they are skipped. */
export const chromiumPath: string | undefined = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path));

/** Milliseconds for one step on a page. The limit is for what never appears, not for slow machines. */
export const stepTimeout = 60_000;
