import { randomBytes } from 'node:crypto';
import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';

/* Headers and statuses of errors, at a path of the tables that is the root. */

const suffix = randomBytes(4).toString('hex');
const [anonymous, member] = [`anon_${suffix}`, `member_${suffix}`];
const secret = 'a secret of the tests with more than 32 bytes';

const gateway = useGateway(
  `
  create role ${anonymous}; create role ${member}; grant ${anonymous}, ${member} to current_user;
  create table diary (id int primary key, entry text);
  grant select on diary to ${member};
  create table log (entry text);
  grant all on log to ${anonymous};
  create table page (id int primary key, n int);
  create table word (id int primary key, page_id int constraint page references page);
  create view two_rows as select (select n from (values (1), (2)) v (n)) as n;
  create function recurse() returns trigger language plpgsql as $$ begin insert into endless values (new.n + 1); return new; end $$;
  create table endless (n int);
  create trigger recurse before insert on endless for each row execute function recurse();
  grant all on page, word, two_rows, endless to ${anonymous};
  create view total as select count(*) as n from log;
  create function ping() returns int language sql stable as $$ select 1 $$;
  create function touch() returns int language sql as $$ select 1 $$;
  create function move() returns int language plpgsql as $$ begin
    raise sqlstate 'PGRST' using message = '{"code": "M1", "message": "Moved"}',
      detail = '{"status": 307, "headers": {"Location": "/elsewhere"}}';
  end $$;
  create function no_detail() returns int language plpgsql as $$ begin
    raise sqlstate 'PGRST' using message = '{"code": "M1", "message": "Moved"}';
  end $$;
  create function not_modified() returns int language plpgsql as $$ begin
    raise sqlstate 'PGRST' using message = '{"code": "M1", "message": "Same"}', detail = '{"status": 304, "headers": {}}';
  end $$;
  create function checked() returns int language plpgsql as $$ begin assert false, 'never'; return 1; end $$;
  create function bad_headers() returns int language sql as $$ select set_config('response.headers', '"x"', true); select 1 $$;
  create function bad_status() returns int language sql as $$ select set_config('response.status', 'x', true); select 1 $$;
  `,
  {
    routineSources: [functionsSource(), postgrestSource({ path: '/' })],
    commentsMode: 'parseAll',
    responseSettings: true,
    authentication: {
      jwt: { keys: [{ secret }], issuer: null, audience: null, requireExpiry: false },
      databaseRole: { claim: 'role', anonymous },
    },
  },
);

async function token(claims: Readonly<Record<string, unknown>>): Promise<string> {
  const jwt = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT' });
  return `Bearer ${await jwt.sign(new TextEncoder().encode(secret))}`;
}

interface Failure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly challenge: string | null;
  readonly proxy: string | null;
}

async function fail(line: string, authorization?: string): Promise<Failure> {
  const response = await gateway.send(line, authorization === undefined ? {} : { headers: { authorization } });
  const { code, message, ...fields } = JSON.parse(response.body);
  expect(Object.keys(fields)).toEqual(['details', 'hint']);
  const [challenge, proxy] = [response.headers.get('www-authenticate'), response.headers.get('proxy-status')];
  return { status: response.status, code, message, challenge, proxy };
}

/** The first two parts of a token. */
const unsigned = (header: string): string =>
  [header, '{"role": "x"}'].map((part) => Buffer.from(part).toString('base64url')).join('.');

