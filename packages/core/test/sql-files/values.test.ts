import { describe, expect, onTestFinished, test } from 'vitest';
import { people } from '../events/people.ts';
import { form } from '../uploads/forms.ts';
import { startWithFiles, useFiles } from './folder.ts';

/** Parameters that get the value of a query: `param <name> = select …`. */

const sql = `
  create table account (email text primary key, token text, level int, owner text, seen timestamptz default '2026-01-02 03:04:05.678901+00');
  insert into account values ('a@x', 'token "a", {b}\\', 3, 'ada'), ('b@x', '', 5, 'bob'), ('n@x', null, null, 'ada');
  create table note (note text, level int);
  create function next_level() returns int language sql as 'insert into note values (''next'', 0) returning (select count(*)::int from note)';
  create procedure write_note(note text, level int) language sql as 'insert into note values (note, level)';
`;

const files = useFiles(
  sql,
  {
    'token.sql': `-- HTTP GET
-- param token = select token from account where email = :email
select :token || '!' as token, :token is null as missing, :prefix::text as prefix`,
    'typed.sql': `-- HTTP GET
-- param seen = select seen from account where email = :email
-- param levels type int[]
-- param levels = select array_agg(level order by level) from account
-- single
select :seen::timestamptz = seen as same, :levels as levels from account where email = 'a@x'`,
    'plain.sql': `-- HTTP GET\n-- level = select max(level) from account\nselect :level::int`,
    'numbered.sql': `-- HTTP GET\n-- param $1 is email\n-- param $2 is token\n-- param token = (select token from account where email = :email)\nselect $2::text, $1`,
    'defaults.sql': `-- HTTP GET
-- param least default 4
-- param email = select min(email) from account where level >= :least
select email, :least::int as least from account where email = :email`,
    'several.sql': `-- HTTP POST
-- param level = select max(level) from account where owner = :owner
insert into note (note, level) values (:note, :level);
-- result changed
update account set level = level + 1 where owner = :owner and level = :level;
-- result levels
select level from account where owner = :owner order by 1;
-- result note
-- single
select * from note where level = :level`,
    'unnamed.sql': `-- HTTP GET
-- param token = select token from account where email = :email
select :token::text, 1 as n;
-- single
select :token::text || '!', :email::text as email`,
    'call.sql': `-- HTTP POST\n-- param level = select 40 + :more::int\ncall write_note('called', :level)`,
    'once.sql': `-- HTTP POST\n-- param n = select next_level()\nselect :n::int as n, :n + 0 as again, (select count(*) from note where note = 'next') as made`,
    'mine.sql': `-- HTTP GET
-- user_context
-- param user_name is user_name
-- param mine = select count(*) from account where owner = :user_name and current_setting('request.user_name', true) = :user_name
select :mine::bigint`,
    'claims.sql': `-- HTTP GET
-- param who is claim name
-- param mine = select count(*) from account where owner = :who
select :mine::bigint`,
    'cached.sql': `-- HTTP GET
-- param level = select level from account where email = :email
-- cached other
select :level::int as level, :other::text as other`,
    'received.sql': `-- HTTP POST
-- upload for csv
-- row_command = insert into note values ($1, 7)
-- param meta is upload metadata
-- param files = select json_array_length(:meta::json)
select :files::int as files;
-- single
select :meta::json -> 0 ->> 'fileName' as name`,
    'fixed.sql': `-- HTTP GET\n-- param n = select 1 + 1\nselect :n::int as n, 'x' as x`,
  },
  { gateway: { authentication: { schemes: [people().scheme] }, batchPath: '/api/batch' } },
);

async function ask(
  line: string,
  options: Parameters<ReturnType<typeof files.current>['send']>[1] = {},
): Promise<string> {
  const { status, body } = await files.current().send(line, options);
  return status === 200 ? body : `${status} ${body}`;
}

