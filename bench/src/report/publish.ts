import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { drawBarChart } from './bar-chart.ts';
import { describeConditions } from './conditions.ts';
import type { Report } from './report.ts';
import { formatNumber, formatRatio, formatTable } from './table.ts';

const folder = fileURLToPath(new URL('../../', import.meta.url));
const summaryPage = join(folder, '../docs/guide/scaling.md');
const charts = 'charts';
const resultMarkers = [
  '<!-- results: written by `npm run bench -- all --publish` -->',
  '<!-- end of the results -->',
] as const;
const figureMarkers = [
  '<!-- figures: written by `npm run bench -- all --publish` -->',
  '<!-- end of the figures -->',
] as const;

/** Writes the results into the README of the bench, its charts beside it, and the most important figures into the documentation. */
export async function publish(report: Report): Promise<void> {
  const readme = join(folder, 'README.md');
  const text = insertResults(await readFile(readme, 'utf8'), report);
  const page = insertFigures(await readFile(summaryPage, 'utf8'), report);
  await mkdir(join(folder, charts), { recursive: true });
  const old = (await readdir(join(folder, charts))).filter((name) => name.endsWith('.svg'));
  await Promise.all(old.map((name) => rm(join(folder, charts, name))));
  for (const chart of report.sections.flatMap((section) => section.charts)) {
    await writeFile(join(folder, charts, `${chart.name}.svg`), drawBarChart(chart));
  }
  await writeFile(readme, text);
  await writeFile(summaryPage, page);
}

/** Replaces what is between the two markers. Throws without them. */
export function insertResults(readme: string, report: Report): string {
  const sections = report.sections.flatMap((section) => [
    `### ${section.title}`,
    ...section.charts.map(({ name, title }) => `![${title}](${charts}/${name}.svg)`),
    demoteHeadings(section.text),
  ]);
  const results = [describeConditions(report.conditions), ...sections].join('\n\n');
  return replaceBetween(readme, resultMarkers, results);
}

/** Replaces what is between the two markers with a table of the headlines. Throws without them. */
export function insertFigures(page: string, { conditions, sections }: Report): string {
  const rows = sections.flatMap(({ title, headlines = [] }) =>
    headlines.map(({ work, requestsPerSecond, ratio, against }) => [
      `${title}: ${work}`,
      formatNumber(requestsPerSecond),
      `${formatRatio(ratio)} ${against}`,
    ]),
  );
  const table = formatTable(['', 'requests/s', 'ratio to'], rows);
  return replaceBetween(page, figureMarkers, `${describeConditions(conditions)}\n\n${table}`);
}

function replaceBetween(text: string, [begin, end]: readonly [string, string], content: string): string {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`the page has no ${begin} … ${end}`);
  return `${text.slice(0, from)}${begin}\n\n${content}\n\n${text.slice(to)}`;
}

function demoteHeadings(markdown: string): string {
  return markdown.replaceAll(/^(#+ )/gm, '#$1');
}
