import { type ConnectionProvider, createGateway } from '@pgway/core';
import { freshDatabase, holdLock, serverVersion, startGateway, useGateway } from '@pgway/testing';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../database/support.ts';
import { json, plain, problem, problemOf, sendRaw } from './support.ts';

/** Nothing can be wrapped around a CALL; what it gives is JSON all the same, as that of a function is. */

const types = `
  create type mood as enum ('sad', 'so "so"', 'a,b');
  create type inner_pair as (a int, list text[]);
  create type outer_pair as (first inner_pair, rest inner_pair[], at timestamptz, doc jsonb, note text);
  create domain ids as int[] check (array_length(value, 1) < 5);
  create domain full_ids as int[] not null;
  create domain a_pair as inner_pair;
`;

const values: readonly (readonly [type: string, expression: string])[] = [
  ['int[]', `'{1,NULL,-3}'`],
  ['int[]', `'[0:1][2:3]={{1,2},{3,4}}'`],
  ['int[]', `'{}'`],
  ['int[]', 'null'],
  ['text[]', `array['a"b', null, 'NULL', '', ' ', E'\\\\', E'x\\ny', '{é🎈}', 'a,b', 'null']`],
  [
    'outer_pair',
    `row(row(1, '{"x y",NULL}'), array[row(2, null)::inner_pair, null], '2024-01-12 11:06:59.3+02', '{"a_b":[1]}', '(",)')`,
  ],
  ['outer_pair', 'row(null, null, null, null, null)'],
  ['outer_pair', 'null'],
  ['mood[]', `array['so "so"', null, 'a,b']::mood[]`],
  ['int4range', `'[1,5)'`],
  ['int4range[]', `'{"[1,5)",empty}'`],
  ['jsonb[]', `array['{"b":"\\"", "a":[1,2]}', 'null', null, '1e2']::jsonb[]`],
  ['json[]', `array['{"b" : 1,  "b":2}']::json[]`],
  ['timestamptz[]', `array['2024-01-12 11:06:59.334476+00', 'infinity', '0044-03-15 12:00 BC', null]::timestamptz[]`],
  ['date[]', `'{2024-01-12,-infinity}'`],
  ['interval[]', `'{"1 mon -2 days 03:04:05.6"}'`],
  ['numeric[]', `'{NaN,1.50,1e40,NULL}'`],
  ['float8[]', `'{NaN,-0,0.1,1e300,Infinity}'`],
  ['bytea[]', `array['\\x00ff', '']::bytea[]`],
  ['bool[]', `'{t,f,NULL}'`],
  ['ids', `'{1,2}'`],
  ['ids', 'null'],
  ['a_pair', `row(1, '{a}')`],
  ['a_pair[]', `array[row(1, '{a}')::inner_pair::a_pair]`],
  ['bpchar[]', `'{ab}'::char(4)[]`],
];

describe('the JSON of each output is what to_json gives', () => {
  const gateway = useGateway(
    types +
      values
        .map(
          ([type, expression], index) => `
            create procedure gives${index}(_n int, inout before int default 1, inout v ${type} default null, inout after text default 'z')
            language plpgsql as $$ begin v := ${expression}; before := _n; end $$;
            comment on procedure gives${index} is 'HTTP';`,
        )
        .join(''),
  );

  test.each(values.map((value, index) => [...value, index] as const))('%s: %s', async (type, expression, index) => {
    const [row] = await gateway.database.query(`select to_json((${expression})::${type})::text as json`);
    const expected = (row?.['json'] as string | null) ?? 'null';
    expect(plain(await gateway.send(`POST /api/gives${index}`, { body: { n: 7 } }))).toEqual(
      json(`{"before":7,"v":${expected},"after":"z"}`),
    );
  });

  test('nothing is warned of', () => {
    expect(gateway.observations.filter(({ kind }) => kind === 'diagnostic')).toEqual([]);
  });
});

