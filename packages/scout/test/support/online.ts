/** Runs the steps of `--diff --online`. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, onTestFinished } from 'vitest';
import { type Database, diff } from './changed-database.ts';
import { type DiffStatement } from './migration.ts';

export interface OnlineStep {
  readonly name: string;
  readonly isTransactional: boolean;
  readonly locks: readonly { readonly table: string; readonly mode: string }[];
  readonly changes: readonly { readonly statements: readonly DiffStatement[] }[];
}

export async function onlineSteps(current: Database, wanted: Database): Promise<readonly OnlineStep[]> {
  const { code, stdout } = await diff(current, wanted, '--online', '--json');
  expect(code).toBe(0);
  return JSON.parse(stdout) as readonly OnlineStep[];
}

/** Opens a session, which ends with the test. */
export async function openSession({ connectionString }: Database): Promise<Client> {
  const client = new Client({ connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Writes the files into the folder, and returns their texts by name, in the order of the names. */
export async function onlineFiles(
  current: Database,
  wanted: Database,
  folder: string,
  ...argv: readonly string[]
): Promise<readonly (readonly [name: string, text: string])[]> {
  const path = join(folder, 'steps');
  const { code, stdout, stderr } = await diff(current, wanted, '--online', '--output', path, ...argv);
  expect([code, stdout, stderr.replaceAll(/^note: .*\n/gm, '')]).toEqual([0, '', '']);
  const names = (await readdir(path)).toSorted();
  return Promise.all(names.map(async (name) => [name, await readFile(join(path, name), 'utf8')] as const));
}

/** Whether a session waits for a lock. */
export async function waits(client: Client, session: Client): Promise<boolean> {
  const { rows } = await client.query('select from pg_locks where pid = $1 and not granted', [processId(session)]);
  return rows.length > 0;
}

export function processId(client: Client): number {
  return (client as unknown as { readonly processID: number }).processID;
}
