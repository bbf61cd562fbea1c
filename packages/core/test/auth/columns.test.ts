import { type AuthScheme, createGateway } from '@pgway/core';
import { startGateway, type TestGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { cookieOf, hashOfSecret, ownPage } from './people.ts';

/** A login or logout routine without parameters that returns the rows of this query. */
function routine(word: 'login' | 'logout', name: string, returns: string, query: string): string {
  return `create function ${name}() returns ${returns} language sql as $$ ${query} $$;
    comment on function ${name} is 'HTTP
    ${word}';`;
}

const claims = `create function claims(_user_claims json) returns json language sql stable as $$ select _user_claims $$;
  comment on function claims is 'HTTP
  user_params';`;

function errorsOf({ gateway }: TestGateway): readonly string[] {
  return gateway.diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code);
}

describe('renamed login columns', () => {
  const gateway = useGateway(
    `${claims}
    create function enter(_user text, _pin text) returns table (outcome int, words text, via text, proof text, status text, hash text)
    language sql as $$ select case _user when 'late' then 403 else 200 end, 'Hello ' || _user, 'bearer', '${hashOfSecret}', 'busy', 'abc' $$;
    comment on function enter is 'HTTP
    login';`,
    {
      authentication: {
        cookie: true,
        bearer: true,
        statusColumnName: 'outcome',
        messageColumnName: 'words',
        schemeColumnName: 'via',
        hashColumnName: 'proof',
        passwordParameterNameContains: 'pin',
      },
    },
  );
  const enter = (user: string, pin: string): ReturnType<typeof gateway.send> =>
    gateway.send('POST /api/enter', { body: { user, pin } });

  test('renamed columns take effect, and the default names become claims', async () => {
    const answer = await enter('ada', 'secret');
    const token = (JSON.parse(answer.body) as { access_token: string }).access_token;
    const who = await gateway.send('GET /api/claims', { headers: { authorization: `Bearer ${token}` } });
    expect([answer.status, who.body]).toEqual([200, '{"status":"busy","hash":"abc"}']);
  });

  test('a wrong password and a status column', async () => {
    expect((await enter('ada', 'other')).status).toBe(404);
    const late = await enter('late', 'secret');
    expect([late.status, late.body]).toEqual([403, 'Hello late']);
  });
});

describe('the status column', () => {
  const gateway = useGateway(
    [204, 205, 304]
      .map((status) => routine('login', `s${status}`, 'table (status int, message text)', `select ${status}, 'text'`))
      .join('') +
      routine('login', 'as_numeric', 'table (status numeric, id int)', 'select 200.0, 1') +
      routine('login', 'as_nan', 'table (status numeric, id int)', `select 'NaN'::numeric, 1`) +
      routine('login', 'early', 'table (status int, id int)', 'select 103, 1') +
      `create function out_status(out status int, out id int) language sql as $$ select 200, 1 $$;
      comment on function out_status is 'HTTP
      login';`,
    { authentication: { cookie: true } },
  );

  test.each([
    ['s204', 204, '', 0],
    ['s205', 205, '', 0],
    ['s304', 304, '', 0],
    ['as-numeric', 200, '', 1],
    ['out-status', 200, '', 1],
    ['as-nan', 500, expect.anything(), 0],
    ['early', 500, expect.anything(), 0],
  ])('%s: %d', async (name, status, body, cookies) => {
    const answer = await gateway.send(`POST /api/${name}`);
    expect([answer.status, answer.body, answer.headers.getSetCookie().length]).toEqual([status, body, cookies]);
  });
});