const sql = `
  ${types}
  create table written (what text);
  create type book_note as (book_id int, the_notes text[]);
  create procedure notes(_id int, inout the_note book_note default null, inout all_ids int[] default null, inout is_new bool default null,
    inout made_at timestamptz default null) language plpgsql as $$
    begin
      the_note := row(_id, '{a,b}'); all_ids := array[_id]; is_new := true; made_at := '2024-01-12 11:06:59+00';
    end $$;
  create function notes_by_function(_id int, out the_note book_note, out all_ids int[], out is_new bool, out made_at timestamptz)
    language sql as $$ select row(_id, '{a,b}')::book_note, array[_id], true, '2024-01-12 11:06:59+00'::timestamptz $$;
  create procedure in_and_out(inout ids int[], inout moods mood[] default null) language plpgsql as $$
    begin ids := ids || 4; moods := moods || 'sad'::mood; end $$;
  create procedure commits(inout steps text[] default '{}') language plpgsql as $$
    begin insert into written values ('kept'); commit; insert into written values ('gone'); rollback; steps := array['done']; end $$;
  create procedure fails_later(inout ids int[] default null) language plpgsql as $$
    begin insert into written values ('failed'); raise exception 'no'; end $$;
  create procedure as_text(inout ids int[] default '{1,2}', inout t text default 'x,y') language plpgsql as $$ begin t := t; end $$;
  create procedure note_as_text(inout note book_note default '(5,"{""x y""}")', inout t text default 'x,y') language plpgsql as $$
    begin t := t; end $$;
  create table lasts (so_far bool);
  insert into lasts values (true);
  create function still() returns bool language sql as 'select so_far from lasts';
  create domain fleeting as int[] check (still());
  create procedure ends(inout n fleeting default null) language plpgsql as $$
    begin insert into written values ('ended'); n := '{1}'; update lasts set so_far = false; end $$;
  create procedure dated(inout days date[] default null) language plpgsql as $$ begin days := '{2024-02-01}'; end $$;
  create type told as enum ('x');
  create function json_of(_told told) returns json language sql as $$
    select json_build_object('agent', current_setting('request.headers', true)::json ->> 'x-agent') $$;
  create cast (told as json) with function json_of(told);
  create procedure settled(inout shown told default null) language plpgsql as $$ begin shown := 'x'; end $$;
  create type ponderous as enum ('x');
  create function json_of(_slow ponderous) returns json language sql as $$ select '1'::json from pg_sleep(20) $$;
  create cast (ponderous as json) with function json_of(ponderous);
  create procedure slow_to_tell(inout it ponderous default null, inout seconds float8 default 0) language plpgsql as $$
    begin perform pg_sleep(seconds); it := 'x'; end $$;
  create procedure slow(inout ids int[] default null) language plpgsql as $$ begin perform pg_sleep(20); end $$;
  do $$ declare routine regprocedure; begin
    for routine in select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace loop
      execute format('comment on routine %s is %L', routine, case
        when routine::text like '%as_text%' then E'HTTP\\nraw\\nseparator ;'
        when routine::text like 'in_and_out%' then E'HTTP GET'
        when routine::text like 'settled%' then E'HTTP\\nrequest_headers context'
        when routine::text like 'slow%' then E'HTTP\\ntimeout 1s'
        else 'HTTP POST' end);
    end loop;
  end $$;
`;

