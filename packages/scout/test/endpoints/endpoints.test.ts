import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../../server/src/cli/run.ts';
import { createTestProcess } from '../../../server/test/support/process-context.ts';
import { folderWith } from '../support/folder.ts';
import { isPlain, type Outcome, scout, type Surroundings } from '../support/scout.ts';

const database = useDatabase(`
  create schema shop;
  create table shop.film (id int primary key, title text);
  comment on table shop.film is 'HTTP
  listing';
  create function shop.search_films(_title text, _max_price int default 10) returns setof shop.film language sql stable
    as $$ select * from shop.film $$;
  comment on function shop.search_films is 'Searches films. \u001b[31m
  HTTP
  authorize admin
  rate_limit strict
  buffer_rows many';
  create function shop.get_secret() returns text language sql as $$ select 'x' $$;
  comment on function shop.get_secret is 'HTTP PUT /secret
  basic_authentication ann c2VjcmV0';
  create function shop.broken() returns int language sql as $$ select 1 $$;
  comment on function shop.broken is 'HTTP
  autorize admin';
  create function shop.reload() returns int language sql as $$ select 1 $$;
  comment on function shop.reload is 'HTTP POST /api/reload';
  create function shop.helper() returns int language sql as $$ select 1 $$;
`);

/** Settings of several sections that decide about endpoints, and of services that explanations do not need. */
const settings = {
  gateway: {
    urlPathPrefix: '/v1',
    requiresAuthorization: true,
    defaultHttpMethod: '${METHOD:POST}',
    refreshEndpointEnabled: true,
    refreshPath: '/api/reload',
    refreshOnNotify: 'catalog',
  },
  crud: { enabled: true, crudTypes: ['select', 'insert'] },
  rateLimits: { policies: { strict: { type: 'concurrency', limit: 1 } } },
  authentication: { useUserContext: true },
  cookie: { enabled: true },
};

function endpoints(argv: readonly string[], surroundings?: Surroundings): Promise<Outcome> {
  return scout(['--endpoints', ...argv, '-c', database.connectionString], surroundings);
}

test('each endpoint with its values and the lines of its comment, errors included, as of pgway endpoints', async () => {
  const { connectionString } = database;
  const folder = await folderWith({ 'pgway.json': JSON.stringify({ connectionString, ...settings }) });
  const gateway = createTestProcess(folder);
  const gatewayCode = await run(['endpoints'], {}, gateway);

  const { code, stdout, stderr } = await endpoints([], { folder });

  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect({ code, stdout, stderr }).toEqual({ code: gatewayCode, ...gateway.text });
  expect(isPlain(stdout)).toBe(true);
  expect(stdout).toMatchInlineSnapshot(`
    "PUT /secret
      routine        shop.get_secret()             published by the HTTP line (line 1)
      method         PUT                           line 1: set by the comment
      path           /secret                       line 1: set by the comment
      parameters     body                          the method is PUT
      authorization  HTTP Basic, signed in         line 2: set by the comment
      userContext    true                          option useUserContext
      line 1         HTTP PUT /secret              publishes the routine; sets method to PUT; sets path to /secret
      line 2         basic_authentication ann ***  requires HTTP Basic authentication

    GET /v1/shop/film
      routine        select shop.film                              published by the HTTP line (line 1), from the source crud
      method         GET                                           the operation select
      path           /v1/shop/film                                 option urlPathPrefix, the schema and the name of the table
      parameters     query                                         the method is GET
      authorization  signed in                                     option requiresAuthorization
      userContext    true                                          option useUserContext
      listing        order, limit, offset, after, select, or, and  columns are filters; select can name related tables, and not. negates a condition or group
      QUERY          answered                                      it only reads
      planCacheMode  measured                                      the operation only reads
      line 1         HTTP                                          publishes the routine
      line 2         listing                                       sets listing to true

    PUT /v1/shop/film
      routine        insert shop.film  published by the HTTP line (line 1), from the source crud
      method         PUT               the operation insert
      path           /v1/shop/film     option urlPathPrefix, the schema and the name of the table
      parameters     body              the method is PUT
      authorization  signed in         option requiresAuthorization
      userContext    true              option useUserContext
      line 1         HTTP              publishes the routine
      line 2         listing           sets listing to true

    POST /v1/shop/search-films
      routine        shop.search_films(_title text, _max_price integer)  published by the HTTP line (line 2)
      method         POST                                              option defaultHttpMethod
      path           /v1/shop/search-films                             option urlPathPrefix, the schema and the name of the function
      parameters     body                                              the method is POST
      authorization  admin                                             line 3: set by the comment
      userContext    true                                              option useUserContext
      rateLimit      strict                                            line 4: set by the comment
      planCacheMode  measured                                          the function only reads
      line 1         Searches films. \\u001b[31m                        description
      line 2         HTTP                                              publishes the routine
      line 3         authorize admin                                   requires one of the roles admin
      line 4         rate_limit strict                                 sets rateLimit to strict
      line 5         buffer_rows many                                  warning: buffer_rows takes a number of rows, not "many"

    shop.broken(): no endpoint
      reason  an error
      line 1  HTTP            publishes the routine
      line 2  autorize admin  error: "autorize admin" is read as prose; did you mean authorize (authorize, authorize <role> …, authorize = <role>, …)?

    shop.reload(): no endpoint
      reason  an error
      line 1  HTTP POST /api/reload  publishes the routine; sets method to POST; sets path to /api/reload
      error: POST "/api/reload" is a built-in route, so the routine is not published; set another path for the routine, or for the built-in route by its option
    "
  `);
});

