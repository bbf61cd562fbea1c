import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { people } from '../events/people.ts';

/** Parameters that get the value of a query: `param <name> = select …`. */

const gateway = useGateway(
  `
  create table account (email text primary key, token text, level int, owner text);
  insert into account values ('a@x', 'token-a', 3, 'ada'), ('b@x', 'token-b', 5, 'bob'), ('n@x', null, null, 'ada');
  create table twice (n int);
  insert into twice values (1), (2);
  create table counted (n int);

  create function sealed(_email text, _token text default 'own') returns json language sql stable as
  $$ select json_build_object('email', _email, 'token', _token) $$;
  comment on function sealed is 'HTTP
  param _token = select token from account where email = :_email';

  create function sealed_by_post(_email text, _token text) returns json language sql as
  $$ select json_build_object('email', _email, 'token', _token) $$;
  comment on function sealed_by_post is 'HTTP POST
  _token = select token from account where email = {_email}';

  create function levels(_emails text[], _least int default 2, _level int default null, _texts text default '') returns table (email text, level int, texts text)
  language sql stable as $$ select 'x', _level, _texts $$;
  comment on function levels is 'HTTP GET
  param _level = select max(level) from account where email = any(:emails) and level >= :least
  param _texts = select '':emails {x} '' || $q$:y$q$ || (1::int) || "t"."a:b" from (select E''\\'':z'' as "a:b") "t"';

  create function many_rows(_n int default null) returns int language sql stable as 'select _n';
  comment on function many_rows is 'HTTP GET
  param _n = select n from twice';

  create function count_once(_n int, _m int) returns json language sql as $$ select json_build_object('n', _n, 'm', _m, 'same', _n) $$;
  create function next_number() returns int language sql as 'insert into counted values (1) returning (select count(*)::int from counted)';
  comment on function count_once is 'HTTP POST
  param _n = select next_number()';

  create function owned(_user text default null, _mine bigint default null) returns bigint language sql stable as 'select _mine';
  comment on function owned is 'HTTP GET
  param _user is user_name
  param _mine = select count(*) from account where owner = :_user and current_setting(''request.user_name'', true) = :_user
  user_context';

  create function cached_level(_email text, _other text, _level int default null) returns table (level int, other text) language sql stable as 'select _level, _other';
  comment on function cached_level is 'HTTP GET
  param _level = select level from account where email = :_email
  cached _other';

  create procedure seal(_email text, _add int default 1, inout _token text default null, inout level int default null) language plpgsql as
  $$ begin end $$;
  comment on procedure seal is 'HTTP POST
  param _token = select token from account where email = :_email
  param level = select level + :_add from account where email = :_email';

  create function unnamed(text, text) returns text language sql stable as 'select $2';
  comment on function unnamed is 'HTTP GET
  param $2 = select token from account where email = $1';`,
  { authentication: { schemes: [people().scheme] }, batchPath: '/api/batch' },
);

const ada = { 'x-user': 'ada' };

async function ask(line: string, options: Parameters<typeof gateway.send>[1] = {}): Promise<string> {
  const { status, body } = await gateway.send(line, options);
  return status === 200 ? body : `${status} ${body}`;
}

