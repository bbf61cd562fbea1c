import { freshDatabase, useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { isPlain, scout } from './support/scout.ts';

const schema = `
  create table film (id int generated always as identity, "Title" text, price numeric(5, 2), tags text[], data jsonb,
    doubled int generated always as (id * 2) stored);
  create view titles as select "Title" from film;
`;
const rows = String.raw`
  insert into film ("Title", price, tags, data) values ('It''s', 1.50, '{a,"b c"}', '{"a": "\\"}'), (E'\x1b[31m', null, null, null);
`;
const database = useDatabase(schema + rows);

function inserts(...argv: readonly string[]): ReturnType<typeof scout> {
  return scout(['--inserts', ...argv, '-c', database.connectionString]);
}

test('the rows of a table; the statements insert the same rows', async () => {
  const { code, stdout, stderr } = await inserts('film');
  expect([code, stderr, isPlain(stdout)]).toEqual([0, '', true]);
  expect(stdout).toBe(String.raw`-- public.film

INSERT INTO public.film (id, "Title", price, tags, data) OVERRIDING SYSTEM VALUE
VALUES
    ('1', 'It''s', '1.50', '{a,"b c"}', E'{"a": "\\\\"}'),
    ('2', E'\u001b[31m', NULL, NULL, NULL);

`);
  const copy = await freshDatabase(schema + stdout);
  onTestFinished(() => copy.drop());
  expect(await copy.query('select * from film')).toEqual(await database.query('select * from film'));
});

test('the rows of queries: of one table, or of a table named result', async () => {
  const { stdout } = await inserts(`select "Title" from public.film where id = 1; select 1 as a, 'x' as "B"`);
  expect(stdout).toBe(`-- public.film

INSERT INTO public.film ("Title") OVERRIDING SYSTEM VALUE
VALUES
    ('It''s');

-- result

INSERT INTO result (a, "B")
VALUES
    ('1', 'x');

`);
});

test('more rows than one statement has', async () => {
  const { stdout } = await inserts('select generate_series(1, 1200) as n');
  expect(stdout.match(/INSERT INTO/g)).toHaveLength(3);
  expect(stdout.match(/^ {4}\('/gm)).toHaveLength(1200);
});

test('nothing is written to the database, and errors are one line', async () => {
  expect(await inserts(`with gone as (delete from film returning *) select * from gone`)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^pgscout: the server reports: .*\n$/),
  });
  expect(await inserts('flim')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'pgscout: no object is named "flim"; did you mean film?\n',
  });
  expect(await database.query('select count(*)::int from film')).toEqual([{ count: 2 }]);
});
