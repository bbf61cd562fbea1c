/** The entry point of a process with a `pg` client that runs the row command for rows that are already parsed. */
import pg from 'pg';

import { serve } from './child.ts';
import { csvFields } from './content.ts';

export interface RowRun {
  readonly connectionString: string;
  readonly sql: string;
  readonly rows: number;
  /** Sends rows without waiting for the previous one. Otherwise the third parameter is the previous result. */
  readonly pipeline: boolean;
}

/** Rows on their way: enough that the server never waits for the client. */
const maxRunning = 2000;

/** Returns the seconds from the first row to the end of the transaction. */
async function run({ connectionString, sql, rows, pipeline }: RowRun): Promise<number> {
  const client = new pg.Client({ connectionString, pipeline } as pg.ClientConfig);
  await client.connect();
  const all = Array.from({ length: rows }, (_, index) => csvFields(index + 1));
  const start = performance.now();
  await client.query('begin');
  const insert = async (values: readonly unknown[]): Promise<string | null> => {
    const { rows: results } = await client.query({ name: 'row', text: sql, values: [...values], rowMode: 'array' });
    return (results as string[][])[0]?.[0] ?? null;
  };
  await (pipeline ? insertPipelined(all, insert) : insertInOrder(all, insert));
  await client.query('commit');
  const seconds = (performance.now() - start) / 1000;
  await client.end();
  return seconds;
}

type Insert = (values: readonly unknown[]) => Promise<string | null>;

async function insertPipelined(all: readonly (readonly string[])[], insert: Insert): Promise<void> {
  const running: Promise<unknown>[] = [];
  for (const [index, fields] of all.entries()) {
    running.push(insert([index + 1, fields]));
    // Half of the rows stay on their way.
    if (running.length >= maxRunning) await Promise.all(running.splice(0, maxRunning / 2));
  }
  await Promise.all(running);
}

async function insertInOrder(all: readonly (readonly string[])[], insert: Insert): Promise<void> {
  let previous: string | null = null;
  for (const [index, fields] of all.entries()) {
    previous = await insert([index + 1, fields, previous]);
  }
}

export type RowClient = { readonly run: typeof run };

serve({ run });
