import { freshDatabase, useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';

const database = useDatabase(`
  create schema app;
  create function app.search_books(_title text, _limit int default 10) returns setof text language sql stable
    as $$ select 'x' $$;
  comment on function app.search_books is 'Searches books by title. \u001b[31m

  HTTP
  authorize Librarian, admin
  for procedure
  disabled
  for function
  Cache-Control: max-age=60
  buffer_rows many';
  create function app.get_secret() returns text language sql as $$ select 'x' $$;
  comment on function app.get_secret is 'HTTP PUT /secret
  basic_authentication ann c2VjcmV0
  response_null_handling = no_content';
  create procedure app.restock(_id int) language sql as $$ select 1 $$;
  comment on procedure app.restock is 'HTTP';
  create function app.broken() returns int language sql as $$ select 1 $$;
  comment on function app.broken is 'HTTP
  autorize admin';
  create function app.helper() returns int language sql as $$ select 1 $$;
  create function app.hidden() returns int language sql as $$ select 1 $$;
  comment on function app.hidden is 'HTTP
  disabled';
`);

async function endpoints(
  words: readonly string[],
  { columns = null, configuration = {} }: { readonly columns?: number | null; readonly configuration?: object } = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const { connectionString } = database;
  const streams = createTestProcess(
    await folderWith({ 'pgway.json': { connectionString, ...configuration } }),
    columns,
  );
  const code = await run(['endpoints', ...words], {}, streams);
  return { code, ...streams.text };
}

test('each endpoint with its values and lines, errors included: exit code 1', async () => {
  const { code, stdout, stderr } = await endpoints([]);

  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout).toMatchInlineSnapshot(`
    "POST /api/app/restock
      routine        app.restock(_id integer)  published by the HTTP line (line 1)
      method         POST                      procedures are POST
      path           /api/app/restock          the prefix, the schema and the name of the procedure
      parameters     body                      the method is POST
      authorization  anonymous                 no authorize line
      line 1         HTTP                      publishes the routine

    GET /api/app/search-books
      routine        app.search_books(_title text, _limit integer)  published by the HTTP line (line 3)
      method         GET                                            the function is stable
      path           /api/app/search-books                          the prefix, the schema and the name of the function
      parameters     query                                          the method is GET
      authorization  Librarian, admin                               line 4: set by the comment
      QUERY          answered                                       it only reads
      planCacheMode  measured                                       the function only reads
      line 1         Searches books by title. \\u001b[31m            description
      line 3         HTTP                                           publishes the routine
      line 4         authorize Librarian, admin                     requires one of the roles Librarian, admin
      line 5         for procedure                                  tags: the lines after it do not apply to this endpoint
      line 6         disabled                                       skipped: the lines after line 5 do not apply to this endpoint
      line 7         for function                                   tags: the lines after it apply to this endpoint
      line 8         Cache-Control: max-age=60                      adds the response header "max-age=60"
      line 9         buffer_rows many                               warning: buffer_rows takes a number of rows, not "many"

    PUT /secret
      routine                   app.get_secret()                     published by the HTTP line (line 1)
      method                    PUT                                  line 1: set by the comment
      path                      /secret                              line 1: set by the comment
      parameters                body                                 the method is PUT
      authorization             HTTP Basic                           line 2: set by the comment
      textResponseNullHandling  noContent                            line 3: set by the comment
      line 1                    HTTP PUT /secret                     publishes the routine; sets method to PUT; sets path to /secret
      line 2                    basic_authentication ann ***         requires HTTP Basic authentication
      line 3                    response_null_handling = no_content  sets textResponseNullHandling to noContent

    app.broken(): no endpoint
      reason  an error
      line 1  HTTP            publishes the routine
      line 2  autorize admin  error: "autorize admin" is read as prose; did you mean authorize (authorize, authorize <role> …, authorize = <role>, …)?
    "
  `);
});

test('the lines fit the terminal', async () => {
  const { code, stdout } = await endpoints(['search'], { columns: 72 });

  expect(code).toBe(0);
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(72);
  expect(stdout).toMatchInlineSnapshot(`
    "GET /api/app/search-books
      routine        app.search_books(_title t…  published by the HTTP line
                                                 (line 3)
      method         GET                         the function is stable
      path           /api/app/search-books       the prefix, the schema and
                                                 the name of the function
      parameters     query                       the method is GET
      authorization  Librarian, admin            line 4: set by the comment
      QUERY          answered                    it only reads
      planCacheMode  measured                    the function only reads
      line 1         Searches books by title. …  description
      line 3         HTTP                        publishes the routine
      line 4         authorize Librarian, admin  requires one of the roles
                                                 Librarian, admin
      line 5         for procedure               tags: the lines after it do
                                                 not apply to this endpoint
      line 6         disabled                    skipped: the lines after
                                                 line 5 do not apply to this
                                                 endpoint
      line 7         for function                tags: the lines after it
                                                 apply to this endpoint
      line 8         Cache-Control: max-age=60   adds the response header
                                                 "max-age=60"
      line 9         buffer_rows many            warning: buffer_rows takes
                                                 a number of rows, not
                                                 "many"
    "
  `);
});

