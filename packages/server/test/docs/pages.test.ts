import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { checkoutFiles } from '../deploy/deploy-files.ts';
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

test('the figures of the README are those of the published benchmark', () => {
  const bench = readFileSync(join(root, 'bench/README.md'), 'utf8');
  const cells = (line: RegExp): readonly string[] =>
    line
      .exec(bench)![0]
      .split('|')
      .map((cell) => cell.trim());
  const titles = cells(/^\| +\| +scalar \|.*$/m);
  const inTable = (server: RegExp, title: string): string => cells(server)[titles.indexOf(title)]!;
  const ratio = (title: string): string => Number(/\((.*)×\)/.exec(inTable(/^\| pgway +\|.*$/m, title))![1]).toFixed(1);
  const memory = Math.max(
    ...['slow: pauses', 'disconnects after', 'fast'].map((reader) =>
      Number(cells(new RegExp(`^\\| ${reader}.*$`, 'm'))[3]),
    ),
  );

  const readme = readFileSync(join(root, 'README.md'), 'utf8').replaceAll(/\s+/g, ' ');
  expect(readme).toContain(
    `${ratio('rows-1')} times the requests of hand-written Fastify for one row, ${ratio('rows-500')} times for 500 rows ([\`rows-1\`, \`rows-500\`](`,
  );
  expect(readme).toContain(`A million rows need ${Math.ceil(memory)} MiB more than a thousand at most`);
});

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

test('no page or deployment file installs a package of this project by a name that the registry does not have', () => {
  // CHANGELOG.md tells what was possible with the packages of a version.
  const files = [...checkoutFiles('*.md', 'deploy'), 'packages/server/src/embedded/embedded-postgres.ts'];
  const byName = /npm (?:i|install|add|exec)\b[^`\n]*\s(?:@pgway\/[a-z-]+|pgway|pgscout)(?![\w./-])/;
  const found = files
    .filter((file) => file !== 'CHANGELOG.md')
    .flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .flatMap((line, index) => (byName.test(line) ? [`${file}:${index + 1} ${line}`] : [])),
    );
  expect(files).toContain('packages/embedded/README.md');
  expect(found).toEqual([]);
});
