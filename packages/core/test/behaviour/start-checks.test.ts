import { randomBytes } from 'node:crypto';
import { createGateway, crudSource, type GatewayOptions } from '@pgway/core';
import { freshDatabase, type TestGateway, startGateway } from '@pgway/testing';
import { expect, test } from 'vitest';

/** Annotations and options that cannot take effect are reported at the start. */

/** Diagnostics but for those that tell what annotations did. */
function told({ gateway }: Pick<TestGateway, 'gateway'>): readonly string[] {
  return gateway.diagnostics
    .filter(({ severity }) => severity !== 'info')
    .map(({ severity, code, routine, line, message }) => `${severity} ${code} ${routine} ${line}: ${message}`);
}

async function toldOf(sql: string, options: Partial<GatewayOptions> = {}): Promise<readonly string[]> {
  const gateway = await startGateway(sql, options);
  await gateway.close();
  return told(gateway);
}

test('overloads that take parameters of the same names', async () => {
  const gateway = await startGateway(`
    create function find(_a int) returns text language sql stable as $$ select 'int' $$;
    comment on function find(int) is 'HTTP';
    create function find(_a text) returns text language sql stable as $$ select 'text' $$;
    comment on function find(text) is 'HTTP';
    create function find(_a text, _b text) returns text language sql stable as $$ select 'two' $$;
    comment on function find(text, text) is 'HTTP';
    create function unnamed(int) returns text language sql stable as $$ select 'int' $$;
    comment on function unnamed(int) is 'HTTP';
    create function unnamed(text) returns text language sql stable as $$ select 'text' $$;
    comment on function unnamed(text) is 'HTTP';
    create function apart(_a int) returns text language sql stable as $$ select 'int' $$;
    comment on function apart(int) is 'HTTP';
    create function apart(_b text) returns text language sql stable as $$ select 'text' $$;
    comment on function apart(text) is 'HTTP';
    create function elsewhere(_a int) returns text language sql stable as $$ select 'int' $$;
    comment on function elsewhere(int) is 'HTTP';
    create function elsewhere(_a text) returns text language sql stable as $$ select 'text' $$;
    comment on function elsewhere(text) is 'HTTP GET /elsewhere';
    create function by_role(_a int) returns text language sql stable as $$ select 'int' $$;
    comment on function by_role(int) is 'HTTP';
    create function by_role(_a text) returns text language sql stable as $$ select 'text' $$;
    comment on function by_role(text) is 'HTTP
    authorize';
  `);
  expect(told(gateway)).toMatchInlineSnapshot(`
    [
      "warning ambiguous-overload public.find(_a text) null: GET "/api/find" has the same parameter names as public.find(_a integer), so every request fails with 400; rename the parameters, or set another path for one of them",
      "warning ambiguous-overload public.unnamed(text) null: GET "/api/unnamed" has the same parameter names as public.unnamed(integer), so every request fails with 400; rename the parameters, or set another path for one of them",
    ]
  `);
  expect((await gateway.send('GET /api/find?a=1')).status).toBe(400);
  expect((await gateway.send('GET /api/find?a=1&b=2')).body).toBe('two');
  await gateway.close();
});

test('an HTTP line where nothing can be published', async () => {
  const sql = `
    create aggregate total(int) (sfunc = int4pl, stype = int, initcond = '0');
    comment on aggregate total(int) is 'HTTP GET';
    create aggregate quiet(int) (sfunc = int4pl, stype = int, initcond = '0');
    comment on aggregate quiet(int) is 'Speaks of HTTP only.';
    create function nth(int) returns int language internal window as 'window_row_number';
    comment on function nth(int) is 'Counts.
    @http';
    create function nulls(variadic "any") returns int language internal as 'pg_num_nulls';
    comment on function nulls("any") is 'HTTP';
    create function input(internal) returns int language internal as 'pg_num_nulls';
    comment on function input(internal) is 'HTTP';
    create function same(anyelement) returns anyelement language sql as $$ select $1 $$;
    comment on function same(anyelement) is 'HTTP';
    create table log (id int, day date) partition by range (day);
    create table log_2024 partition of log for values from ('2024-01-01') to ('2025-01-01');
    comment on table log_2024 is 'HTTP';
  `;
  expect(await toldOf(sql, { sourcesCreated: (sources) => void sources.push(crudSource()) })).toMatchInlineSnapshot(`
    [
      "error uncallable-type public.same(anyelement) null: the parameter "$1" is of type anyelement, which a request cannot contain; the routine is not published",
      "error unpublishable public.input(internal) null: the comment has an HTTP line, but functions of the language internal are not published, as their parameters may have pseudo-types such as internal; publish an SQL function that calls it",
      "error unpublishable public.log_2024 null: the comment has an HTTP line, but partitions are not published; put the comment on the partitioned table public.log",
      "error unpublishable public.nth(integer) null: the comment has an HTTP line, but a window function cannot be called with request parameters; publish a function that uses it",
      "error unpublishable public.nulls(VARIADIC "any") null: the comment has an HTTP line, but functions of the language internal are not published, as their parameters may have pseudo-types such as internal; publish an SQL function that calls it",
      "error unpublishable public.total(integer) null: the comment has an HTTP line, but an aggregate cannot be called with request parameters; publish a function that uses it",
    ]
  `);
  expect((await toldOf(sql)).filter((line) => line.includes('partition'))).toEqual([]);
  expect((await toldOf(sql, { excludeSchemas: ['public'] })).filter((line) => line.includes('HTTP line'))).toEqual([]);
});

