import { randomBytes } from 'node:crypto';
import { type AuthScheme, crudSource, functionsSource, type HookResponse, installIdempotency } from '@pgway/core';
import { useGateway } from '@pgway/testing';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';

/** The stored response of a repeated request is sent only to a caller who may still send the request. */

const clerk = `clerk_${randomBytes(6).toString('hex')}`;

/** Ada's roles in the gateway. Her identity does not depend on them. */
let roles: readonly string[] = [];
const ada: AuthScheme = {
  name: 'ada',
  authenticate: (request) =>
    request.header('x-ada') === undefined
      ? null
      : {
          scheme: 'ada',
          claims: [['id', 'ada'], ['db_role', clerk], ...roles.map((role) => ['roles', role] as const)],
          session: null,
          sentByBrowser: false,
        },
  challenge: () => null,
  signIn: null,
  signOut: null,
  routes: [],
};

let refuse = false;
const hook = { calls: 0 };

const gateway = useGateway(
  `create role ${clerk};
  ${installIdempotency({ schema: 'pgway', roles: [clerk] }).join(';\n')};

  create table payment (id int generated always as identity primary key, amount numeric unique);
  comment on table payment is 'HTTP';
  create table note (text text);
  grant select, insert on payment to ${clerk};
  grant select, insert on note to ${clerk};

  create function pay(_amount numeric) returns payment language sql as
  $$ insert into payment (amount) values (_amount) returning * $$;
  comment on function pay is 'HTTP POST
  idempotent';

  create function payments(_from int) returns setof payment language sql stable as
  $$ select * from payment where id >= _from order by id $$;
  comment on function payments is 'HTTP GET';

  create function payroll(_from int) returns setof payment language sql stable as
  $$ select * from payment where id >= _from order by id $$;
  comment on function payroll is 'HTTP GET
  authorize accountant';

  create function "by Id"(_id int) returns payment language sql stable as
  $$ select * from payment where id = _id $$;
  comment on function "by Id" is 'HTTP GET /payment-of/{_id}
  authorize accountant';

  create schema inner_part;
  grant usage on schema inner_part to ${clerk};
  create procedure inner_part."note It"(_text text, variadic _others text[] default '{}') language sql as
  $$ insert into note (text) values (_text) $$;
  comment on procedure inner_part."note It" is 'HTTP POST /note
  idempotent';
  create function note_by_function(_text text) returns void language sql as
  $$ insert into note (text) values (_text) $$;
  comment on function note_by_function is 'HTTP POST
  idempotent';

  create table person (name text, password text);
  insert into person values ('bob', 'word');
  create function check_person(_user text, _password text) returns table (status boolean, name text) language sql security definer as
  $$ select true, p.name from person p where p.name = _user and p.password = _password $$;
  create function by_password(_from int) returns setof payment language sql stable as
  $$ select * from payment where id >= _from order by id $$;
  comment on function by_password is 'HTTP GET
  basic_auth
  challenge_command = select * from check_person($1, $2)';`,
  {
    batchPath: '/batch',
    idempotency: {},
    sourcesCreated: (sources) => void sources.splice(0, sources.length, functionsSource(), crudSource()),
    authentication: {
      schemes: [ada],
      defaultUserIdClaimType: 'id',
      defaultRoleClaimType: 'roles',
      databaseRole: { claim: 'db_role', anonymous: clerk },
    },
    commandCallback: async ({ endpoint, request, query, run }): Promise<HookResponse | undefined> => {
      hook.calls++;
      if (refuse && endpoint.name === 'payments') return { status: 403, body: 'the hook refuses' };
      if (request.header('x-hook') === undefined) return undefined;
      await query(`insert into note (text) values ('hook of ${endpoint.name}')`);
      const { status, body, headers } = await run();
      return { status, headers: { 'content-type': headers['content-type']![0]! }, body };
    },
  },
);

beforeEach(async () => {
  roles = ['accountant'];
  refuse = false;
  await gateway.database.query(`
    grant execute on all routines in schema public, inner_part to public;
    grant usage on schema inner_part to ${clerk};
    grant select on payment to ${clerk};
    update person set password = 'word'`);
});

afterAll(async () => {
  await gateway.database.query(`drop owned by ${clerk}; drop role ${clerk}`);
});

let next = 0;
const number = (): number => ++next;

interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  readonly body: unknown;
}

async function send(
  line: string,
  key: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = { 'x-ada': '' },
): Promise<Answer> {
  const response = await gateway.send(line, { body, headers: { ...headers, 'idempotency-key': key } });
  const replayed = response.headers.get('idempotent-replayed') === 'true';
  return {
    status: response.status,
    replayed,
    body: response.body === '' ? null : (JSON.parse(response.body) as unknown),
  };
}

const sequence = async (): Promise<unknown> =>
  (await gateway.database.query(`select last_value, (select count(*) from note) from payment_id_seq`))[0];

