import { createGateway } from '@pgway/core';
import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { cookieOf, hashOfSecret, ownPage, people } from './people.ts';
import { derivations } from '../support/derivations.ts';

const secret = { user: 'ada', password: 'secret' };

describe('a login routine with a hash', () => {
  const gateway = useGateway(people, { authentication: { cookie: true } });

  test('the right password: 200, a cookie, an empty body', async () => {
    const answer = await gateway.send('POST /api/login', { body: secret });
    expect([answer.status, answer.body, answer.headers.get('cache-control')]).toEqual([200, '', 'no-store']);
    const [cookie] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^pgway=[^;]+; Max-Age=1209600; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/);
    const who = await gateway.send('GET /api/who', { headers: { cookie: cookieOf(answer) } });
    expect(JSON.parse(who.body)).toEqual([
      '7',
      'ada',
      ['admin', 'a b'],
      { id: '7', name: 'ada', roles: ['admin', 'a b'] },
      '127.0.0.1',
    ]);
  });

  test('a wrong password: 404 and nothing else', async () => {
    const answer = await gateway.send('POST /api/login', { body: { ...secret, password: 'Secret' } });
    expect([answer.status, answer.body, answer.headers.getSetCookie()]).toEqual([404, '', []]);
  });

  test('a NULL password is wrong', async () => {
    const answer = await gateway.send('POST /api/login', { body: { ...secret, password: null } });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([404, []]);
  });

  test('an unknown user gets the response of a wrong password, after as much work', async () => {
    const answerOf = async (user: string): Promise<unknown> => {
      const { status, headers, body } = await gateway.send('POST /api/login', { body: { user, password: 'x' } });
      return { status, body, headers: [...headers].filter(([name]) => name !== 'date') };
    };
    const unknown = await answerOf('nobody');
    expect(unknown).toMatchObject({ status: 404, body: '' });
    expect(unknown).toEqual(await answerOf('bob'));
    // Without HTTP between them, the derivations of the work are known from those of other work.
    const login = async (user: string): Promise<void> => {
      const body = JSON.stringify({ user, password: 'wrong' });
      const headers = { 'content-type': 'application/json' };
      const request = new Request('https://localhost/api/login', { method: 'POST', headers, body });
      expect((await gateway.gateway.fetch(request))?.status).toBe(404);
    };
    expect([await derivations(() => login('someone')), await derivations(() => login('bob'))]).toEqual([1, 1]);
  });

  test('a cross-site login is refused', async () => {
    const headers = { origin: 'https://evil.example' };
    const answer = await gateway.send('POST /api/login', { body: secret, headers });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []]);
  });

  test('each login begins a session, and ends the previous one of the browser', async () => {
    const first = cookieOf(await gateway.send('POST /api/login', { body: secret }));
    const second = cookieOf(
      await gateway.send('POST /api/login', { body: secret, headers: { cookie: first, ...ownPage } }),
    );
    expect(second).not.toBe(first);
    const status = async (cookie: string): Promise<number> =>
      (await gateway.send('POST /api/for-members', { headers: { cookie, ...ownPage } })).status;
    expect([await status(first), await status(second)]).toEqual([401, 200]);
  });
});

test('too many failures of one user: 429 until the wait is over; other users are not affected', async () => {
  const gateway = await startGateway(people, {
    authentication: { cookie: true, loginRateLimit: { perUser: 2, firstWait: 60 } },
  });
  const login = (user: string, password: string): ReturnType<typeof gateway.send> =>
    gateway.send('POST /api/login', { body: { user, password } });
  expect([(await login('ada', 'a')).status, (await login('ada', 'b')).status]).toEqual([404, 404]);
  const late = await login('ADA', 'secret');
  expect([late.status, Number(late.headers.get('retry-after')) > 50]).toEqual([429, true]);
  expect((await login('nobody', 'a')).status).toBe(404);
  expect((await login('nobody', 'a')).status).toBe(404);
  expect((await login('nobody', 'a')).status).toBe(429);
  expect((await login('bob', 'secret')).status).toBe(200);
  await gateway.close();
});

describe('the control columns', () => {
  const login = (name: string, columns: string, row: string): string => `
    create function ${name}() returns table (${columns}) language sql as $$ ${row} $$;
    comment on function ${name} is 'HTTP
    login';`;
  const gateway = useGateway(
    people +
      [
        login('yes', 'status bool, message text, name text', `select true, 'Welcome', 'ada'`),
        login('no', 'status bool, message text, name text', `select false, 'Not today', 'ada'`),
        login('null_status', 'status bool, name text', `select null::bool, 'ada'`),
        login('gone', 'status int, message text, name text', `select 410, 'Moved away', 'ada'`),
        login('forbidden', 'status int, name text', `select 403, 'ada'`),
        login('ok', 'status int, name text', `select 200, 'ada'`),
        login('impossible', 'status int, name text', `select 42, 'ada'`),
        login(
          'tokens',
          'scheme text, name text, big bigint, at timestamptz, tags int8[]',
          `select 'bearer', 'ada', 9007199254740993, timestamptz '2024-01-02 03:04:05+00', '{1,9007199254740993}'::int8[]`,
        ),
        login('unknown', 'scheme text, name text', `select 'smoke-signals', 'ada'`),
        login('nobody', 'name text', `select 'x' where false`),
      ].join('\n') +
      `create function claims(_user_claims json) returns json language sql stable as $$ select _user_claims $$;
       comment on function claims is 'HTTP
       user_params';`,
    { authentication: { cookie: true, bearer: true } },
  );

  test.each([
    ['yes', 200, 'Welcome', 1],
    ['no', 401, 'Not today', 0],
    ['null-status', 401, expect.stringContaining('refused'), 0],
    ['gone', 410, 'Moved away', 0],
    ['forbidden', 403, '', 0],
    ['ok', 200, '', 1],
    ['nobody', 401, expect.stringContaining('refused'), 0],
  ])('POST /api/%s: %d %j, cookies: %d', async (name, status, body, cookies) => {
    const answer = await gateway.send(`POST /api/${name}`);
    expect([answer.status, answer.headers.getSetCookie().length]).toEqual([status, cookies]);
    expect(answer.body).toEqual(body);
  });

  test.each(['impossible', 'unknown'])('%s: 500, and the log has the reason', async (name) => {
    expect((await gateway.send(`POST /api/${name}`)).status).toBe(500);
    const why = gateway.observations.findLast((one) => one.kind === 'request-failed');
    expect(why?.kind === 'request-failed' && why.error.message).toMatch(
      name === 'unknown' ? /no scheme "smoke-signals"/ : /status 42/,
    );
  });

  test('scheme: tokens as JSON, numeric claims with all digits', async () => {
    const answer = await gateway.send('POST /api/tokens');
    const tokens = JSON.parse(answer.body) as Record<string, unknown>;
    expect([answer.type, tokens['token_type'], tokens['expires_in']]).toEqual(['application/json', 'Bearer', 3600]);
    const headers = { authorization: `Bearer ${String(tokens['access_token'])}` };
    expect((await gateway.send('GET /api/claims', { headers })).body).toBe(
      '{"name":"ada","big":"9007199254740993","at":"2024-01-02 03:04:05+00","tags":["1","9007199254740993"]}',
    );
  });
});

