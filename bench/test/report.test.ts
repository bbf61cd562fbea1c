import { describe, expect, test } from 'vitest';

import type { Figures } from '../src/competitor.ts';
import { drawBarChart } from '../src/report/bar-chart.ts';
import { insertFigures, insertResults } from '../src/report/publish.ts';
import { drawSuite, listFaults, listHeadlines, writeSuiteReport } from '../src/report/suite-report.ts';
import { median, summarize } from '../src/report/summary.ts';
import { tableSuite } from '../src/suite.ts';

const right = { checked: 1200, wrong: 0, failed: 0, example: null };

function figures(requestsPerSecond: number, failures = 0): Figures {
  return { requestsPerSecond, failures, p50: 1, p99: 2, cpu: 30, databaseCpu: 20, rss: 64 * 2 ** 20 };
}

const series = [
  {
    work: 'read',
    connections: 50,
    competitor: 'pgway',
    answers: { checked: 1000, wrong: 2, failed: 1, example: '/note?id=8: other rows' },
    runs: [figures(300), figures(900, 4), figures(600)],
  },
  {
    work: 'read',
    connections: 50,
    competitor: 'Fastify 5 + pg, hand-written',
    answers: right,
    runs: [figures(200), figures(250), figures(300)],
  },
];

const summaries = summarize(series, 'Fastify 5 + pg, hand-written');
const report = {
  suite: tableSuite,
  options: { rounds: 3, seconds: 2, pool: 10, genericPlans: false },
  postgres: '18.0',
  loadTool: 'wrk',
  summaries,
  stream: null,
  missing: ['the limit'],
};

test('the report shows medians, ratios, and wrong and failed responses', () => {
  expect(writeSuiteReport(report)).toMatchInlineSnapshot(`
    "PostgreSQL 18.0, load by wrk. Medians of 3 interleaved rounds of 2 s; 10 database connections each.

    ### Requests per second, 50 connections (against hand-written Fastify)

    |                              |        read |
    | ---------------------------- | ----------: |
    | pgway                        | 600 (2.40×) |
    | Fastify 5 + pg, hand-written | 250 (1.00×) |

    ### In detail, 50 connections

    |                                    | requests/s | slowest | fastest | p50 ms | p99 ms | CPU µs/request | of the database | RSS MiB |      wrong | failed |
    | ---------------------------------- | ---------: | ------: | ------: | -----: | -----: | -------------: | --------------: | ------: | ---------: | -----: |
    | read: pgway                        |        600 |     300 |     900 |   1.00 |   2.00 |           30.0 |            20.0 |    64.0 | 2 of 1,000 |      5 |
    | read: Fastify 5 + pg, hand-written |        250 |     200 |     300 |   1.00 |   2.00 |           30.0 |            20.0 |    64.0 | 0 of 1,200 |      0 |

    pgway at read, for example: \`/note?id=8: other rows\`

    Not measured: the limit"
  `);
});

test('headlines are the figures of the first contender that is not the baseline', () => {
  const headline = { work: 'read', requestsPerSecond: 600, ratio: 2.4, against: 'hand-written Fastify' };
  expect(listHeadlines(report)).toEqual([headline]);
});

test('wrong and failed responses of pgway are faults', () => {
  expect(listFaults(summaries)).toEqual([
    'pgway at read: 2 of 1,000 under load, 4 failed requests; /note?id=8: other rows',
  ]);
  expect(listFaults(summarize(series.slice(1), ''))).toEqual([]);
});

