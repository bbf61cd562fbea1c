import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { isInstalled, runProgram } from './run-program.ts';
import type { Competitor } from './competitor.ts';
import type { ContenderSettings } from './contenders/contender.ts';
import type { Work } from './work.ts';

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
    does: () => true,
    check: (work) => writeFile(script(folder, work), work.sql),
    async run(work, { connections, seconds, signal }) {
      const clients = Math.min(connections, settings.pool);
      const variables = Object.entries(work.variables).flatMap(([name, value]) => ['-D', `${name}=${value}`]);
      const file = script(folder, work);
      const args = [
        '-n',
        '-M',
        'prepared',
        '-j',
        '1',
        '-c',
        `${clients}`,
        '-T',
        `${seconds}`,
        ...variables,
        '-f',
        file,
      ];
      const output = await runProgram('pgbench', [...args, target], { signal, env });
      return { requestsPerSecond: transactionsPerSecond(output), p50: null, p99: null, cpu: null, rss: null };
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
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
function withoutPassword(connectionString: string): { readonly target: string; readonly env: NodeJS.ProcessEnv } {
  const url = new URL(connectionString);
  const password = decodeURIComponent(url.password);
  url.password = '';
  // Without generic plans, PostgreSQL plans the inlined body of the function at every call.
  const env = { ...process.env, PGOPTIONS: '-c plan_cache_mode=force_generic_plan' };
  return { target: url.href, env: password === '' ? env : { ...env, PGPASSWORD: password } };
}