describe('a token', () => {
  test.each<[string, object | string, string, string]>([
    ['that has expired', { exp: 1 }, 'PGRST303', 'JWT expired'],
    ['that is not valid yet', { nbf: 4_000_000_000 }, 'PGRST303', 'JWT not yet valid'],
    ['whose expiry is a text', { exp: 'x' }, 'PGRST303', "The JWT 'exp' claim must be a number"],
    ['whose start is a text', { nbf: 'x' }, 'PGRST303', "The JWT 'nbf' claim must be a number"],
    ['whose issue is a text', { iat: 'x' }, 'PGRST303', "The JWT 'iat' claim must be a number"],
    ['for a number', { aud: [1] }, 'PGRST303', "The JWT 'aud' claim must be a string or an array of strings"],
    ['of two parts', 'Bearer a.b', 'PGRST301', 'Expected 3 parts in JWT; got 2'],
    ['of three parts that are nothing', 'Bearer a.b.c', 'PGRST301', 'JWT cryptographic operation failed'],
    [
      'without a signature',
      `Bearer ${unsigned('{"alg":"none"}')}.`,
      'PGRST301',
      'Wrong or unsupported encoding algorithm',
    ],
    [
      'of no algorithm',
      `Bearer ${unsigned('{"alg":"none"}')}.x`,
      'PGRST301',
      'Wrong or unsupported encoding algorithm',
    ],
    ['of another key', `Bearer ${unsigned('{"alg":"HS256"}')}.eHg`, 'PGRST301', 'No suitable key or wrong key type'],
    ['that is empty', 'Bearer ', 'PGRST301', 'Empty JWT is sent in Authorization header'],
  ])('%s', async (_, given, code, message) => {
    const authorization = typeof given === 'string' ? given : await token({ role: member, ...given });
    expect(await fail('GET /diary', authorization)).toEqual({
      status: 401,
      code,
      message,
      challenge: `Bearer error="invalid_token", error_description="${message}"`,
      proxy: `PostgREST; error=${code}`,
    });
  });

  test('the details say that no key fits, or that there is no signature', async () => {
    const details = async (header: string): Promise<unknown> => {
      const { body } = await gateway.send('GET /diary', {
        headers: { authorization: `Bearer ${unsigned(header)}.eHg` },
      });
      return JSON.parse(body).details;
    };
    expect(await details('{"alg":"HS256"}')).toBe('None of the keys was able to decode the JWT');
    expect(await details('{"alg":"none"}')).toBe("JWT is unsecured but expected 'alg' was not 'none'");
  });

  test.each([{ aud: 'anyone' }, { aud: ['a', 'b'] }, { aud: null }, {}])('for %j', async (claims) => {
    const headers = { authorization: await token({ role: member, ...claims }) };
    expect((await gateway.send('GET /diary', { headers })).status).toBe(200);
  });
});

test('a missing privilege is 401 for the role of anonymous callers, and 403 for others', async () => {
  const denied = { code: '42501', message: 'permission denied for table diary', proxy: 'PostgREST; error=42501' };
  expect(await fail('GET /diary')).toEqual({ ...denied, status: 401, challenge: 'Bearer' });
  expect(await fail('GET /diary', await token({ sub: 'ada' }))).toEqual({
    ...denied,
    status: 401,
    challenge: 'Bearer',
  });
  expect(await fail('DELETE /diary?id=eq.1', await token({ role: member }))).toEqual({
    ...denied,
    status: 403,
    challenge: null,
  });
});

test('a role that does not exist is 401', async () => {
  expect(await fail('GET /log', await token({ role: 'nobody_here' }))).toMatchObject({ status: 401, code: '22023' });
});

test('at the root, paths without a table', async () => {
  expect(await fail('GET /diaries')).toMatchObject({ status: 404, code: 'PGRST205' });
  expect(await fail('GET /rpc/pin')).toMatchObject({ status: 404, code: 'PGRST202' });
  expect(await fail('OPTIONS /diaries')).toMatchObject({ status: 404, code: 'PGRST205' });
  expect(await fail('GET /a/b/c')).toMatchObject({ status: 404, code: 'PGRST125' });
  const head = await gateway.send('HEAD /nothing');
  expect([head.status, head.headers.get('proxy-status')]).toEqual([404, 'PostgREST; error=PGRST205']);
});

test.each([
  ['/diary', 'OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE'],
  ['/log', 'OPTIONS,GET,HEAD,POST,PATCH,DELETE'],
  ['/total', 'OPTIONS,GET,HEAD'],
  ['/rpc/ping', 'OPTIONS,GET,HEAD,POST'],
  ['/rpc/touch', 'OPTIONS,POST'],
  ['/', 'OPTIONS,GET,HEAD'],
])('OPTIONS %s: %s', async (path, methods) => {
  const response = await gateway.send(`OPTIONS ${path}`);
  expect([response.status, response.headers.get('allow'), response.body]).toEqual([200, methods, '']);
});