describe('the scheme of a login', () => {
  const entering =
    claims +
    routine('login', 'plain', 'table (id int)', 'select 1') +
    routine('login', 'by_cookie', 'table (scheme text, id int)', `select 'cookie', 1`) +
    routine('login', 'by_bearer', 'table (scheme text, id int)', `select 'bearer', 1`) +
    routine('login', 'by_jwt', 'table (scheme text, id int)', `select 'jwt', 1`) +
    routine('login', 'by_nothing', 'table (scheme text, id int)', `select null, 1`) +
    routine('login', 'by_basic', 'table (scheme text, id int)', `select 'basic', 1`) +
    routine('login', 'by_house', 'table (scheme text, id int)', `select 'house', 1`);
  const all = {
    cookie: true,
    bearer: true,
    jwt: { signingKey: { secret: 'a secret of at least 32 bytes, really' }, production: false },
    basic: { command: 'select 1 as id where false' },
  } as const;
  const kindOf = ({ body, headers }: Awaited<ReturnType<TestGateway['send']>>): string => {
    if (headers.getSetCookie().length > 0) return 'cookie';
    if (!body.includes('access_token')) return 'none';
    return body.includes('refresh_token') ? 'bearer' : 'jwt';
  };

  test('the scheme column selects it; without the column, or with NULL, the first scheme', async () => {
    const gateway = await startGateway(entering, { authentication: all });
    const kinds = async (...names: readonly string[]): Promise<readonly string[]> =>
      Promise.all(names.map(async (name) => kindOf(await gateway.send(`POST /api/${name}`))));
    expect(await kinds('plain', 'by-cookie', 'by-bearer', 'by-jwt', 'by-nothing')).toEqual([
      'cookie',
      'cookie',
      'bearer',
      'jwt',
      'cookie',
    ]);
    // HTTP Basic supports no login; a scheme "house" does not exist.
    expect((await gateway.send('POST /api/by-basic')).status).toBe(500);
    expect((await gateway.send('POST /api/by-house')).status).toBe(500);
    await gateway.close();
  });

  test.each([
    ['bearer', 'bearer'],
    ['jwt', 'jwt'],
    ['house', 'cookie'],
  ])('defaultAuthenticationType %s: %s', async (defaultAuthenticationType, kind) => {
    const gateway = await startGateway(entering, { authentication: { ...all, defaultAuthenticationType } });
    expect(kindOf(await gateway.send('POST /api/plain'))).toBe(kind);
    expect(kindOf(await gateway.send('POST /api/by-nothing'))).toBe(kind);
    expect(kindOf(await gateway.send('POST /api/by-cookie'))).toBe('cookie');
    expect((await gateway.send('POST /api/by-house')).status).toBe(defaultAuthenticationType === 'house' ? 200 : 500);
    await gateway.close();
  });

  test('a scheme of the host comes first, and its name selects it', async () => {
    const signedIn: unknown[] = [];
    const own: AuthScheme = {
      name: 'house',
      authenticate: (request) =>
        request.header('x-key') === 'ours'
          ? { scheme: 'house', claims: [['id', '9']], session: null, sentByBrowser: false }
          : null,
      challenge: () => 'House',
      signIn: async (claimed) => {
        signedIn.push(claimed);
        return { headers: ['x-signed', 'in'], body: null };
      },
      signOut: null,
      routes: [],
    };
    const gateway = await startGateway(entering, { authentication: { ...all, schemes: [own] } });
    const answer = await gateway.send('POST /api/by-house');
    expect([answer.status, answer.headers.get('x-signed'), signedIn]).toEqual([200, 'in', [[['id', '1']]]]);
    expect((await gateway.send('GET /api/claims', { headers: { 'x-key': 'ours' } })).body).toBe('{"id":"9"}');
    expect((await gateway.send('GET /api/claims', { headers: { 'x-key': 'other' } })).body).toBe('null');
    await gateway.close();
  });

  test('without a scheme: 500, and the log has the reason', async () => {
    const gateway = await startGateway(entering);
    const answer = await gateway.send('POST /api/plain');
    const why = gateway.observations.findLast((one) => one.kind === 'request-failed');
    expect([answer.status, why?.kind === 'request-failed' && why.error.message]).toEqual([
      500,
      'public.plain() accepted a login, but there is no scheme that supports login.',
    ]);
    await gateway.close();
  });
});

