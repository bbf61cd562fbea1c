import { crudSource } from '@pgway/core';
import { startGateway, useGateway } from '@pgway/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { ask, published, refusal, tables } from './support.ts';

const sql = `
  create table film (film_id int primary key, title text not null, release_year int default 2000);
  create table cast_member (film_id int, actor_id int, role_name text, primary key (film_id, actor_id));
  create table log_line (message text, level int);
`;

describe('the eleven endpoints of a table', () => {
  const gateway = useGateway(sql, tables());
  const rows = (): Promise<unknown> => gateway.database.query('select * from film order by film_id');
  const cast = (): Promise<unknown> => gateway.database.query('select * from cast_member order by 1, 2');

  beforeEach(async () => {
    await gateway.database.query(`truncate film, cast_member, log_line;
      insert into film values (1, 'A', 1990), (2, 'B', null); insert into cast_member values (1, 1, 'x'), (1, 2, 'y')`);
  });

  test('methods and paths', () => {
    const of = (path: string): readonly string[] => [
      `GET ${path}`,
      `POST ${path}`,
      `POST ${path}/returning`,
      `DELETE ${path}`,
      `DELETE ${path}/returning`,
      `PUT ${path}`,
      `PUT ${path}/returning`,
      `PUT ${path}/on-conflict-do-nothing`,
      `PUT ${path}/on-conflict-do-nothing/returning`,
      `PUT ${path}/on-conflict-do-update`,
      `PUT ${path}/on-conflict-do-update/returning`,
    ];
    const keyless = of('/api/log-line').filter((line) => !/^POST|conflict/.test(line));
    expect(published(gateway)).toEqual([...of('/api/cast-member'), ...of('/api/film'), ...keyless]);
    expect(gateway.gateway.diagnostics).toEqual([]);
  });

  test('1: select returns all rows, or those that equal every provided column', async () => {
    expect(await ask(gateway, 'GET /api/film')).toEqual([
      200,
      [
        { filmId: 1, title: 'A', releaseYear: 1990 },
        { filmId: 2, title: 'B', releaseYear: null },
      ],
    ]);
    expect(await ask(gateway, 'GET /api/film/?filmId=1&title=A')).toEqual([
      200,
      [{ filmId: 1, title: 'A', releaseYear: 1990 }],
    ]);
    expect(await ask(gateway, 'GET /api/film?film_id=1&title=B')).toEqual([200, []]);
  });

  test('2: update sets the provided columns of the row with the key', async () => {
    expect(await ask(gateway, 'POST /api/film', { filmId: 1, title: 'New' })).toEqual([204, null]);
    expect(await rows()).toEqual([
      { film_id: 1, title: 'New', release_year: 1990 },
      { film_id: 2, title: 'B', release_year: null },
    ]);
    expect(await ask(gateway, 'POST /api/film', { filmId: 9, title: 'None' })).toEqual(
      refusal(404, { type: 'urn:pgway:problem:row-not-found' }),
    );
  });

  test('3: update returning', async () => {
    expect(await ask(gateway, 'POST /api/film/returning', { film_id: 2, release_year: 2001 })).toEqual([
      200,
      [{ filmId: 2, title: 'B', releaseYear: 2001 }],
    ]);
    expect(await ask(gateway, 'POST /api/film/returning', { filmId: 9, title: 'None' })).toEqual([200, []]);
    expect(await ask(gateway, 'POST /api/film/returning', { filmId: 2, releaseYear: null })).toEqual([
      200,
      [{ filmId: 2, title: 'B', releaseYear: null }],
    ]);
  });

  test('2 and 3: 404 without a key, or without a column to set', async () => {
    for (const path of ['/api/film', '/api/film/returning']) {
      expect(await ask(gateway, `POST ${path}`, { title: 'x' })).toEqual(refusal(404, { missing: ['filmId'] }));
      expect(await ask(gateway, `POST ${path}`, { filmId: 1 })).toEqual(
        refusal(404, { missing: ['title', 'releaseYear'] }),
      );
      expect(await ask(gateway, `POST ${path}`, {})).toEqual(refusal(404, { missing: ['filmId'] }));
      expect(await ask(gateway, `POST ${path}`)).toEqual(refusal(404, { missing: ['filmId'] }));
    }
    // A part of a composite key is a condition.
    expect(await ask(gateway, 'POST /api/cast-member/returning', { filmId: 1, roleName: 'z' })).toEqual([
      200,
      [
        { filmId: 1, actorId: 1, roleName: 'z' },
        { filmId: 1, actorId: 2, roleName: 'z' },
      ],
    ]);
  });

  test('4 and 5: delete and delete returning', async () => {
    expect(await ask(gateway, 'DELETE /api/film?title=B')).toEqual([204, null]);
    expect(await ask(gateway, 'DELETE /api/film?title=B')).toEqual([204, null]);
    expect(await ask(gateway, 'DELETE /api/film/returning?title=B')).toEqual([200, []]);
    expect(await ask(gateway, 'DELETE /api/film/returning?releaseYear=1990&filmId=1')).toEqual([
      200,
      [{ filmId: 1, title: 'A', releaseYear: 1990 }],
    ]);
    expect(await rows()).toEqual([]);
  });

  test('4 and 5: a delete without a condition is refused', async () => {
    for (const path of ['/api/film', '/api/film/returning', '/api/log-line']) {
      expect(await ask(gateway, `DELETE ${path}`)).toEqual(
        refusal(400, { type: 'urn:pgway:problem:unfiltered-delete' }),
      );
    }
    expect(await rows()).toHaveLength(2);
  });

  test('6 and 7: insert and insert returning, of the provided columns', async () => {
    expect(await ask(gateway, 'PUT /api/film', { filmId: 3, title: 'C' })).toEqual([204, null]);
    expect(await ask(gateway, 'PUT /api/film/returning', { filmId: 4, title: 'D', releaseYear: null })).toEqual([
      200,
      [{ filmId: 4, title: 'D', releaseYear: null }],
    ]);
    expect(await rows()).toContainEqual({ film_id: 3, title: 'C', release_year: 2000 });
  });

  test('6 and 7: 404 without any column, or without a required one', async () => {
    for (const path of ['/api/film', '/api/film/returning']) {
      expect(await ask(gateway, `PUT ${path}`, {})).toEqual(
        refusal(404, { missing: ['filmId', 'title'], detail: /^The row needs these columns: / }),
      );
      expect(await ask(gateway, `PUT ${path}`, { releaseYear: 1 })).toEqual(
        refusal(404, { missing: ['filmId', 'title'] }),
      );
    }
    expect(await ask(gateway, 'PUT /api/log-line', {})).toEqual(refusal(404, { missing: ['message', 'level'] }));
    expect(await ask(gateway, 'PUT /api/log-line/returning', { level: 1 })).toEqual([
      200,
      [{ message: null, level: 1 }],
    ]);
  });

  test('8 and 9: a conflict does nothing', async () => {
    const path = '/api/film/on-conflict-do-nothing';
    expect(await ask(gateway, `PUT ${path}`, { filmId: 1, title: 'x' })).toEqual([204, null]);
    expect(await ask(gateway, `PUT ${path}/returning`, { filmId: 1, title: 'x' })).toEqual([200, []]);
    expect(await ask(gateway, `PUT ${path}/returning`, { filmId: 3, title: 'x' })).toEqual([
      200,
      [{ filmId: 3, title: 'x', releaseYear: 2000 }],
    ]);
    expect(await rows()).toContainEqual({ film_id: 1, title: 'A', release_year: 1990 });
  });

  test('10 and 11: a conflict sets the provided columns', async () => {
    const path = '/api/film/on-conflict-do-update';
    expect(await ask(gateway, `PUT ${path}`, { filmId: 1, title: 'x' })).toEqual([204, null]);
    expect(await ask(gateway, `PUT ${path}/returning`, { filmId: 2, title: 'y', releaseYear: 7 })).toEqual([
      200,
      [{ filmId: 2, title: 'y', releaseYear: 7 }],
    ]);
    expect(await ask(gateway, `PUT ${path}/returning`, { filmId: 3, title: 'z' })).toEqual([
      200,
      [{ filmId: 3, title: 'z', releaseYear: 2000 }],
    ]);
    expect(await rows()).toContainEqual({ film_id: 1, title: 'x', release_year: 1990 });
  });

  test('8 to 11: 404 without any column, or without the whole key', async () => {
    for (const kind of ['do-nothing', 'do-nothing/returning', 'do-update', 'do-update/returning']) {
      const path = `/api/cast-member/on-conflict-${kind}`;
      expect(await ask(gateway, `PUT ${path}`, {})).toEqual(refusal(404, { missing: ['filmId', 'actorId'] }));
      expect(await ask(gateway, `PUT ${path}`, { filmId: 1, roleName: 'q' })).toEqual(
        refusal(404, { missing: ['actorId'] }),
      );
    }
    expect(await cast()).toHaveLength(2);
  });

  test('8 to 11: a composite key', async () => {
    const path = '/api/cast-member/on-conflict-do-update/returning';
    expect(await ask(gateway, `PUT ${path}`, { roleName: 'new', actorId: 2, filmId: 1 })).toEqual([
      200,
      [{ filmId: 1, actorId: 2, roleName: 'new' }],
    ]);
    // With the key alone there is no column to set.
    expect(await ask(gateway, 'PUT /api/cast-member/on-conflict-do-update', { actorId: 2, filmId: 1 })).toEqual([
      204,
      null,
    ]);
    expect(await cast()).toEqual([
      { film_id: 1, actor_id: 1, role_name: 'x' },
      { film_id: 1, actor_id: 2, role_name: 'new' },
    ]);
  });

  test('unknown columns are reported', async () => {
    expect(await ask(gateway, 'GET /api/film?titel=x')).toEqual(refusal(400, { unknown: ['titel'] }));
    expect(await ask(gateway, 'DELETE /api/film?filmId=1&x=2')).toEqual(refusal(400, { unknown: ['x'] }));
    expect(await ask(gateway, 'POST /api/film', { filmId: 1, titel: 'x' })).toEqual(
      refusal(400, { unknown: ['titel'] }),
    );
    expect(await ask(gateway, 'PUT /api/film', { filmId: 1, title: 'x', 'title"--': 1 })).toEqual(
      refusal(400, { unknown: ['title"--'] }),
    );
    expect(await rows()).toHaveLength(2);
  });

  test('without a listing there is no ordering, pagination or filter', async () => {
    expect(await ask(gateway, 'GET /api/film?order=title')).toEqual(refusal(400, { unknown: ['order'] }));
    expect(await ask(gateway, 'GET /api/film?title=eq.A')).toEqual([200, []]);
    expect(await ask(gateway, 'GET /api/film?title=A&title=B')).toEqual(
      refusal(400, { type: 'urn:pgway:problem:repeated-parameter' }),
    );
    const one = await gateway.send('GET /api/film?filmId=1');
    expect(one.headers.get('etag')).toBeNull();
  });

  test('other methods are refused with 405', async () => {
    const other = await gateway.send('PATCH /api/film', { body: {} });
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'DELETE, GET, HEAD, OPTIONS, POST, PUT, QUERY']);
  });
});

