import { startGateway, useGateway } from '@pgway/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cookieOf, ownPage } from './people.ts';

/** All identity values that a routine can request, in every form. */
const told = `
  create function enter() returns table (id text, name text, roles text[]) language sql as $$ select 'id-1', 'ada', array['admin'] $$;
  comment on function enter is 'HTTP
  login';

  create function by_query(_note text default '', _user_id text default null, _user_name text default null, _user_roles text[] default null,
    _user_claims json default null, _ip_address text default null) returns json language sql stable as
  $$ select json_build_array(_user_id, _user_name, _user_roles, _user_claims, _ip_address) $$;
  comment on function by_query is 'HTTP GET
  user_parameters';

  create function by_body(_note text default '', _user_id text default null, _user_name text default null, _user_roles text[] default null,
    _user_claims json default null, _ip_address text default null) returns json language sql as
  $$ select json_build_array(_user_id, _user_name, _user_roles, _user_claims, _ip_address) $$;
  comment on function by_body is 'HTTP POST
  user_parameters';

  create function by_path(_note text, _user_id text, _user_name text, _user_roles text[], _user_claims json, _ip_address text)
  returns json language sql stable as $$ select json_build_array(_user_id, _user_name, _user_roles, _user_claims, _ip_address) $$;
  comment on function by_path is 'HTTP GET /by-path/{_note}
  user_parameters';

  create function by_words(_note text default '', a text default null, b text default null, c text[] default null, d json default null, e text default null)
  returns json language sql stable as $$ select json_build_array(a, b, c, d, e) $$;
  comment on function by_words is 'HTTP GET
  param a is user_id
  param b is user_name
  param c is user_roles
  param d is user_claims
  param e is ip_address';

  create function by_raw_body(_note text, _user_id text, _user_name text, _user_roles text[], _user_claims json, _ip_address text)
  returns json language sql as $$ select json_build_array(_user_id, _user_name, _user_roles, _user_claims, _ip_address) $$;
  comment on function by_raw_body is 'HTTP POST
  body_parameter_name _note
  user_parameters';

  create function by_settings(_note text default '') returns json language sql stable as $$ select json_build_array(
    current_setting('request.user_id'), current_setting('request.user_name'), current_setting('request.user_roles'),
    current_setting('request.user_claims'), current_setting('request.ip_address')) $$;
  comment on function by_settings is 'HTTP GET
  user_context
  request_headers context';

  create function by_overload(_note text default '', _user_id text default null, _user_name text default null, _user_roles text[] default null,
    _user_claims json default null, _ip_address text default null) returns json language sql stable as
  $$ select json_build_array(_user_id, _user_name, _user_roles, _user_claims, _ip_address) $$;
  create function by_overload(_note text, _more int, _user_id text default null, _user_name text default null, _user_roles text[] default null,
    _user_claims json default null, _ip_address text default null) returns json language sql stable as
  $$ select json_build_array(_user_id, _user_name, _user_roles, _user_claims, _ip_address) $$;
  comment on function by_overload(text, text, text, text[], json, text) is 'HTTP GET
  user_parameters';
  comment on function by_overload(text, int, text, text, text[], json, text) is 'HTTP GET
  user_parameters';`;

const routines = ['by-query', 'by-body', 'by-words', 'by-raw-body', 'by-settings', 'by-overload'];
const names = ['_user_id', '_user_name', '_user_roles', '_user_claims', '_ip_address'];
const converted = ['userId', 'userName', 'userRoles', 'userClaims', 'ipAddress', 'a', 'b', 'c', 'd', 'e'];
const strange = ['user_id', 'UserId', 'USERID', '_user_id[]', 'userId.0', '$2', 'request.user_id', 'role', '__proto__'];
const keys = [...names, ...converted, ...strange, 'more', 'note'];
const headerNames = [
  'x-user-id',
  'user_id',
  'request.user_id',
  'x-forwarded-for',
  'x-real-ip',
  'forwarded',
  'remote-user',
];

