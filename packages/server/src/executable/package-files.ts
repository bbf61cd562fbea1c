/** In the executable, in place of `package-files.ts`: the files of the package are assets, and workers run the executable itself. */
import { getAsset } from 'node:sea';
import { pathToFileURL } from 'node:url';

export const packageFolder: URL = new URL('./', pathToFileURL(process.execPath));

/** The first argument of worker processes. */
export const workerProgram: string = 'worker-process';

/** @param path as published, such as `src/browser/page.css` */
export function readPackageFile(path: string): Buffer {
  return Buffer.from(getAsset(path));
}
