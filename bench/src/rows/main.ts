/**
 * Compares the CPU time per request of builds of the core, in short alternating batches: `npm run bench:rows [name=path]…`, where the path
 * is that of a `dist/index.js`. Other processes on the machine change it little, unlike requests per second. With `--files`, each build
 * also answers from SQL files with the statements of the functions.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import pg from 'pg';

import { openDatabase } from '../database.ts';
import { HttpConnection } from '../http-connection.ts';
import { getRequest } from '../works/work.ts';
import { fifteenTypesSql, sqlFiles } from './schema.sql.ts';

/** The server and the database. */
interface Cost {
  readonly own: number;
  readonly database: number;
}

interface Build {
  readonly name: string;
  /** The path of its endpoints. */
  readonly folder: string;
  readonly port: number;
  /** Returns the microseconds of CPU, user and system, since the start. */
  cpu(): Promise<number>;
  close(): Promise<void>;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '40' },
    /** Milliseconds of CPU. */
    batch: { type: 'string', default: '50' },
    /** Requests. */
    warm: { type: 'string', default: '4000' },
    connections: { type: 'string', default: '50' },
    only: { type: 'string' },
    files: { type: 'boolean', default: false },
  },
});
const works = [
  ['scalar', 'add?a=1&b=2'],
  ...[1, 10, 100, 500].map((count) => [`${count} rows`, `items?lim=${count}`] as const),
  ...[10, 100].map((count) => [`${count} rows × 15 types`, `fifteen?lim=${count}`] as const),
].filter(([name]) => values.only === undefined || values.only.split(',').includes(name!));
const builds = (positionals.length === 0 ? ['this=@pgway/core'] : positionals).map(
  (text) => text.split('=', 2) as [string, string],
);

interface StartOptions {
  readonly name: string;
  readonly entry: string;
  readonly folder: string;
}

async function startBuild({ name, entry, folder }: StartOptions): Promise<Build> {
  const child = fork(fileURLToPath(new URL('gateway.js', import.meta.url)), [entry], {
    env: { ...process.env, NODE_ENV: 'production', DATABASE_URL: database.connectionString, SQL_FILES: sqlFolder },
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    name,
    folder,
    port,
    cpu: async () => {
      child.send('usage');
      return ((await once(child, 'message')) as [number])[0];
    },
    close: async () => {
      const exit = once(child, 'exit');
      child.disconnect();
      await exit;
    },
  };
}

/** The keep-alive connections to a build. */
const connectionsOf = new Map<Build, readonly HttpConnection[]>();

/** Sends the requests over all connections, each of which has one at a time. */
async function measure(build: Build, path: string, requests: number): Promise<Cost> {
  const [before, databaseBefore] = [await build.cpu(), database.cpu() ?? 0];
  let left = requests;
  const send = async (connection: HttpConnection): Promise<void> => {
    while (left-- > 0) {
      const { status } = await connection.send(getRequest(`/${path}`));
      if (status !== 200) throw new Error(`${build.name}: ${path} returned ${status}`);
    }
  };
  await Promise.all(connectionsOf.get(build)!.map(send));
  const own = (await build.cpu()) - before;
  return { own: own / requests, database: ((database.cpu() ?? 0) - databaseBefore) / requests };
}

/** The order changes from round to round. */
async function measureRound(round: number, path: string, requests: number): Promise<readonly Cost[]> {
  const figures = new Map<Build, Cost>();
  for (const build of round % 2 === 0 ? running : running.toReversed())
    figures.set(build, await measure(build, path, requests));
  return running.map((build) => figures.get(build)!);
}

/** Sends requests until the compiler of JavaScript has nothing left to do, and returns the number of requests of a batch. */
async function warmUp(path: string): Promise<number> {
  const warm = Number(values.warm);
  for (const build of running) await measure(build, path, warm);
  const { own } = await measure(running[0]!, path, Math.ceil(warm / 10));
  return Math.max(20, Math.round((Number(values.batch) * 1000) / own));
}

async function compareBodies(running: readonly Build[], path: string): Promise<void> {
  const bodies = await Promise.all(
    running.map(async ({ port, folder }) => (await fetch(`http://127.0.0.1:${port}/api/${folder}/${path}`)).text()),
  );
  if (bodies.some((body) => body !== bodies[0])) throw new Error(`the builds answer ${path} differently`);
}

const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)]!;

function report(name: string, rounds: readonly (readonly Cost[])[]): string {
  const sum = (index: number): number => rounds.reduce((total, round) => total + round[index]!.database, 0);
  const columns = running.map((build, index) => {
    const own = rounds.map((round) => round[index]!.own);
    // The ratio within a round: other processes of the machine slow down both.
    const ratio = median(rounds.map((round) => round[index]!.own / round[0]!.own));
    const figures = `${median(own).toFixed(1)} (${Math.min(...own).toFixed(1)}, ${ratio.toFixed(2)} ×)`;
    // A batch is short for the clock of other processes.
    const database = `${(sum(index) / rounds.length).toFixed(1)} (${(sum(index) / sum(0)).toFixed(2)} ×)`;
    return `${build.name} ${figures}, database ${database}`;
  });
  return `${name.padEnd(20)} ${columns.join('   ')}`;
}

const database = await openDatabase(null, 10_000);
const client = new pg.Client({ connectionString: database.connectionString });
await client.connect();
await client.query(fifteenTypesSql);
await client.end();
const sqlFolder = await mkdtemp(join(tmpdir(), 'pgway-bench-files-'));
await Promise.all(sqlFiles.map(({ name, text }) => writeFile(join(sqlFolder, name), text)));
const kinds = values.files ? ['bench', 'files'] : ['bench'];
const running = await Promise.all(
  builds.flatMap(([name, entry]) =>
    kinds.map((folder) => startBuild({ name: folder === 'files' ? `${name}, files` : name, entry, folder })),
  ),
);
for (const build of running) {
  const open = (): HttpConnection => new HttpConnection(`http://127.0.0.1:${build.port}/api/${build.folder}`);
  connectionsOf.set(build, Array.from({ length: Number(values.connections) }, open));
}
try {
  console.log(
    `microseconds of CPU per request, median of ${values.rounds} rounds (lowest, ratio to the first build); of the database the mean`,
  );
  for (const [name, path] of works) {
    await compareBodies(running, path!);
    const requests = await warmUp(path!);
    const rounds: (readonly Cost[])[] = [];
    for (let round = 0; round < Number(values.rounds); round++) rounds.push(await measureRound(round, path!, requests));
    console.log(report(name!, rounds));
  }
} finally {
  await Promise.all([...connectionsOf.values()].flat().map((connection) => connection.close()));
  await Promise.all(running.map((build) => build.close()));
  await database.close();
  await rm(sqlFolder, { recursive: true, force: true });
}