test('--all shows the routines without an endpoint, with the reason', async () => {
  const { stdout } = await endpoints(['--all']);

  expect(
    stdout
      .split('\n')
      .filter((line, index, lines) => line.endsWith('no endpoint') || lines[index - 1]?.endsWith('no endpoint')),
  ).toEqual([
    'app.broken(): no endpoint',
    '  reason  an error',
    'app.helper(): no endpoint',
    '  reason  no comment',
    'app.hidden(): no endpoint',
    '  reason  disabled by line 2 of the comment',
  ]);
});

test('a filter finds paths and routines, in any case, also without an endpoint', async () => {
  expect(await endpoints(['APP.HELPER'])).toEqual({
    code: 0,
    stdout: 'app.helper(): no endpoint\n  reason  no comment\n',
    stderr: '',
  });
  expect((await endpoints(['put /sec'])).stdout).toMatch(/^PUT \/secret\n/);
  expect(await endpoints(['nothing\u001b'])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'no endpoint and no routine matches "nothing\\u001b"; pgway endpoints --all prints all of them\n',
  });
});

test('options are origins, and strict mode does not hide endpoints', async () => {
  const configuration = {
    gateway: {
      strict: true,
      defaultHttpMethod: 'POST',
      defaultRequestParamType: 'bodyJson',
      requiresAuthorization: true,
      urlPathPrefix: '/v1',
      bufferRows: 5,
    },
  };

  const { stdout } = await endpoints(['restock'], { configuration });

  expect(stdout).toMatchInlineSnapshot(`
    "POST /v1/app/restock
      routine        app.restock(_id integer)  published by the HTTP line (line 1)
      method         POST                      option defaultHttpMethod
      path           /v1/app/restock           option urlPathPrefix, the schema and the name of the procedure
      parameters     body                      option defaultRequestParamType
      authorization  signed in                 option requiresAuthorization
      bufferRows     5                         option bufferRows
      line 1         HTTP                      publishes the routine
    "
  `);
});

