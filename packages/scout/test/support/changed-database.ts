/** Databases whose schema is changed by the statements of `--diff`. */
import { freshDatabase, serverConnectionString, serverVersion, type TestDatabase } from '@pgway/testing';
import { Client } from 'pg';
import { expect, onTestFinished } from 'vitest';
import { fingerprint } from './fingerprint.ts';
import { type Outcome, scout } from './scout.ts';

export type Database = Pick<TestDatabase, 'connectionString'>;

export async function database(sql: string): Promise<TestDatabase> {
  const created = await freshDatabase(sql);
  onTestFinished(() => created.drop());
  return created;
}

export function diff(current: Database, wanted: Database, ...argv: readonly string[]): Promise<Outcome> {
  return scout(['--diff', wanted.connectionString, '-c', current.connectionString, ...argv]);
}

/** Runs the statements before the transaction, then the transaction. */
export async function runScript({ connectionString }: Database, script: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const start = script.indexOf('\nBEGIN;\n');
    const [alone, transaction] = start === -1 ? [script, ''] : [script.slice(0, start), script.slice(start)];
    await client.query(alone);
    await client.query(transaction);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${script}`, { cause: error });
  } finally {
    await client.end();
  }
}

/** Returns the rows of only one of the catalogs. */
export function difference(source: readonly string[], copy: readonly string[]): readonly string[] {
  const [inSource, inCopy] = [new Set(source), new Set(copy)];
  return [
    ...source.filter((line) => !inCopy.has(line)).map((line) => `- ${line}`),
    ...copy.filter((line) => !inSource.has(line)).map((line) => `+ ${line}`),
  ];
}

/**
 * Gives a database the schema of another one, verifies that it has it, and returns the script.
 * @param major the version of their server
 */
export async function change(current: Database, wanted: Database, major: number = serverVersion()): Promise<string> {
  const { code, stdout, stderr } = await diff(current, wanted);
  expect([code, stdout === '' ? '' : stderr]).toEqual([0, '']);
  if (stdout !== '') await runScript(current, stdout);
  // PostgreSQL 13 has no list of the references between catalogs. The slow tests take the list of a newer server; in a run on 13
  // alone, only the second `--diff` compares.
  if (major >= 14 || serverVersion() >= 14) {
    const keysFrom = major < 14 ? serverConnectionString() : undefined;
    const [after, expected] = [
      await fingerprint(current, { hasHistory: false, keysFrom }),
      await fingerprint(wanted, { hasHistory: false, keysFrom }),
    ];
    // The script is in the message of a failure.
    expect({ script: stdout, difference: difference(expected, after) }).toEqual({ script: stdout, difference: [] });
  }
  const again = await diff(current, wanted);
  const equal = { code: 0, stdout: '', stderr: expect.stringMatching(/^the schemas are equal/) as string };
  expect({ script: stdout, again }).toEqual({ script: stdout, again: equal });
  return stdout;
}