describe('claims', () => {
  const gateway = useGateway(
    claims +
      routine(
        'login',
        'hostile',
        `table ("__proto__" text, "constructor" text, "a""b" text, "toString" text, roles text[], empty text[], tags text[], n int, nothing text, doc jsonb)`,
        `select 'p', 'c', 'q', 't', array['it''s', 'a,b', 'NULL', '', '{x}', 'back\\slash', '"'], '{}'::text[], array['x', null, 'y'], 7, null::text, '{"a": [1, {"b": null}]}'::jsonb`,
      ) +
      `create function told(_user_roles text[]) returns text[] language sql stable as $$ select _user_roles $$;
      comment on function told is 'HTTP
      user_params';
      create function set_roles() returns bool language sql stable as
      $$ select current_setting('request.user_roles')::text[] is not distinct from array['it''s', 'a,b', 'NULL', '', '{x}', 'back\\slash', '"'] $$;
      comment on function set_roles is 'HTTP
      user_context';
      create function set_claims() returns json language sql stable as $$ select current_setting('request.claims')::json $$;
      comment on function set_claims is 'HTTP
      user_context';
      create function for_odd() returns int language sql stable as $$ select 1 $$;
      comment on function for_odd is 'HTTP
      authorize null';`,
    { authentication: { cookie: true, userClaimsContextKey: 'request.claims' } },
  );

  test('names that are special in JavaScript and roles that are special in arrays stay intact', async () => {
    const headers = { cookie: cookieOf(await gateway.send('POST /api/hostile')) };
    const whole =
      '{"__proto__":"p","constructor":"c","a\\"b":"q","toString":"t",' +
      '"roles":["it\'s","a,b","NULL","","{x}","back\\\\slash","\\""],"tags":["x","y"],"n":"7","doc":"{\\"a\\": [1, {\\"b\\": null}]}"}';
    expect((await gateway.send('GET /api/claims', { headers })).body).toBe(whole);
    expect((await gateway.send('GET /api/set-claims', { headers })).body).toBe(whole);
    expect(JSON.parse((await gateway.send('GET /api/told', { headers })).body)).toEqual([
      "it's",
      'a,b',
      'NULL',
      '',
      '{x}',
      'back\\slash',
      '"',
    ]);
    expect((await gateway.send('GET /api/set-roles', { headers })).body).toBe('true');
    // The text "NULL" is an ordinary role.
    expect((await gateway.send('GET /api/for-odd', { headers })).status).toBe(200);
  });
});

describe('logout', () => {
  const leave =
    claims +
    routine('login', 'enter', 'table (id int, scheme text)', `select 1, null`) +
    routine('login', 'get_tokens', 'table (id int, scheme text)', `select 2, 'bearer'`).replace('HTTP', 'HTTP POST') +
    routine('logout', 'plain', 'void', '') +
    routine('logout', 'of_bearer', 'text', `select 'bearer'`) +
    routine('logout', 'of_both', 'setof text', `values ('bearer'), ('cookie')`) +
    routine('logout', 'of_list', 'text[]', `select array['bearer', 'cookie']`) +
    routine('logout', 'of_columns', 'table (a text, b text)', `select 'bearer', 'cookie'`) +
    routine('logout', 'of_nothing', 'text', `select null`) +
    routine('logout', 'says_bye', 'text', `select 'bye'`) +
    routine('logout', 'says_true', 'boolean', `select true`) +
    routine('logout', 'fails', 'int', `select 1 / 0`);
  const gateway = useGateway(leave, { authentication: { cookie: true, bearer: true } });

  /** Logs in by cookie and bearer, logs out with both credentials, and tells which of them are still valid. */
  const leaveBy = async (name: string): Promise<readonly unknown[]> => {
    const cookie = cookieOf(await gateway.send('POST /api/enter'));
    const { body } = await gateway.send('POST /api/get-tokens');
    const authorization = `Bearer ${(JSON.parse(body) as { access_token: string }).access_token}`;
    const answer = await gateway.send(`POST /api/${name}`, { headers: { cookie, authorization, ...ownPage } });
    // An ended cookie makes the caller anonymous; an ended token is refused.
    const known = async (headers: Record<string, string>): Promise<boolean> => {
      const { status, body } = await gateway.send('GET /api/claims', { headers });
      return status === 200 && body !== 'null';
    };
    const cookies = answer.headers.getSetCookie().map((line) => line.replace(/Expires=[^;]+/, 'Expires=…'));
    return [answer.status, answer.body, cookies, await known({ cookie }), await known({ authorization })];
  };
  const gone = ['pgway=; Max-Age=0; Path=/; Expires=…; HttpOnly; SameSite=Lax'];

  test.each([
    ['plain', 200, '', gone, false, true],
    ['of-bearer', 200, '', [], true, false],
    ['of-both', 200, '', gone, false, false],
    ['of-list', 200, '', gone, false, false],
    ['of-columns', 200, '', gone, false, false],
    ['of-nothing', 200, '', gone, false, true],
    // An unknown scheme name does not prevent the logout.
    ['says-bye', 200, '', gone, false, true],
    ['says-true', 200, '', gone, false, true],
  ])('%s: %d %j %j, the cookie is valid: %s, the token is valid: %s', async (name, ...expected) => {
    expect(await leaveBy(name)).toEqual(expected);
  });

  test('a caller with a token alone is logged out of the scheme of the token, which is not the default one', async () => {
    const { body } = await gateway.send('POST /api/get-tokens');
    const headers = { authorization: `Bearer ${(JSON.parse(body) as { access_token: string }).access_token}` };
    const answer = await gateway.send('POST /api/plain', { headers });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []]);
    expect((await gateway.send('GET /api/claims', { headers })).status).toBe(401);
  });

  test('an unknown scheme name is logged', async () => {
    await leaveBy('says-bye');
    const told = gateway.observations.findLast((one) => one.kind === 'authentication-error');
    expect(told?.kind === 'authentication-error' && told.error.message).toBe(
      'A logout routine names what is not a scheme: "bye".',
    );
  });

  test('a failed logout routine ends no session', async () => {
    const [status, , , ...known] = await leaveBy('fails');
    expect([status, known]).toEqual([400, [true, true]]);
  });

  test('an anonymous logout succeeds, and a cross-site logout is refused', async () => {
    expect((await gateway.send('POST /api/plain')).status).toBe(200);
    const cookie = cookieOf(await gateway.send('POST /api/enter'));
    const headers = { cookie, origin: 'https://evil.example' };
    expect((await gateway.send('POST /api/plain', { headers })).status).toBe(403);
    expect((await gateway.send('GET /api/claims', { headers: { cookie } })).body).not.toBe('null');
  });
});