test('--json: the explanations as data, without password hashes', async () => {
  const { code, stdout, stderr } = await endpoints(['--json', 'app.']);
  const explanations = JSON.parse(stdout) as readonly Record<string, unknown>[];

  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(explanations.map(({ routine, reason }) => [routine, reason])).toMatchInlineSnapshot(`
    [
      [
        "app.restock(_id integer)",
        "the HTTP line (line 1)",
      ],
      [
        "app.search_books(_title text, _limit integer)",
        "the HTTP line (line 3)",
      ],
      [
        "app.get_secret()",
        "the HTTP line (line 1)",
      ],
      [
        "app.broken()",
        "an error",
      ],
      [
        "app.helper()",
        "no comment",
      ],
      [
        "app.hidden()",
        "disabled by line 2 of the comment",
      ],
    ]
  `);
  const secret = explanations.find(({ name }) => name === 'get_secret');
  expect(secret).toMatchObject({
    source: 'functions',
    endpoint: { path: '/secret', basicAuthentication: { user: 'ann', hash: '***' } },
    diagnostics: [],
  });
  expect([secret?.['lines'], secret?.['values']]).toMatchInlineSnapshot(`
    [
      [
        {
          "annotation": "http",
          "effects": [
            "publishes the routine",
            "sets method to PUT",
            "sets path to /secret",
          ],
          "kind": "annotation",
          "line": 1,
          "scope": null,
          "text": "HTTP PUT /secret",
        },
        {
          "annotation": "basic_authentication",
          "effects": [
            "requires HTTP Basic authentication",
          ],
          "kind": "annotation",
          "line": 2,
          "scope": null,
          "text": "basic_authentication ann ***",
        },
        {
          "annotation": "response_null_handling",
          "effects": [
            "sets textResponseNullHandling to noContent",
          ],
          "kind": "annotation",
          "line": 3,
          "scope": null,
          "text": "response_null_handling = no_content",
        },
      ],
      [
        {
          "line": 1,
          "name": "method",
          "origin": "comment",
          "reason": "set by the comment",
          "value": "PUT",
        },
        {
          "line": 1,
          "name": "path",
          "origin": "comment",
          "reason": "set by the comment",
          "value": "/secret",
        },
        {
          "line": null,
          "name": "parameterSource",
          "origin": "default",
          "reason": "the method is PUT",
          "value": "body",
        },
        {
          "line": 2,
          "name": "authorization",
          "origin": "comment",
          "reason": "set by the comment",
          "value": "HTTP Basic",
        },
        {
          "line": null,
          "name": "requestHeaders",
          "origin": "default",
          "reason": "requestHeadersMode",
          "value": "ignore",
        },
        {
          "line": null,
          "name": "cache",
          "origin": "default",
          "reason": "no cached line",
          "value": "none",
        },
        {
          "line": null,
          "name": "userContext",
          "origin": "default",
          "reason": "useUserContext",
          "value": "false",
        },
        {
          "line": null,
          "name": "tableFormat",
          "origin": "default",
          "reason": "no table_format line",
          "value": "json",
        },
        {
          "line": null,
          "name": "responseSettings",
          "origin": "default",
          "reason": "responseSettings",
          "value": "false",
        },
        {
          "line": null,
          "name": "largeNumbers",
          "origin": "default",
          "reason": "largeNumbers",
          "value": "number",
        },
        {
          "line": null,
          "name": "fieldErrors",
          "origin": "default",
          "reason": "fieldErrors",
          "value": "false",
        },
        {
          "line": null,
          "name": "bufferRows",
          "origin": "default",
          "reason": "bufferRows",
          "value": "25",
        },
        {
          "line": null,
          "name": "timeout",
          "origin": "default",
          "reason": "commandTimeout",
          "value": "that of the gateway",
        },
        {
          "line": null,
          "name": "consistency",
          "origin": "default",
          "reason": "readReplicas.consistency",
          "value": "that of the gateway",
        },
        {
          "line": null,
          "name": "idempotency",
          "origin": "default",
          "reason": "no idempotent line",
          "value": "none",
        },
        {
          "line": null,
          "name": "retries",
          "origin": "default",
          "reason": "no retry_strategy line",
          "value": "none",
        },
        {
          "line": null,
          "name": "rateLimit",
          "origin": "default",
          "reason": "rateLimits.defaultPolicy",
          "value": "none",
        },
        {
          "line": 3,
          "name": "textResponseNullHandling",
          "origin": "comment",
          "reason": "set by the comment",
          "value": "noContent",
        },
        {
          "line": null,
          "name": "queryStringNullHandling",
          "origin": "default",
          "reason": "queryStringNullHandling",
          "value": "ignore",
        },
        {
          "line": null,
          "name": "planCacheMode",
          "origin": "default",
          "reason": "planCacheMode",
          "value": "auto",
        },
      ],
    ]
  `);
  expect(stdout).not.toContain('c2VjcmV0');
  expect(stdout).not.toContain('\u001b');
});

test('two filters', async () => {
  const { code, stderr } = await endpoints(['a', 'b.json']);

  expect(code).toBeGreaterThan(0);
  expect(stderr).toBe('pgway: endpoints: takes one filter, not 2; pass the configuration file as --config=<file>\n');
});

test('a listing with its parameters', async () => {
  const tables = await freshDatabase(`create table film (id int primary key); comment on table film is 'HTTP';`);
  onTestFinished(() => tables.drop());
  const configuration = { connectionString: tables.connectionString, crud: { enabled: true, listing: true } };
  const { code, stdout } = await endpoints(['GET /api/film'], { configuration });

  expect(code).toBe(0);
  expect(stdout).toMatchInlineSnapshot(`
    "GET /api/film
      routine        select public.film                            published by the HTTP line (line 1), from the source crud
      method         GET                                           the operation select
      path           /api/film                                     the prefix and the name of the table
      parameters     query                                         the method is GET
      authorization  anonymous                                     no authorize line
      listing        order, limit, offset, after, select, or, and  columns are filters; select can name related tables, and not. negates a condition or group
      QUERY          answered                                      it only reads
      planCacheMode  measured                                      the operation only reads
      line 1         HTTP                                          publishes the routine
    "
  `);
});

