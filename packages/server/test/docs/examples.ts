import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isShown } from './answer.ts';
import { type Page, readPage, type Step } from './page.ts';
import { missingPackages, programHost, root, Stage } from './stage.ts';

const elsewhere = new Set(['node_modules', 'dist', 'results', 'packages']);

/** Every page of a folder and its subfolders, relative to the root of the checkout. */
function pagesOf(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}${entry.name}`;
    if (!entry.isDirectory()) return path.endsWith('.md') ? [path] : [];
    return entry.name.startsWith('.') || elsewhere.has(entry.name) ? [] : pagesOf(`${path}/`);
  });
}

const readmes = ['core', 'excel', 'external-sign-in', 'generators', 'postgrest', 'realtime', 'redis', 'server'].map(
  (name) => `packages/${name}/README.md`,
);
/** Every page of the project. */
export const pages: readonly Page[] = [...pagesOf(''), ...readmes].map((file) => readPage(root, file));
/** The pages that `npm test` runs: those of a newcomer. The slow suite runs the others. */
export const firstPages: ReadonlySet<string> = new Set([
  'README.md',
  'docs/guide/getting-started.md',
  'docs/guide/parameters.md',
  'docs/guide/responses.md',
  'docs/guide/errors.md',
  ...readmes,
]);

/** Runs the examples of pages; `page.ts` defines the examples. A failure is named after the file and line of the example. */
export function describeExamples(chosen: readonly Page[]): void {
  beforeAll(build);
  const withSteps = chosen.filter((page) => page.steps.some(({ kind }) => kind !== 'heading'));
  describe.each(withSteps)('$file', (page) => {
    describePage(page);
  });
}

function describePage({ file, steps }: Page): void {
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
}

function nameOf(step: Step): string {
  if (step.kind === 'command') return `$ ${step.command}`;
  return step.kind === 'program' ? step.name : step.kind;
}
