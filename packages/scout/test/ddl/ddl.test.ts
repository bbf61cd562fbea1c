import { useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { isPlain, scout } from '../support/scout.ts';

const database = useDatabase(`
  create schema shop;
  create table shop.language (id int primary key, name text not null unique);
  create table shop.film (
    id int generated always as identity (start 100) primary key,
    title text default 'none' not null,
    language int constraint film_language references shop.language on delete cascade,
    slug text generated always as (lower(title)) stored,
    length smallint check (length > 0)
  ) with (fillfactor = 70);
  create index film_title on shop.film (lower(title)) where length > 60;
  comment on table shop.film is 'It''s a film';
  comment on column shop.film.length is E'Minutes\\u001b[31m';
  grant select on shop.film to public;
  create function shop.touch() returns trigger language plpgsql as 'begin return new; end';
  create trigger touched before update on shop.film for each row execute function shop.touch();
  alter table shop.film enable row level security;
  create policy readable on shop.film for select using (length > 0);
  create function shop.add(a int, b int) returns int language sql as 'select a + b';
  create function shop.add(a text, b text) returns text language sql as 'select a || b';
  create table "a;b" ("Evil\u001b[31m" int);
`);

function ddl(...argv: readonly string[]): ReturnType<typeof scout> {
  return scout(['--ddl', ...argv, '--no-owner', '-c', database.connectionString]);
}

test('a table with all that belongs to it', async () => {
  expect(await ddl('shop.film')).toEqual({
    code: 0,
    stderr: '',
    stdout: `-- TABLE shop.film

CREATE TABLE shop.film (
    id integer GENERATED ALWAYS AS IDENTITY (START WITH 100) NOT NULL,
    title text DEFAULT 'none'::text NOT NULL,
    language integer,
    slug text GENERATED ALWAYS AS (lower(title)) STORED,
    length smallint,
    CONSTRAINT film_length_check CHECK ((length > 0)),
    CONSTRAINT film_pkey PRIMARY KEY (id)
)
WITH (fillfactor='70');

ALTER TABLE shop.film ENABLE ROW LEVEL SECURITY;

COMMENT ON TABLE shop.film IS 'It''s a film';

COMMENT ON COLUMN shop.film.length IS E'Minutes\\u001b[31m';

GRANT SELECT ON TABLE shop.film TO PUBLIC;

ALTER TABLE ONLY shop.film ADD CONSTRAINT film_language FOREIGN KEY (language) REFERENCES shop.language(id) ON DELETE CASCADE;

CREATE INDEX film_title ON shop.film USING btree (lower(title)) WHERE (length > 60);

-- TRIGGER shop.film.touched

CREATE TRIGGER touched BEFORE UPDATE ON shop.film FOR EACH ROW EXECUTE FUNCTION shop.touch();

-- POLICY shop.film.readable

CREATE POLICY readable ON shop.film FOR SELECT
    USING ((length > 0));
`,
  });
});

test.each<readonly [names: readonly string[], headers: readonly string[]]>([
  [['add(text, text)'], ['-- FUNCTION shop.add(text, text)']],
  [['shop.ADD'], ['-- FUNCTION shop.add(integer, integer)', '-- FUNCTION shop.add(text, text)']],
  [['FUNCTION shop.touch()'], ['-- FUNCTION shop.touch()']],
  [['shop.l*;readable'], ['-- TABLE shop.language', '-- POLICY shop.film.readable']],
  [
    ['langua?e', 'touched'],
    ['-- TABLE shop.language', '-- TRIGGER shop.film.touched'],
  ],
  [['"a;b"'], ['-- TABLE public."a;b"']],
  [['TABLE public."a;b"; shop'], ['-- SCHEMA shop', '-- TABLE public."a;b"']],
])('the names %j', async (names, headers) => {
  const { code, stdout } = await ddl(...names);
  expect([code, stdout.split('\n').filter((line) => line.startsWith('-- '))]).toEqual([0, headers]);
});

test('a large object is printed without its content, when it is named', async () => {
  await database.query(`select lo_from_bytea(4711, 'content'), lo_create(4712)`);
  await database.query(
    `comment on large object 4711 is 'A \u001b[31m scan'; grant select on large object 4711 to public`,
  );
  const expected = {
    code: 0,
    stderr: '',
    stdout: `-- LARGE OBJECT 4711

SELECT pg_catalog.lo_create(4711);

COMMENT ON LARGE OBJECT 4711 IS E'A \\u001b[31m scan';

GRANT SELECT ON LARGE OBJECT 4711 TO PUBLIC;
`,
  };
  expect(await ddl('large object 4711')).toEqual(expected);
  expect((await ddl('LARGE OBJECT *')).stdout).toContain('-- LARGE OBJECT 4712\n');
  expect((await ddl('*')).stdout).not.toContain('LARGE OBJECT');
  await database.query('select lo_unlink(4711)');
  await database.query(expected.stdout);
  expect(await ddl('large object 4711')).toEqual(expected);
  expect((await ddl('LARGE OBJECT 4713')).stderr).toContain('pgscout: no object is named "LARGE OBJECT 4713"');
});

test('a name without an object is reported after the definitions of the others', async () => {
  const { code, stdout, stderr } = await ddl('shop.languag;touch;x.y');
  expect([code, stderr]).toEqual([
    1,
    'pgscout: no object is named "shop.languag"; did you mean shop.language?\nno object is named "x.y"\n',
  ]);
  expect(stdout).toContain('CREATE OR REPLACE FUNCTION shop.touch()');
});

test('no name is a wrong command line', async () => {
  const stderr = 'pgscout: --ddl: needs an argument, as in --ddl <name;…>\n';
  expect(await ddl()).toEqual({ code: 2, stdout: '', stderr });
  expect(await ddl(' ; ')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'pgscout: --ddl: needs a name, as in --ddl public.film\n',
  });
});

test('escape sequences of names and comments are escapes of SQL', async () => {
  const { stdout } = await ddl('*');
  expect(isPlain(stdout)).toBe(true);
  expect(stdout).toContain('U&"Evil\\001b[31m" integer');
});

test('--json prints the statements of each object', async () => {
  const { stdout } = await ddl('"a;b"', '--json');
  expect(JSON.parse(stdout)).toEqual([
    {
      kind: 'TABLE',
      schema: 'public',
      name: 'a;b',
      qualifiedName: 'public."a;b"',
      statements: ['CREATE TABLE public."a;b" (\n    U&"Evil\\001b[31m" integer\n)'],
    },
  ]);
});

test('security labels, of the provider that has set them', async () => {
  // No provider comes with PostgreSQL: the rows of the catalog are written directly.
  await database.query(`
    set allow_system_table_mods = on;
    create table labelled (id int);
    insert into pg_seclabel values ('labelled'::regclass, 'pg_class'::regclass, 0, 'Sel', 'It''s secret'),
      ('labelled'::regclass, 'pg_class'::regclass, 1, 'anon', E'MASKED\\u001b');
    reset allow_system_table_mods`);
  onTestFinished(async () => {
    await database.query('drop table labelled');
  });
  expect((await ddl('labelled')).stdout).toContain(`SECURITY LABEL FOR "Sel" ON TABLE public.labelled IS 'It''s secret';

SECURITY LABEL FOR anon ON COLUMN public.labelled.id IS E'MASKED\\u001b';
`);
});