describe('as a function with the same outputs', () => {
  const gateway = useGateway(sql);
  const flat = useGateway(sql, { compositeColumns: 'flat' });
  const one = useGateway(sql, { poolSize: 1 });
  const patient = useGateway(sql.replace('timeout 1s', ''));

  test('keys are converted at any depth', async () => {
    const expected = json(
      '{"theNote":{"bookId":5,"theNotes":["a","b"]},"allIds":[5],"isNew":true,"madeAt":"2024-01-12T11:06:59+00:00"}',
    );
    expect(plain(await gateway.send('POST /api/notes', { body: { id: 5 } }))).toEqual(expected);
    expect(plain(await gateway.send('POST /api/notes-by-function', { body: { id: 5 } }))).toEqual(expected);
  });

  test('composites are flat where they are', async () => {
    const expected = json(
      '{"bookId":5,"theNotes":["a","b"],"allIds":[5],"isNew":true,"madeAt":"2024-01-12T11:06:59+00:00"}',
    );
    expect(plain(await flat.send('POST /api/notes', { body: { id: 5 } }))).toEqual(expected);
    expect(plain(await flat.send('POST /api/notes-by-function', { body: { id: 5 } }))).toEqual(expected);
  });

  test('GET, and HEAD with the length that GET has', async () => {
    const path = '/api/in-and-out?ids=1&ids=2&moods=a,b';
    const body = '{"ids":[1,2,4],"moods":["a,b","sad"]}';
    expect(plain(await gateway.send(`GET ${path}`))).toEqual(json(body));
    const head = await sendRaw(gateway.url, { method: 'HEAD', path });
    expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, String(body.length), 0]);
  });

  test('what was left NULL is null, whatever its domain says of that', async ({ skip }) => {
    if (serverVersion() < 14) skip('procedures have output parameters since 14');
    const own = await startGateway(`
      ${types}
      create procedure left_out(out ids full_ids, out n int) language plpgsql as $$ begin n := 3; end $$;
      comment on procedure left_out is 'HTTP';
      create procedure nameless(out r record) language plpgsql as $$ begin r := row(1, 'a'); end $$;
      comment on procedure nameless is 'HTTP';`);
    onTestFinished(() => own.close());
    expect(plain(await own.send('POST /api/left-out'))).toEqual(json('{"ids":null,"n":3}'));
    expect(plain(await own.send('POST /api/nameless'))).toEqual(json('{"r":"(1,a)"}'));
    expect(own.observations.filter(({ kind }) => kind === 'diagnostic')).toMatchObject([
      { diagnostic: { severity: 'warning', code: 'text-output', routine: 'public.nameless()' } },
    ]);
  });

  test('raw is text', async () => {
    expect((await gateway.send('POST /api/as-text')).body).toBe('"{1,2}";"x,y"');
    expect((await flat.send('POST /api/note-as-text')).body).toBe('5;"{""x y""}";"x,y"');
  });

  test('a procedure that commits', async () => {
    await gateway.database.query('truncate written');
    expect(plain(await gateway.send('POST /api/commits'))).toEqual(json('{"steps":["done"]}'));
    expect(await gateway.database.query('select what from written')).toEqual([{ what: 'kept' }]);
  });

  test('an error of the procedure', async () => {
    expect(problem(await gateway.send('POST /api/fails-later'))).toEqual(problemOf(400, { code: 'P0001' }));
  });

  test('an error of the conversion is one of the database: no parameter is blamed, and the call has been made', async () => {
    await gateway.database.query('truncate written');
    expect(problem(await gateway.send('POST /api/ends', { body: { n: null } }))).toEqual(
      problemOf(400, {
        type: 'urn:pgway:problem:database-error',
        title: 'value for domain fleeting violates check constraint "fleeting_check"',
        code: '23514',
        constraint: 'fleeting_check',
      }),
    );
    expect(await gateway.database.query('select what from written')).toEqual([{ what: 'ended' }]);
  });

  test('on the only connection, one after the other', async () => {
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map(async (id) => (await one.send('POST /api/notes', { body: { id } })).body),
    );
    expect(answers.map((body) => (JSON.parse(body) as { readonly allIds: unknown }).allIds)).toEqual([
      [1],
      [2],
      [3],
      [4],
      [5],
    ]);
  });

  test.each(['/api/slow', '/api/slow-to-tell'])('a timeout of %s', async (path) => {
    expect(problem(await gateway.send(`POST ${path}`))).toEqual(
      problemOf(504, { type: 'urn:pgway:problem:timeout', correlationId: expect.any(String) }),
    );
  });

  test('the conversion ends when its client leaves', async () => {
    const converting = async (): Promise<boolean> =>
      (
        await patient.database
          .query(`select from pg_stat_activity where state = 'active' and query like '%"ponderous"%' and
        query not like 'call%' and datname = current_database() and pid <> pg_backend_pid()`)
      ).length > 0;
    const leaving = new AbortController();
    const asked = fetch(`${patient.url}/api/slow-to-tell`, { method: 'POST', signal: leaving.signal });
    await until('the conversion runs', converting);
    leaving.abort();
    await expect(asked).rejects.toThrow('aborted');
    await until('it has ended', async () => !(await converting()));
    expect(patient.observations.filter(({ kind }) => kind === 'request-failed')).toEqual([]);
  });

  test('settings of the call hold for the conversion as well', async () => {
    const answer = await gateway.send('POST /api/settled', { headers: { 'x-agent': 'me' } });
    expect(plain(answer)).toEqual(json('{"shown":{"agent" : "me"}}'));
  });
});

