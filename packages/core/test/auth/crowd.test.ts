import { createPasswordHasher } from '@pgway/core';
import { startGateway } from '@pgway/testing';
import { expect, test } from 'vitest';

const sql = `
  create table account (name text, hash text);
  create function sign_up(_name text, _password text) returns text language sql as
  $$ insert into account values (_name, _password) returning name $$;
  comment on function sign_up is 'HTTP
  param _password is hash of _password';
  create function login(_name text, _password text) returns table (name text, hash text) language sql as
  $$ select name, hash from account where name = _name $$;
  comment on function login is 'HTTP
  login';`;

/** The client's address, as a trusted proxy reports it. */
const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });
const ada = { name: 'ada', password: 'secret' };

test('endpoints with a hash parameter are rate-limited by address: 429, and the routine does not run', async () => {
  const gateway = await startGateway(sql, {
    authentication: {
      cookie: true,
      trustedProxies: ['loopback'],
      hashRateLimit: { perAddress: 2, window: 3600, now: () => 0 },
    },
  });
  const signUp = (body: object, address: string): ReturnType<typeof gateway.send> =>
    gateway.send('POST /api/sign-up', { body, headers: from(address) });
  // A request without a password computes no hash.
  for (const password of ['', null]) expect((await signUp({ name: 'eve', password }, '192.0.2.1')).status).toBe(200);
  expect((await signUp(ada, '192.0.2.1')).status).toBe(200);
  expect((await signUp({ ...ada, name: 'bob' }, '192.0.2.1')).status).toBe(200);
  const late = await signUp({ ...ada, name: 'carl' }, '192.0.2.1');
  expect([late.status, late.headers.get('retry-after'), JSON.parse(late.body)]).toEqual([
    429,
    '1800',
    {
      type: 'urn:pgway:problem:too-many-attempts',
      title: 'Too many requests of this address have had passwords hashed; try again later',
      status: 429,
    },
  ]);
  expect((await signUp({ ...ada, name: 'dora' }, '192.0.2.2')).status).toBe(200);
  expect(await gateway.database.query('select name from account where hash is not null order by name')).toEqual([
    { name: 'ada' },
    { name: 'bob' },
    { name: 'dora' },
  ]);
  expect((await gateway.send('POST /api/login', { body: ada, headers: from('192.0.2.1') })).status).toBe(200);
  await gateway.close();
});

test('sign-ups from many addresses and guesses from a single address do not block logins', async () => {
  const gateway = await startGateway(sql, {
    authentication: {
      cookie: true,
      trustedProxies: ['loopback'],
      loginRateLimit: { perUser: 1000, perAddress: 1000 },
      passwordHasher: createPasswordHasher({ rounds: 20_000, concurrency: 1, maxQueued: 2 }),
    },
  });
  expect((await gateway.send('POST /api/sign-up', { body: ada })).status).toBe(200);
  const crowd = Array.from({ length: 40 }, (_, index) =>
    gateway.send(index % 2 === 0 ? 'POST /api/sign-up' : 'POST /api/login', {
      body: { name: `user ${index}`, password: 'guess' },
      headers: from(index % 2 === 0 ? `192.0.2.${index}` : '198.51.100.1'),
    }),
  );
  const signedIn = await gateway.send('POST /api/login', { body: ada, headers: from('203.0.113.1') });
  const statuses = new Set((await Promise.all(crowd)).map(({ status }) => status));
  expect(signedIn.status).toBe(200);
  expect([...statuses].filter((status) => ![200, 404, 503].includes(status))).toEqual([]);
  await gateway.close();
});
