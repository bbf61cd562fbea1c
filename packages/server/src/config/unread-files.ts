import { access } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { defaultFile } from './configuration-files.ts';

/** Names that configurations of other programs have. */
const otherNames = [
  'pgway.jsonc',
  'pgway.json5',
  'pgway.config.json',
  '.pgway.json',
  'config/pgway.json',
  'pgway.yaml',
  'pgway.yml',
  'pgway.toml',
  'pgway.conf',
  'pgway.config.js',
  'pgway.config.ts',
] as const;

/** How many folders above the working directory may have the file. */
const maxParents = 3;

/**
 * Warns of files that are probably meant as the configuration, and are not read.
 * @param folder the working directory, which has no `pgway.json`
 */
export async function unreadFiles(folder: string): Promise<readonly string[]> {
  for (const name of otherNames) {
    if (await exists(join(folder, name))) return [`${name} is not read; ${remedyFor(name)}`];
  }
  let parent = folder;
  for (let level = 0; level < maxParents; level += 1) {
    parent = dirname(parent);
    const file = join(parent, defaultFile);
    if (await exists(file)) {
      const name = relative(folder, file);
      return [`${name} is not read, as this folder is another one; start pgway there, or pass the file: pgway ${name}`];
    }
  }
  return [];
}

function remedyFor(name: string): string {
  return name.includes('.json')
    ? `rename it to ${defaultFile}, or pass the file: pgway ${name}`
    : `the configuration is JSON, in ${defaultFile}`;
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
