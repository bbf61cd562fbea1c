import { describe, expect, test } from 'vitest';
import { useFiles } from './folder.ts';

const sql = `
  create table film (film_id int primary key, title text not null, tags text[], released date);
  insert into film values (1, 'Alien', '{space,fear}', '1979-05-25'), (2, 'Amelie', null, '2001-04-25'), (3, 'Brazil', '{}', null);
  create table log (id int generated always as identity, message text);
  create function write_log(message text) returns text language sql as 'insert into log (message) values ($1) returning message';
  create view logging as select write_log('seen') as message;
`;

describe('a file is an endpoint', () => {
  const files = useFiles(sql, {
    'films.sql': `-- Lists films.
-- HTTP GET /films
-- param limit default 20
select film_id, title from film where title ilike :text || '%' order by title limit :limit;
`,
    'get_titles.sql': `-- HTTP\nselect title from film order by 1`,
    'one.sql': `-- HTTP GET /films/{id}\n-- single\nselect film_id, title, tags from film where film_id = $1 -- @param $1 is id\n`,
    'how_many.sql': '/* HTTP */ select count(*) from film -- nothing else\n;',
    'many.sql': '-- HTTP\n-- single\nselect count(*) from film',
    'add_film.sql': `-- HTTP\ninsert into film (film_id, title, tags) values (:film_id, :title, :tags)`,
    'change_film.sql': `-- HTTP\nupdate film set title = :title where film_id = :id returning film_id, tags`,
    'remove_film.sql': `-- HTTP\n-- void\nwith gone as (delete from film where film_id = :id returning tags) select gone.tags, film_id from gone, film`,
    'drop_film.sql': `-- HTTP\ndelete from film where film_id = :id`,
    'seen.sql': `-- HTTP\nselect message from logging`,
    'written.sql': `-- HTTP\nselect write_log(:text)`,
    'gone.sql': `-- HTTP POST /gone\nwith gone as (insert into film (film_id, title) select 9, 'x' where false returning tags) select tags, 1, 2 from gone`,
    'migration.sql': 'create table other (id int);',
    'films.test.sql': '-- HTTP\nselect 1',
    'empty.sql': '-- HTTP GET /empty\n',
    'admin/users.sql': '-- HTTP\nselect current_user',
  });

  test('the endpoints', () => {
    const lines = files.current().gateway.endpoints.map(({ method, path, id }) => `${method} ${path} ${id}`);
    expect(lines.toSorted()).toEqual([
      'DELETE /api/drop-film drop_film.sql',
      'GET /api/get-titles get_titles.sql',
      'GET /api/how-many how_many.sql',
      'GET /api/many many.sql',
      'GET /api/users admin/users.sql',
      'GET /films films.sql',
      'GET /films/{id} one.sql',
      'POST /api/change-film change_film.sql',
      'POST /api/remove-film remove_film.sql',
      'POST /api/seen seen.sql',
      'POST /api/written written.sql',
      'POST /gone gone.sql',
      'PUT /api/add-film add_film.sql',
    ]);
    expect(files.current().gateway.diagnostics.filter(({ severity }) => severity !== 'info')).toEqual([]);
  });

  test.each([
    ['GET /films?text=a', 200, '[{"filmId":1,"title":"Alien"},{"filmId":2,"title":"Amelie"}]'],
    ['GET /films?text=a&limit=1', 200, '[{"filmId":1,"title":"Alien"}]'],
    ['GET /api/get-titles', 200, '["Alien","Amelie","Brazil"]'],
    ['GET /films/1', 200, '{"filmId":1,"title":"Alien","tags":["space","fear"]}'],
    ['GET /films/7', 204, ''],
    ['GET /api/how-many', 200, '[3]'],
    ['GET /api/many', 200, '3'],
  ])('%s', async (line, status, body) => {
    const answer = await files.current().send(line);
    expect([answer.status, answer.body]).toEqual([status, body]);
  });

  test.each([
    ['GET /films', 'missing-parameter'],
    ['GET /films?text=a&limit=many', 'invalid-parameter'],
    ['GET /films?text=a&size=1', 'unknown-parameter'],
  ])('%s is refused as for a function', async (line, code) => {
    const answer = await files.current().send(line);
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([400, { type: `urn:pgway:problem:${code}` }]);
  });

  test('statements that change data', async () => {
    const { send } = files.current();
    const body = { filmId: 4, title: "Dune'; drop table film; --", tags: ['sand'] };
    expect((await send('PUT /api/add-film', { body })).status).toBe(204);
    expect((await send('GET /films?text=dune')).body).toBe(`[{"filmId":4,"title":"Dune'; drop table film; --"}]`);
    expect((await send('POST /api/change-film', { body: { id: 4, title: 'Dune' } })).body).toBe(
      '[{"filmId":4,"tags":["sand"]}]',
    );
    expect((await send('POST /gone')).body).toBe('[]');
    expect((await send('DELETE /api/drop-film?id=4')).status).toBe(204);
    expect((await send('POST /api/remove-film', { body: { id: 4 } })).status).toBe(204);
    expect((await send('GET /films?text=dune')).body).toBe('[]');
  });
});
