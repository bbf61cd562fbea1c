import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { contenderTitles } from '../src/contenders/contender.ts';
import { readBenchOptions } from '../src/options.ts';
import { writeSuiteReport } from '../src/report/suite-report.ts';
import { rivalNames } from '../src/rivals.ts';
import { rivalSuite, routineSuite } from '../src/suite.ts';

const peers = fileURLToPath(new URL('../peers/', import.meta.url));

test.each([
  [
    'rust',
    { CARGO: '/nowhere/cargo' },
    /^Rust or its packages are not installed: apt-get install cargo rustc librust-hyper-dev /,
  ],
  [
    'go',
    { GO: '/nowhere/go' },
    /^Go, pgx or fasthttp is not installed: apt-get install golang-go golang-github-jackc-pgx-v4-dev /,
  ],
])('without its tools, the build of %s says what to install', (folder, tools, sentence) => {
  const { status, stderr } = spawnSync('sh', [`${peers}${folder}/build`], {
    env: { ...process.env, ...tools },
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(sentence) });
});

test('--only selects the forms of rivals', () => {
  const { has } = readBenchOptions(['--only=rust-json,pgway,rows-10'], rivalSuite);
  expect([...rivalNames, 'pgway', 'fastify'].filter(has)).toEqual(['rust-json', 'pgway']);
  expect(() => readBenchOptions(['--only=rust'], routineSuite)).toThrow("--only: 'rust' is unknown");
});

test('the report has the ratio to the better form of each rival', () => {
  const summary = (competitor: string, requestsPerSecond: number) => ({
    work: 'scalar',
    connections: 50,
    competitor,
    requestsPerSecond,
    slowest: requestsPerSecond,
    fastest: requestsPerSecond,
    p50: null,
    p99: null,
    cpu: null,
    databaseCpu: null,
    rss: null,
    answers: null,
    failures: 0,
    ratio: null,
  });
  const text = writeSuiteReport({
    suite: rivalSuite,
    options: { rounds: 1, seconds: 1, pool: 10, genericPlans: false },
    postgres: '18.0',
    loadTool: 'wrk',
    summaries: [
      summary('pgway', 300),
      summary(contenderTitles.fastify, 100),
      summary(contenderTitles['fastify-json'], 150),
      summary('Bun, rows', 240),
      summary('Bun, json_agg', 200),
    ],
    stream: null,
    missing: ['Go, pgx: Go is not installed'],
  });
  expect(text).toContain(`
|                 | scalar |
| --------------- | -----: |
| pgway ÷ Fastify |  2.00× |
| pgway ÷ Bun     |  1.25× |
`);
  expect(text).toContain('Not measured: Go, pgx: Go is not installed');
});
