import { describe, expect, test } from 'vitest';
import { useFiles } from './folder.ts';

const sql = `
  create table film (film_id int primary key, title text not null, note text);
  create table visit (film_id int not null, at date not null);
  create view shown as select film_id, title from film;
  create table base (a int not null);
  create table child () inherits (base);
  create table part (a int not null) partition by list (a);
  create table part_1 partition of part for values in (1);
  create foreign data wrapper far_wrapper;
  create server far_server foreign data wrapper far_wrapper;
  create foreign table far (a int not null) server far_server;
  create table remark (id int not null, text text);
  do $$ begin
    if current_setting('server_version_num')::int >= 180000 then
      execute 'alter table remark add constraint later not null text not valid';
    end if;
  end $$;
`;

/** Statements with the columns that are certainly not NULL. */
const statements: readonly (readonly [sql: string, notNull: readonly string[]])[] = [
  ['select film_id, title, note from film', ['film_id', 'title']],
  ['select f.title, v.at from film f join visit v using (film_id)', ['title', 'at']],
  ['select f.title, v.at from film f, visit v where v.film_id = f.film_id', ['title', 'at']],
  ['select f.title, v.at from film f left join visit v using (film_id)', []],
  ['select f.title, v.at from film f right join visit v using (film_id)', []],
  ['select f.title, v.at from film f natural full join visit v', []],
  ['select x.title, 1 as one from (select title from film) x', ['title']],
  ['select x.title, x.at from (select title, at from film left join visit using (film_id)) x', []],
  ['with x as (select title from film) select title, 1 as one from x', ['title']],
  ['select (select title from film where film_id = 7) as title, film_id from film', ['film_id']],
  ['select max(title) as title, film_id from film group by film_id', ['film_id']],
  ['select title, film_id from film group by rollup (title, film_id)', []],
  ['select title, film_id from film group by grouping sets ((title), (film_id))', []],
  ['select title, film_id from film union all select null, null', []],
  ['select x.title, 1 as one from (select title from film union all select null) x', []],
  ['select title, film_id from shown', []],
  ['select a, 1 as one from base', []],
  ['select a, 1 as one from part', ['a']],
  ['select a, 1 as one from far', []],
  ['select id, text from remark', ['id']],
  ['select title || note as title, film_id + 1 as film_id from film', []],
  [`insert into film values (8, 'x') returning title, note`, ['title']],
  [`update film set title = 'x' from visit v where v.film_id = film.film_id returning title, v.at`, ['title', 'at']],
  ['delete from film where false returning film_id, note', ['film_id']],
];

describe('a column is not NULL where its table says so and the statement cannot make it NULL', () => {
  const files = useFiles(
    sql,
    Object.fromEntries(statements.map(([text], index) => [`s${index}.sql`, `-- HTTP POST /s${index}\n${text}`])),
  );

  test.each(statements.map((statement, index) => [...statement, index] as const))('%s', (_, expected, index) => {
    const endpoint = files.current().gateway.endpoints.find(({ id }) => id === `s${index}.sql`)!;
    const columns = 'columns' in endpoint.result ? endpoint.result.columns : [];
    expect(columns.length).toBeGreaterThan(1);
    expect(columns.filter(({ notNull }) => notNull === true).map(({ name }) => name)).toEqual(expected);
  });
});

describe('values, members and the word scalar', () => {
  const files = useFiles(sql, {
    'titles.sql': '-- HTTP\nselect title from film',
    'notes.sql': '-- HTTP\nselect note from film',
    'both.sql':
      '-- HTTP\n-- result films\nselect title, note from film;\n-- result one\n-- single\nselect title, note from film;\n-- result changed\nupdate film set note = note',
    'total.sql': '-- HTTP\n-- scalar\nselect count(*) from film',
    'wide.sql': '-- HTTP\n-- scalar\nselect title, note from film',
  });

  test('the result', () => {
    const result = (id: string): unknown => files.current().gateway.endpoints.find((each) => each.id === id)?.result;
    expect(result('titles.sql')).toMatchObject({ kind: 'values', column: { name: 'title', notNull: true } });
    expect(result('notes.sql')).not.toHaveProperty('column.notNull');
    expect(result('both.sql')).toMatchObject({
      columns: [
        {
          name: 'films',
          notNull: true,
          type: { element: { fields: [{ key: 'title', notNull: true }, { key: 'note' }] } },
        },
        { name: 'one', type: { fields: [{ key: 'title', notNull: true }, { key: 'note' }] } },
        { name: 'changed', notNull: true },
      ],
    });
    expect(result('both.sql')).not.toHaveProperty('columns.1.notNull');
  });

  test('scalar is the bare value of the only column, and refused with more', async () => {
    expect((await files.current().send('GET /api/total')).body).toBe('0');
    expect(
      files
        .current()
        .gateway.diagnostics.filter(({ severity }) => severity === 'error')
        .map(({ line, message }) => [line, message]),
    ).toEqual([
      [
        2,
        'scalar is the value of the only column of a statement, and this one has 2 columns; write single for the first row, or select one column',
      ],
    ]);
  });
});
