import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { cookieOf, hashOfSecret, ownPage, people } from './people.ts';

const login = { body: { user: 'ada', password: 'secret' } };

describe('user parameters', () => {
  const gateway = useGateway(
    `${people}
    create function mine(_title text, _owner text default 'nobody') returns text language sql as $$ select _title || ' of ' || _owner $$;
    comment on function mine is 'HTTP
    param _owner is user_name';
    create function as_json(_user_id json, _user_roles jsonb) returns json language sql stable as $$ select json_build_array(_user_id, _user_roles) $$;
    comment on function as_json is 'HTTP
    user_params';
    create function plain(_user_id text default 'own') returns text language sql stable as $$ select _user_id $$;
    comment on function plain is 'HTTP';
    `,
    { authentication: { cookie: true } },
  );

  test('an anonymous request: NULL, or the default; the address is still known', async () => {
    expect((await gateway.send('GET /api/who')).body).toBe('[null, null, null, null, "127.0.0.1"]');
    expect((await gateway.send('POST /api/mine', { body: { title: 'Book' } })).body).toBe('Book of nobody');
  });

  test('an authenticated request: the claims, also in json', async () => {
    const cookie = cookieOf(await gateway.send('POST /api/login', login));
    const headers = { cookie, ...ownPage };
    expect((await gateway.send('POST /api/mine', { body: { title: 'Book' }, headers })).body).toBe('Book of ada');
    expect((await gateway.send('GET /api/as-json', { headers })).body).toBe('["7", ["admin", "a b"]]');
  });

  test.each([
    ['GET /api/who?userId=1', 'userId'],
    ['GET /api/who?_user_roles=admin', '_user_roles'],
    ['GET /api/who?ipAddress=1.2.3.4', 'ipAddress'],
  ])('%s is refused: a request cannot set an identity', async (line, key) => {
    const { status, body } = await gateway.send(line);
    expect([status, JSON.parse(body)]).toEqual([
      400,
      {
        type: 'urn:pgway:problem:unknown-parameter',
        title: 'The request has an unknown parameter',
        status: 400,
        detail: `"${key}" is filled with what is known of the caller and may not be given.`,
        unknown: [key],
      },
    ]);
  });

  test('an identity in a body is refused too, also for an annotated parameter and with unknown parameters ignored', async () => {
    expect((await gateway.send('POST /api/mine', { body: { title: 'Book', owner: 'bob' } })).status).toBe(400);
    const lax = await startGateway(people, { unknownParameters: 'ignore' });
    expect((await lax.send('GET /api/who?userId=1')).body).toBe('[null, null, null, null, "127.0.0.1"]');
    await lax.close();
  });

  test('a routine without the annotation has ordinary parameters', async () => {
    expect((await gateway.send('GET /api/plain?userId=mine')).body).toBe('mine');
  });
});

test('the option applies to all routines, with configured names', async () => {
  const sql = `
    create function plain(me text default 'nobody') returns text language sql stable as $$ select me $$;
    comment on function plain is 'HTTP';
    create function off(me text default 'nobody') returns text language sql stable as $$ select me $$;
    comment on function off is 'HTTP
    user_parameters = off';
    create function setting() returns text language sql stable as $$ select current_setting('app.who', true) $$;
    comment on function setting is 'HTTP';
    create function claims() returns json language sql stable as $$ select current_setting('app.claims', true)::json $$;
    comment on function claims is 'HTTP';
    create function enter() returns table (sub text, role text) language sql as $$ select 'x1', unnest(array['a']) $$;
    comment on function enter is 'HTTP
    login';`;
  const gateway = await startGateway(sql, {
    authentication: {
      cookie: true,
      useUserParameters: true,
      useUserContext: true,
      userIdParameterName: 'me',
      userIdContextKey: 'app.who',
      userClaimsContextKey: 'app.claims',
      defaultUserIdClaimType: 'sub',
      defaultRoleClaimType: 'role',
    },
  });
  const headers = { cookie: cookieOf(await gateway.send('POST /api/enter')) };
  expect((await gateway.send('GET /api/plain', { headers })).body).toBe('x1');
  expect((await gateway.send('GET /api/off?me=free', { headers })).body).toBe('free');
  expect((await gateway.send('GET /api/setting', { headers })).body).toBe('x1');
  expect((await gateway.send('GET /api/claims', { headers })).body).toBe('{"sub":"x1","role":["a"]}');
  await gateway.close();
});

describe('invalid identity and hash parameters', () => {
  test.each([
    ['HTTP GET /x/{a}\nparam a is user_id', 'a text', 'identity-parameter'],
    ['HTTP\nparam b is user_id', 'a text', 'unknown-parameter'],
    ['HTTP\nparam a is user_roles', 'a int', 'identity-parameter'],
    ['HTTP\nparam a is user_id', 'a text[]', 'identity-parameter'],
    ['HTTP\nparam a is user_idd', 'a text', 'bad-argument'],
    ['HTTP\nparam a is hash of c', 'a text', 'unknown-parameter'],
  ])('%j on (%s) stops the endpoint', async (comment, parameters, code) => {
    const gateway = await startGateway(
      `create function f(${parameters}) returns int language sql stable as $$ select 1 $$; comment on function f is '${comment}';`,
    );
    const errors = gateway.gateway.diagnostics.filter(({ severity }) => severity === 'error');
    expect([errors.map((one) => one.code), gateway.gateway.endpoints]).toEqual([[code], []]);
    await gateway.close();
  });
});

