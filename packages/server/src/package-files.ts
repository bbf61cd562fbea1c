/** The files of this package. The path is the same from `src/` and from `dist/`, where all modules are in one file. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const packageFolder: URL = new URL('../', import.meta.url);

/** The program of worker processes. */
export const workerProgram: string = fileURLToPath(new URL('dist/worker-process.js', packageFolder));

/** @param path as published, such as `pgway.schema.json` */
export function readPackageFile(path: string): Buffer {
  return readFileSync(new URL(path, packageFolder));
}
