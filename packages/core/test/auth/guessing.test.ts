import type { Endpoint } from '@pgway/core';
import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { hashOfSecret, people } from './people.ts';

const basic = (user: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

describe('a NULL hash', () => {
  const sql = `
    create table account (name text, hash text);
    insert into account values ('ada', '${hashOfSecret}'), ('invited', null);
    create function login(_name text, _password text) returns table (name text, hash text) language sql as
    $$ select name, hash from account where name = _name $$;
    comment on function login is 'HTTP
    login';
    create function hello() returns text language sql stable as $$ select 'hello' $$;
    comment on function hello is 'HTTP
    challenge_command = select name, hash from account where name = $1';`;

  test('the verification fails, and the response equals that of a wrong password and of an unknown user', async () => {
    const gateway = await startGateway(sql, { authentication: { cookie: true } });
    const login = async (name: string, password: string | null): Promise<unknown> => {
      const { status, headers, body } = await gateway.send('POST /api/login', { body: { name, password } });
      return { status, body, headers: [...headers].filter(([key]) => key !== 'date') };
    };
    const hello = async (name: string, password: string): Promise<unknown> => {
      const { status, headers, body } = await gateway.send('GET /api/hello', { headers: basic(name, password) });
      return { status, body, headers: [...headers].filter(([key]) => key !== 'date') };
    };
    const [wrong, refused] = [await login('ada', 'wrong'), await hello('ada', 'wrong')];
    expect([wrong, refused]).toMatchObject([{ status: 404, body: '' }, { status: 401 }]);
    for (const [name, password] of [
      ['invited', 'anything'],
      ['invited', ''],
      ['nobody', 'anything'],
    ] as const) {
      expect([name, await login(name, password), await hello(name, password)]).toEqual([name, wrong, refused]);
    }
    expect(await login('invited', null)).toEqual(wrong);
    await gateway.close();
  });

  test('with passwordVerificationFailedStatus 401, all of them are a refused login', async () => {
    const gateway = await startGateway(sql, {
      authentication: { cookie: true, passwordVerificationFailedStatus: 401 },
    });
    for (const name of ['ada', 'invited', 'nobody']) {
      const { status, body } = await gateway.send('POST /api/login', { body: { name, password: 'wrong' } });
      expect([name, status, JSON.parse(body)]).toEqual([
        name,
        401,
        { type: 'urn:pgway:problem:unauthenticated', title: 'The login was refused', status: 401 },
      ]);
    }
    await gateway.close();
  });

  test('with allowNullHash the database has verified the password itself', async () => {
    const gateway = await startGateway(sql, { authentication: { cookie: true, allowNullHash: true } });
    const login = async (name: string, password: string): Promise<number> =>
      (await gateway.send('POST /api/login', { body: { name, password } })).status;
    const hello = async (name: string, password: string): Promise<number> =>
      (await gateway.send('GET /api/hello', { headers: basic(name, password) })).status;
    expect([await login('invited', 'anything'), await login('ada', 'wrong')]).toEqual([200, 404]);
    expect([await hello('invited', 'anything'), await hello('ada', 'wrong')]).toEqual([200, 401]);
    await gateway.close();
  });
});

test('a failing or slow command after a wrong password does not change the response; its error is logged', async () => {
  const gateway = await startGateway(people, {
    authentication: {
      cookie: true,
      passwordVerificationFailedCommand: `select 1 / (length(coalesce($1, '') || coalesce($2, '') || $3) * 0)`,
    },
  });
  const answer = await gateway.send('POST /api/login', { body: { user: 'ada', password: 'wrong' } });
  expect([answer.status, answer.body]).toEqual([404, '']);
  const problem = (): unknown => gateway.observations.find((one) => one.kind === 'authentication-error');
  await expect
    .poll(problem)
    .toMatchObject({ error: { message: 'passwordVerificationFailedCommand has failed', cause: expect.any(Error) } });
  await gateway.close();
});

describe('guesses that cause a database error', () => {
  const raising = (name: string, statement: string): string => `
    create function ${name}(_user text, _password text) returns table (id int) language plpgsql as $$
    begin
      if _password <> 'secret' then ${statement}; end if;
      return query select 7;
    end $$;
    comment on function ${name} is 'HTTP
    login';
    create function ${name}_of(_user text, _password text) returns table (name text) language sql as
    $$ select id::text from ${name}(_user, _password) $$;
    create function by_${name}() returns int language sql stable as $$ select 1 $$;
    comment on function by_${name} is 'HTTP
    challenge_command = select name from ${name}_of($1, $2)';`;
  const gateway = useGateway(
    [
      raising('raise', `raise exception 'wrong password'`),
      raising('not_found', 'raise no_data_found'),
      raising('data', `perform 'x'::int`),
      raising('denied', `raise exception 'wrong password' using errcode = '28P01'`),
      raising('remote', `raise exception 'cannot connect' using errcode = '08001'`),
      raising('missing', 'perform * from nowhere'),
      raising('slow', `perform set_config('statement_timeout', '1', true); raise query_canceled`),
    ].join('\n'),
    { authentication: { cookie: true, loginRateLimit: { perUser: 3, perAddress: 1000, firstWait: 60 } } },
  );

  test.each(['raise', 'not_found', 'data', 'denied', 'remote', 'missing', 'slow'])(
    '%s: a login is throttled after as many failures as with wrong passwords',
    async (name) => {
      const login = (password: string): ReturnType<typeof gateway.send> =>
        gateway.send(`POST /api/${name.replace('_', '-')}`, { body: { user: `user of ${name}`, password } });
      for (const guess of ['a', 'b', 'c']) {
        expect((await login(guess)).status).not.toBe(429);
      }
      const late = await login('secret');
      expect([late.status, Number(late.headers.get('retry-after')) > 50]).toEqual([429, true]);
    },
  );

  test.each(['raise', 'not_found', 'data', 'denied', 'remote', 'missing', 'slow'])(
    '%s: HTTP Basic with a challenge command is throttled too',
    async (name) => {
      const call = async (password: string): Promise<number> =>
        (await gateway.send(`GET /api/by-${name.replace('_', '-')}`, { headers: basic(`basic of ${name}`, password) }))
          .status;
      for (const guess of ['a', 'b', 'c']) {
        expect(await call(guess)).not.toBe(429);
      }
      expect(await call('secret')).toBe(429);
    },
  );
});

test('an attempt during a database outage is not counted', async () => {
  const gateway = await startGateway(
    `create function login(_user text, _password text) returns table (id int) language plpgsql as $$
      begin
        if _password = 'kill' then perform pg_terminate_backend(pg_backend_pid()); end if;
        return query select 7 where _password = 'secret';
      end $$;
      comment on function login is 'HTTP
      login';`,
    { authentication: { cookie: true, loginRateLimit: { perUser: 2, firstWait: 60 } } },
  );
  const login = async (password: string): Promise<number> =>
    (await gateway.send('POST /api/login', { body: { user: 'ada', password } })).status;
  for (let count = 0; count < 4; count += 1) {
    expect(await login('kill')).toBe(503);
  }
  expect(await login('secret')).toBe(200);
  await gateway.close();
});

describe('the parameter that names the user', () => {
  const addressOnly =
    'failed logins are limited by client address only; write "login user <parameter>" to select the parameter';
  const unnamed = `warning login-user: no parameter identifies the user of the login: ${addressOnly}`;

  /** Parameters, the line of the comment, the user parameter, the diagnostic for the author. */
  const cases: readonly (readonly [string, string, string | undefined, ...string[]])[] = [
    ['_user text, _password text', 'login', '_user'],
    ['_password text, _user text', 'login', '_user'],
    ['_user_agent text, _user text, _password text', 'login', '_user'],
    ['_device_name text, _user_name text, _password text', 'login', '_user_name'],
    ['_tenant_name text, _email text, _password text', 'login', '_email'],
    ['"userName" text, "userPassword" text', 'login', 'userName'],
    ['p_login text, p_pass text', 'login', 'p_login'],
    ['_password text, _user_password text, _customer_email text', 'login', '_customer_email'],
    ['_remember boolean, _user_id int, _password text', 'login', '_user_id'],
    ['_user_id uuid, _password text', 'login', '_user_id'],
    ['', 'login', undefined],
    ['_user_agent text, _password text', 'login', undefined, unnamed],
    ['_token text', 'login', undefined, unnamed],
    ['_user jsonb, _password text', 'login', undefined, unnamed],
    [
      '_user text, _email text, _password text',
      'login',
      undefined,
      `warning login-user: "_user" and "_email" may each identify the user of the login: ${addressOnly}`,
    ],
    ['_user text, _email text, _password text', 'login user _email', '_email'],
    ['_badge text, _password text', 'login user badge', '_badge'],
    ['_badge text, _password text', 'signin user _badge', '_badge'],
  ];
  /** An invalid line stops the endpoint. */
  const refused: readonly (readonly [string, string, string])[] = [
    [
      '_user text, _password text',
      'login user _nobody',
      'error unknown-parameter: login user: the routine has no parameter "_nobody"',
    ],
    [
      '_user text, _password text',
      'login user _password',
      'error unknown-parameter: login user: the routine has no parameter "_password"',
    ],
    [
      '_user jsonb, _password text',
      'login user _user',
      'error login-user: login user: the parameter "_user" must be text',
    ],
    ['_user text, _password text', 'login user', 'error bad-argument: login user needs the name of the parameter'],
    ['_user text, _password text', 'login user _user _more', 'error extra-arguments: login user takes one parameter'],
    [
      '_user text, _password text',
      'login somebody',
      'error extra-arguments: login takes no argument except user <parameter>, but has "somebody"; remove it',
    ],
  ];
  const gateway = useGateway(
    [...cases, ...refused]
      .map(
        ([parameters, line], index) => `
        create function enter_${index}(${parameters}) returns table (id int) language sql as $$ select 7 where false $$;
        comment on function enter_${index} is 'HTTP
        ${line}';`,
      )
      .join('\n'),
    { authentication: { cookie: true }, logAnnotationSetInfo: false },
  );
  const toldOf = (index: number): readonly string[] =>
    gateway.gateway.diagnostics
      .filter(({ routine }) => routine.startsWith(`public.enter_${index}(`))
      .map(({ severity, code, message }) => `${severity} ${code}: ${message}`);
  const endpoint = (index: number): Endpoint | undefined =>
    gateway.gateway.endpoints.find(({ name }) => name === `enter_${index}`);

  test.each(cases.map((one, index) => [...one.slice(0, 3), index] as const))(
    '(%s) with "%s": %s',
    (...[, , , index]) => {
      const [, , expected, ...told] = cases[index as number]!;
      const { loginOrLogout, parameters } = endpoint(index as number)!;
      const user = loginOrLogout?.kind === 'login' ? loginOrLogout.userParameter : undefined;
      expect([parameters.find(({ position }) => position === user)?.name, ...toldOf(index as number)]).toEqual([
        expected,
        ...told,
      ]);
    },
  );

  test.each(refused.map((one, index) => [...one, index + cases.length] as const))(
    '(%s) with "%s" stops the endpoint: %s',
    (_, __, expected, index) => {
      expect([endpoint(index), toldOf(index)]).toEqual([undefined, [expect.stringContaining(expected)]]);
    },
  );

  test('variations of other parameters or spellings give no further guesses', async () => {
    const gateway = await startGateway(
      `create function enter(_user_agent text, _device_name text, _user_id int, _password text) returns table (id int)
      language sql as $$ select _user_id where _password = 'secret' $$;
      comment on function enter is 'HTTP
      login';`,
      {
        authentication: { cookie: true, loginRateLimit: { perUser: 3, perAddress: 1000, firstWait: 60 } },
        logAnnotationSetInfo: false,
      },
    );
    const guess = async (turn: number, userId: unknown): Promise<number> => {
      const body = { userAgent: `agent ${turn}`, deviceName: `device ${turn}`, userId, password: `guess ${turn}` };
      return (await gateway.send('POST /api/enter', { body })).status;
    };
    expect(gateway.gateway.diagnostics).toEqual([]);
    const statuses: number[] = [];
    // PostgreSQL parses all of these as the integer 7.
    for (const [turn, userId] of [7, '7', ' 7', '007', '+7', 7].entries()) {
      statuses.push(await guess(turn, userId));
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
    expect(await guess(9, 8)).toBe(401);
    await gateway.close();
  });

  test('without a user parameter only the address is limited', async () => {
    const sql = `create function enter(_token text) returns table (id int) language sql as $$ select 7 where false $$;
      comment on function enter is 'HTTP
      login';`;
    const gateway = await startGateway(sql, {
      authentication: { cookie: true, loginRateLimit: { perUser: 2, perAddress: 5, firstWait: 60 } },
    });
    const statuses: number[] = [];
    for (let turn = 0; turn < 7; turn += 1) {
      statuses.push((await gateway.send('POST /api/enter', { body: { token: `guess ${turn}` } })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    await gateway.close();
  });
});

describe('login and logout are POST', () => {
  const gateway = useGateway(
    `create function get_in(_user text) returns table (name text) language sql stable as $$ select _user $$;
    comment on function get_in is 'HTTP
    login';
    create function get_in_by_link(_user text) returns table (name text) language sql stable as $$ select _user $$;
    comment on function get_in_by_link is 'HTTP GET
    login';
    create function get_out() returns text language sql immutable as $$ select 'cookie' $$;
    comment on function get_out is 'HTTP
    logout';`,
    { authentication: { cookie: true }, defaultHttpMethod: 'GET' },
  );

  test('login and logout are POST regardless of name, volatility and option; a comment may set another method', async () => {
    expect(gateway.gateway.endpoints.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
      'GET /api/get-in-by-link',
      'POST /api/get-in',
      'POST /api/get-out',
    ]);
    const link = await gateway.send('GET /api/get-in?user=ada');
    expect([link.status, link.headers.get('allow'), link.headers.getSetCookie()]).toEqual([405, 'OPTIONS, POST', []]);
    const posted = await gateway.send('POST /api/get-in', { body: { user: 'ada' } });
    expect([posted.status, posted.headers.getSetCookie().length]).toEqual([200, 1]);
    expect((await gateway.send('GET /api/get-in-by-link?user=ada')).status).toBe(200);
  });
});
