import { existsSync } from 'node:fs';
import { packageFolder } from '../package-files.ts';

/** Returns the folder of the example database. The published package has a copy; in a checkout only the original exists. */
export function exampleFolder(): URL {
  const packaged = new URL('examples/library/', packageFolder);
  return existsSync(packaged) ? packaged : new URL('../../examples/library/', packageFolder);
}
