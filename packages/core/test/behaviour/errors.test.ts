import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { plain, problem, problemOf, text } from './support.ts';

const sql = `
  create table parent (id int primary key);
  create table child (id int primary key, parent_id int references parent, name text not null, amount int constraint amount_is_positive check (amount > 0));
  insert into parent values (1);
  insert into child values (1, 1, 'one', 1);
  create function raise(_code text, _message text default 'the message') returns int language plpgsql volatile as $$
    begin raise exception using errcode = _code, message = _message; end $$;
  create function raise_all() returns int language plpgsql volatile as $$
    begin raise exception using errcode = 'P0001', message = 'the message', detail = 'the detail', hint = 'the hint',
      column = 'the_column', constraint = 'the_constraint', table = 'the_table'; end $$;
  create function plain_raise() returns int language plpgsql volatile as $$ begin raise exception 'not so: %', 42; end $$;
  create function assert_failure() returns int language plpgsql volatile as $$ begin assert false, 'asserted'; return 1; end $$;
  create function add_child(_id int, _parent int, _name text, _amount int) returns int language sql volatile as $$
    insert into child values (_id, _parent, _name, _amount) returning id $$;
  create function divide(_by int) returns int language sql volatile as $$ select 1 / _by $$;
  create function cancelled() returns boolean language sql volatile as $$ select pg_cancel_backend(pg_backend_pid()) and pg_sleep(10) is null $$;
  create function missing_table() returns int language plpgsql volatile as $$ begin return (select 1 from no_such_table); end $$;
  create function slow() returns text language sql volatile as $$ select pg_sleep(20)::text $$;
  create function inner_type_error() returns int language plpgsql volatile as $$ begin return 'abc'::int; end $$;
  do $$ declare routine regprocedure; begin
    for routine in select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace loop
      execute format('comment on function %s is %L', routine, 'HTTP');
    end loop;
  end $$;
  comment on function slow() is E'HTTP\\ncommand_timeout 1';
`;

const gateway = useGateway(sql);

const child = { id: 2, parent: 1, name: 'two', amount: 2 };

describe('SQLSTATE to status', () => {
  test.each([
    ['P0001', 400],
    ['P0004', 400],
    ['42501', 403],
    ['23505', 409],
    ['23503', 400],
    ['23502', 400],
    ['23514', 400],
    ['22012', 400],
    ['22P02', 400],
    ['40001', 409],
    ['40P01', 409],
    ['53300', 503],
    ['08006', 503],
    ['42P01', 500],
    ['XX000', 500],
    ['23000', 400],
    ['23001', 400],
    ['23P01', 409],
    ['55P03', 409],
    ['P0002', 404],
    ['P0003', 500],
    ['28000', 403],
    ['28P01', 403],
    ['T1234', 500],
  ])('%s: %i', async (code, status) => {
    const answer = await gateway.send('POST /api/raise', { body: { code, message: 'Nothing "good"' } });
    expect(problem(answer)).toMatchObject(problemOf(status, { title: 'Nothing "good"', code }));
    expect(answer.headers.get('retry-after') !== null).toBe(status === 503 || code === '55P03');
  });

  test('class 28 is 401 on a login endpoint', async () => {
    const login = await startGateway(
      `create function sign_in(_code text) returns table (user_name text) language plpgsql volatile as $$
         begin raise exception 'unknown' using errcode = _code; end $$;
       comment on function sign_in is E'HTTP\\nlogin';`,
      { authentication: { cookie: {} } },
    );
    const statusOf = async (code: string): Promise<number> =>
      (await login.send('POST /api/sign-in', { body: { code } })).status;
    expect([await statusOf('28P01'), await statusOf('28000'), await statusOf('23505')]).toEqual([401, 401, 409]);
    await login.close();
  });

  test('57014 is 205 with an empty body', async () => {
    expect(plain(await gateway.send('POST /api/raise', { body: { code: '57014' } }))).toEqual({
      status: 205,
      type: null,
      body: '',
    });
    expect(plain(await gateway.send('POST /api/cancelled'))).toEqual({ status: 205, type: null, body: '' });
  });

  test('a timeout of ours is 504', async () => {
    expect(problem(await gateway.send('POST /api/slow'))).toMatchObject(problemOf(504));
  });
});

describe('the members of a problem', () => {
  test('everything that PostgreSQL gives', async () => {
    const answer = problem(await gateway.send('POST /api/raise-all'));
    expect(answer).toEqual({
      status: 400,
      mediaType: 'application/problem+json',
      problem: {
        type: expect.any(String),
        title: 'the message',
        status: 400,
        detail: 'the detail',
        code: 'P0001',
        hint: 'the hint',
        constraint: 'the_constraint',
        column: 'the_column',
        table: 'the_table',
      },
    });
  });

  test('nothing more', async () => {
    expect(problem(await gateway.send('POST /api/plain-raise')).problem).toEqual({
      type: expect.any(String),
      title: 'not so: 42',
      status: 400,
      code: 'P0001',
    });
  });

  test.each([
    ['not null', { ...child, name: null }, 400, { code: '23502', column: 'name', table: 'child' }],
    ['check', { ...child, amount: 0 }, 400, { code: '23514', constraint: 'amount_is_positive', table: 'child' }],
    [
      'foreign key',
      { ...child, parent: 9 },
      400,
      { code: '23503', constraint: 'child_parent_id_fkey', table: 'child' },
    ],
    ['unique', { ...child, id: 1 }, 409, { code: '23505', constraint: 'child_pkey', table: 'child' }],
  ])('%s', async (_, body, status, members) => {
    expect(problem(await gateway.send('POST /api/add-child', { body }))).toMatchObject(problemOf(status, members));
  });

  test('after all of them, what is right still works', async () => {
    expect(plain(await gateway.send('POST /api/add-child', { body: child }))).toEqual(text('2'));
  });

  test.each([
    ['POST /api/divide', { by: 0 }, '22012'],
    ['POST /api/inner-type-error', {}, '22P02'],
  ])('%s: class 22 inside of the routine is 400 too, and blames no parameter', async (line, body, code) => {
    const answer = problem(await gateway.send(line, { body }));
    expect(answer).toMatchObject(problemOf(400, { code }));
    expect(answer.problem).not.toHaveProperty('parameters');
  });

  test('an unknown table is 500', async () => {
    expect(problem(await gateway.send('POST /api/missing-table'))).toMatchObject(problemOf(500, { code: '42P01' }));
  });
});