/** All tags of each operation, in snake case. */
const tags = {
  select: ['select', 'read', 'get'],
  update: ['update', 'post'],
  updateReturning: ['update', 'post', 'update_returning', 'returning'],
  delete: ['delete'],
  deleteReturning: ['delete', 'delete_returning', 'returning'],
  insert: ['insert', 'put', 'create'],
  insertReturning: ['insert', 'put', 'create', 'insert_returning', 'returning'],
  insertOnConflictDoNothing: [
    'insert',
    'put',
    'create',
    'on_conflict',
    'insert_on_conflict_do_nothing',
    'on_conflict_do_nothing',
  ],
  insertOnConflictDoNothingReturning: [
    'insert',
    'put',
    'create',
    'on_conflict',
    'insert_on_conflict_do_nothing',
    'on_conflict_do_nothing',
    'insert_on_conflict_do_nothing_returning',
    'returning',
  ],
  insertOnConflictDoUpdate: [
    'insert',
    'put',
    'create',
    'on_conflict',
    'insert_on_conflict_do_update',
    'on_conflict_do_update',
  ],
  insertOnConflictDoUpdateReturning: [
    'insert',
    'put',
    'create',
    'on_conflict',
    'insert_on_conflict_do_update',
    'on_conflict_do_update',
    'insert_on_conflict_do_update_returning',
    'returning',
  ],
} as const;