describe('the value', () => {
  test('comes from a query that reads other parameters', async () => {
    expect(await ask('GET /api/sealed?email=a@x')).toBe('{"email" : "a@x", "token" : "token-a"}');
    expect(await ask('POST /api/sealed-by-post', { body: { email: 'b@x' } })).toBe(
      '{"email" : "b@x", "token" : "token-b"}',
    );
    expect(await ask('GET /api/unnamed?$1=b@x')).toBe('token-b');
  });

  test('is NULL without a row or for a NULL, never the default of the routine', async () => {
    for (const email of ['nobody@x', 'n@x', `a@x' or true --`, '', '$1', ':_email', '{_email}'])
      expect(JSON.parse(await ask(`GET /api/sealed?email=${encodeURIComponent(email)}`))).toEqual({
        email,
        token: null,
      });
  });

  test('has the types of the parameters, and the constant default of one that the request leaves out', async () => {
    const texts = `:emails {x} :y1':z`;
    expect(await ask('GET /api/levels?emails=a@x&emails=b@x')).toBe(JSON.stringify([{ email: 'x', level: 5, texts }]));
    expect(await ask('GET /api/levels?emails=a@x&emails=b@x&least=4')).toContain('"level":5');
    expect(await ask('GET /api/levels?emails=a@x&least=4')).toContain('"level":null');
  });

  test('of more than one row is an error', async () => {
    const { status, body } = await gateway.send('GET /api/many-rows');
    expect([status, JSON.parse(body)]).toMatchObject([
      500,
      { code: '21000', title: 'more than one row returned by a subquery used as an expression' },
    ]);
  });

  test('is computed once in a call', async () => {
    expect(await ask('POST /api/count-once', { body: { m: 1 } })).toBe('{"n" : 0, "m" : 1, "same" : 0}');
    expect(await ask('POST /api/count-once', { body: { m: 1 } })).toBe('{"n" : 1, "m" : 1, "same" : 1}');
  });

  test('has the identity and the settings of the call', async () => {
    expect(await ask('GET /api/owned', { headers: ada })).toBe('2');
    expect(await ask('GET /api/owned', { headers: { 'x-user': 'bob' } })).toBe('1');
    expect(await ask('GET /api/owned')).toBe('0');
  });

  test('belongs to the key of a cache with the parameters that it reads', async () => {
    const level = async (email: string): Promise<unknown> =>
      JSON.parse(await ask(`GET /api/cached-level?email=${email}&other=1`));
    expect(await level('a@x')).toEqual([{ level: 3, other: '1' }]);
    expect(await level('b@x')).toEqual([{ level: 5, other: '1' }]);
  });

  test('in a batch', async () => {
    const batch = async (query: string): Promise<string> =>
      (await gateway.send('POST /api/batch', { body: [{ method: 'GET', path: `/api/sealed?email=a@x${query}` }] }))
        .body;
    expect(await batch('')).toContain('"token-a"');
    expect(await batch('&token=mine')).toContain('is computed by the server');
  });
});

describe('a procedure', () => {
  test('gets the values of a statement before the call, in its transaction', async () => {
    expect(await ask('POST /api/seal', { body: { email: 'a@x' } })).toBe('{"token":"token-a","level":4}');
    expect(await ask('POST /api/seal', { body: { email: 'b@x', add: 5 } })).toBe('{"token":"token-b","level":10}');
    expect(await ask('POST /api/seal', { body: { email: 'n@x' } })).toBe('{"token":null,"level":null}');
    expect(await ask('POST /api/seal', { body: { email: 'a@x', token: 'mine' } })).toContain('400');
    expect(await gateway.database.query('select current_setting($1, true) as left', ['pgway.values'])).toEqual([
      { left: null },
    ]);
  });
});

describe('clients cannot set it', () => {
  const given = '"is computed by the server and may not be given."';
  test.each([
    'GET /api/sealed?email=a@x&token=mine',
    'GET /api/sealed?email=a@x&_token=mine',
    'GET /api/sealed?email=a@x&token=mine&token=again',
    'GET /api/sealed?email=a@x&token=',
    'GET /api/sealed?email=a@x&%74oken=mine',
    'GET /api/unnamed?$1=a@x&$2=mine',
  ])('%s', async (line) => {
    const { status, body } = await gateway.send(line);
    expect(status).toBe(400);
    expect(body).toContain(given.slice(1, -1));
  });

  test.each([
    '{"email":"a@x","token":"mine"}',
    '{"email":"a@x","_token":"mine"}',
    '{"token":"mine","email":"a@x"}',
    '{"email":"a@x","token":null}',
    '{"email":"a@x","token":"mine","token":"again"}',
    String.raw`{"email":"a@x","\u0074oken":"mine"}`,
    '{"email":"a@x","token":{"a":1}}',
  ])('%s', async (body) => {
    const headers = { 'content-type': 'application/json' };
    const response = await gateway.send('POST /api/sealed-by-post', { body, headers });
    expect([response.status, response.body.includes('mine"')]).toEqual([400, false]);
    expect(await ask('POST /api/sealed-by-post?token=mine', { body: '{"email":"a@x"}', headers })).toContain('token-a');
  });

  test.each(['Token', 'TOKEN', 'token ', 'token[]', 'token.x', '__proto__', 'constructor'])(
    'the key %j is not a parameter',
    async (key) => {
      const { status } = await gateway.send(`GET /api/sealed?email=a@x&${encodeURIComponent(key)}=mine`);
      expect(status).toBe(400);
    },
  );

  test('where unknown keys are ignored, its key is ignored, too', async () => {
    const started = await startGateway(
      `create function f(_a text, _b text default 'own') returns text language sql stable as 'select _b';
       comment on function f is 'HTTP GET
       param _b = select upper(:_a)';
       create function f(_a text, _c int) returns text language sql stable as $$ select 'overload' $$;
       comment on function f(text, int) is 'HTTP GET';`,
      { unknownParameters: 'ignore' },
    );
    onTestFinished(() => started.close());
    const answers = ['a=x&b=y', 'a=x&_b=y&b=z', 'a=x', 'a=x&c=1', 'a=x&b=y&c=1'].map(
      async (query) => (await started.send(`GET /api/f?${query}`)).body,
    );
    expect(await Promise.all(answers)).toEqual(['X', 'X', 'X', 'overload', 'overload']);
  });
});

