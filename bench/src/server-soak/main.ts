/** Runs a mixed load against the standalone server, and compares its memory: `npm run soak:server`. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

import { Arguments } from '../arguments.ts';
import { startPgwayServer } from '../pgway-server.ts';
import { openDatabase } from '../database.ts';
import { HttpClient } from '../soak/http-client.ts';
import { formatMebibytes } from '../soak/memory.ts';
import { Random } from '../soak/random.ts';
import { median } from '../report/summary.ts';
import { operations, type OperationContext, staticFiles } from './operations.ts';
import { serverSoakSql } from './schema.sql.ts';

const usage = `npm run soak:server -- [options]

  --requests=N      requests in all (2000000)
  --clients=N       concurrent clients (32)
`;
const maxGrowth = 0.05;
const sampleMs = 1000;
const progressMs = 15_000;
const requestTimeoutMs = 30_000;
const maxReasons = 20;

interface Soak {
  readonly requests: number;
  readonly failures: ReadonlyMap<string, number>;
  /** Resident bytes. */
  readonly memory: readonly number[];
  readonly seconds: number;
}

function configuration(folder: string): object {
  return {
    log: { file: { path: join(folder, 'pgway.log'), maxSize: 10_000_000, maxFiles: 2 } },
    compression: { enabled: true },
    securityHeaders: { enabled: true },
    metrics: { path: '/metrics' },
    cookie: { enabled: true },
    staticFiles: { root: join(folder, 'public') },
    rateLimits: { policies: { few: { type: 'sliding-window', limit: 100, window: 1 } } },
    limits: { maxConnectionsPerAddress: 1000 },
    uploadOptions: { defaultUploadHandlerOptions: { fileSystem: { path: join(folder, 'uploads') } } },
  };
}

async function runClients(port: number, wanted: number, clients: number, sample: () => number): Promise<Soak> {
  const http = new HttpClient(`http://127.0.0.1:${port}`, clients, requestTimeoutMs);
  const failures = new Map<string, number>();
  const memory: number[] = [];
  let requests = 0;
  const begin = performance.now();
  const seconds = (): number => (performance.now() - begin) / 1000;
  const sampling = setInterval(() => memory.push(sample()), sampleMs);
  const progress = setInterval(() => {
    const rate = Math.round(requests / seconds());
    process.stderr.write(`${requests} requests, ${rate}/s, ${formatMebibytes(memory.at(-1) ?? 0)}\n`);
  }, progressMs);
  const fail: OperationContext['fail'] = (operation, reason) => {
    const text = `${operation}: ${reason}`;
    if (failures.size < maxReasons || failures.has(text)) failures.set(text, (failures.get(text) ?? 0) + 1);
  };
  const runClient = async (index: number): Promise<void> => {
    const random = new Random(index + 1);
    const context: OperationContext = { http, port, random, fail, count: () => void (requests += 1) };
    while (requests < wanted) {
      const operation = choose(random);
      await operation.run(context, operation.name);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => runClient(index)));
  clearInterval(sampling);
  clearInterval(progress);
  http.close();
  return { requests, failures, memory, seconds: seconds() };
}

const totalWeight = operations.reduce((sum, { weight }) => sum + weight, 0);

function choose(random: Random): (typeof operations)[number] {
  let rest = random.next() * totalWeight;
  return operations.find(({ weight }) => (rest -= weight) < 0) ?? operations[0]!;
}

/** Prints the result. Returns whether every response was right and the memory did not grow. */
function report({ requests, failures, memory, seconds }: Soak): boolean {
  const quarter = (index: number): number =>
    median(memory.slice((memory.length * index) / 4, (memory.length * (index + 1)) / 4));
  const growth = quarter(3) / quarter(1) - 1;
  const lines = [
    `${requests} requests in ${Math.round(seconds)} s (${Math.round(requests / seconds)}/s)`,
    `resident memory, medians of the quarters: ${[0, 1, 2, 3].map((index) => formatMebibytes(quarter(index))).join(', ')}`,
    `last quarter against the second: ${(growth * 100).toFixed(1)} % (at most ${maxGrowth * 100} %)`,
    ...[...failures].map(([reason, count]) => `FAILED ${count} times: ${reason}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return failures.size === 0 && growth <= maxGrowth;
}

async function main(args: readonly string[]): Promise<number> {
  const values = new Arguments(args, ['requests', 'clients'], ['help']);
  if (values.has('help')) {
    process.stdout.write(usage);
    return 0;
  }
  const folder = await mkdtemp(join(tmpdir(), 'pgway-soak-'));
  const database = await openDatabase(null, 1);
  try {
    await mkdir(join(folder, 'public'));
    await mkdir(join(folder, 'uploads'));
    for (const [name, content] of Object.entries(staticFiles)) {
      await writeFile(join(folder, 'public', name), content);
    }
    await writeFile(join(folder, 'pgway.json'), JSON.stringify(configuration(folder)));
    const client = new pg.Client({ connectionString: database.connectionString });
    await client.connect();
    await client.query(serverSoakSql);
    await client.end();
    const settings = { connectionString: database.connectionString, pool: 10 };
    const server = await startPgwayServer(settings, [join(folder, 'pgway.json')]);
    const cleaning = setInterval(() => void emptyFolder(join(folder, 'uploads')), 10_000);
    try {
      const sample = (): number => server.usage()?.rss ?? 0;
      const soak = await runClients(
        server.port,
        values.count('requests', { byDefault: 2_000_000, max: 99_999_999 }),
        values.count('clients', { byDefault: 32 }),
        sample,
      );
      return report(soak) ? 0 : 1;
    } finally {
      clearInterval(cleaning);
      await server.close();
    }
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes the files of finished uploads. */
async function emptyFolder(path: string): Promise<void> {
  const names = (await readdir(path)).filter((name) => !name.startsWith('.'));
  await Promise.all(names.map((name) => rm(join(path, name), { force: true })));
}

process.exitCode = await main(process.argv.slice(2));