/** Treated as prose, each of these lines would let the client choose its identity. */
describe('a misspelled identity annotation stops the endpoint', () => {
  const near: readonly (readonly [line: string, likely: string])[] = [
    ['param _u = user_id', '"param _u is user_id"'],
    ['param _u: user_id', '"param _u is user_id"'],
    ['param _u:user_id', '"param _u is user_id"'],
    ['param _u=user_id', '"param _u is user_id"'],
    ['param _u == user_id', '"param _u is user_id"'],
    ['param _u := user_id', '"param _u is user_id"'],
    ['param _u -> user_id', '"param _u is user_id"'],
    ['param _u user_id', '"param _u is user_id"'],
    ['param _u as user_id', '"param _u is user_id"'],
    ['param _u from user_id', '"param _u is user_id"'],
    ['param _u si user_id', '"param _u is user_id"'],
    ['param _u is user id', '"param _u is user_id"'],
    ['param _u = user id', '"param _u is user_id"'],
    ['param _u is userId', '"param _u is user_id"'],
    ['param _u is USER-NAMES', '"param _u is user_name"'],
    ['param _u is user_id.', '"param _u is user_id"'],
    ['param _u is "user_id"', '"param _u is user_id"'],
    ['param _u is user', '"param _u is user_id"'],
    ['param _u = current_user', '"param _u is user_id"'],
    ['param _u = role', '"param _u is user_roles"'],
    ['param _u is ip', '"param _u is ip_address"'],
    ['param _u = user_id of the token', '"param _u is user_id"'],
    ['parameter _u: user_claims', '"param _u is user_claims"'],
    ['params _u = user_id', '"param _u is user_id"'],
    ['param: _u is user_id', '"param _u is user_id"'],
    ['param = _u is user id', '"param _u is user_id"'],
    ['- param _u = user_id', '"param _u is user_id"'],
    ['_u is user_id', '"param _u is user_id"'],
    ['_u = user_id', '"param _u is user_id"'],
    ['u = user_id', '"param u is user_id"'],
    ['user_id = _u', '"param _u is user_id"'],
    ['param _u = hash of _p', '"param _u is hash of _p"'],
    ['param _u: hash of _p', '"param _u is hash of _p"'],
    ['param _u is hashed', '"param _u is hash of <parameter>"'],
    ['param _u is has of _p', '"param _u is hash of _p"'],
    ['user params', 'user_params'],
    ['user param', 'user_params'],
    ['User Parameters', 'user_parameters'],
    ['user parameters = on', 'user_parameters'],
    ['user context', 'user_context'],
    ['@user context', 'user_context'],
    ['user contxt', 'user_context'],
  ];

  test('the message of each misspelled annotation suggests the correct line', async () => {
    const functions = near.map(
      ([line], index) => `
        create function f${index}(_u text, _p text default null) returns text language sql stable as $$ select _u $$;
        comment on function f${index} is 'HTTP GET
        ${line}';`,
    );
    const gateway = await startGateway(functions.join(''));
    expect(gateway.gateway.endpoints.map(({ name }) => name)).toEqual([]);
    const told = near.map(([line, likely], index) => {
      const errors = gateway.gateway.diagnostics.filter(
        ({ severity, routine }) => severity === 'error' && routine.includes(`f${index}(`),
      );
      const one = errors.length === 1 && errors[0]!.line === 2 ? errors[0]!.message : JSON.stringify(errors);
      return one.includes(`did you mean ${likely}`) ? [line, likely] : [line, one];
    });
    expect(told).toEqual(near);
    await gateway.close();
  });

  test('an ordinary sentence is a description', async () => {
    const sentences = [
      'Parameter _u is the name of the book.',
      'param _u the user that is looked for',
      'param _u: the id of a user',
      '@param _u user id of the author',
      'param _u - who wrote it',
      'User parameters:',
      'User context is set by the application.',
      'User content',
      'Users',
      '_u is the author',
      'user_id of the author',
    ];
    const gateway = await startGateway(
      `create function f(_u text, _p text default null) returns text language sql stable as $$ select _u $$;
       comment on function f is 'HTTP GET
       ${sentences.join('\n')}';`,
    );
    expect(gateway.gateway.diagnostics.filter(({ severity }) => severity !== 'info')).toEqual([]);
    expect((await gateway.send('GET /api/f?u=x')).body).toBe('x');
    await gateway.close();
  });
});

