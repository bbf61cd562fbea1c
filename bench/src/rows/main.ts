/**
 * Compares the CPU time per request of builds of the core, in short alternating runs: `npm run bench:rows [name=path]…`, where the path
 * is that of a `dist/index.js`. Other processes on the machine change it little, unlike requests per second.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import pg from 'pg';

import { openDatabase } from '../database.ts';
import { chooseLoadTool } from '../load/load.ts';
import { getRequest } from '../works/work.ts';
import { fifteenTypesSql } from './schema.sql.ts';

interface Build {
  readonly name: string;
  readonly port: number;
  /** Returns the microseconds of CPU, user and system, since the start. */
  cpu(): Promise<number>;
  close(): Promise<void>;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '50' },
    only: { type: 'string' },
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
const load = chooseLoadTool();
const { signal } = new AbortController();

async function startBuild([name, entry]: readonly [string, string], connectionString: string): Promise<Build> {
  const child = fork(fileURLToPath(new URL('gateway.js', import.meta.url)), [entry], {
    env: { ...process.env, NODE_ENV: 'production', DATABASE_URL: connectionString },
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    name,
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

async function measure(build: Build, path: string, seconds: number): Promise<number> {
  const before = await build.cpu();
  const { requests, failures } = await load.run({
    base: `http://127.0.0.1:${build.port}/api/bench`,
    requests: [getRequest(`/${path}`)],
    connections: Number(values.connections),
    seconds,
    signal,
  });
  if (failures > 0) throw new Error(`${build.name}: ${failures} of ${requests} requests to ${path} failed`);
  return ((await build.cpu()) - before) / requests;
}

async function measureRound(running: readonly Build[], path: string): Promise<readonly number[]> {
  const figures: number[] = [];
  for (const build of running) figures.push(await measure(build, path, Number(values.seconds)));
  return figures;
}

async function compareBodies(running: readonly Build[], path: string): Promise<void> {
  const bodies = await Promise.all(
    running.map(async ({ port }) => (await fetch(`http://127.0.0.1:${port}/api/bench/${path}`)).text()),
  );
  if (bodies.some((body) => body !== bodies[0])) throw new Error(`the builds answer ${path} differently`);
}

const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)]!;

const database = await openDatabase(null, 10_000);
const client = new pg.Client({ connectionString: database.connectionString });
await client.connect();
await client.query(fifteenTypesSql);
await client.end();
const running = await Promise.all(builds.map((build) => startBuild(build, database.connectionString)));
try {
  console.log(`microseconds of CPU per request, median of ${values.rounds} rounds (lowest, ratio to the first build)`);
  for (const [name, path] of works) {
    await compareBodies(running, path!);
    for (const build of running) await measure(build, path!, 1);
    const figures: (readonly number[])[] = [];
    for (let round = 0; round < Number(values.rounds); round++) figures.push(await measureRound(running, path!));
    const columns = running.map((build, index) => {
      const column = figures.map((round) => round[index]!);
      // The ratio within a round: other processes of the machine slow down both.
      const ratio = median(figures.map((round) => round[index]! / round[0]!));
      return `${build.name} ${median(column).toFixed(1)} (${Math.min(...column).toFixed(1)}, ${ratio.toFixed(2)} ×)`;
    });
    console.log(`${name!.padEnd(20)} ${columns.join('   ')}`);
  }
} finally {
  await Promise.all(running.map((build) => build.close()));
  await database.close();
}