const all = Object.keys(tags) as (keyof typeof tags)[];
const everyTag = [...new Set(Object.values(tags).flat())];
const carriers = (tag: string): readonly string[] =>
  all.filter((one) => (tags[one] as readonly string[]).includes(tag));
const kebab = (tag: string): string => tag.replaceAll('_', '-');
const pascal = (tag: string): string => tag.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
const spellings = (tag: string): readonly string[] => [...new Set([tag, kebab(tag), pascal(tag)])];

test('a comment disables operations by each tag in each spelling, and enables them again', async () => {
  const cases = everyTag.flatMap(spellings);
  const create = cases.flatMap((tag, index) =>
    [`disabled ${tag}`, `disabled\nenabled ${tag}`, `disabled\nfor ${tag}\nenabled`].map(
      (comment, way) =>
        `create table t${index}_${way} (id int primary key, x text); comment on table t${index}_${way} is '${comment}';`,
    ),
  );
  const gateway = await startGateway(create.join('\n'), tables());
  const left = (name: string): readonly string[] =>
    gateway.gateway.endpoints.filter((one) => one.name === name).map(({ table }) => table!.operation);
  for (const [index, tag] of cases.entries()) {
    const snake = everyTag.find((one) => spellings(one).includes(tag))!;
    const carrying = carriers(snake);
    expect(left(`t${index}_0`), `disabled ${tag}`).toEqual(all.filter((one) => !carrying.includes(one)));
    expect(left(`t${index}_1`), `enabled ${tag}`).toEqual(carrying);
    expect(left(`t${index}_2`), `for ${tag}`).toEqual(carrying);
  }
  expect(cases.length).toBeGreaterThan(35);
  expect(gateway.gateway.diagnostics.filter(({ severity }) => severity !== 'info')).toEqual([]);
  await gateway.close();
});