describe('postgreSqlErrorCodeToHttpStatusCodeMapping', () => {
  test('extends and overrides', async () => {
    const own = await startGateway(sql, {
      postgreSqlErrorCodeToHttpStatusCodeMapping: { P0001: 422, T1234: 418, '57014': 499, '22012': 409 },
    });
    try {
      const statusOf = async (code: string): Promise<number> =>
        (await own.send('POST /api/raise', { body: { code } })).status;
      expect([
        await statusOf('P0001'),
        await statusOf('T1234'),
        await statusOf('57014'),
        await statusOf('22012'),
        await statusOf('22P02'),
        await statusOf('23505'),
      ]).toEqual([422, 418, 499, 409, 400, 409]);
    } finally {
      await own.close();
    }
  });
});

describe('the values of a row that a constraint has refused', () => {
  const secrets = `
    create table account (id int primary key, secret text default 'hidden-value', name text not null, n int check (n > 0));
    insert into account values (1, 'hidden-value', 'one', 1);
    create table part (id int, secret text default 'hidden-value') partition by list (id);
    create table part_1 partition of part for values in (1);
    create view positive as select * from account where n > 0 with check option;
    create function insert_null() returns void language sql as $$ insert into account (id) values (2) $$;
    create function insert_negative() returns void language sql as $$ insert into account (id, name, n) values (2, 'x', -1) $$;
    create function insert_part() returns void language sql as $$ insert into part_1 (id) values (2) $$;
    create function insert_view() returns void language sql as $$ insert into positive (id, name, n) values (2, 'x', null) $$;
    create function insert_twice() returns void language sql as $$ insert into account (id, name) values (1, 'x') $$;
    create function own_words(_detail text) returns void language plpgsql as $$
      begin raise exception using errcode = 'check_violation', message = 'no', detail = _detail; end $$;
    do $$ declare routine regprocedure; begin
      for routine in select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace loop
        execute format('comment on function %s is %L', routine, 'HTTP');
      end loop;
    end $$;`;
  const byDefault = useGateway(secrets);
  const shown = useGateway(secrets, { returnGatewayExceptionMessage: 'withRow' });
  const hidden = useGateway(secrets, { returnGatewayExceptionMessage: false });

  test.each([
    ['insert-null', '23502'],
    ['insert-negative', '23514'],
    ['insert-part', '23514'],
    ['insert-view', '44000'],
  ])('%s: by withRow alone', async (name, code) => {
    const answer = problem(await byDefault.send(`POST /api/${name}`));
    expect(answer).toMatchObject(problemOf(400, { code }));
    expect(answer.problem).not.toHaveProperty('detail');
    expect(problem(await shown.send(`POST /api/${name}`)).problem['detail']).toMatch(
      /^Failing row contains \(2, hidden-value/,
    );
    expect((await hidden.send(`POST /api/${name}`)).body).not.toContain('hidden-value');
  });

  test('the key that the caller gave, and the words of an author, stay', async () => {
    expect(problem(await byDefault.send('POST /api/insert-twice')).problem['detail']).toBe(
      'Key (id)=(1) already exists.',
    );
    const own = await byDefault.send('POST /api/own-words', { body: { detail: 'Give more.' } });
    expect(problem(own).problem['detail']).toBe('Give more.');
  });
});

describe('returnGatewayExceptionMessage: false', () => {
  const quiet = useGateway(sql, { returnGatewayExceptionMessage: false });

  test.each([
    ['POST /api/raise', { code: 'P0001', message: 'secret-internals' }, 400],
    ['POST /api/raise', { code: '42P01', message: 'secret-internals' }, 500],
    ['POST /api/missing-table', {}, 500],
    ['POST /api/add-child', { ...child, amount: 0 }, 400],
  ])('%s %o: a generic title, and a correlation id that is in the log', async (line, body, status) => {
    const answer = await quiet.send(line, { body });
    expect(answer.status).toBe(status);
    expect(answer.body).not.toMatch(/secret-internals|no_such_table|amount_is_positive|child/);
    const logged = quiet.observations.at(-1) as { readonly correlationId: string };
    expect(logged).toMatchObject({ kind: 'request-failed', status });
    expect(logged.correlationId).toMatch(/^[\w-]{8,}$/);
    expect(answer.body).toContain(logged.correlationId);
  });
});
