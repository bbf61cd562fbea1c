import { describe, expect, onTestFinished, test } from 'vitest';
import { people } from '../events/people.ts';
import { form } from '../uploads/forms.ts';
import { startWithFiles, useFiles } from './folder.ts';

/** Where SQL files differ from those of NpgsqlRest: the second part of the table in `docs/reference/npgsqlrest.md`. */

const sql = `
create type pair as (a int, b text);
create type reply as (body text);
comment on type reply is 'GET https://books.example/';

create table item (id int primary key, name text not null);
insert into item values (1, 'pen');`;

type Case = readonly [file: string, text: string, request: string, answer: string, body?: object];

/** A line of the page with requests; the answer of one that is not 200 is its status. */
const answers: Readonly<Record<string, readonly Case[]>> = {
  '`CommentScope`': [
    ['scope.sql', '-- HTTP GET\nselect 1 as n, -- void\n  2 as m', 'GET /api/scope', '[{"n":1,"m":2}]'],
    ['scope_at.sql', '-- HTTP GET\nselect 1 as n, -- @void\n  2 as m', 'GET /api/scope-at', '204'],
  ],
  '`ErrorMode`': [['good.sql', '-- HTTP\nselect 1', 'GET /api/good', '[1]']],
  '`ResultPrefix`': [
    ['prefix.sql', '-- HTTP\n-- result data1\nselect 1;\nselect 2', 'GET /api/prefix', '{"data1":[1],"result2":[2]}'],
  ],
  '`UnnamedSingleColumnSet`': [['column.sql', '-- HTTP\nselect name from item', 'GET /api/column', '["pen"]']],
  '`NestedJsonForCompositeTypes`': [
    ['pair.sql', `-- HTTP\nselect 1 as n, (2, 'x')::pair as p`, 'GET /api/pair', '[{"n":1,"p":{"a":2,"b":"x"}}]'],
  ],
  '`SkipNonQueryCommands`': [
    [
      'commands.sql',
      `-- HTTP POST\nset local work_mem = '5MB';\nselect 1;\ndo $$ begin end $$`,
      'POST /api/commands',
      '{"result1":[1]}',
    ],
  ],
  'several kinds of writes: the most destructive one decides': [
    [
      'kinds.sql',
      '-- HTTP\ninsert into item select 2 where false; delete from item where false',
      'POST /api/kinds',
      '{"result1":0,"result2":0}',
    ],
  ],
  '`single` with a text': [
    ['text.sql', '-- HTTP\n-- single\nselect name from item', 'GET /api/text', 'text/plain; charset=utf-8 pen'],
    ['jsonb.sql', `-- HTTP\n-- single\nselect '{"a":1}'::jsonb as j`, 'GET /api/jsonb', '{"a": 1}'],
  ],
  'two columns with one name': [
    ['names.sql', '-- HTTP\nselect 1 as n, 2 as n, 3 as m', 'GET /api/names', '[{"column1":1,"column2":2,"m":3}]'],
  ],
  '`table_format`, `sse`, `cached`, `retry_strategy`, `rate_limiter`, `validate`, `upload`': [
    [
      'table.sql',
      '-- HTTP GET\n-- table_format = html\nselect id, name from item',
      'GET /api/table',
      'text/html; charset=utf-8',
    ],
    ['cached.sql', '-- HTTP GET\n-- cached\n-- cache_expires_in 1h\nselect 1', 'GET /api/cached', '[1]'],
    ['retry.sql', '-- HTTP POST\n-- retry_strategy 3\nselect 1', 'POST /api/retry', '[1]'],
    ['limited.sql', '-- HTTP GET\n-- rate_limiter few\nselect 1', 'GET /api/limited', '[1]'],
    ['valid.sql', '-- HTTP GET\n-- validate email using email\nselect :email::text', 'GET /api/valid?email=x', '400'],
    ['sse.sql', `-- HTTP POST\n-- sse\ndo $$ begin raise info 'x'; end $$`, 'POST /api/sse', '204'],
    [
      'upload.sql',
      '-- HTTP POST\n-- upload for large_object\n-- param meta is upload metadata\n-- single\nselect json_array_length(:meta::json) as files',
      'POST /api/upload',
      '1',
    ],
  ],
};

