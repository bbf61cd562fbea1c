import { existsSync } from 'node:fs';

/** Returns the folder of the example database. The published package has a copy; in a checkout only the original exists. */
export function exampleFolder(): URL {
  const packaged = new URL('../../examples/library/', import.meta.url);
  return existsSync(packaged) ? packaged : new URL('../../../../examples/library/', import.meta.url);
}