describe('functions', () => {
  test('raise a redirect', async () => {
    const response = await fetch(`${gateway.url}/rpc/move`, { method: 'POST', redirect: 'manual' });
    expect([response.status, response.headers.get('location'), await response.json()]).toEqual([
      307,
      '/elsewhere',
      { code: 'M1', message: 'Moved', details: null, hint: null },
    ]);
  });

  test.each([
    ['no_detail', 'PGRST121', `Could not parse JSON in the "RAISE SQLSTATE 'PGRST'" error`],
    ['not_modified', 'PGRST121', `Could not parse JSON in the "RAISE SQLSTATE 'PGRST'" error`],
    ['checked', 'P0004', 'never'],
    [
      'bad_headers',
      'PGRST111',
      'response.headers guc must be a JSON array composed of objects with a single key and a string value',
    ],
    ['bad_status', 'PGRST112', 'response.status guc must be a valid status code'],
  ])('%s: %s', async (name, code, message) => {
    expect(await fail(`POST /rpc/${name}`)).toMatchObject({ status: 500, code, message });
    const response = await gateway.send(`POST /rpc/${name}`);
    expect(response.headers.get('x-correlation-id')).toBeTruthy();
  });
});

test('what only the database can be wrong about is 500', async () => {
  expect(await fail('GET /two_rows')).toMatchObject({ status: 500, code: '21000' });
  const recursion = await gateway.send('POST /endless', { body: { n: 1 } });
  expect([recursion.status, JSON.parse(recursion.body).code]).toEqual([500, '54001']);
});

test('texts are those of PostgreSQL alone', async () => {
  const errors = await Promise.all(
    [
      'id=eq.x',
      'select=id::nothing',
      'select=id,word(id),word(page_id)',
      'select=word(page(one:word(id),one:word(page_id)))',
      'select=word(sum)',
      'select=word(page(ids))&word.idd=eq.1',
    ].map(async (query) => (await gateway.send(`GET /page?${query}`)).body),
  );
  expect(errors).toMatchInlineSnapshot(`
    [
      "{"code":"22P02","message":"invalid input syntax for type integer: \\"x\\"","details":null,"hint":null}",
      "{"code":"42704","message":"type \\"nothing\\" does not exist","details":null,"hint":null}",
      "{"code":"42712","message":"table name \\"page_word_1\\" specified more than once","details":null,"hint":null}",
      "{"code":"42712","message":"table name \\"page_one_3\\" specified more than once","details":null,"hint":null}",
      "{"code":"42703","message":"column word_1.sum does not exist","details":null,"hint":null}",
      "{"code":"42703","message":"column page_2.ids does not exist","details":null,"hint":"Perhaps you meant to reference the column \\"page_2.id\\"."}",
    ]
  `);
  expect((await gateway.send('GET /page?select=one:word(id),two:word(id),...word(ids:id)')).status).toBe(200);
});

test('blanks after names have no effect', async () => {
  const response = await gateway.send('GET /page?select=id%20,%20m:%20n%20,%20word%20(%20id%20)&order=n%20,%20id%20');
  expect([response.status, response.body]).toEqual([200, '[]']);
});

test('a PUT without rows does not have the key of its URL', async () => {
  const response = await gateway.send('PUT /page?id=eq.1', { body: [] });
  expect([response.status, JSON.parse(response.body).code]).toEqual([400, 'PGRST115']);
});

test('an update that sets nothing changes no row, with a filter or without', async () => {
  for (const body of [{}, [], [{}]]) {
    const response = await gateway.send('PATCH /log', { body });
    expect([response.status, response.headers.get('content-range'), response.body]).toEqual([204, '*/*', '']);
  }
  const headers = { prefer: 'return=representation' };
  expect((await gateway.send('PATCH /log', { body: {}, headers })).body).toBe('[]');
  const full = await gateway.send('PATCH /log', { body: { entry: 'x' } });
  expect([full.status, JSON.parse(full.body).code]).toEqual([400, '21000']);
});

test('columns needs a name', async () => {
  const response = await gateway.send('POST /log?columns=', { body: { entry: 'x' } });
  expect([response.status, JSON.parse(response.body).code]).toEqual([400, 'PGRST100']);
});
