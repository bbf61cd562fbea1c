import { part, serverVersion } from '@pgway/testing';
import type { Client } from 'pg';
import { expect, test } from 'vitest';
import { database, diff } from '../support/changed-database.ts';
import { folderWith } from '../support/folder.ts';
import { onlineFiles, openSession, waits } from '../support/online.ts';
import { migrations } from './migrations/all-migrations.ts';

test('a transaction that waits for a lock lets other sessions go on, and tries again', async () => {
  const from = await database('create table film (id int)');
  const to = await database('create table film (id int, title text)');
  const [[, text], ...others] = (await onlineFiles(from, to, await folderWith())) as [readonly [string, string]];
  expect(others).toEqual([]);
  const [session, holder, writer] = [await openSession(from), await openSession(from), await openSession(from)];
  await holder.query('begin; insert into film values (1)');
  const step = session.query(text);
  await expect.poll(() => waits(holder, session)).toBe(true);
  // The insert is behind the waiting statement in the queue, and the holder does not end its transaction.
  await writer.query(`set lock_timeout = '60s'; insert into film values (2)`);
  await holder.query('commit');
  await step;
  expect(await from.query('select id, title from film order by id')).toEqual([
    { id: 1, title: null },
    { id: 2, title: null },
  ]);
});

const known = part(migrations.filter(({ since = 0 }) => since <= serverVersion())).map(
  (migration) => [migration.name, migration] as const,
);

test.each(known)('online: %s', async (_, { before, rows = '', after, refusal = null, values = null }) => {
  const [from, to] = [await database(`${before};${rows}`), await database(after)];
  const files = await onlineFiles(from, to, await folderWith());
  const script = files.map(([, text]) => text);
  const message = await runAll(await openSession(from), script);
  expect({ script, isRefused: message !== null, message }).toEqual({ script, isRefused: refusal !== null, message });
  if (message !== null) return;
  const rest = { stdout: (await diff(from, to)).stdout, values: values === null ? null : await from.query(values[0]) };
  expect({ script, ...rest }).toEqual({ script, stdout: '', values: values?.[1] ?? null });
});

/** Returns the message of the first script that fails. Each one is sent as one query. */
async function runAll(session: Client, scripts: readonly string[]): Promise<string | null> {
  try {
    for (const text of scripts) await session.query(text);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
