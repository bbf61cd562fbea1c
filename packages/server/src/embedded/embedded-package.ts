import type * as EmbeddedPackage from '@pgway/embedded';

/** Imports the optional package. */
export function importEmbeddedPackage(): Promise<typeof EmbeddedPackage> {
  return import('@pgway/embedded');
}