/** A line of the page with files that are refused: the beginning of the error, with its line. */
const refused: Readonly<Record<string, readonly (readonly [file: string, text: string, error: string])[]>> = {
  '`@param _old new` names a parameter anew': [
    [
      'renamed.sql',
      '-- HTTP\n-- @param old_name better_name\nselect :old_name::int',
      '2: column 20: type "better_name" does not exist: param old_name better_name sets a type; correct it, or change the name in the statement',
    ],
  ],
  'a name that is not an identifier': [['dashed.sql', '-- HTTP\n-- @param $1 first-name\nselect $1::int', '2: ']],
  'types of a parameter in conflict': [
    [
      'conflict.sql',
      '-- HTTP POST\nselect :n::int;\nselect :n::text',
      '3: column 8: the parameter :n is of type integer in one statement and of type text here',
    ],
  ],
  'an unknown type in `@param`': [
    [
      'unknown_type.sql',
      '-- HTTP\n-- @param $1 n nothing_like_it\nselect $1',
      '2: column 16: type "nothing_like_it" does not exist: param n nothing_like_it sets a type',
    ],
  ],
  'BEGIN and COMMIT in the file': [
    ['commit.sql', '-- HTTP POST\nselect 1;\ncommit;\nselect 2', '3: '],
    ['savepoint.sql', '-- HTTP POST\nsavepoint a;\nselect 2', '2: '],
  ],
  'LISTEN, DISCARD and DEALLOCATE': [
    ['listen.sql', '-- HTTP POST\nlisten a', '2: '],
    ['discard.sql', '-- HTTP POST\ndiscard all', '2: '],
    ['deallocate.sql', '-- HTTP POST\ndeallocate all', '2: '],
  ],
  'HTTP QUERY': [
    [
      'query.sql',
      '-- HTTP QUERY\nselect :n::int',
      '1: "QUERY" is not a method; endpoints with GET that only read answer QUERY too; write GET',
    ],
  ],
  'two files with one path': [
    ['a/same.sql', '-- HTTP GET\nselect 1', ''],
    ['b/same.sql', '-- HTTP GET\nselect 2', ''],
  ],
  '`@encrypt`, `@decrypt`, `@proxy`': [
    ['encrypt.sql', '-- HTTP\n-- @encrypt\nselect :n::text', '2: '],
    ['decrypt.sql', '-- HTTP\n-- @decrypt name\nselect name, id from item', '2: '],
    ['proxy.sql', '-- HTTP\n-- @proxy https://example.com\nselect 1', '2: '],
  ],
  'HTTP client types': [
    [
      'client_type.sql',
      '-- HTTP GET\n-- @param $1 answer reply\nselect ($1::reply).body',
      'the parameter "answer" is of type public.reply, whose comment is an HTTP request',
    ],
  ],
  '`{!NAME:fallback}` in annotations, from the environment': [
    [
      'environment.sql',
      '-- HTTP GET\n-- @authorize {!ADMIN_ROLE:admin}\nselect 1',
      '2: "authorize {!ADMIN_ROLE:admin}": NpgsqlRest replaces "{!ADMIN_ROLE:admin}" by a variable of the environment, which has no effect here; write the value',
    ],
    ['environment_header.sql', '-- HTTP GET\n-- X-Stage: {!STAGE}\nselect 1', '2: '],
  ],
};

const texts = [
  ...Object.values(answers).flatMap((cases) => cases.map(([file, text]) => [file, text] as const)),
  ...Object.values(refused).flatMap((cases) => cases.map(([file, text]) => [file, text] as const)),
];