test('annotations apply per operation', async () => {
  const gateway = await startGateway(
    `${sql}
    comment on table film is 'HTTP
      A film that was made.
      for select
      Cache-Control: max-age=60
      for returning
      authorize editor
      for insert, delete
      requires_authorization
      tags = update
      timeout 5
      for select, update
      X-Film: {film_id}';
    comment on table log_line is 'HTTP /lines
      disabled delete';
    comment on table cast_member is 'HTTP
      for select
      HTTP GET /films/{film_id}/cast/{actorId?}
      for update
      path /recast';
    create function film_titles() returns setof film language sql stable as 'select * from film';`,
    { ...tables(), commentsMode: 'onlyWithHttpTag' },
  );
  await gateway.database.query(
    `insert into film values (1, 'A', 1); insert into cast_member values (1, 1, 'x'), (1, 2, 'y')`,
  );
  const film = await gateway.send('GET /api/film?filmId=1');
  expect([film.status, film.headers.get('cache-control'), film.headers.get('x-film')]).toEqual([
    200,
    'max-age=60',
    '1',
  ]);
  expect(await ask(gateway, 'POST /api/film', { filmId: 1, title: 'B' })).toEqual([204, null]);
  expect(await ask(gateway, 'POST /api/film/returning', { filmId: 1, title: 'B' })).toEqual(refusal(401));
  expect(await ask(gateway, 'PUT /api/film', { filmId: 1, title: 'B' })).toEqual(refusal(401));
  expect(await ask(gateway, 'DELETE /api/film?filmId=1')).toEqual(refusal(401));
  const timeouts = gateway.gateway.endpoints.filter(({ timeoutMs: timeout }) => timeout !== null).map(({ id }) => id);
  expect(timeouts).toEqual(['update public.film', 'update returning public.film']);
  expect(gateway.gateway.endpoints.find(({ id }) => id === 'select public.film')?.description).toBe(
    'A film that was made.',
  );

  expect(published(gateway).filter((line) => line.includes('/lines'))).toEqual([
    'GET /lines',
    'PUT /lines',
    'PUT /lines/returning',
  ]);
  expect(await ask(gateway, 'GET /films/1/cast')).toEqual([
    200,
    [
      { filmId: 1, actorId: 1, roleName: 'x' },
      { filmId: 1, actorId: 2, roleName: 'y' },
    ],
  ]);
  expect(await ask(gateway, 'GET /films/1/cast/2?roleName=y')).toEqual([
    200,
    [{ filmId: 1, actorId: 2, roleName: 'y' }],
  ]);
  expect(await ask(gateway, 'GET /films/1/cast/x')).toEqual(refusal(400, { parameters: ['actorId'] }));
  expect(await ask(gateway, 'GET /films/1/cast?film_id=2')).toEqual(refusal(400, { unknown: ['film_id'] }));
  expect(published(gateway).filter((line) => line.includes('recast'))).toEqual([
    'POST /recast',
    'POST /recast/returning',
  ]);
  await gateway.close();
});