test('the endpoints of tables are explained, without a settings file too', async () => {
  const folder = await folderWith({});

  const { code, stdout } = await endpoints(['select shop.film'], { folder });
  expect({ code, stdout }).toMatchInlineSnapshot(`
    {
      "code": 0,
      "stdout": "GET /api/shop/film
      routine        select shop.film                              published by the HTTP line (line 1), from the source crud
      method         GET                                           the operation select
      path           /api/shop/film                                the prefix, the schema and the name of the table
      parameters     query                                         the method is GET
      authorization  anonymous                                     no authorize line
      listing        order, limit, offset, after, select, or, and  columns are filters; select can name related tables, and not. negates a condition or group
      QUERY          answered                                      it only reads
      planCacheMode  measured                                      the operation only reads
      line 1         HTTP                                          publishes the routine
      line 2         listing                                       sets listing to true
    ",
    }
  `);
});

test('without a match: a suggestion, and exit code 1', async () => {
  expect(await endpoints(['serch_films'])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'pgscout: no endpoint and no routine matches "serch_films"; did you mean search_films?\n',
  });
  expect(await endpoints(['\u001b[31m'])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'pgscout: no endpoint and no routine matches "\\u001b[31m"; --all prints all routines\n',
  });
});

test('other services are not used, and no keys are stored', async () => {
  let connections = 0;
  const other = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await once(other.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const unused = { redis: `redis://127.0.0.1:${port}`, postgres: `postgres://127.0.0.1:${port}/none` };
  const folder = await folderWith();
  await writeFile(
    join(folder, 'pgway.json'),
    JSON.stringify({
      gateway: {
        pooler: 'transaction',
        refreshOnNotify: 'catalog',
        cacheInvalidateChannel: 'cache',
        listenConnectionString: unused.postgres,
      },
      rateLimits: settings.rateLimits,
      redisCache: { url: unused.redis },
      redisRateLimits: { url: unused.redis },
      events: { broadcast: 'redis', redisUrl: unused.redis },
      readReplicas: { connectionStrings: [unused.postgres] },
      cookie: { enabled: true, secure: 'always' },
      authentication: { production: true },
      dataProtection: { folder: join(folder, 'keys'), secret: 'a secret of the test' },
      sessions: { beginCommand: 'select 1', checkCommand: 'select 1', endCommand: 'select 1', channel: 'ended' },
      tenant: { by: 'host', host: '{tenant}.example.org', connectionString: 'postgres://127.0.0.1:1/{tenant}' },
    }),
  );

  const { code, stdout, stderr } = await endpoints(['search_films'], { folder });

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^GET \/api\/shop\/search-films\n/);
  expect([await readdir(folder), connections]).toEqual([['pgway.json'], 0]);
});

test('--json: the explanations as data, without password hashes', async () => {
  const { code, stdout } = await endpoints(['se', '--json'], {
    folder: await folderWith({ 'pgway.json': JSON.stringify({ crud: { enabled: false } }) }),
  });

  expect([code, isPlain(stdout)]).toEqual([1, true]);
  expect(JSON.parse(stdout)).toMatchObject([
    { routine: 'shop.get_secret()', endpoint: { path: '/secret', basicAuthentication: { hash: '***' } } },
    {
      routine: 'shop.search_films(_title text, _max_price integer)',
      lines: expect.arrayContaining([expect.objectContaining({ text: 'Searches films. \u001b[31m' })]),
    },
  ]);
});

test('the filter is highlighted on a terminal', async () => {
  const { stdout } = await endpoints(['/secret'], { hasColors: true });

  expect(stdout.split('\n')[0]).toBe('PUT \u001b[1;33m/secret\u001b[0m');
});

test('invalid settings are errors of the server: exit code 2', async () => {
  const folder = await folderWith({ 'pgway.json': '{\n  "gateway": { "urlPathPrefx": "/v1" }\n}' });

  const { code, stderr } = await endpoints([], { folder });

  expect({ code, stderr }).toMatchInlineSnapshot(`
    {
      "code": 2,
      "stderr": "pgscout: gateway.urlPathPrefx: unknown option; did you mean gateway.urlPathPrefix? (in pgway.json:2)
    ",
    }
  `);
});