/** A request that sends an identity in every possible place. */
const hostile = fc.record({
  routine: fc.constantFrom(...routines, 'path'),
  given: fc.dictionary(
    fc.constantFrom(...keys),
    fc.oneof(
      fc.constant('forged'),
      fc.constant('{forged}'),
      fc.constant('{"id":"forged"}'),
      fc.string({ maxLength: 8 }),
    ),
    { maxKeys: 5 },
  ),
  headers: fc.dictionary(
    fc.constantFrom(...headerNames),
    fc.constantFrom('forged', '203.0.113.66', 'for=203.0.113.66'),
    { maxKeys: 4 },
  ),
  method: fc.constantFrom('own', 'GET', 'POST', 'HEAD', 'PUT'),
  everywhere: fc.boolean(),
});

type Hostile = typeof hostile extends fc.Arbitrary<infer Request> ? Request : never;

function verbOf({ method, routine }: Hostile): string {
  if (method !== 'own') return method;
  return routine.endsWith('body') ? 'POST' : 'GET';
}

function targetOf({ routine, given, everywhere }: Hostile): string {
  const path = routine === 'path' ? `/by-path/${encodeURIComponent(given['_user_id'] ?? 'x')}` : `/api/${routine}`;
  return everywhere || routine !== 'by-body' ? `${path}?${new URLSearchParams(given).toString()}` : path;
}

describe.each([['reject'], ['ignore']] as const)(
  'requests that forge an identity, unknown parameters: %s',
  (unknownParameters) => {
    const gateway = useGateway(told, {
      authentication: { cookie: true, userClaimsContextKey: 'request.user_claims' },
      unknownParameters,
    });

    /** Returns the number of 200 responses; throws if one shows a forged identity. */
    const attack = async (
      headers: Record<string, string>,
      expected: (routine: string) => readonly unknown[],
    ): Promise<number> => {
      let answered = 0;
      await fc.assert(
        fc.asyncProperty(hostile, async (request) => {
          const { routine, given, headers: more } = request;
          const verb = verbOf(request);
          const answer = await gateway.send(`${verb} ${targetOf(request)}`, {
            headers: { ...more, ...headers },
            ...(verb === 'GET' || verb === 'HEAD' ? {} : { body: given }),
          });
          if (![200, 400, 404, 405].includes(answer.status)) throw new Error(`${answer.status}: ${answer.body}`);
          if (answer.status !== 200 || verb === 'HEAD') return;
          answered += 1;
          const told = JSON.stringify(JSON.parse(answer.body));
          if (told !== JSON.stringify(expected(routine))) throw new Error(`forged: ${told}`);
        }),
        { numRuns: 300 },
      );
      return answered;
    };
    test('an anonymous request has NULL as its identity, or an empty setting', async () => {
      const answered = await attack({}, (routine) =>
        routine === 'by-settings' ? ['', '', '', '', '127.0.0.1'] : [null, null, null, null, '127.0.0.1'],
      );
      // Rejected requests alone would prove nothing.
      expect(answered).toBeGreaterThan(8);
    });

    test('an authenticated request has the identity of its login', async () => {
      const cookie = cookieOf(await gateway.send('POST /api/enter'));
      const claims = { id: 'id-1', name: 'ada', roles: ['admin'] };
      const answered = await attack({ cookie, ...ownPage }, (routine) =>
        routine === 'by-settings'
          ? ['id-1', 'ada', '{admin}', JSON.stringify(claims), '127.0.0.1']
          : ['id-1', 'ada', ['admin'], claims, '127.0.0.1'],
      );
      // Rejected requests alone would prove nothing.
      expect(answered).toBeGreaterThan(8);
    });
  },
);