test('tables of the dialect that are tools', async () => {
  const tables = await freshDatabase(`create table film (id int primary key, title text);
    comment on table film is 'HTTP
for select
authorize reader
mcp
mcp_title Films'`);
  onTestFinished(() => tables.drop());
  const configuration = {
    connectionString: tables.connectionString,
    crud: { enabled: true, dialect: 'postgrest' },
    mcp: { path: '/mcp' },
  };
  const { code, stdout, stderr } = await endpoints(['film'], { configuration });

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatchInlineSnapshot(`
    "DELETE /rest/film
      routine        postgrest delete public.film  published by the HTTP line (line 1), from the source postgrest
      method         DELETE                        the operation deleteReturning
      path           /rest/film                    the route of its source
      parameters     query                         the dialect postgrest reads the request
      authorization  anonymous                     no authorize line
      line 1         HTTP                          publishes the routine
      line 2         for select                    tags: the lines after it do not apply to this endpoint
      line 3         authorize reader              skipped: the lines after line 2 do not apply to this endpoint
      line 4         mcp                           skipped: the lines after line 2 do not apply to this endpoint
      line 5         mcp_title Films               skipped: the lines after line 2 do not apply to this endpoint

    GET /rest/film
      routine        postgrest select public.film  published by the HTTP line (line 1), from the source postgrest
      method         GET                           the operation select
      path           /rest/film                    the route of its source
      parameters     query                         the dialect postgrest reads the request
      authorization  reader                        line 3: set by the comment
      planCacheMode  measured                      the operation only reads
      line 1         HTTP                          publishes the routine
      line 2         for select                    tags: the lines after it apply to this endpoint
      line 3         authorize reader              requires one of the roles reader
      line 4         mcp                           sets mcp to true
      line 5         mcp_title Films               sets mcpTitle to Films

    PATCH /rest/film
      routine        postgrest update public.film  published by the HTTP line (line 1), from the source postgrest
      method         PATCH                         the operation updateReturning
      path           /rest/film                    the route of its source
      parameters     query                         the dialect postgrest reads the request
      authorization  anonymous                     no authorize line
      line 1         HTTP                          publishes the routine
      line 2         for select                    tags: the lines after it do not apply to this endpoint
      line 3         authorize reader              skipped: the lines after line 2 do not apply to this endpoint
      line 4         mcp                           skipped: the lines after line 2 do not apply to this endpoint
      line 5         mcp_title Films               skipped: the lines after line 2 do not apply to this endpoint

    POST /rest/film
      routine        postgrest insert public.film  published by the HTTP line (line 1), from the source postgrest
      method         POST                          the operation insertReturning
      path           /rest/film                    the route of its source
      parameters     query                         the dialect postgrest reads the request
      authorization  anonymous                     no authorize line
      line 1         HTTP                          publishes the routine
      line 2         for select                    tags: the lines after it do not apply to this endpoint
      line 3         authorize reader              skipped: the lines after line 2 do not apply to this endpoint
      line 4         mcp                           skipped: the lines after line 2 do not apply to this endpoint
      line 5         mcp_title Films               skipped: the lines after line 2 do not apply to this endpoint

    PUT /rest/film
      routine        postgrest upsert public.film  published by the HTTP line (line 1), from the source postgrest
      method         PUT                           the operation insertOnConflictDoUpdateReturning
      path           /rest/film                    the route of its source
      parameters     query                         the dialect postgrest reads the request
      authorization  anonymous                     no authorize line
      line 1         HTTP                          publishes the routine
      line 2         for select                    tags: the lines after it do not apply to this endpoint
      line 3         authorize reader              skipped: the lines after line 2 do not apply to this endpoint
      line 4         mcp                           skipped: the lines after line 2 do not apply to this endpoint
      line 5         mcp_title Films               skipped: the lines after line 2 do not apply to this endpoint
    "
  `);
});

test('a parameter of an HTTP client type of NpgsqlRest stops the endpoint: the reason is named', async () => {
  const typed = await freshDatabase(`
    create type books as (status_code int, body text);
    comment on type books is 'GET https://books.example/{_author}';
    create function answer(_author text, _reply books default null) returns text language sql stable as 'select _reply.body';
    comment on function answer is 'HTTP GET';`);
  onTestFinished(() => typed.drop());
  const { code, stdout, stderr } = await endpoints([], {
    configuration: { connectionString: typed.connectionString },
  });

  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout).toMatchInlineSnapshot(`
    "public.answer(_author text, _reply public.books): no endpoint
      reason  an error
      line 1  HTTP GET  publishes the routine; sets method to GET
      error: the parameter "_reply" is of type public.books, whose comment is an HTTP request: NpgsqlRest sets it to the response, but here clients would set it; call the service in your program and pass the response in a parameter of another type, or change the comment of the type
    "
  `);
});
