import { readPackageFile } from './package-files.ts';

/** Returns the version of this package. */
export function version(): string {
  return (JSON.parse(readPackageFile('package.json').toString()) as { version: string }).version;
}
