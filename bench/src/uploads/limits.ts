import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import pg from 'pg';

import { isInstalled, runProgram } from '../run-program.ts';
import { startChild } from './child.ts';
import type { RowClient } from './row-client.ts';
import type { UploadWork } from './works.ts';

export interface LimitSettings {
  readonly connectionString: string;
  /** A folder on the disk to which the gateway writes. */
  readonly folder: string;
  /** A file of the size of the large uploads, which the page cache holds. */
  readonly source: string;
  readonly signal: AbortSignal;
}

const hasPsql = isInstalled('psql');

/** The names of the limits in the report. */
export const limitTitles: Readonly<Record<'copy' | 'large-object' | 'pipelined' | 'inOrder', string>> = {
  copy: 'cp',
  'large-object': hasPsql ? 'psql \\lo_import' : 'pg client, lowrite in pieces of 1 MiB (psql is not installed)',
  pipelined: 'pg client in pipeline mode',
  inOrder: 'pg client, row by row',
};

/** Does the work of an upload without a gateway. Returns the seconds; null without a comparison. */
export async function runLimit({ limit, amount }: UploadWork, settings: LimitSettings): Promise<number | null> {
  switch (limit?.kind) {
    case undefined:
      return null;
    case 'copy':
      return copyFile(settings);
    case 'large-object':
      return hasPsql ? importByPsql(settings) : importByClient(settings);
    case 'row-client': {
      const child = startChild<RowClient>('row-client.js');
      try {
        const { sql, pipeline } = limit;
        const { connectionString } = settings;
        return await child.call('run', { connectionString, sql, rows: amount, pipeline });
      } finally {
        await child.close();
      }
    }
  }
}

async function copyFile({ source, folder, signal }: LimitSettings): Promise<number> {
  const target = join(folder, 'copy');
  try {
    const start = performance.now();
    await runProgram('cp', [source, target], { signal });
    return secondsSince(start);
  } finally {
    await rm(target, { force: true });
  }
}

async function importByPsql({ connectionString, source, signal }: LimitSettings): Promise<number> {
  const url = new URL(connectionString);
  const env = { ...process.env, PGPASSWORD: decodeURIComponent(url.password) };
  url.password = '';
  const start = performance.now();
  await runProgram('psql', ['-X', '-q', '-c', `\\lo_import '${source}'`, url.href], { signal, env });
  return secondsSince(start);
}

async function importByClient({ connectionString, source }: LimitSettings): Promise<number> {
  const start = performance.now();
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query('begin');
  const { rows } = await client.query<{ descriptor: number }>('select lo_open(lo_create(0), 131072) as descriptor');
  const text = 'select lowrite($1, $2)';
  for await (const piece of createReadStream(source, { highWaterMark: 1024 * 1024 })) {
    await client.query({ name: 'write', text, values: [rows[0]?.descriptor, piece as Buffer] });
  }
  await client.query('commit');
  await client.end();
  return secondsSince(start);
}

function secondsSince(start: number): number {
  return (performance.now() - start) / 1000;
}