test('a second HTTP line, and a verb that is nearly one', async () => {
  const f = (name: string, comment: string): string =>
    `create function ${name}() returns int language sql stable as $$ select 1 $$; comment on function ${name} is '${comment}';`;
  expect(
    await toldOf(
      f('two', 'HTTP GET\nA sentence.\nHTTP POST /two') +
        f('scoped', 'HTTP\nfor stable\nHTTP GET /scoped') +
        f('gett', 'HTTP GETT') +
        f('pots', 'HTTP pots /x') +
        f('moved', 'HTTP wrong-verb'),
    ),
  ).toMatchInlineSnapshot(`
    [
      "warning unknown-method public.gett() 1: "GETT" is not a method and becomes the path; did you mean GET? Begin a path with /",
      "warning unknown-method public.moved() 1: "wrong-verb" is not a method and becomes the path; begin the path with / to confirm",
      "error unknown-method public.pots() 1: "pots" is not a method; did you mean POST?",
      "warning second-http public.two() 3: "HTTP POST /two" is the second HTTP line and overrides the first; keep one of them",
    ]
  `);
});

test('a schema that is not there', async () => {
  const gateway = await startGateway('create schema api', { includeSchemas: ['apii', 'api'], excludeSchemas: ['old'] });
  const warnings = gateway.observations.filter(({ kind }) => kind === 'start-warning');
  await gateway.close();
  expect(warnings).toEqual([
    expect.objectContaining({ code: 'privileged-role' }),
    {
      kind: 'start-warning',
      code: 'unknown-schema',
      message: 'includeSchemas: there is no schema "apii" in the database; did you mean "api"?',
    },
    {
      kind: 'start-warning',
      code: 'unknown-schema',
      message: 'excludeSchemas: there is no schema "old" in the database; create it, or remove it from the option',
    },
  ]);
});

