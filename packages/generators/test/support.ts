import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Endpoint } from '@pgway/core';
import { type GeneratedFile, typescriptClientFiles, type TypescriptClientOptions } from '@pgway/generators';

export const root: string = fileURLToPath(new URL('../../../', import.meta.url));
export const at: Date = new Date('2025-01-31T12:30:00Z');

/** Returns a client of the endpoints, without the line with the time. */
export function clientOf(
  endpoints: readonly Endpoint[],
  options: Partial<TypescriptClientOptions> = {},
): readonly GeneratedFile[] {
  return typescriptClientFiles(endpoints, { filePath: 'client.ts', headerLines: [], ...options }, at);
}

/** Returns the client as a single file. */
export function moduleOf(endpoints: readonly Endpoint[], options: Partial<TypescriptClientOptions> = {}): string {
  const [file] = clientOf(endpoints, { createSeparateTypeFile: false, ...options });
  return file!.content;
}

/** Creates a temporary folder with files; `remove` deletes it. */
export async function folderWith(
  files: readonly Pick<GeneratedFile, 'path' | 'content'>[],
): Promise<{ readonly folder: string; readonly remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'pgway-client-'));
  for (const { path, content } of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

const strict =
  '--strict --noEmit --noUnusedLocals --noUnusedParameters --exactOptionalPropertyTypes --noUncheckedIndexedAccess ' +
  '--isolatedModules --verbatimModuleSyntax --erasableSyntaxOnly --noImplicitReturns --target es2022 --lib es2022,dom --types';

/** Returns the errors of the compiler, with the types of browsers, without those of Node. */
export async function compile(
  files: readonly Pick<GeneratedFile, 'path' | 'content'>[],
  more = '--module esnext --moduleResolution bundler',
): Promise<string> {
  const { folder, remove } = await folderWith([...files, { path: 'package.json', content: '{ "type": "module" }' }]);
  try {
    const names = files.map(({ path }) => path);
    const parameters = [...strict.split(' '), '', ...more.split(' '), '--allowImportingTsExtensions', ...names];
    await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...parameters], {
      cwd: folder,
    });
    return '';
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    return `${stdout ?? ''}${stderr ?? ''}` || String(error);
  } finally {
    await remove();
  }
}
