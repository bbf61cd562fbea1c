/** Compares numbers of worker processes of the standalone server. */
import { strictEqual } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import pg from 'pg';

import { openDatabase } from '../database.ts';
import { chooseLoadTool } from '../load/choose-load-tool.ts';
import type { LoadTool } from '../load/load-tool.ts';
import type { BenchContext } from '../bench-suite.ts';
import type { Section } from '../report/section.ts';
import type { BarChart } from '../report/bar-chart.ts';
import { median } from '../report/summary.ts';
import { expectedItem, verifyRows } from '../works/bench-rows.ts';
import { itemsPath } from '../works/routine-works.ts';
import { getRequest } from '../works/work.ts';
import { formatNumber, formatRatio, formatTable } from '../report/table.ts';
import type { WorkersBenchOptions } from './options.ts';

const program = fileURLToPath(new URL('dist/bin.js', import.meta.resolve('pgway/package.json')));

const schemaSql = `
  create function workers_wait() returns text language sql stable as $$ select 'waited' from pg_sleep(0.005) $$;
  comment on function workers_wait is 'HTTP GET /wait';
  create function workers_add(_a int, _b int) returns int language sql immutable as $$ select _a + _b $$;
  comment on function workers_add is 'HTTP GET /add';
`;

interface WorkersWork {
  readonly title: string;
  readonly path: string;
  /** Throws unless the response is right. */
  readonly verify: (body: string) => void;
}

const works: readonly WorkersWork[] = [
  { title: 'waits 5 ms in the database', path: '/wait', verify: (body) => strictEqual(body, 'waited') },
  { title: 'adds two numbers', path: '/add?a=1&b=2', verify: (body) => strictEqual(body, '3') },
  {
    title: '100 rows',
    path: `/api/bench${itemsPath(100)}`,
    verify: (body) => verifyRows(JSON.parse(body), 100, expectedItem),
  },
];

interface Run {
  readonly work: string;
  readonly workers: number;
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p99: number;
}

interface Server {
  readonly workers: number;
  readonly url: string;
  close(): Promise<void>;
}

export async function benchWorkers(options: WorkersBenchOptions, { signal, log }: BenchContext): Promise<Section> {
  const tool = chooseLoadTool();
  const database = await openDatabase(options.database, 1000);
  const servers: Server[] = [];
  try {
    await runSql(database.connectionString, schemaSql);
    // One after the other: all of them stay, so that the rounds interleave.
    for (const workers of options.workers) servers.push(await startServer(database.connectionString, workers, options));
    const runs = await runRounds(servers, { tool, options, signal, log });
    const conditions =
      `PostgreSQL ${database.version}, load by ${tool.name}. ` +
      `Medians of ${options.rounds} interleaved rounds of ${options.seconds} s; ` +
      `${options.connections} HTTP connections, ${options.pool} database connections.`;
    return {
      title: 'Workers',
      text: [conditions, table(runs, options)].join('\n\n'),
      charts: [drawRuns(runs, options)],
      data: { options, postgres: database.version, loadTool: tool.name, runs },
      faults: [],
    };
  } finally {
    await Promise.all(servers.map((server) => server.close()));
    await database.close();
  }
}

async function runSql(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function startServer(connectionString: string, workers: number, { pool }: WorkersBenchOptions): Promise<Server> {
  const settings = ['--port=0', '--log.format=json', `--workers=${workers}`, `--gateway.poolSize=${pool}`];
  const env = { ...process.env, DATABASE_URL: connectionString };
  const child = spawn(process.execPath, [program, ...settings], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const close = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  const url = await Promise.race([readUrl(child), exited.then(() => null)]);
  if (url === null) throw new Error(`the server with ${workers} workers did not start`);
  return { workers, url, close };
}

/** Reads the output on: a full pipe would stop the server. */
function readUrl({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text: string | null = '';
    stdout!.on('data', (chunk: Buffer) => {
      if (text === null) return;
      text += chunk.toString();
      const url = /"url":"(http[^"]+)".*"msg":"ready"/.exec(text)?.[1];
      if (url === undefined) return;
      text = null;
      resolve(url);
    });
  });
}

interface RoundContext {
  readonly tool: LoadTool;
  readonly options: WorkersBenchOptions;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

async function runRounds(servers: readonly Server[], context: RoundContext): Promise<readonly Run[]> {
  const { options, log, signal } = context;
  const runs: Run[] = [];
  for (const work of works) {
    log(`${work.title} …`);
    for (const { url } of servers) await check(url, work);
    for (let round = 0; round < options.rounds; round++) {
      for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
        signal.throwIfAborted();
        runs.push(await measure(server, work, context));
      }
    }
  }
  return runs;
}

async function check(url: string, { path, verify }: WorkersWork): Promise<void> {
  verify(await (await fetch(url + path)).text());
}

async function measure(
  { url, workers }: Server,
  { title, path }: WorkersWork,
  { tool, options, signal }: RoundContext,
): Promise<Run> {
  const { connections, seconds } = options;
  const { requestsPerSecond, p99, failures } = await tool.run({
    base: url,
    requests: [getRequest(path)],
    connections,
    seconds,
    signal,
  });
  if (failures > 0) throw new Error(`${failures} requests of ${path} failed with ${workers} workers`);
  return { work: title, workers, requestsPerSecond, p99 };
}

interface Result {
  readonly work: string;
  readonly workers: number;
  readonly requestsPerSecond: number;
  readonly ratio: number;
  readonly p99: number;
}

function summarizeRuns(runs: readonly Run[], { workers }: WorkersBenchOptions): readonly Result[] {
  return works.flatMap(({ title }) => {
    const figures = (count: number, name: 'requestsPerSecond' | 'p99'): number =>
      median(runs.filter((run) => run.work === title && run.workers === count).map((run) => run[name]));
    const base = figures(workers[0]!, 'requestsPerSecond');
    return workers.map((count) => {
      const requestsPerSecond = figures(count, 'requestsPerSecond');
      return {
        work: title,
        workers: count,
        requestsPerSecond,
        ratio: requestsPerSecond / base,
        p99: figures(count, 'p99'),
      };
    });
  });
}

function table(runs: readonly Run[], options: WorkersBenchOptions): string {
  const rows = summarizeRuns(runs, options).map(({ work, workers, requestsPerSecond, ratio, p99 }) => [
    work,
    String(workers),
    formatNumber(requestsPerSecond),
    formatRatio(ratio),
    formatNumber(p99),
  ]);
  return formatTable(['work', 'workers', 'requests/s', 'ratio', 'p99 ms'], rows);
}

function drawRuns(runs: readonly Run[], options: WorkersBenchOptions): BarChart {
  const results = summarizeRuns(runs, options);
  const groups = works.map(({ title }) => ({
    title,
    bars: results
      .filter(({ work }) => work === title)
      .map(({ workers, requestsPerSecond }) => ({
        label: workers === 1 ? 'one process' : `${workers} workers`,
        value: requestsPerSecond,
        isOwn: true,
      })),
  }));
  return { name: 'workers', title: 'Worker processes', unit: 'requests per second', groups };
}