const files = useFiles(sql, Object.fromEntries(texts), {
  gateway: {
    authentication: { schemes: [people().scheme] },
    rateLimits: { policies: { few: { type: 'fixed-window', limit: 1, window: 3600 } } },
  },
});

test.each(Object.entries(answers))('%s', async (_, cases) => {
  for (const [file, , request, answer, body] of cases) {
    const options =
      file === 'upload.sql' ? { body: form(['a.csv', 'x\n', 'text/csv']) } : body === undefined ? {} : { body };
    const response = await files.current().send(request, options);
    const type = response.headers.get('content-type');
    const shown = answer.startsWith('text/')
      ? answer.includes(' pen')
        ? `${type} ${response.body}`
        : type
      : response.body;
    expect([file, response.status === 200 ? shown : String(response.status)]).toEqual([file, answer]);
  }
});

test.each(Object.entries(refused))('%s', async (_, cases) => {
  const { gateway, send } = files.current();
  for (const [file, , error] of cases) {
    const found = gateway.diagnostics.filter(
      ({ routine, severity }) => routine.startsWith(file) && severity === 'error',
    );
    expect([file, found.map(({ line, message }) => `${line}: ${message}`)]).toEqual([
      file,
      [expect.stringContaining(error)],
    ]);
    expect((await send(`GET /api/${file.replace(/.*\/|\.sql/g, '').replaceAll('_', '-')}`)).status).toBe(404);
  }
});

test('`@returns`', async () => {
  const started = await startWithFiles(sql, { 'returns.sql': '-- HTTP GET\n-- @returns pair\nselect 1 as a' });
  onTestFinished(() => started.close());
  expect(started.gateway.diagnostics.filter(({ severity }) => severity !== 'info')).toMatchObject([
    {
      severity: 'warning',
      line: 2,
      message:
        '"returns pair" has a meaning in NpgsqlRest, and no effect here; move the statement into a function that returns the type',
    },
  ]);
});

describe('the start', () => {
  const text = '-- HTTP GET\nselect 1';

  test('`FilePattern`', async () => {
    const paths = ['a.sql', 'deep/b.sql', 'deep/deeper/c.sql', 'other/d.sql', 'e.txt'];
    const patterns: readonly (readonly [pattern: string | readonly string[], found: readonly string[]])[] = [
      ['*.sql', ['a.sql']],
      ['deep/*.sql', ['deep/b.sql']],
      ['deep/**/*.sql', ['deep/b.sql', 'deep/deeper/c.sql']],
      ['{deep,other}/?.sql', ['deep/b.sql', 'other/d.sql']],
      [
        ['a.sql', 'other/*'],
        ['a.sql', 'other/d.sql'],
      ],
    ];
    for (const [pattern, found] of patterns) {
      const all = Object.fromEntries(paths.map((path) => [path, text]));
      const started = await startWithFiles('', all, { files: pattern });
      onTestFinished(() => started.close());
      expect([pattern, started.gateway.endpoints.map(({ id }) => id).toSorted()]).toEqual([pattern, found]);
    }
  });

  test('`CommentsMode: ParseAll`', async () => {
    const started = await startWithFiles(
      '',
      { 'migration.sql': 'drop table if exists item' },
      { gateway: { commentsMode: 'parseAll' } },
    );
    onTestFinished(() => started.close());
    expect(started.gateway.endpoints).toEqual([]);
  });

  test('strict stops for a fault, as `Exit`', async () => {
    const bad = { 'bad.sql': '-- HTTP GET\nselect titel from item', 'good.sql': text };
    await expect(startWithFiles(sql, bad, { gateway: { strict: true } })).rejects.toThrow('titel');
    const started = await startWithFiles(sql, bad);
    onTestFinished(() => started.close());
    expect(started.gateway.endpoints.map(({ id }) => id)).toEqual(['good.sql']);
  });
});