describe('user context', () => {
  test('the settings last for the transaction and leave nothing behind', async () => {
    const gateway = await startGateway(
      `${people}
      create function left_over() returns text language sql stable as $$ select coalesce(current_setting('request.user_id', true), '') || current_setting('role') $$;
      comment on function left_over is 'HTTP';
      create function fails() returns text language plpgsql as $$ begin raise exception 'no'; end $$;
      comment on function fails is 'HTTP GET
      user_context';`,
      { authentication: { cookie: true }, poolSize: 1 },
    );
    const headers = { cookie: cookieOf(await gateway.send('POST /api/login', login)) };
    const { user } = (await gateway.database.query('select current_user as user'))[0] as { user: string };
    expect((await gateway.send('GET /api/context', { headers })).body).toBe(
      `["7","ada","{admin,\\"a b\\"}","127.0.0.1","${user}"]`,
    );
    expect((await gateway.send('GET /api/left-over')).body).toBe('none');
    expect((await gateway.send('GET /api/fails', { headers: { ...headers, ...ownPage } })).status).toBe(400);
    expect((await gateway.send('GET /api/left-over')).body).toBe('none');
    expect((await gateway.send('GET /api/context')).body).toBe(`["","","","127.0.0.1","${user}"]`);
    await gateway.close();
  });

  test('calls under the role of the caller: its row level security and privileges apply', async () => {
    const suffix = Math.random().toString(36).slice(2, 10);
    const [reader, guest] = [`reader_${suffix}`, `guest_${suffix}`];
    const gateway = await startGateway(
      `create role ${reader}; create role ${guest};
      create table note (owner text, body text);
      insert into note values ('ada', 'hers'), ('bob', 'his');
      alter table note enable row level security;
      create policy own on note using (owner = current_setting('request.user_name', true));
      grant select on note to ${reader};
      create function notes() returns setof note language sql stable as $$ select * from note $$;
      comment on function notes is 'HTTP
      user_context';
      create function me() returns text language sql stable as $$ select current_user $$;
      comment on function me is 'HTTP';
      create function enter(_name text, _db_role text) returns table (name text, db_role text) language sql as $$ select _name, _db_role $$;
      comment on function enter is 'HTTP
      login';`,
      { authentication: { cookie: true, databaseRole: { claim: 'db_role', anonymous: guest } }, poolSize: 1 },
    );
    const enter = async (name: string, role: string | null): Promise<Record<string, string>> => ({
      cookie: cookieOf(await gateway.send('POST /api/enter', { body: { name, dbRole: role }, headers: ownPage })),
    });
    const ada = await enter('ada', reader);
    expect((await gateway.send('GET /api/notes', { headers: ada })).body).toBe('[{"owner":"ada","body":"hers"}]');
    expect((await gateway.send('GET /api/me', { headers: ada })).body).toBe(reader);
    expect((await gateway.send('GET /api/me')).body).toBe(guest);
    expect((await gateway.send('GET /api/notes')).status).toBe(403);
    const unknownRole = await enter('eve', 'no_such_role');
    expect((await gateway.send('GET /api/me', { headers: unknownRole })).status).toBe(400);
    expect((await gateway.send('GET /api/me')).body).toBe(guest);
    await gateway.close();
  });
});

describe('hash parameters', () => {
  const gateway = useGateway(
    `create function register(_name text, _password text, _hash text default 'none') returns text language sql as $$ select concat_ws('|', _name, _password, _hash) $$;
    comment on function register is 'HTTP
    param _hash is hash of _password';
    create function itself(_password text default 'default') returns text language sql as $$ select _password $$;
    comment on function itself is 'HTTP
    param _password is hash of _password';
    create function verify(_password text, _hash text) returns table (hash text, id int) language sql as $$ select _hash, 1 $$;
    comment on function verify is 'HTTP
    login';`,
    { authentication: { cookie: true } },
  );

  test('the parameter holds the hash of another parameter, ignores the value sent, and verifies', async () => {
    const { body } = await gateway.send('POST /api/register', { body: { name: 'ada', password: 'x', hash: 'forged' } });
    const [name, password, hash] = body.split('|');
    expect([name, password, hash!.length]).toEqual(['ada', 'x', 64]);
    const verify = (word: string): ReturnType<typeof gateway.send> =>
      gateway.send('POST /api/verify', { body: { password: word, hash } });
    expect([(await verify('x')).status, (await verify('y')).status]).toEqual([200, 404]);
  });

  test('a parameter holds its own hash; an empty or missing value is NULL', async () => {
    const { body } = await gateway.send('POST /api/itself', { body: { password: 'x' } });
    expect(Buffer.from(body, 'base64').length).toBe(48);
    expect((await gateway.send('POST /api/itself', { body: { password: '' } })).body).toBe('');
    expect((await gateway.send('POST /api/itself')).body).toBe('');
    expect((await gateway.send('POST /api/register', { body: { name: 'a', password: '' } })).body).toBe('a|');
  });

  test('a hash of another implementation verifies', async () => {
    const body = { password: 'secret', hash: hashOfSecret };
    expect((await gateway.send('POST /api/verify', { body })).status).toBe(200);
  });
});