test('commands after the verification get the scheme of the row, id and name; the row is the response', async () => {
  const gateway = await startGateway(`${people}create table told (what text);`, {
    authentication: {
      cookie: true,
      serializeAuthEndpointsResponse: true,
      passwordVerificationFailedCommand: `insert into told values ('failed ' || concat_ws(',', coalesce($1, 'no scheme'), $2, $3))`,
      passwordVerificationSucceededCommand: `insert into told values ('succeeded ' || $3)`,
    },
  });
  const login = (password: string): ReturnType<typeof gateway.send> =>
    gateway.send('POST /api/login', { body: { user: 'ada', password } });
  expect((await login('x')).status).toBe(404);
  const right = await login('secret');
  // All columns except the hash.
  expect([right.status, right.type, right.body]).toEqual([
    200,
    'application/json',
    '{"id":7,"name":"ada","roles":["admin","a b"]}',
  ]);
  // The response to a wrong password does not wait for its command.
  await expect
    .poll(() => gateway.database.query('select what from told order by what'))
    .toEqual([{ what: 'failed no scheme,7,ada' }, { what: 'succeeded ada' }]);
  await gateway.close();
});

test('a host may set its own hasher and its own column names', async () => {
  const sql = `
    create function enter(_secret text) returns table (proof text, id int) language sql as $$ select 'plain', 1 $$;
    comment on function enter is 'HTTP
    login';`;
  const passwordHasher = {
    hash: async (password: string) => password,
    verify: async (password: string, hash: string) => password === hash,
    verifyDummy: async () => undefined,
  };
  const gateway = await startGateway(sql, {
    authentication: { cookie: true, passwordHasher, hashColumnName: 'proof', passwordParameterNameContains: 'SECRET' },
  });
  expect((await gateway.send('POST /api/enter', { body: { secret: 'plain' } })).status).toBe(200);
  expect((await gateway.send('POST /api/enter', { body: { secret: 'other' } })).status).toBe(404);
  await gateway.close();
});

describe('requirements of a login routine', () => {
  test.each([
    ['text', `returns text`, `select 'x'`, 'login-columns'],
    ['nothing', `returns void`, ``, 'login-columns'],
    ['an unknown record', `returns record`, `select 1, 2`, 'login-columns'],
    ['a text status', `returns table (status text, id int)`, `select 'ok', 1`, 'login-status'],
  ])('%s stops the endpoint', async (_, returns, body, code) => {
    const gateway = await startGateway(
      `create function enter() ${returns} language sql as $$ ${body} $$; comment on function enter is 'HTTP
login';`,
      { authentication: { cookie: true } },
    );
    expect(gateway.gateway.diagnostics.filter(({ severity }) => severity === 'error').map((one) => one.code)).toEqual([
      code,
    ]);
    expect(gateway.gateway.endpoints).toEqual([]);
    await gateway.close();
  });
});

test('parameter values of a login never reach the log', async () => {
  const lines: string[] = [];
  const log = (fields: object, message: string): void => void lines.push(JSON.stringify(fields) + message);
  const gateway = await startGateway(people, {
    authentication: { cookie: true },
    logger: { debug: log, info: log, warn: log, error: log },
    logCommands: true,
    logCommandParameters: true,
  });
  await gateway.send('POST /api/login', { body: { user: 'ada', password: 'my-own-word' } });
  expect(lines.filter((line) => line.endsWith('command')).length).toBe(1);
  expect(lines.join('\n')).not.toMatch(/my-own-word/);
  expect(lines.join('\n')).not.toContain(hashOfSecret);
  await gateway.close();
});

test('keys without persistent storage are refused in production, and a warning elsewhere', async () => {
  const gateway = await startGateway(people, { authentication: { cookie: true } });
  const warnings = gateway.observations.filter((one) => one.kind === 'start-warning' && one.code === 'authentication');
  expect(warnings.length).toBe(2);
  await expect(
    createGateway({
      connectionString: gateway.database.connectionString,
      authentication: { cookie: true, production: true },
    }),
  ).rejects.toThrow(/not for production/);
  await gateway.close();
});
