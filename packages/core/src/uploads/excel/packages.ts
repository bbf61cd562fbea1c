import { createRequire } from 'node:module';

const { resolve } = createRequire(import.meta.url);

/** Returns the optional packages that read workbooks and are not installed. */
export function missingPackages(): readonly string[] {
  return ['@cj-tech-master/excelts', 'saxes', 'yauzl'].filter((name) => !isInstalled(name));
}

function isInstalled(name: string): boolean {
  try {
    resolve(name);
    return true;
  } catch (error) {
    // Other codes are about an installed package without an entry for `require`.
    return (error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND';
  }
}
