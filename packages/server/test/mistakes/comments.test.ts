/** Mistakes in comments. `pgway validate` names the culprit, the cause and the remedy of each. */
import { freshDatabase } from '@pgway/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { createTestProcess } from '../support/process-context.ts';

/** Returns the lines that the command prints about a database with the SQL. */
async function report(sql: string, command: string, ...settings: readonly string[]): Promise<readonly string[]> {
  const database = await freshDatabase(sql);
  try {
    const streams = createTestProcess(import.meta.dirname);
    await run([command, `--connectionString=${database.connectionString}`, ...settings], {}, streams);
    return (streams.text.stdout + streams.text.stderr).split('\n');
  } finally {
    await database.drop();
  }
}

/** Comments of a function with a parameter `_name`, and what is reported about it, without its name. */
const comments: readonly (readonly [comment: string, report: string])[] = [
  [
    'HTPP',
    'warning, line 1: "HTPP" is read as prose; did you mean http (HTTP, HTTP <method>, HTTP <method> <path>, HTTP <path>)?',
  ],
  ['GET', 'warning, line 1: "GET" is read as prose; did you mean "HTTP GET"?'],
  ['GET /x/{name}', 'warning, line 1: "GET /x/{name}" is read as prose; did you mean "HTTP GET /x/{name}"?'],
  ['HTTPGET', 'warning, line 1: "HTTPGET" is read as prose; did you mean "HTTP GET"?'],
  ['http_get /x', 'warning, line 1: "http_get /x" is read as prose; did you mean "HTTP GET /x"?'],
  [
    'HTTP: GET /x',
    'warning, line 1: "HTTP: GET /x" is read as a response header; did you mean http (HTTP, HTTP <method>, HTTP <method> <path>, HTTP <path>)?',
  ],
  ['Says hello. HTTP', 'warning, line 1: "Says hello. HTTP" is read as prose; did you mean "HTTP" on its own line?'],
  [
    'Says hello. HTTP GET /x',
    'warning, line 1: "Says hello. HTTP GET /x" is read as prose; did you mean "HTTP GET /x" on its own line?',
  ],
  // Prose, and a line in lower case, which is valid.
  ['Calls the service by HTTP GET requests.', ''],
  ['Says hello over TLS; HTTP', ''],
  ['Says hello - HTTP', ''],
  ['OPTIONS', ''],
  ['Verbs that it serves:\nGET', ''],
  [
    'Says hello; HTTP GET /y',
    'warning, line 1: "Says hello; HTTP GET /y" is read as prose; did you mean "HTTP GET /y" on its own line?',
  ],
  ['Gets a name. See RFC 9110.', ''],
  ['Delete', ''],
  ['Get /x or y', ''],
  ['http get', ''],
  [
    'HTTP GET /colon/:name',
    'warning, line 1: ":name" in the path "/colon/:name" is literal text; write {name} for a parameter',
  ],
  [
    'HTTP GET /case/{Name}',
    'error, line 1: the path contains "Name", but the routine has no parameter of that name; did you mean "name"?',
  ],
  [
    'HTTP GET /other/{id}',
    'error, line 1: the path contains "id", but the routine has no parameter of that name; add the parameter, or correct the path',
  ],
  ['HTTP GTE', 'warning, line 1: "GTE" is not a method and becomes the path; did you mean GET? Begin a path with /'],
  ['HTTP GTE /hello', 'error, line 1: "GTE" is not a method; did you mean GET?'],
  [
    'HTTP GET authorize',
    'error, line 1: "authorize" would be the path and would not guard access; write authorize on its own line, or begin the path with /',
  ],
  [
    'HTTP\nautorize',
    'error, line 2: "autorize" is read as prose; did you mean authorize (authorize, authorize <role> …, authorize = <role>, …)?',
  ],
  [
    'HTTP\ncahed',
    'warning, line 2: "cahed" is read as prose; did you mean cached (cached, cached <param> …, cached [<param> …] until changes of <table>, …, cached = <on/off>)?',
  ],
  ['HTTP\ncached nmae', 'error, line 2: cached: the routine has no parameter "nmae"; did you mean "name"?'],
  ['HTTP\nvalidate _nmae using required', 'error, line 2: the routine has no parameter "_nmae"; did you mean "_name"?'],
  [
    'HTTP\ntimeout ten',
    'warning, line 2: timeout takes seconds or an interval such as 10s or 5 min, at most 24 days, not "ten"',
  ],
  [
    'HTTP\nCache-Control max-age=60',
    'warning, line 2: "Cache-Control max-age=60" is read as prose; did you mean "Cache-Control: max-age=60"?',
  ],
  ['HTTP\nCache-Control is what a browser obeys.', ''],
];