describe('serializeAuthEndpointsResponse', () => {
  const row = `table (id int, name text, scheme text, hash text, roles text[], at timestamptz, day timestamp, n numeric, f float8, b bool,
    doc jsonb, raw bytea, nothing text, "odd "" key" text)`;
  const values = `select 7, 'a"b', null::text, null::text, array['x', null], timestamptz '2024-01-02 03:04:05.5+00', timestamp '2024-01-02 03:04:05',
    12345678901234567890.5, 'NaN'::float8, true, '{"a": 1}'::jsonb, '\\x0a'::bytea, null::text, 'k'`;
  const sql =
    `create function whole(_pass text default null) returns ${row} language sql as $$ ${values} $$;
    comment on function whole is 'HTTP
    login';` +
    routine('login', 'with_message', 'table (id int, message text)', `select 7, 'Hi'`) +
    routine('login', 'tokens', 'table (id int, scheme text)', `select 7, 'bearer'`) +
    routine('login', 'refused', 'table (id int, status bool)', `select 7, false`) +
    routine('logout', 'leave', 'text', `select 'cookie'`) +
    routine('logout', 'leave_all', 'table (scheme text)', `values ('cookie'), ('bearer')`) +
    routine('logout', 'leave_void', 'void', ``);
  const gateway = useGateway(sql, {
    authentication: { cookie: true, bearer: true, serializeAuthEndpointsResponse: true, allowNullHash: true },
  });

  test('a cookie login: the row as to_json writes it, without the hash', async () => {
    const answer = await gateway.send('POST /api/whole');
    const [{ json }] = (await gateway.database.query(
      `select to_jsonb(w) - 'hash' as json from whole() w`,
    )) as unknown as [{ json: object }];
    expect([answer.status, answer.type, answer.headers.getSetCookie().length]).toEqual([200, 'application/json', 1]);
    const { oddKey, ...rest } = JSON.parse(answer.body) as Record<string, unknown>;
    void oddKey;
    const expected = { ...json } as Record<string, unknown>;
    const odd = Object.keys(expected).find((key) => key.startsWith('odd'))!;
    expect(Object.values(rest)).toContain(expected[odd]);
    for (const key of ['id', 'name', 'scheme', 'roles', 'at', 'day', 'n', 'f', 'b', 'doc', 'raw', 'nothing']) {
      expect([key, rest[key]]).toEqual([key, expected[key]]);
    }
    expect(answer.body).not.toContain('hash');
    expect(answer.body).toContain('12345678901234567890.5');
  });

  test('a message, tokens and a refusal take precedence over the row', async () => {
    const message = await gateway.send('POST /api/with-message');
    expect([message.type, message.body]).toEqual(['text/plain; charset=utf-8', 'Hi']);
    expect(JSON.parse((await gateway.send('POST /api/tokens')).body)).toHaveProperty('access_token');
    expect((await gateway.send('POST /api/refused')).status).toBe(401);
  });

  test('logout: the result of the routine, regardless of the Accept header', async () => {
    const one = await gateway.send('POST /api/leave', { headers: { accept: 'text/csv' } });
    expect([one.status, one.type, one.body, one.headers.getSetCookie().length]).toEqual([
      200,
      'text/plain; charset=utf-8',
      'cookie',
      1,
    ]);
    const all = await gateway.send('POST /api/leave-all', { headers: { accept: 'text/csv' } });
    expect([all.status, all.type, all.body]).toEqual([
      200,
      'application/json',
      '[{"scheme":"cookie"},{"scheme":"bearer"}]',
    ]);
    const nothing = await gateway.send('POST /api/leave-void');
    expect([nothing.status, nothing.body]).toEqual([200, '']);
  });
});

