/** The examples of all pages but the first ones, whose servers and programs take a minute. */
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { describeExamples, firstPages, pages } from './examples.ts';
import type { Step } from './page.ts';
import { missingPackages, root, scriptFolder } from './stage.ts';

describeExamples(pages.filter(({ file }) => !firstPages.has(file)));

test('the scripts of the pages match the types of their imports', async () => {
  const folder = await scriptFolder();
  try {
    const files = pages.flatMap(({ file, steps }) => steps.flatMap((step) => scriptOf(file, step)));
    expect(files.length).toBeGreaterThan(5);
    for (const { name, text } of files) await writeFile(join(folder, name), text);
    const options =
      '--noEmit --allowJs --checkJs --strict --skipLibCheck --module nodenext --target es2023 --types node';
    const names = files.map(({ name }) => name);
    const checked = await promisify(execFile)(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), ...options.split(' '), ...names],
      { cwd: folder },
    ).catch((error: { stdout: string }) => error);
    expect(checked.stdout).toBe('');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** A script as a file with the name and line numbers of its page. */
function scriptOf(file: string, step: Step): readonly { readonly name: string; readonly text: string }[] {
  if (step.kind !== 'program' && step.kind !== 'fragment') return [];
  if (missingPackages(step.text).length > 0) return [];
  const prelude = step.kind === 'fragment' ? step.prelude.replaceAll('\n', ' ') : '';
  // Makes the file a module even without imports.
  const text = `export {}; ${prelude}${'\n'.repeat(step.line - 1)}${step.text}`;
  return [{ name: `${file.replaceAll('/', '-').replace(/\.md$/, '')}-${step.line}.mjs`, text }];
}
