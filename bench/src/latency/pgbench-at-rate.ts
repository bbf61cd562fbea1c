import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { ContenderSettings } from '../contenders/contender.ts';
import { pgbenchArguments, withoutPassword } from '../pgbench.ts';
import { runProgram } from '../run-program.ts';
import type { Work } from '../works/work.ts';

/** Returns the latencies of calls at the rate in milliseconds, from the scheduled time. */
export async function runPgbenchAtRate(
  work: Work,
  rate: number,
  settings: ContenderSettings,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<readonly number[]> {
  const folder = await mkdtemp(join(tmpdir(), 'pgway-pgbench-'));
  try {
    const script = join(folder, 'script.sql');
    await writeFile(script, work.pgbench!.sql);
    const { target, env } = withoutPassword(settings.connectionString);
    const load = pgbenchArguments(work.pgbench!, script, { clients: settings.pool, seconds });
    const log = ['-R', rate.toFixed(2), '-l', `--log-prefix=${join(folder, 'log')}`];
    await runProgram('pgbench', [...load, ...log, target], { signal, env });
    const names = (await readdir(folder)).filter((name) => name.startsWith('log'));
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
    return texts.flatMap(readTransactionLog);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads the log of `pgbench -l`, whose third column is the latency in microseconds; with `-R` it counts from the scheduled time. */
export function readTransactionLog(text: string): readonly number[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Number(line.split(' ')[2]) / 1000);
}
