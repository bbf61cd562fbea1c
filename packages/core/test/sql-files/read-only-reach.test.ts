import { serverVersion } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startWithFiles, useFiles } from './folder.ts';

/** The ways to a text that runs without a name in the statement. A file with such a way is POST by default, or its transaction is read-only. */

const objects = `
  create table log (message text);
  create function note(value int) returns boolean language sql as $$ insert into log values (note.value::text); select true $$;
  create domain noted as int check (note(value));
  create view writing_view as select note(1) as result;
  create type pair as (plain int, other noted);
  create type nested as (pairs pair[]);
  create table holder (id int, amount noted);
  create table free (id int);
  create function takes_array(given noted[]) returns int language sql stable as 'select 1';
  create function takes_pair(given pair) returns int language sql stable as 'select 1';
  create function by_default(given int default case when note(1) then 1 end) returns int language plpgsql stable as 'begin return 1; end';
  create function row_of(given jsonb) returns int language sql stable as 'select (jsonb_populate_record(null::holder, given)).id';
  create function copies() returns int language sql as $$ select 1 as id into copied; select 1 $$;
  create function assigns() returns int language plpgsql as $$ declare comment int; begin select 1 into comment; comment := comment; return comment; end $$;
  create function comments() returns int language plpgsql as $$ begin comment on table log is 'changed'; return 1; end $$;
  create function comments_in_sql() returns int language sql as $$ comment on table log is 'changed'; select 1 $$;
  create function imports() returns int language plpgsql as $$ begin import foreign schema a from server b into c; return 1; end $$;
  create function labels() returns int language plpgsql as $$ begin if true then security label on table log is 'a'; end if; return 1; end $$;
  create function reassigns() returns int language plpgsql as $$ begin reassign owned by a to b; return 1; end $$;
  create table comment (id int);
  create function joins() returns int language sql as $$ select 1 from free join comment on comment.id = free.id $$;
`;

type Outcome = 'POST' | 'refused' | 'reads';

const since16: Readonly<Record<string, [Outcome, string]>> =
  serverVersion() < 16
    ? {}
    : {
        'a validation': ['refused', `select pg_input_is_valid('1', 'noted')`],
        'the error of a validation': ['refused', `select message from pg_input_error_info('1', 'noted')`],
      };
const queries: Readonly<Record<string, [Outcome, string]>> = {
  'XML of a table': ['refused', `select table_to_xml('writing_view', true, true, '')::text`],
  'XML and XML Schema of a table': [
    'refused',
    `select table_to_xml_and_xmlschema('writing_view', true, true, '')::text`,
  ],
  'XML of a schema': ['refused', `select schema_to_xml('public', true, true, '')::text`],
  'XML of a database': ['refused', `select database_to_xml(true, true, '')::text`],
  ...since16,
  'an array of a domain': ['POST', `select array['1']::noted[]`],
  'the name of an array type': ['POST', `select '{1}'::_noted`],
  'a composite type': ['POST', `select '(1,1)'::pair`],
  'a composite type in another': ['POST', `select '("{""(1,1)""}")'::nested`],
  'the row type of a table': ['POST', `select (jsonb_populate_record(null::holder, '{"amount":1}')).id`],
  'the row type of a table in a function': ['POST', `select row_of('{"amount":1}')`],
  'an argument with an array of a domain': ['POST', `select takes_array('{1}')`],
  'an argument of a composite type': ['POST', `select takes_pair('(1,1)')`],
  'the default of an argument': ['POST', `select by_default()`],
  'SELECT INTO in SQL': ['POST', `select copies()`],
  'SELECT INTO and a variable in PL/pgSQL': ['reads', `select assigns()`],
  COMMENT: ['POST', `select comments()`],
  'COMMENT in SQL': ['POST', `select comments_in_sql()`],
  'IMPORT FOREIGN SCHEMA': ['POST', `select imports()`],
  'SECURITY LABEL': ['POST', `select labels()`],
  'REASSIGN OWNED': ['POST', `select reassigns()`],
  'a table that is named like a statement': ['reads', `select joins()`],
  'the type of a parameter': ['POST', `-- param n type noted\nselect :n`],
  'the type of a parameter of a query': ['POST', `-- param n type noted\n-- param m = select :n::int\nselect :m::int`],
};
const names = Object.keys(queries);

describe('a GET request cannot write', () => {
  const files = useFiles(
    objects,
    Object.fromEntries(Object.values(queries).map(([, query], index) => [`query_${index}.sql`, `-- HTTP\n${query}`])),
  );

  test.each(Object.entries(queries))('%s: %j', async (name, [outcome, query]) => {
    const { send, database } = files.current();
    // PostgreSQL converts literals when it prepares the statements.
    await database.query('truncate log');
    const { status, body } = await send(`GET /api/query-${names.indexOf(name)}${query.includes(':n') ? '?n=1' : ''}`);
    expect([status, (JSON.parse(body) as { code?: string }).code]).toEqual(
      { POST: [405, undefined], refused: [500, '25006'], reads: [200, undefined] }[outcome],
    );
    expect(await database.query('select * from log')).toEqual([]);
  });
});

/** The functions that convert between a range and a multirange count for all files. */
test.each(['range', ...(serverVersion() < 14 ? [] : ['multirange'])])('a %s of a domain', async (kind) => {
  const files = await startWithFiles(`${objects} create type noted_range as range (subtype = noted)`, {
    'ranges.sql': `-- HTTP\nselect '{}'::text::noted_${kind}`,
  });
  onTestFinished(() => files.close());
  expect((await files.send('GET /api/ranges')).status).toBe(405);
});