test('obfuscateAuthParameterLogValues: false logs the values, except those of a password', async () => {
  const lines: string[] = [];
  const log = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const sql = `create function enter(_user text, _password text) returns table (id int) language sql as $$ select 1 $$;
    comment on function enter is 'HTTP
    login';
    create function register(_user text, _word text) returns int language sql as $$ select 1 $$;
    comment on function register is 'HTTP
    param _word is hash of _word';`;
  for (const obfuscateAuthParameterLogValues of [true, false]) {
    const gateway = await startGateway(sql, {
      authentication: { cookie: true, obfuscateAuthParameterLogValues },
      logger: { debug: log, info: log, warn: log, error: log },
      logCommands: true,
      logCommandParameters: true,
    });
    await gateway.send('POST /api/enter', { body: { user: 'ada', password: 'hush-hush' } });
    await gateway.send('POST /api/register', { body: { user: 'bob', word: 'hush-hush' } });
    await gateway.close();
  }
  const commands = lines.filter((line) => line.startsWith('command'));
  expect(commands.length).toBe(4);
  expect(commands.map((line) => /"ada"|"bob"/.test(line))).toEqual([false, false, true, true]);
  expect(lines.join('\n')).not.toContain('hush-hush');
});

describe('invalid login routines', () => {
  test.each([
    [
      'a hash without a password parameter',
      `create function enter(_user text, _pwd text) returns table (id int, hash text) language sql as $$ select 1, 'x' $$;
      comment on function enter is 'HTTP
      login';`,
      ['login-password'],
    ],
    [
      'a login and a logout in one comment',
      `create function enter() returns table (id int) language sql as $$ select 1 $$;
      comment on function enter is 'HTTP
      login
      logout';`,
      ['contradiction'],
    ],
    [
      'an unexpected argument',
      `create function enter() returns table (id int) language sql as $$ select 1 $$;
      comment on function enter is 'HTTP
      login authorize admin';`,
      ['extra-arguments'],
    ],
  ])('%s', async (_, sql, codes) => {
    const gateway = await startGateway(sql, { authentication: { cookie: true } });
    expect([errorsOf(gateway), gateway.gateway.endpoints]).toEqual([codes, []]);
    await gateway.close();
  });

  test('strict: an invalid login routine stops the start', async () => {
    const gateway = await startGateway(routine('login', 'enter', 'text', `select 'x'`));
    const starting = createGateway({ connectionString: gateway.database.connectionString, strict: true });
    await expect(starting).rejects.toThrow(/a login routine must return a row with named columns/);
    await gateway.close();
  });
});
