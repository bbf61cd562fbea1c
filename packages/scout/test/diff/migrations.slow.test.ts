/** Kinds of migrations, with rows: each script runs, or refuses with its reason; then the schemas are equal. */
import { part, serverVersion, type TestDatabase } from '@pgway/testing';
import { expect, test } from 'vitest';
import { database, diff } from '../support/changed-database.ts';
import { type DiffStatement, migrate } from '../support/migration.ts';
import { migrations } from './migrations/all-migrations.ts';
import type { Migration } from './migrations/migration.ts';

const known = part(migrations.filter(({ since = 0 }) => since <= serverVersion())).map(
  (migration) => [migration.name, migration] as const,
);

test('the names of the migrations are unique', () => {
  expect(new Set(migrations.map(({ name }) => name)).size).toBe(migrations.length);
});

test.each(known)('%s', async (_, { before, rows = '', after, refusal = null, values = null }) => {
  const current = await database(`${before};${rows}`);
  const [wanted, former] = [await database(after), await database(before)];
  const { statements, ...outcome } = await migrate(current, wanted);
  // The script is in the message of a failure.
  const script = statements.map(textOf);
  expect({ script, ...outcome, refusal: messageOf(outcome.refusal, refusal) }).toEqual({
    script,
    problems: [],
    refusal,
  });
  if (refusal !== null) return;
  const rest = await remainder(current, wanted, values?.[0]);
  expect({ script, ...rest }).toEqual({ script, difference: '', values: values?.[1] ?? null });
  // The way back runs too, or says which rows are in its way.
  const back = await migrate(current, former);
  const difference = back.refusal === null ? (await remainder(current, former)).difference : '';
  expect({ script: back.statements.map(textOf), problems: back.problems, difference }).toEqual({
    script: back.statements.map(textOf),
    problems: [],
    difference: '',
  });
});

function textOf({ sql, notes }: DiffStatement): string {
  return [...notes.map(({ effect, text }) => `-- ${effect} ${text}`), sql].join('\n');
}

/** Returns the expected part of a message that has it. */
function messageOf(refusal: string | null, expected: string | null): string | null {
  return refusal !== null && expected !== null && refusal.includes(expected) ? expected : refusal;
}

async function remainder(
  current: TestDatabase,
  wanted: TestDatabase,
  query?: NonNullable<Migration['values']>[0],
): Promise<{ readonly difference: string; readonly values: unknown }> {
  const { stdout } = await diff(current, wanted);
  return { difference: stdout, values: query === undefined ? null : await current.query(query) };
}