test('disabled on a table does not disable functions that return it', async () => {
  const { crudSource } = await import('@pgway/core');
  const gateway = await startGateway(
    `${sql}
    comment on table film is 'HTTP\ndisabled';
    create function film_titles() returns setof film language sql stable as 'select * from film';
    comment on function film_titles() is 'HTTP';`,
    { sourcesCreated: (sources) => void sources.push(crudSource()) },
  );
  expect(published(gateway)).toEqual(['GET /api/film-titles']);
  await gateway.close();
});

test('an annotation or an option allows a delete without a condition', async () => {
  const own = `${sql} insert into film values (1, 'A', 1); insert into log_line values ('x', 1);
    comment on table log_line is 'allow_unfiltered_delete'; comment on table cast_member is 'allow_unfiltered_delete = off'`;
  const gateway = await startGateway(own, tables());
  expect(await ask(gateway, 'DELETE /api/log-line/returning')).toEqual([200, [{ message: 'x', level: 1 }]]);
  expect(await ask(gateway, 'DELETE /api/film')).toEqual(refusal(400));
  await gateway.close();
  const open = await startGateway(own, tables({ allowUnfilteredDelete: true }));
  expect(await ask(open, 'DELETE /api/film')).toEqual([204, null]);
  expect(await open.database.query('select * from film')).toEqual([]);
  expect(await ask(open, 'DELETE /api/cast-member')).toEqual(refusal(400));
  await open.close();
});

test('a misspelt condition never deletes or updates more rows, even if unknown keys are allowed', async () => {
  const gateway = await startGateway(
    `create table pet (id int primary key, name text); insert into pet values (1, 'Tom'), (2, 'Jerry');
     comment on table pet is 'HTTP
     allow_unfiltered_delete';`,
    { unknownParameters: 'ignore', routineSources: [crudSource()] },
  );
  expect((await gateway.send('DELETE /api/pet?nam=Tom')).status).toBe(400);
  expect((await gateway.send('POST /api/pet', { body: { id: 1, nam: 'Tim' } })).status).toBe(400);
  expect((await gateway.send('GET /api/pet?nam=Tom&id=1')).body).toBe('[{"id":1,"name":"Tom"}]');
  expect(await gateway.database.query('select count(*)::int as count from pet')).toEqual([{ count: 2 }]);
  await gateway.close();
});
