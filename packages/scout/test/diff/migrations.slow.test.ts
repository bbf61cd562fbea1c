/** Kinds of migrations, with rows: each script runs, or refuses with its reason; then the schemas are equal. */
import { serverVersion } from '@pgway/testing';
import { expect, test } from 'vitest';
import { database, diff } from '../support/changed-database.ts';
import { migrate } from '../support/migration.ts';
import { migrations } from './migrations.ts';

const known = migrations.filter(({ since = 0 }) => since <= serverVersion());

test('the names of the migrations are unique', () => {
  expect(new Set(migrations.map(({ name }) => name)).size).toBe(migrations.length);
});

test.each(known)('$name', async ({ before, rows = '', after, refusal = null, values }) => {
  const [current, wanted, former] = [await database(`${before};${rows}`), await database(after), await database(before)];
  const first = await migrate(current, wanted);
  const script = first.statements.map(({ sql, notes }) => `${notes.map((n) => `-- ${n.effect} ${n.text}\n`).join('')}${sql}`).join(';\n');
  expect({ script, problems: first.problems, refusal: first.refusal }).toEqual({
    script,
    problems: [],
    refusal: refusal === null ? null : (expect.stringContaining(refusal) as string),
  });
  if (refusal !== null) return;
  const equal = { code: 0, stdout: '', stderr: expect.stringMatching(/^the schemas are equal/) as string };
  expect({ script, again: await diff(current, wanted) }).toEqual({ script, again: equal });
  if (values !== undefined) expect(await current.query(values[0])).toEqual(values[1]);
  // The way back runs too, or says which rows are in its way.
  const back = await migrate(current, former);
  expect(back.problems).toEqual([]);
  if (back.refusal === null) expect(await diff(current, former)).toEqual(equal);
});