test('a role that may not call what is published', async () => {
  const role = `pgway_test_${randomBytes(6).toString('hex')}`;
  const database = await freshDatabase(`
    create role ${role};
    create schema closed;
    create table closed.thing (id int primary key);
    comment on table closed.thing is 'HTTP';
    create function closed.inside() returns int language sql stable as $$ select 1 $$;
    comment on function closed.inside() is 'HTTP';
    create function open(_a int, _b text[]) returns int language sql stable as $$ select 1 $$;
    comment on function open is 'HTTP';
    create function kept(_a int, _b text[]) returns int language sql stable as $$ select 1 $$;
    comment on function kept is 'HTTP';
    create table secret (id int primary key, title text);
    comment on table secret is 'HTTP';
    create table readable (id int primary key, title text);
    comment on table readable is 'HTTP';
    grant select (title) on readable to ${role};
    create function signed_in(_a int) returns int language sql stable as $$ select 1 $$;
    comment on function signed_in is 'HTTP
    authorize';
    create procedure run(inout _a int) language sql as $$ select 1 $$;
    comment on procedure run is 'HTTP';
    revoke execute on function kept, signed_in from public;
    revoke execute on procedure run from public;
  `);
  const toldWith = async (options: object, connectionString = database.connectionString) => {
    const gateway = await createGateway({
      connectionString,
      sourcesCreated: (sources) => void sources.push(crudSource({ crudTypes: ['select', 'delete'] })),
      ...options,
    });
    await gateway.close();
    return told({ gateway }).map((line) => line.replaceAll(role, 'web'));
  };
  try {
    expect(await toldWith({})).toEqual([]);
    const asAnonymous = { authentication: { databaseRole: { claim: 'role', anonymous: role } } };
    expect(await toldWith(asAnonymous)).toMatchInlineSnapshot(`
      [
        "warning missing-privilege closed.inside() null: the role "web" has no USAGE on the schema "closed", so its calls get a 403; grant usage on schema "closed" to "web"",
        "warning missing-privilege public.kept(_a integer, _b text[]) null: the role "web" has no EXECUTE on this function, so its calls get a 403; grant execute on function public.kept(_a integer, _b text[]) to "web"",
        "warning missing-privilege public.run(_a integer) null: the role "web" has no EXECUTE on this procedure, so its calls get a 403; grant execute on procedure public.run(_a integer) to "web"",
        "warning missing-privilege select closed.thing null: the role "web" has no USAGE on the schema "closed", so its calls get a 403; grant usage on schema "closed" to "web"",
        "warning missing-privilege select public.secret null: the role "web" has no SELECT on this table, so the calls that need it get a 403; grant select on table "public"."secret" to "web"",
      ]
    `);
    const asRole = `${database.connectionString}?options=${encodeURIComponent(`-c role=${role}`)}`;
    expect((await toldWith({}, asRole)).map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual([
      'warning missing-privilege closed.inside()',
      'warning missing-privilege public.kept(_a',
      'warning missing-privilege public.run(_a',
      'warning missing-privilege public.signed_in(_a',
      'warning missing-privilege select',
      'warning missing-privilege select',
      'warning missing-privilege select',
    ]);
  } finally {
    await database.query(`drop owned by ${role}; drop role ${role}`);
    await database.drop();
  }
});

test('an anonymous role that is not there', async () => {
  const gateway = await startGateway(
    `create function f() returns int language sql stable as $$ select 1 $$; comment on function f is 'HTTP';`,
    { authentication: { databaseRole: { claim: 'role', anonymous: 'nobody_at_all' } } },
  );
  const warnings = gateway.observations.filter((one) => one.kind === 'start-warning' && one.code === 'unknown-role');
  await gateway.close();
  expect(warnings).toHaveLength(1);
});

test('endpoints for signed-in callers, and no scheme that could know one', async () => {
  const warnings = async (authentication: object): Promise<readonly string[]> => {
    const gateway = await startGateway(
      `create function f() returns int language sql stable as $$ select 1 $$; comment on function f is 'HTTP
       authorize';
       create function g() returns int language sql stable as $$ select 1 $$; comment on function g is 'HTTP';`,
      { authentication },
    );
    await gateway.close();
    return gateway.observations.flatMap((one) =>
      one.kind === 'start-warning' && one.code === 'no-authentication-scheme' ? [one.message] : [],
    );
  };
  expect(await warnings({})).toEqual([
    'GET /api/f needs a signed-in caller, but no authentication scheme is enabled, so every call gets a 401; enable cookie, bearer, jwt or basic',
  ]);
  expect(await warnings({ basic: { user: 'ada', hash: 'x' } })).toEqual([]);
});

test('a refused call: developers read which role needs which GRANT, clients of a server in production do not', async () => {
  const role = `pgway_test_${randomBytes(6).toString('hex')}`;
  const database = await freshDatabase(`
    create role ${role};
    create table secret (id int);
    create function secrets() returns setof secret language sql stable as 'select * from secret';
    comment on function secrets is 'HTTP';`);
  const answer = async (production: boolean): Promise<unknown> => {
    const gateway = await createGateway({
      connectionString: database.connectionString,
      authentication: { databaseRole: { claim: 'role', anonymous: role }, production },
    });
    const response = await gateway.fetch(new Request('http://localhost/api/secrets'));
    await gateway.close();
    return JSON.parse((await response!.text()).replaceAll(role, 'web'));
  };
  const problem = {
    type: 'urn:pgway:problem:database-error',
    title: 'permission denied for table secret',
    status: 403,
    code: '42501',
  };
  try {
    expect(await answer(true)).toEqual(problem);
    expect(await answer(false)).toEqual({
      ...problem,
      hint: 'The call runs as the role "web": grant select, insert, update or delete on table secret to "web". Inside a SECURITY DEFINER function, the role is its owner.',
    });
  } finally {
    await database.query(`drop owned by ${role}; drop role ${role}`);
    await database.drop();
  }
});