describe('a comment of a function', () => {
  let lines: readonly string[];

  beforeAll(async () => {
    const create = ([comment]: readonly string[], index: number): string =>
      `create function f${index}(_name text) returns text language sql stable as $$ select 'Hello ' || _name $$;
       comment on function f${index} is $comment$${comment}$comment$;`;
    lines = await report(comments.map(create).join('\n'), 'validate');
  });

  test.each(comments.map(([comment, message], index) => [comment, message, index] as const))(
    '%j: %s',
    (_, message, index) => {
      const name = `public.f${index}(_name text)`;
      const found = lines.filter((line) => line.includes(name)).map((line) => line.replace(` ${name}`, ''));
      expect(found).toEqual(message === '' ? [] : [message]);
    },
  );
});

test('objects that cannot be endpoints in this way', async () => {
  const lines = await report(
    `create function a() returns int language sql immutable as 'select 1'; comment on function a is 'HTTP GET /x';
     create function b() returns int language sql immutable as 'select 1'; comment on function b is 'HTTP GET /x';
     create function total(x int) returns int language sql immutable as 'select 1'; comment on function total(int) is 'HTTP';
     create function total(x text) returns int language sql immutable as 'select 1'; comment on function total(text) is 'HTTP';
     create function audit() returns trigger language plpgsql as 'begin return null; end'; comment on function audit is 'HTTP';
     create aggregate product(int) (sfunc = int4mul, stype = int); comment on aggregate product(int) is 'HTTP';
     create table note (body text); comment on table note is 'HTTP GET'`,
    'validate',
  );

  expect(lines.filter((line) => /^(error|warning) /.test(line)).toSorted()).toMatchInlineSnapshot(`
    [
      "error public.a(): GET "/x" is also the route of public.b() ("/x"), so neither is published; set another path for one of them",
      "error public.audit(): the routine returns trigger, which a response cannot contain; the routine is not published",
      "error public.b(): GET "/x" is also the route of public.a() ("/x"), so neither is published; set another path for one of them",
      "error public.note: GET "/api/note", GET "/api/note/returning" is the route of several operations on the table (select, delete, insert, deleteReturning, insertReturning); none of them is published; set the method or path of one operation below a "for" line with its tag",
      "error public.product(integer): the comment has an HTTP line, but an aggregate cannot be called with request parameters; publish a function that uses it",
      "warning public.total(x text): GET "/api/total" has the same parameter names as public.total(x integer), so every request fails with 400; rename the parameters, or set another path for one of them",
    ]
  `);
});

describe('no endpoint at all', () => {
  const none = [
    'No endpoints. A routine becomes an endpoint when its comment has an HTTP line, as in:',
    `  comment on function my_function is 'HTTP';`,
    'To publish all routines, pass --gateway.commentsMode=parseAll',
    '',
  ];

  test.each([
    ['no comment', `create function f() returns int language sql as 'select 1'`, [], none],
    [
      'a misspelt schema',
      `create function f() returns int language sql as 'select 1'; comment on function f is 'HTTP'`,
      ['--gateway.includeSchemas=publik'],
      ['warning: includeSchemas: there is no schema "publik" in the database; did you mean "public"?', ...none],
    ],
  ])('%s', async (_, sql, settings, lines) => {
    expect(await report(sql, 'endpoints', ...settings)).toEqual(lines);
  });
});