describe('a mistake stops the endpoint', () => {
  const start = async (lines: string, head = 'create function f(_a int, _b text, _c int default 1)') => {
    const started = await startGateway(
      `create table t (n int);
       create function g() returns int language sql as 'insert into t values (1) returning n';
       create function later() returns int language sql stable as 'select 1';
       ${head} returns text language sql stable as 'select null::text';
       comment on function f is $comment$HTTP GET
${lines}$comment$;`,
    );
    onTestFinished(() => started.close());
    const [first] = started.gateway.diagnostics.filter(({ severity }) => severity === 'error');
    expect((await started.send('GET /api/f?a=1&b=x')).status).toBe(404);
    return first === undefined ? null : `${first.line}: ${first.message}`;
  };

  test.each([
    [
      'param _b = select x from t where n = :_a',
      '2: param _b: column "x" does not exist\n  select x from t where n = :_a\n         ^',
    ],
    [
      'param _b = select n::text from t where n = :_a and nothing = 1',
      '2: param _b: column "nothing" does not exist\n  select n::text from t where n = :_a and nothing = 1\n                                          ^',
    ],
    [
      'param _b = select :_x',
      '2: param _b: the routine has no parameter "_x"; correct the name\n  select :_x\n         ^',
    ],
    ['param _b = select :_b', '2: param _b: the query reads the parameter that it sets\n  select :_b\n         ^'],
    ['param _x = select 1', '2: param _x: the routine has no parameter "_x"; correct the name'],
    [
      'param _a = select length(:_b)\nparam _b = select :_a::text',
      '2: param _a: "_b" is set by a query, too; write that query here\n  select length(:_b)\n                ^',
    ],
    ['param _b = select 1, 2', '2: param _b: subquery must return only one column'],
    ['param _a = select now()', '2: param _a: cannot cast type timestamp with time zone to integer'],
    [
      'param _a = select :_b',
      '2: param _a: the query returns text, and an error of its conversion to integer would show the value to the client; return integer, or write the cast (::integer) in the query if clients may see the value',
    ],
    [
      "param _b = select 'x') || (select 'y'",
      `2: param _b: there is no parenthesis for this ")"\n  select 'x') || (select 'y'\n            ^`,
    ],
    [
      'param _b = select 1; select 2',
      '2: param _b: the line must be one query; remove the ";"\n  select 1; select 2\n          ^',
    ],
    ['param _b = select 1 -- x', '2: param _b: a comment would end the line; remove it\n  select 1 -- x\n           ^'],
    ["param _b = select 'x", "2: param _b: the text that begins here has no closing '\n  select 'x\n         ^"],
    ['param _b = select (1', '2: param _b: a parenthesis is not closed\n  select (1\n           ^'],
    [
      'param _b = select g()::text',
      '2: param _b: the query may write, but the function is declared stable, so that it may run twice and in a read-only transaction; declare it volatile',
    ],
    ['param _b is user_id\nparam _b = select 1', '3: param _b: another line sets it; keep one of the two'],
    ['param _b = select 1\nparam _b = select 2', '3: param _b: another line has a query for it; keep one'],
    [
      'param _b = select 1\nvalidate _b using not_null',
      '3: the gateway sets "_b", so that clients cannot send a wrong value; remove the line, or write authorize to require a caller',
    ],
    ['path /api/f/{b}\nparam _b = select 1', '3: param _b: it is a path parameter, which the client sets'],
    ['_b = upper({_a})', 'write a query: param <name> = select …'],
  ])('%s', async (lines, message) => {
    expect(await start(lines)).toContain(message);
  });

  test('a default that only the routine knows', async () => {
    expect(await start('param _b = select :_c', 'create function f(_a int, _b text, _c int default later())')).toBe(
      '2: param _b: the default of "_c" is not a constant, so that only the routine knows it; compute the value in the routine\n  select :_c\n         ^',
    );
  });

  test('a value that only its text converts, which an error would show', async () => {
    const cases = [
      ['uuid', 'text', 'text', 'uuid'],
      ['uuid', 'varchar(9)', 'character varying', 'uuid'],
      ['uuid', 'note', 'text', 'uuid'],
      ['key', 'note', 'text', 'uuid'],
      ['uuid[]', 'text[]', 'text[]', 'uuid[]'],
      ['uuid[]', 'note[]', 'public.note[]', 'uuid[]'],
      ['uuid[]', 'text', 'text', 'uuid[]'],
      ['jsonb', 'text', 'text', 'jsonb'],
      ['mood', 'text', 'text', 'public.mood'],
      ['pair', 'text', 'text', 'public.pair'],
      ['bytea', 'name', 'name', 'bytea'],
      ['regclass', 'text', 'text', 'regclass'],
      ['xml', 'text', 'text', 'xml'],
      ['uuid', 'key'],
      ['text', 'uuid'],
      ['text', 'mood[]'],
      ['varchar', 'text'],
      ['varchar[]', 'text[]'],
      ['note', 'text'],
      ['note', 'int'],
      ['int', 'bigint'],
      ['real', 'numeric'],
      ['bigint[]', 'int[]'],
      ['boolean', 'int'],
      ['date', 'timestamptz'],
      ['jsonb', 'json'],
      ['int', 'jsonb'],
      ['level', 'text'],
    ] as const;
    const started = await startGateway(
      `create domain note as text;
       create domain key as uuid;
       create type mood as enum ('sad');
       create type pair as (a int, b int);
       create type level as enum ('low');
       create function to_level(text) returns level language sql strict immutable as $$ select 'low'::level $$;
       create cast (text as level) with function to_level(text) as assignment;
       ${cases
         .map(
           ([parameter, column], index) =>
             `create table hidden_${index} (value ${column});
              create function f_${index}(_x ${parameter}) returns boolean language sql stable as 'select _x is null';
              comment on function f_${index} is 'HTTP GET
              param _x = select value from hidden_${index}';`,
         )
         .join('\n')}
       create function written(_x uuid) returns boolean language sql stable as 'select _x is null';
       comment on function written is 'HTTP GET
       param _x = select value::uuid from hidden_0';`,
    );
    onTestFinished(() => started.close());
    const errors = new Map(
      started.gateway.diagnostics
        .filter(({ severity }) => severity === 'error')
        .map(({ routine, line, message }) => [/f_\d+/.exec(routine)![0], `${line}: ${message}`]),
    );
    for (const [index, [parameter, column, from, to]] of cases.entries()) {
      const message =
        from === undefined
          ? undefined
          : `2: param _x: the query returns ${from}, and an error of its conversion to ${to} would show the value to the client; return ${to}, or write the cast (::${to}) in the query if clients may see the value`;
      expect([parameter, column, errors.get(`f_${index}`)]).toEqual([parameter, column, message]);
      expect((await started.send(`GET /api/f-${index}`)).status).toBe(from === undefined ? 200 : 404);
    }
    expect((await started.send('GET /api/written')).body).toBe('true');
  });

  test('a sentence is prose', async () => {
    const started = await startGateway(
      `create function f(_b text) returns text language sql stable as 'select _b';
       comment on function f is 'HTTP GET
       Parameter _b = the text
       _b = the text';`,
    );
    onTestFinished(() => started.close());
    expect((await started.send('GET /api/f?b=x')).body).toBe('x');
  });
});
