import { PassThrough } from 'node:stream';
import { freshDatabase, type TestDatabase } from '@pgway/testing';
import { Client } from 'pg';
import { onTestFinished } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { folderWith } from './folder.ts';
import { createTestProcess } from './process-context.ts';

/** The result of a command. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Given {
  readonly connectionString: string;
  readonly channel?: string | null;
  /** The line that is typed at the prompt; absent: no terminal. */
  readonly answer?: string;
}

/** Runs `pgway install watch`. */
export async function installWatch(
  { connectionString, channel = 'reload', answer }: Given,
  ...words: string[]
): Promise<Outcome> {
  const folder = await folderWith({ 'pgway.json': { connectionString, gateway: { refreshOnNotify: channel } } });
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  if (answer !== undefined) terminal.write(`${answer}\n`);
  const process = createTestProcess(folder, answer === undefined ? null : 80, answer === undefined ? '' : terminal);
  const code = await run(['install', 'watch', ...words], {}, process);
  return { code, ...process.text };
}

/** Creates a database, which is dropped after the test. */
export async function createDatabase(sql = ''): Promise<TestDatabase> {
  const database = await freshDatabase(sql);
  onTestFinished(() => database.drop());
  return database;
}

/** Listens to a channel. `commands` runs each statement and returns the payloads that arrive for it. */
export async function listen(
  { connectionString }: TestDatabase,
  channel: string,
): Promise<(sql: string) => Promise<readonly string[]>> {
  const client = new Client({ connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  const received: string[] = [];
  client.on('notification', ({ payload }) => received.push(payload ?? ''));
  client.on('notice', ({ message }) => received.push(`notice: ${message}`));
  await client.query(`listen ${client.escapeIdentifier(channel)}`);
  return async (sql) => {
    await client.query(sql);
    // Notifications of a session itself arrive before its next response.
    await client.query('select');
    return received.splice(0);
  };
}

/** Runs `pgway install idempotency`. */
export async function installIdempotency(configuration: object, ...words: string[]): Promise<Outcome> {
  const process = createTestProcess(await folderWith({ 'pgway.json': configuration }));
  const code = await run(['install', 'idempotency', ...words], {}, process);
  return { code, ...process.text };
}

/** Runs `pgway install changes`. */
export function installChanges(database: Pick<TestDatabase, 'connectionString'>, ...words: string[]): Promise<Outcome> {
  return install('changes', database, words);
}

/** Runs `pgway install realtime`. */
export function installRealtime(
  database: Pick<TestDatabase, 'connectionString'>,
  ...words: string[]
): Promise<Outcome> {
  return install('realtime', database, words);
}

async function install(
  part: string,
  { connectionString }: Pick<TestDatabase, 'connectionString'>,
  words: readonly string[],
): Promise<Outcome> {
  const process = createTestProcess(await folderWith({ 'pgway.json': { connectionString } }));
  const code = await run(['install', part, ...words], {}, process);
  return { code, ...process.text };
}
