import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { isInstalled, runProgram } from './run-program.ts';
import { type Competitor, cpuPerCall, type ReadCpu } from './competitor.ts';
import type { ContenderSettings } from './contenders/contender.ts';
import type { PgbenchScript, Work } from './works/work.ts';

export const pgbenchTitle = 'limit: pgbench, no HTTP';

const pipelineLength = 5;
export const pipelineTitle: string = `limit: pgbench, pipelines of ${pipelineLength}, no HTTP`;

/** Returns the calls of a work that pgbench makes; null: none. */
export type SelectScript = (work: Work) => PgbenchScript | null;

/** The calls of a work in pipelines: with 50 HTTP connections and ten of the database, each of these has five calls at a time. */
export const selectPipeline: SelectScript = ({ pgbench }) =>
  pgbench === null
    ? null
    : {
        ...pgbench,
        sql: `\\startpipeline\n${`${pgbench.sql}\n`.repeat(pipelineLength)}\\endpipeline\n`,
        calls: pipelineLength,
      };

/**
 * Runs calls with pgbench, which ignores the results: prepared, over as many connections as each contender has. Returns null when pgbench is
 * not installed.
 */
export async function startPgbench(
  title: string,
  settings: ContenderSettings,
  select: SelectScript,
  databaseCpu: ReadCpu,
): Promise<Competitor | null> {
  if (!isInstalled('pgbench')) return null;
  const folder = await mkdtemp(join(tmpdir(), 'pgway-pgbench-'));
  const { target, env } = withoutPassword(settings.connectionString);
  const file = (work: Work): string => join(folder, `${work.name}.sql`);
  return {
    title,
    does: (work) => select(work) !== null,
    prepare: (work) => writeFile(file(work), select(work)!.sql),
    check: async () => null,
    async run(work, { connections, seconds, signal }) {
      const clients = Math.min(connections, settings.pool);
      const script = select(work)!;
      const args = pgbenchArguments(script, file(work), { clients, seconds });
      const calls = script.calls ?? 1;
      const before = databaseCpu();
      const output = await runProgram('pgbench', [...args, target], { signal, env });
      const { rate, transactions } = readPgbenchOutput(output);
      return {
        requestsPerSecond: rate * calls,
        failures: 0,
        p50: null,
        p99: null,
        cpu: null,
        databaseCpu: cpuPerCall(before, databaseCpu(), transactions * calls),
        rss: null,
      };
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Returns the arguments for prepared calls by one thread. */
export function pgbenchArguments(
  { variables: values }: PgbenchScript,
  file: string,
  { clients, seconds }: { readonly clients: number; readonly seconds: number },
): readonly string[] {
  const variables = Object.entries(values).flatMap(([name, value]) => ['-D', `${name}=${value}`]);
  return ['-n', '-M', 'prepared', '-j', '1', '-c', `${clients}`, '-T', `${seconds}`, ...variables, '-f', file];
}

function readPgbenchOutput(output: string): { readonly rate: number; readonly transactions: number } {
  const rate = /^tps = ([0-9.]+)/m.exec(output)?.[1];
  const transactions = /^number of transactions actually processed: (\d+)/m.exec(output)?.[1];
  if (rate === undefined || transactions === undefined) throw new Error(`pgbench printed no rate: ${output}`);
  return { rate: Number(rate), transactions: Number(transactions) };
}

/** Moves the password to the environment: the process list shows command lines. */
export function withoutPassword(connectionString: string): {
  readonly target: string;
  readonly env: NodeJS.ProcessEnv;
} {
  const url = new URL(connectionString);
  const password = decodeURIComponent(url.password);
  url.password = '';
  // Without generic plans, PostgreSQL plans the inlined body of the function at every call.
  const env = { ...process.env, PGOPTIONS: '-c plan_cache_mode=force_generic_plan' };
  return { target: url.href, env: password === '' ? env : { ...env, PGPASSWORD: password } };
}
