import { existsSync } from 'node:fs';

/** The browser of browser tests; undefined: they are skipped. */
export const chromiumPath: string | undefined = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path));