describe('a batch', () => {
  const pay = (): object => ({ method: 'POST', path: '/api/pay', body: { amount: number() } });
  const reference = { $ref: '0/id' };
  const withQuery = (path: string): readonly object[] => [
    pay(),
    { method: 'GET', path: [`/api/${path}?from=`, reference] },
  ];

  test.each([
    ['that refers to an earlier response', withQuery('payroll')],
    ['whose path has a reference', [pay(), { method: 'GET', path: ['/payment-of/', reference] }]],
    ['after one with a reference', [...withQuery('payments'), { method: 'GET', path: '/api/payroll?from=100000' }]],
  ])('needs the roles of a request %s', async (_, requests) => {
    const key = `roles-${number()}`;
    const first = await send('POST /batch', key, requests);
    expect(first).toMatchObject({ status: 200, replayed: false });
    const before = await sequence();
    expect(await send('POST /batch', key, requests)).toEqual({ ...first, replayed: true });
    roles = [];
    expect(await send('POST /batch', key, requests)).toEqual({
      status: 403,
      replayed: false,
      body: {
        type: 'urn:pgway:problem:forbidden',
        title: 'The caller has none of the required roles',
        status: 403,
        pointer: `/${requests.length - 1}`,
      },
    });
    roles = ['accountant'];
    expect(await send('POST /batch', key, requests)).toEqual({ ...first, replayed: true });
    expect(await sequence()).toEqual(before);
  });

  test('needs the password of a request with credentials of its own', async () => {
    const key = `password-${number()}`;
    const requests = withQuery('by-password');
    const headers = { authorization: `Basic ${Buffer.from('bob:word').toString('base64')}` };
    const first = await send('POST /batch', key, requests, headers);
    expect(first).toMatchObject({ status: 200, replayed: false });
    expect(await send('POST /batch', key, requests, headers)).toEqual({ ...first, replayed: true });
    await gateway.database.query(`update person set password = 'other'`);
    expect(await send('POST /batch', key, requests, headers)).toMatchObject({
      status: 401,
      replayed: false,
      body: { type: 'urn:pgway:problem:unauthenticated', pointer: '/1' },
    });
  });

  test.each([
    ['EXECUTE of a routine', 'payments', 'revoke execute on function payments from public', 'function payments'],
    ['SELECT of a table', 'payment', `revoke select on payment from ${clerk}`, 'table payment'],
  ])('needs %s', async (_, path, revoke, object) => {
    const key = `privilege-${number()}`;
    const requests =
      path === 'payments' ? withQuery(path) : [pay(), { method: 'GET', path: ['/api/payment?id=', reference] }];
    const first = await send('POST /batch', key, requests);
    expect(first).toMatchObject({ status: 200, replayed: false });
    expect(await send('POST /batch', key, requests)).toEqual({ ...first, replayed: true });
    await gateway.database.query(revoke);
    expect(await send('POST /batch', key, requests)).toMatchObject({
      status: 403,
      replayed: false,
      body: { code: '42501', title: `permission denied for ${object}`, pointer: '/1' },
    });
  });

  test('needs the permission of the hooks, whose statements are rolled back and whose calls do not run', async () => {
    const key = `hook-${number()}`;
    const requests = withQuery('payments');
    const headers = { 'x-ada': '', 'x-hook': '' };
    const first = await send('POST /batch', key, requests, headers);
    expect(first).toMatchObject({ status: 200, replayed: false });
    const before = await sequence();
    const { calls } = hook;
    expect(await send('POST /batch', key, requests, headers)).toEqual({ ...first, replayed: true });
    expect(hook.calls).toBeGreaterThan(calls + 1);
    expect(await sequence()).toEqual(before);
    refuse = true;
    expect(await send('POST /batch', key, requests, headers)).toMatchObject({
      status: 403,
      replayed: false,
      body: { type: 'urn:pgway:problem:batch-failed', pointer: '/1', response: 'the hook refuses' },
    });
  });
});

describe('a request', () => {
  test.each([
    ['a function', 'POST /api/pay', 'revoke execute on function pay from public', 'function pay'],
    [
      'a function without a result',
      'POST /api/note-by-function',
      'revoke execute on function note_by_function from public',
      'function note_by_function',
    ],
    ['a procedure', 'POST /note', 'revoke execute on procedure inner_part."note It" from public', 'procedure note It'],
    ['a procedure in a schema', 'POST /note', `revoke usage on schema inner_part from ${clerk}`, 'schema inner_part'],
  ])('needs the privilege to call %s', async (_, line, revoke, object) => {
    const key = `single-${number()}`;
    const body = line.endsWith('pay') ? { amount: number() } : { text: 'a' };
    const first = await send(line, key, body);
    expect([first.status < 300, first.replayed]).toEqual([true, false]);
    const before = await sequence();
    expect(await send(line, key, body)).toEqual({ ...first, replayed: true });
    await gateway.database.query(revoke);
    expect(await send(line, key, body)).toMatchObject({
      status: 403,
      replayed: false,
      body: { code: '42501', title: `permission denied for ${object}` },
    });
    expect(await sequence()).toEqual(before);
  });
});
