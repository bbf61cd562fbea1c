/** Compares numbers of worker processes of the standalone server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import pg from 'pg';

import { openDatabase } from '../database.ts';
import { chooseLoadTool, type LoadTool } from '../load.ts';
import { describeMachine } from '../report.ts';
import { formatNumber, formatRatio, formatTable } from '../table.ts';
import type { WorkersBenchOptions } from './options.ts';

const program = fileURLToPath(new URL('dist/bin.js', import.meta.resolve('pgway/package.json')));

const schemaSql = `
  create function workers_wait() returns text language sql stable as $$ select 'waited' from pg_sleep(0.005) $$;
  comment on function workers_wait is 'HTTP GET /wait';
  create function workers_add(_a int, _b int) returns int language sql immutable as $$ select _a + _b $$;
  comment on function workers_add is 'HTTP GET /add';
`;

const works = [
  { title: 'waits 5 ms in the database', path: '/wait', body: 'waited' },
  { title: 'adds two numbers', path: '/add?a=1&b=2', body: '3' },
] as const;

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

export interface WorkersReport {
  readonly date: string;
  readonly runs: readonly Run[];
}

export async function benchWorkers(
  options: WorkersBenchOptions,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<{ readonly report: WorkersReport; readonly text: string }> {
  const tool = chooseLoadTool();
  const machine = describeMachine();
  const date = new Date().toISOString();
  const database = await openDatabase(options.database, 1);
  const servers: Server[] = [];
  try {
    await runSql(database.connectionString, schemaSql);
    // One after the other: all of them stay, so that the rounds interleave.
    for (const workers of options.workers) servers.push(await startServer(database.connectionString, workers, options));
    const runs = await runRounds(servers, { tool, options, signal, log });
    const conditions =
      `Node ${process.versions.node}, PostgreSQL ${database.version}, load by ${tool.name}; ` +
      `${machine.processors} × ${machine.processor}, shared by load, server and database; ` +
      `load average ${machine.loadAverage.toFixed(1)} before the start.\n` +
      `Medians of ${options.rounds} interleaved rounds of ${options.seconds} s; ` +
      `${options.connections} HTTP connections, ${options.pool} database connections.`;
    return { report: { date, runs }, text: [`# Workers, ${date}`, conditions, table(runs, options)].join('\n\n') };
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
    for (const { url } of servers) await check(`${url}${work.path}`, work.body);
    for (let round = 0; round < options.rounds; round++) {
      for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
        signal.throwIfAborted();
        runs.push(await measure(server, work, context));
      }
    }
  }
  return runs;
}

async function check(url: string, body: string): Promise<void> {
  const text = await (await fetch(url)).text();
  if (text !== body) throw new Error(`${url} answered ${text.slice(0, 200)} instead of ${body}`);
}

async function measure(
  { url, workers }: Server,
  { title, path }: (typeof works)[number],
  { tool, options, signal }: RoundContext,
): Promise<Run> {
  const { connections, seconds } = options;
  const { requestsPerSecond, p99, failures } = await tool.run(`${url}${path}`, { connections, seconds, signal });
  if (failures > 0) throw new Error(`${failures} requests of ${path} failed with ${workers} workers`);
  return { work: title, workers, requestsPerSecond, p99 };
}

function table(runs: readonly Run[], { workers }: WorkersBenchOptions): string {
  const rows = works.flatMap(({ title }) => {
    const of = (count: number): readonly Run[] => runs.filter((run) => run.work === title && run.workers === count);
    const base = median(of(workers[0]!).map((run) => run.requestsPerSecond));
    return workers.map((count) => {
      const rate = median(of(count).map((run) => run.requestsPerSecond));
      const p99 = median(of(count).map((run) => run.p99));
      return [title, String(count), formatNumber(rate), formatRatio(rate / base), formatNumber(p99)];
    });
  });
  return formatTable(['work', 'workers', 'requests/s', 'ratio', 'p99 ms'], rows);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)]!;
}
