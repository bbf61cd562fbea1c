import { serverVersion } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startWithFiles, useFiles } from './folder.ts';

const sql = `
  create table film (film_id int primary key, title text not null, tags text[]);
  insert into film values (1, 'Alien', '{space}'), (2, 'Brazil', null);
  create table visit (id int generated always as identity, film_id int references film);
  create function note_visit(film int) returns void language sql as 'insert into visit (film_id) values (film)';
`;

describe('several statements', () => {
  const files = useFiles(sql, {
    'overview.sql': `-- HTTP GET
-- result films
select film_id, title, tags from film where film_id >= :from_id order by 1;
select count(*) as total from film; -- single
-- single
-- result newest
with newest as (select max(film_id) as film_id from film) select film.film_id, title from film join newest using (film_id);
`,
    'visit.sql': `-- HTTP
begin;
insert into visit (film_id) values (:film_id);
update film set title = upper(title) where film_id = :film_id; -- result changed
-- skip
update film set title = title;
set local work_mem = '5MB';
-- result visits
with added as (insert into visit (film_id) values (:film_id) returning id) select count(*) from added;
commit;
`,
    'numbered.sql': `-- HTTP GET
-- @result1 is films
-- result3 visits
begin;
select title from film order by 1;
select 1 as n; -- single_record
select id from visit;
commit;
`,
    'wrong-number.sql': `-- HTTP GET
-- result3 films
select 1;
select 2;
`,
    'quiet.sql': `-- HTTP POST
-- void_result
select 1;
`,
    'call-quietly.sql': `-- HTTP POST\nselect note_visit(:film_id)`,
    'call-and-read.sql': `-- HTTP POST
select note_visit(:film_id);
select count(*) from visit where film_id = :film_id;
select note_visit(film_id) from film where film_id = :film_id;
-- result after
-- single
select count(*) from visit where film_id = :film_id;
`,
    'last.sql': `-- HTTP
-- result last
update film set tags = array[:tag::text];
select film_id, tags from film order by 1;
`,
  });

  test('the response has a member for each', async () => {
    const answer = await files.current().send('GET /api/overview?fromId=1');
    expect([answer.status, answer.type, JSON.parse(answer.body)]).toEqual([
      200,
      'application/json',
      {
        films: [
          { filmId: 1, title: 'Alien', tags: ['space'] },
          { filmId: 2, title: 'Brazil', tags: null },
        ],
        result2: 2,
        newest: { filmId: 2, title: 'Brazil' },
      },
    ]);
    expect(JSON.parse((await files.current().send('GET /api/overview?fromId=7')).body)).toMatchObject({ films: [] });
  });

  test('the words of NpgsqlRest name results by their number', async () => {
    const { send, observations } = files.current();
    expect(JSON.parse((await send('GET /api/numbered')).body)).toEqual({
      films: expect.any(Array),
      result2: 1,
      visits: [],
    });
    expect((await send('POST /api/quiet')).status).toBe(204);
    expect((await send('GET /api/wrong-number')).status).toBe(404);
    expect(observations.flatMap((seen) => (seen.kind === 'diagnostic' ? [seen.diagnostic] : []))).toContainEqual(
      expect.objectContaining({
        severity: 'error',
        line: 2,
        message: 'the response has no result 3; correct the number, or write result before the statement',
      }),
    );
  });

  test('they run in one transaction: the failure of one undoes all', async () => {
    const { send, database } = files.current();
    const failed = await send('POST /api/visit', { body: { filmId: 9 } });
    expect([failed.status, JSON.parse(failed.body)]).toMatchObject([400, { code: '23503' }]);
    expect(await database.query('select count(*)::int from visit')).toEqual([{ count: 0 }]);
    const answer = await send('POST /api/visit', { body: { filmId: 2 } });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { result1: 1, changed: 1, visits: [1] }]);
    expect(await database.query('select count(*)::int from visit')).toEqual([{ count: 2 }]);
  });

  test('a call of a function that returns void has no result', async () => {
    const { send, database } = files.current();
    await database.query('delete from visit where film_id = 1');
    const alone = await send('POST /api/call-quietly', { body: { filmId: 1 } });
    expect([alone.status, alone.body]).toEqual([204, '']);
    const several = await send('POST /api/call-and-read', { body: { filmId: 1 } });
    expect([several.status, JSON.parse(several.body)]).toEqual([200, { result1: [2], after: 3 }]);
  });

  test('result last sends the last result alone', async () => {
    const answer = await files.current().send('POST /api/last', { body: { tag: "it's" } });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      200,
      [
        { filmId: 1, tags: ["it's"] },
        { filmId: 2, tags: ["it's"] },
      ],
    ]);
  });
});

// MERGE came with PostgreSQL 15, as a query of WITH with 17.
test.runIf([15, 16].includes(serverVersion()))(
  'MERGE among several statements needs PostgreSQL 17 or `skip`',
  async () => {
    const merge = `merge into film f using (select 1 as id) s on f.film_id = s.id when matched then update set title = 'Aliens';`;
    const started = await startWithFiles(sql, {
      'counted.sql': `-- HTTP POST\n${merge}\nselect 1;`,
      'skipped.sql': `-- HTTP POST\n-- skip\n${merge}\n-- single\nselect title from film where film_id = 1;`,
    });
    onTestFinished(() => started.close());
    expect(started.gateway.diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([
      {
        routine: 'counted.sql',
        line: 2,
        message: expect.stringContaining('MERGE needs PostgreSQL 17 here; the response'),
      },
    ]);
    expect(await started.send('POST /api/skipped')).toMatchObject({
      status: 200,
      body: '{"result2":"Aliens"}',
    });
  },
);
