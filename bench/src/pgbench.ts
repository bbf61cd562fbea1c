import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { isInstalled, runProgram } from './run-program.ts';
import type { Competitor } from './competitor.ts';
import type { ContenderSettings } from './contenders/contender.ts';
import type { Work } from './works/work.ts';

export const pgbenchTitle = 'limit: pgbench, no HTTP';

/**
 * Runs the same calls with pgbench, which ignores the results: prepared, over as many connections as each contender has. Returns null
 * when pgbench is not installed.
 */
export async function startPgbench(settings: ContenderSettings): Promise<Competitor | null> {
  if (!isInstalled('pgbench')) return null;
  const folder = await mkdtemp(join(tmpdir(), 'pgway-pgbench-'));
  const { target, env } = withoutPassword(settings.connectionString);
  return {
    title: pgbenchTitle,
    does: (work) => work.pgbench !== null,
    prepare: (work) => writeFile(script(folder, work), work.pgbench!.sql),
    check: async () => null,
    async run(work, { connections, seconds, signal }) {
      const clients = Math.min(connections, settings.pool);
      const args = pgbenchArguments(work, script(folder, work), { clients, seconds });
      const output = await runProgram('pgbench', [...args, target], { signal, env });
      return {
        requestsPerSecond: transactionsPerSecond(output),
        failures: 0,
        p50: null,
        p99: null,
        cpu: null,
        rss: null,
      };
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Returns the arguments for prepared calls by one thread. */
export function pgbenchArguments(
  work: Work,
  file: string,
  { clients, seconds }: { readonly clients: number; readonly seconds: number },
): readonly string[] {
  const variables = Object.entries(work.pgbench!.variables).flatMap(([name, value]) => ['-D', `${name}=${value}`]);
  return ['-n', '-M', 'prepared', '-j', '1', '-c', `${clients}`, '-T', `${seconds}`, ...variables, '-f', file];
}

function script(folder: string, work: Work): string {
  return join(folder, `${work.name}.sql`);
}

function transactionsPerSecond(output: string): number {
  const rate = /^tps = ([0-9.]+)/m.exec(output)?.[1];
  if (rate === undefined) throw new Error(`pgbench printed no rate: ${output}`);
  return Number(rate);
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
