import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { build, part, serverConnectionString } from '@pgway/testing';
import { beforeAll, expect, test } from 'vitest';
import { rivalNames } from '../src/rivals.ts';
import { folderWith } from '../../packages/server/test/support/folder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const main = join(root, 'bench/dist/main.js');
const run = promisify(execFile);

beforeAll(async () => {
  await build();
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b', join(root, 'bench')]);
});

/** A server that answers every tenth sum with that of another request, and has no other endpoint. */
const racyServer = `
  import { createServer } from 'node:http';
  createServer((request, response) => {
    const url = new URL(request.url, 'http://x');
    const [a, b] = [Number(url.searchParams.get('a')), Number(url.searchParams.get('b'))];
    if (url.pathname !== '/sums/add') response.writeHead(404).end();
    else response.end(String(a % 10 === 0 ? a + b + 102 : a + b));
  }).listen(Number(process.env.PORT), '127.0.0.1');
`;

const firstImpression = ['--quick', '--seconds=1'];
// For a busy machine: they take a tenth of it.
const timeoutMs = 300_000;

function bench(...args: readonly string[]): Promise<{ readonly stdout: string }> {
  return benchOnItsServer(...args, `--database=${serverConnectionString()}`);
}

/** On a server that the benchmark starts, with passwords as PostgreSQL stores them by default. */
function benchOnItsServer(...args: readonly string[]): Promise<{ readonly stdout: string }> {
  return run(process.execPath, [main, ...args, '--quick', '--rounds=1', '--pool=3']);
}

test(
  'a peer competes with its wrong responses counted; pgway has none',
  async () => {
    const folder = await folderWith({ 'racy.mjs': racyServer });
    const { stdout } = await bench(
      '--only=pgway,server,fastify,fastify-json,scalar,rows-1',
      `--peer=racy@/sums=exec '${process.execPath}' '${join(folder, 'racy.mjs')}'`,
    );
    const wrong = (line: string): string =>
      new RegExp(String.raw`^\| ${line} .* ([\d,]+) of [\d,]+ \|`, 'm').exec(stdout)?.[1] ?? 'no line';
    expect(stdout).toMatch(/Not measured: racy at Error: rows-1: status 404/);
    expect(Number(wrong('scalar: racy').replace(',', ''))).toBeGreaterThan(0);
    const servers = ['pgway', 'pgway, standalone server, one process per core', 'Fastify 5 \\+ pg, hand-written'];
    const lines = ['scalar', 'rows-1'].flatMap((work) => servers.map((server) => `${work}: ${server}`));
    expect(lines.map(wrong)).toEqual(lines.map(() => '0'));
  },
  timeoutMs,
);

test(
  'each form of a rival competes without wrong responses, or the report says why it does not',
  async () => {
    // Bun refuses the passwords of the test server, which have one round of SCRAM.
    const { stdout } = await benchOnItsServer('rivals', `--only=pgway,${rivalNames.join(',')},typed-10`);
    const outcomes = [
      ['Bun', ['rows', 'json_agg']],
      ['Rust, hyper + tokio-postgres pipelines', ['rows', 'json_agg']],
      ['Go, pgx', ['net/http, structs', 'net/http, json_agg', 'fasthttp, structs', 'fasthttp, json_agg']],
      ['node:http + postgres.js', ['rows', 'json_agg']],
    ] as const;
    for (const [title, forms] of outcomes) {
      if (stdout.includes(`Not measured: ${title}: `)) continue;
      const lines = forms.map((form) =>
        stdout.split('\n').find((line) => line.startsWith(`| typed-10: ${title}, ${form} `)),
      );
      expect(lines).toEqual(forms.map(() => expect.stringMatching(/ 0 of [\d,]+ \| +0 \|$/)));
    }
  },
  timeoutMs,
);

const ownSuites: readonly (readonly [string, RegExp])[] = [
  ['latency', /^\| mix: writes: pgway +\|/m],
  ['growth', /^\| 1,000 +\|[^]*^\| SQL files +\|[^]*^\| slope +\|/m],
  ['changes', /^\| 60 identities of ten tenants, routed, 200\/s +\|/m],
];

test.each(part(ownSuites))(
  '%s',
  async (name, row) => {
    const { stdout } = await run(process.execPath, [
      main,
      name,
      `--database=${serverConnectionString()}`,
      ...firstImpression,
    ]);
    expect(stdout).toMatch(row);
  },
  timeoutMs,
);

const suites: readonly (readonly [string, number, readonly string[]])[] = [
  ['cache', 4, []],
  ['tables', 8, []],
  ['related', 4, ['--only=related-10']],
  ['batch', 4, ['--only=scalar']],
  ['keys', 2, []],
  ['mcp', 2, ['--only=rows-10']],
  ['telemetry', 5, ['--only=scalar']],
];

test.each(part(suites))('%s', async (suite, lines, args) => {
  const { stdout } = await bench(suite, ...args);
  expect(stdout).toMatch(/^\| pgway/m);
  expect(stdout.match(/ 0 of [\d,]+ \| +0 \|/g)).toHaveLength(lines);
});
