import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build } from '../support/program.ts';
import { isShown } from './answer.ts';
import { type Page, readPage, type Step } from './page.ts';
import { missingPackages, programHost, root, scriptFolder, Stage } from './stage.ts';

/*
 * Runs every example of the pages; `page.ts` defines the examples.
 * A failure is named after the file and line of the example.
 */

const elsewhere = new Set(['node_modules', 'dist', 'results', 'packages']);

/** Every page of a folder and its subfolders, relative to the root of the checkout. */
function pagesOf(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}${entry.name}`;
    if (!entry.isDirectory()) return path.endsWith('.md') ? [path] : [];
    return entry.name.startsWith('.') || elsewhere.has(entry.name) ? [] : pagesOf(`${path}/`);
  });
}

const readmes = ['packages/core/README.md', 'packages/server/README.md'];
const pages: readonly Page[] = [...pagesOf(''), ...readmes].map((file) => readPage(root, file));
const steps = pages.flatMap((page) => page.steps);

function count(kind: Step['kind']): number {
  return steps.filter((step) => step.kind === kind).length;
}

test('the pages hold statements, requests, programs and configurations', () => {
  expect(pages.length).toBeGreaterThan(15);
  expect(count('sql')).toBeGreaterThan(20);
  expect(count('command')).toBeGreaterThan(60);
  expect(count('program')).toBeGreaterThan(6);
  expect(count('config')).toBeGreaterThan(3);
});

beforeAll(build, 120_000);

describe.each(pages.filter((page) => page.steps.some(({ kind }) => kind !== 'heading')))('$file', ({ file, steps }) => {
  let stage: Stage | undefined;
  let begun = 0;
  beforeAll(async () => {
    stage = await Stage.open();
    begun = performance.now();
  });
  afterAll(() => stage?.close());

  let missing: readonly string[] = [];
  for (const step of steps) {
    if (step.kind === 'fragment') continue;
    if (step.kind === 'program') missing = missingPackages(step.text);
    const isOfProgram = step.kind === 'program' || (step.kind === 'command' && step.command.includes(programHost));
    test.skipIf(isOfProgram && missing.length > 0)(`${file}:${step.line} ${nameOf(step)}`, async () => {
      const printed = await stage!.play(step);
      const answer = step.kind === 'command' ? step.answer : '';
      const seconds = Math.ceil((performance.now() - begun) / 1000);
      expect(isShown(answer, printed, seconds) ? answer : printed).toBe(answer);
    });
  }
});

function nameOf(step: Step): string {
  if (step.kind === 'command') return `$ ${step.command}`;
  return step.kind === 'program' ? step.name : step.kind;
}

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

test('links lead to existing files', () => {
  const links = pages.flatMap(({ file, links }) => links.map((link) => ({ file, ...link })));
  expect(links.length).toBeGreaterThan(30);
  const broken = links.filter(({ file, target }) => !existsSync(join(root, dirname(file), decodeURI(target))));
  expect(broken.map(({ file, line, target }) => `${file}:${line} ${target}`)).toEqual([]);
});