test('a failed conversion invites no retry of a procedure that has run', async () => {
  const gateway = await startGateway(
    `create procedure taking(inout numbers float8[]) language plpgsql as $$ begin perform pg_advisory_xact_lock(1); end $$;
    comment on procedure taking is 'HTTP';
    create function busy() returns int language sql as $$ select 1 from pg_advisory_xact_lock(2) $$;
    comment on function busy is 'HTTP GET';`,
    { poolSize: 1, acquireTimeout: 1.5 },
  );
  onTestFinished(() => gateway.close());
  const { connectionString } = gateway.database;
  const [first, second] = [await holdLock(connectionString, 1), await holdLock(connectionString, 2)];
  const called = gateway.send('POST /api/taking', { body: { numbers: [0.5] } });
  await until('it runs', async () => (await first.waiting()) === 1);
  // On the one connection, before the conversion.
  const next = gateway.send('GET /api/busy');
  await until('it is next', () => gateway.gateway.statistics().pools[0]!.waiting === 1);
  await first.release();
  const answer = await called;
  await second.release();
  expect(problem(answer)).toEqual(
    problemOf(500, { type: 'urn:pgway:problem:internal', correlationId: expect.any(String) }),
  );
  expect(answer.headers.get('retry-after')).toBe(null);
  expect((await next).body).toBe('1');
});

test('what is kept of before is void when the conversion fails, too', async () => {
  const gateway = await startGateway(
    `${sql}
    create function count_written() returns bigint language sql as 'select count(*) from written';
    comment on function count_written is E'HTTP GET\\ncached';
    comment on procedure ends is E'HTTP\\ninvalidates count_written';`,
  );
  onTestFinished(() => gateway.close());
  expect((await gateway.send('GET /api/count-written')).body).toBe('0');
  expect((await gateway.send('POST /api/ends')).status).toBe(400);
  expect((await gateway.send('GET /api/count-written')).body).toBe('1');
});

test("in a transaction of the host's, whose connection comes back once", async () => {
  const database = await freshDatabase(sql);
  const client = new Client({ connectionString: database.connectionString });
  await client.connect();
  let released = 0;
  const provide: ConnectionProvider = () => ({ client, release: () => void released++ });
  const gateway = await createGateway({ connectionString: database.connectionString, connectionProvider: provide });
  onTestFinished(async () => {
    await gateway.close();
    await client.end();
    await database.drop();
  });
  const send = async (name: string): Promise<string> => {
    const response = await gateway.fetch(new Request(`http://gateway/api/${name}`, { method: 'POST' }));
    return `${response!.status} ${await response!.text()}`;
  };

  await client.query('begin');
  await client.query(`set local DateStyle = 'German'`);
  expect(await send('dated')).toBe('200 {"days":["2024-02-01"]}');
  expect(released).toBe(1);
  expect((await client.query('show DateStyle')).rows).toEqual([{ DateStyle: 'German, DMY' }]);
  expect(await send('ends')).toMatch(/^400 .*database-error/);
  expect(released).toBe(2);
  await client.query('rollback');
  expect(await send('fails-later')).toMatch(/^400 .*P0001/);
  expect(released).toBe(3);
});