describe('an annotation that would let the client choose an identity stops the endpoint', () => {
  test.each([
    [
      'user_id is also a field of a composite type',
      '_user pair, _user_id text',
      'user_parameters',
      'duplicate-parameter',
    ],
    ['user_id in the path', '_user_id text', 'path /x/{userId}\nuser_parameters', 'identity-parameter'],
    ['user_id in the body parameter', 'a text', 'body_parameter_name a\nparam a is user_id', 'body-parameter'],
    [
      'user_id in the request headers parameter',
      `a text default null`,
      'request_headers parameter\nrequest_headers_parameter_name a\nparam a is user_id',
      'request-headers-parameter',
    ],
    ['two identities for one parameter', 'a text', 'param a is user_id\nparam a is user_name', 'contradiction'],
    [
      'an identity and a hash for one parameter',
      'a text, b text',
      'param a is user_id\nparam a is hash of b',
      'contradiction',
    ],
    ['a hash parameter of type int', 'a int, b text', 'param a is hash of b', 'hash-parameter'],
    ['a misspelled identity', 'a text', 'param a is userid', 'bad-argument'],
    ['an invalid boolean value', 'a text', 'user_parameters = maybe', 'bad-argument'],
    ['a misspelled annotation', '_user_id text', 'user_parameter', 'near-miss'],
    ['a misspelled user_context annotation', 'a text', 'user_contxt', 'near-miss'],
  ])('%s', async (_, parameters, words, code) => {
    const gateway = await startGateway(
      `create type pair as (id text, b text); create function f(${parameters}) returns int language sql as $$ select 1 $$;
      comment on function f is 'HTTP POST\n${words}';`,
    );
    const errors = gateway.gateway.diagnostics.filter(({ severity }) => severity === 'error').map((one) => one.code);
    expect([[...new Set(errors)], gateway.gateway.endpoints.length]).toEqual([[code], 0]);
    await gateway.close();
  });
});

test('useUserParameters beside annotations: an annotation decides for its parameter, the option for the others', async () => {
  const gateway = await startGateway(
    `create function enter() returns table (id text, name text) language sql as $$ select 'id-1', 'ada' $$;
    comment on function enter is 'HTTP
    login';
    create function f(_user_id text default 'none', owner text default 'none', "userName" text default 'none') returns text[] language sql stable as
    $$ select array[_user_id, owner, "userName"] $$;
    comment on function f is 'HTTP
    param owner is user_name
    param _user_id is user_name';
    create function g(user_id text default 'none') returns text language sql stable as $$ select user_id $$;
    comment on function g is 'HTTP';`,
    { authentication: { cookie: true, useUserParameters: true } },
  );
  const headers = { cookie: cookieOf(await gateway.send('POST /api/enter')) };
  expect((await gateway.send('GET /api/f', { headers })).body).toBe('["ada","ada","ada"]');
  expect((await gateway.send('GET /api/f')).body).toBe('["none","none","none"]');
  expect((await gateway.send('GET /api/g', { headers })).body).toBe('id-1');
  for (const key of ['user_id', 'userId']) expect((await gateway.send(`GET /api/g?${key}=x`)).status).toBe(400);
  await gateway.close();
});

test('a login with parameters that useUserParameters injects is reported as a warning', async () => {
  const gateway = await startGateway(
    `create function enter(_user_name text, _password text) returns table (name text) language sql as $$ select _user_name $$;
    comment on function enter is 'HTTP
    login';
    create function enter_off(_user_name text, _password text) returns table (name text) language sql as $$ select _user_name $$;
    comment on function enter_off is 'HTTP
    login
    user_parameters = off';`,
    { authentication: { cookie: true, useUserParameters: true } },
  );
  const warnings = gateway.gateway.diagnostics.filter(({ code }) => code === 'login-identity');
  expect(warnings.map(({ routine }) => routine)).toEqual(['public.enter(_user_name text, _password text)']);
  expect((await gateway.send('POST /api/enter-off', { body: { userName: 'ada', password: 'x' } })).status).toBe(200);
  await gateway.close();
});