describe('the value', () => {
  test.each([
    ['token?email=a@x&prefix=p', '[{"token":"token \\"a\\", {b}\\\\!","missing":false,"prefix":"p"}]'],
    ['token?email=b@x&prefix=', '[{"token":"!","missing":false,"prefix":""}]'],
    ['token?email=n@x&prefix=p', '[{"token":null,"missing":true,"prefix":"p"}]'],
    ['token?email=nobody&prefix=p', '[{"token":null,"missing":true,"prefix":"p"}]'],
    ['typed?email=a@x', '{"same":true,"levels":[3,5,null]}'],
    ['plain', '[5]'],
    ['numbered?email=b@x', '[{"text":"","column2":"b@x"}]'],
    ['unnamed?email=b@x', '{"result1":[{"text" : "", "n" : 1}],"result2":{"column1" : "!", "email" : "b@x"}}'],
    ['defaults', '[{"email":"b@x","least":4}]'],
    ['defaults?least=1', '[{"email":"a@x","least":1}]'],
    ['fixed', '[{"n":2,"x":"x"}]'],
  ])('GET /api/%s', async (line, body) => {
    expect(await ask(`GET /api/${line}`)).toBe(body);
  });

  test('is computed once, before all statements', async () => {
    expect(await ask('POST /api/several', { body: { owner: 'bob', note: 'x' } })).toBe(
      '{"result1":1,"changed":1,"levels":[6],"note":{"note" : "x", "level" : 5}}',
    );
    expect(await ask('POST /api/once')).toBe('[{"n":1,"again":1,"made":1}]');
    expect(await ask('POST /api/call', { body: { more: 2 } })).toBe('204 ');
    expect(await files.current().database.query(`select level from note where note = 'called'`)).toEqual([
      { level: 42 },
    ]);
  });

  test('has the identity of the call, and its settings', async () => {
    for (const [user, count] of [
      ['ada', '[2]'],
      ['bob', '[1]'],
    ] as const) {
      expect(await ask('GET /api/mine', { headers: { 'x-user': user } })).toBe(count);
      expect(await ask('GET /api/claims', { headers: { 'x-user': user } })).toBe(count);
    }
    expect(await ask('GET /api/mine')).toBe('[0]');
  });

  test('belongs to the key of a cache, in batches, and to uploads with their metadata', async () => {
    expect(await ask('GET /api/cached?email=a@x&other=1')).toBe('[{"level":3,"other":"1"}]');
    expect(await ask('GET /api/cached?email=n@x&other=1')).toBe('[{"level":null,"other":"1"}]');
    const batch = await files.current().send('POST /api/batch', {
      body: [
        { method: 'GET', path: '/api/defaults' },
        { method: 'GET', path: '/api/fixed' },
      ],
    });
    expect(JSON.parse(batch.body)).toMatchObject([{ body: [{ email: 'b@x' }] }, { body: [{ n: 2 }] }]);
    const body = form(['a.csv', 'x\n', 'text/csv']);
    expect(await ask('POST /api/received', { body })).toBe('{"result1":[1],"result2":"a.csv"}');
  });
});

test('a client cannot set it, and documents do not have it', async () => {
  expect(await ask('GET /api/token?email=a@x&prefix=p&token=mine')).toContain(
    '\\"token\\" is computed by the server and may not be given.',
  );
  const endpoint = files.current().gateway.endpoints.find(({ id }) => id === 'token.sql')!;
  expect(endpoint.parameters.map(({ key, injectedValue, type }) => [key, injectedValue, type.display])).toEqual([
    ['token', 'query', 'text'],
    ['prefix', undefined, 'text'],
    ['email', undefined, 'text'],
  ]);
});

test('the file only reads when its query does', () => {
  const { endpoints } = files.current().gateway;
  const volatility = (id: string): string => endpoints.find((endpoint) => endpoint.id === id)!.volatility;
  expect(['token.sql', 'typed.sql', 'once.sql', 'several.sql'].map(volatility)).toEqual([
    'stable',
    'stable',
    'volatile',
    'volatile',
  ]);
});

test('mistakes are reported with their place', async () => {
  const mistakes: readonly (readonly [text: string, message: string])[] = [
    [
      '-- param b = select tokn from account\nselect :b::int',
      '2: column 21: column "tokn" does not exist (Perhaps you meant to reference the column "account.token".)\n  -- param b = select tokn from account\n                      ^',
    ],
    [
      '/* Text\n * @param b = select level from account where email = :email and levl = 1\n */\nselect :b::int',
      '3: column 66: column "levl" does not exist (Perhaps you meant to reference the column "account.level".)',
    ],
    [
      '-- b = select 1; select 2\nselect :b::int',
      '2: column 16: param b: the line must be one query; remove the ";"\n  -- b = select 1; select 2\n                 ^',
    ],
    ['-- param b = select (1\nselect :b::int', '2: column 23: param b: a parenthesis is not closed'],
    [
      '-- param b = select 1, 2\nselect :b::int',
      '2: column 14: param b: the query returns 2 columns; select the one that the parameter gets',
    ],
    [
      '-- param b = select level from account where email = :c\nselect :b::int + :c::int',
      '2: column 54: the parameter :c is of type integer in one statement and of type text here; set its type: param c type integer',
    ],
    [
      '-- param b = select $1 from account\nselect :c::int, :b::int',
      '2: column 21: param b: the parameters of the file have names, and none is "$1"; write :name',
    ],
    ['-- param b = select now()\nselect :b::int', 'param b: cannot cast type timestamp with time zone to integer'],
    [
      '-- param b = select token from account\nselect :b::int',
      'param b: the query returns text, and an error of its conversion to integer would show the value to the client',
    ],
    ['-- param b = select :b\nselect :b::int', '2: column 21: param b: the query reads the parameter that it sets'],
    ['-- param c = select 1\nselect :b::int', 'param c: the routine has no parameter "c"; correct the name'],
  ];
  const started = await startWithFiles(
    sql,
    Object.fromEntries(mistakes.map(([text], index) => [`f${index}.sql`, `-- HTTP GET\n${text}`])),
  );
  onTestFinished(() => started.close());
  for (const [index, [text, message]] of mistakes.entries()) {
    const found = started.gateway.diagnostics.find(
      ({ routine, severity }) => routine === `f${index}.sql` && severity === 'error',
    );
    expect([text, `${found?.line}: ${found?.message}`]).toEqual([text, expect.stringContaining(message)]);
    expect((await started.send(`GET /api/f${index}?b=1`)).status).toBe(404);
  }
});
