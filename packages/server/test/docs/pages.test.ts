import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { describeExamples, firstPages, pages } from './examples.ts';
import type { Step } from './page.ts';
import { root } from './stage.ts';

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

describeExamples(pages.filter(({ file }) => firstPages.has(file)));

test('links lead to existing files and headings', () => {
  const links = pages.flatMap(({ file, links }) => links.map((link) => ({ file, ...link })));
  expect(links.length).toBeGreaterThan(30);
  const pagesByFile = new Map(pages.map((page) => [page.file, page]));
  const broken = links.filter(({ file, target, anchor }) => {
    const path = target === '' ? file : join(dirname(file), decodeURI(target));
    if (!existsSync(join(root, path))) return true;
    return anchor !== null && pagesByFile.get(path)?.anchors.has(anchor) === false;
  });
  expect(broken.map(({ file, line, target, anchor }) => `${file}:${line} ${target}#${anchor ?? ''}`)).toEqual([]);
});
