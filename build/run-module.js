import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { librarySources } from './packages.js';

/**
 * Bundles a module of the sources, runs it and returns its exports.
 * @param plugins may provide the module
 */
export async function runModule(path, plugins = []) {
  const build = await rolldown({ input: path, platform: 'node', resolve: { alias: librarySources() }, plugins });
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  const folder = await mkdtemp(join(tmpdir(), 'pgway-build-'));
  try {
    const file = join(folder, 'module.mjs');
    await writeFile(file, output[0].code);
    return await import(pathToFileURL(file).href);
  } finally {
    await rm(folder, { recursive: true });
  }
}