describe('a chart', () => {
  test('has a group for each work', () => {
    expect(drawSuite('tables', report)).toEqual({
      name: 'tables',
      title: 'Tables, 50 connections',
      unit: 'requests per second',
      groups: [
        {
          title: 'read',
          bars: [
            { label: 'pgway', value: 600, isOwn: true },
            { label: 'Fastify + pg', value: 250, isOwn: false },
          ],
        },
      ],
    });
  });

  test('is an SVG document whose bars are in proportion within a group, and whose text is escaped', () => {
    const svg = drawBarChart({
      name: 'x',
      title: 'a < b & "c"',
      unit: 'ms',
      groups: [
        {
          title: 'one',
          bars: [
            { label: '<script>', value: 100, isOwn: true },
            { label: 'half', value: 50, isOwn: false },
          ],
        },
        { title: 'two', bars: [{ label: 'nothing, with a name that is long', value: 0, isOwn: false }] },
      ],
    });
    expect(svg.replace(/<style>[^<]*<\/style>\n/, '')).toMatchInlineSnapshot(`
      "<svg xmlns="http://www.w3.org/2000/svg" width="896" height="138" viewBox="0 0 896 138" role="img" aria-label="a &lt; b &amp; &quot;c&quot;">
      <text class="title" x="16" y="30">a &lt; b &amp; &quot;c&quot; (ms)</text>
      <text class="group" x="16" y="70">one</text>
      <text text-anchor="end" x="200" y="93">&lt;script&gt;</text><rect class="own" x="206" y="82" width="166" height="14" rx="2"/><text x="378" y="93">100</text>
      <text text-anchor="end" x="200" y="113">half</text><rect class="other" x="206" y="102" width="83" height="14" rx="2"/><text x="295" y="113">50.0</text>
      <text class="group" x="460" y="70">two</text>
      <text text-anchor="end" x="644" y="93">nothing, with a name that i…</text><rect class="other" x="650" y="82" width="1" height="14" rx="2"/><text x="657" y="93">0.00</text>
      </svg>
      "
    `);
    expect(svg).toContain('prefers-color-scheme: dark');
  });
});

test('the median of an even number of values is between the middle ones', () => {
  expect([median([3, 1, 2]), median([4, 1, 3, 2]), median([])]).toEqual([2, 2.5, Number.NaN]);
});

test('the results replace those in the README, with headings one level below', () => {
  const readme =
    'before\n<!-- results: written by `npm run bench -- all --publish` -->old\n<!-- end of the results -->after\n';
  const conditions = {
    date: '2026-11-22T20:00:00.000Z',
    node: '20.0.0',
    processor: 'a processor',
    processors: 2,
    memory: 8 * 2 ** 30,
    platform: 'linux x64',
    loadAverage: 0.04,
    versions: { pgway: '0.1.0', pg: '8.0.0' },
    revision: 'abc1234',
  };
  const chart = { name: 'tables', title: 'Tables', unit: 'ms', groups: [] };
  const section = { title: 'Tables', text: '### Detail\n\nTable', charts: [chart], data: {}, faults: [] };
  expect(insertResults(readme, { conditions, sections: [section] })).toMatchInlineSnapshot(`
    "before
    <!-- results: written by \`npm run bench -- all --publish\` -->

    2026-11-22: pgway 0.1.0 (abc1234), pg 8.0.0, Node.js 20.0.0; linux x64, 2 × a processor, 8 GiB of memory, shared by load generator, server and database; load average 0.0 before the start.

    ### Tables

    ![Tables](charts/tables.svg)

    #### Detail

    Table

    <!-- end of the results -->after
    "
  `);
  expect(() => insertResults('', { conditions, sections: [] })).toThrow('the page has no <!-- results');
  const page = 'a\n<!-- figures: written by `npm run bench -- all --publish` -->old<!-- end of the figures -->\n';
  const measured = {
    ...section,
    headlines: [{ work: 'read', requestsPerSecond: 600, ratio: 2.4, against: 'Fastify' }],
  };
  expect(insertFigures(page, { conditions, sections: [section, measured] })).toMatchInlineSnapshot(`
    "a
    <!-- figures: written by \`npm run bench -- all --publish\` -->

    2026-11-22: pgway 0.1.0 (abc1234), pg 8.0.0, Node.js 20.0.0; linux x64, 2 × a processor, 8 GiB of memory, shared by load generator, server and database; load average 0.0 before the start.

    |              | requests/s |      ratio to |
    | ------------ | ---------: | ------------: |
    | Tables: read |        600 | 2.40× Fastify |

    <!-- end of the figures -->
    "
  `);
});
