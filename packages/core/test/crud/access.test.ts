import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { startGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { ask, refusal, tables } from './support.ts';

/** Roles belong to the whole server: their names are unique, and they are dropped at the end. */
const role = `pgway_reader_${randomBytes(6).toString('hex')}`;

test('row level security policies can read the request headers', async () => {
  const gateway = await startGateway(
    `
    create table note (id int primary key, owner text not null, body text);
    insert into note values (1, 'ann', 'a'), (2, 'bob', 'b');
    comment on table note is 'request_headers context';
    create role ${role} login password 'secret';
    grant select, insert, update, delete on note to ${role};
    alter table note enable row level security;
    create policy own on note using (owner = current_setting('request.headers', true)::json ->> 'x-user');
  `,
    {},
  ).then(async (superuser) => {
    const url = new URL(superuser.database.connectionString);
    url.username = role;
    url.password = 'secret';
    const { createGateway } = await import('@pgway/core');
    return { superuser, gateway: await createGateway({ connectionString: url.href, ...tables({ listing: true }) }) };
  });
  const { superuser } = gateway;
  const send = async (line: string, user: string, body?: unknown): Promise<readonly [number, unknown]> => {
    const [method, path] = line.split(' ') as [string, string];
    const response = await gateway.gateway.fetch(
      new Request(`http://x${path}`, {
        method,
        headers: { 'x-user': user, 'content-type': 'application/json', prefer: 'count=exact' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    const text = await response!.text();
    return [response!.status, text === '' ? response!.headers.get('x-total-count') : JSON.parse(text)];
  };
  try {
    expect(await send('GET /api/note', 'ann')).toEqual([200, [{ id: 1, owner: 'ann', body: 'a' }]]);
    expect(await send('HEAD /api/note', 'bob')).toEqual([200, '1']);
    expect(await send('GET /api/note', 'unknown')).toEqual([200, []]);
    expect(await send('POST /api/note/returning', 'ann', { id: 2, body: 'mine' })).toEqual([200, []]);
    expect(await send('DELETE /api/note/returning?id=2', 'ann')).toEqual([200, []]);
    expect(await send('PUT /api/note', 'ann', { id: 3, owner: 'bob' })).toEqual(refusal(403, { code: '42501' }));
    expect(await send('PUT /api/note/on-conflict-do-update', 'ann', { id: 2, owner: 'ann' })).toEqual(refusal(403));
    expect(await send('PUT /api/note/returning', 'ann', { id: 3, owner: 'ann' })).toMatchObject([200, [{ id: 3 }]]);
  } finally {
    await gateway.gateway.close();
    await superuser.database.query(`drop owned by ${role}; drop role ${role}`);
    await superuser.close();
  }
});

test('statements run with the privileges of the role that the host sets', async () => {
  const reader = `${role}_2`;
  const clients: Client[] = [];
  let connectionString = '';
  const gateway = await startGateway(
    `
    create table staff (id int primary key, name text, salary int);
    insert into staff values (1, 'Ann', 100);
    create view staff_names as select id, name from staff;
    create role ${reader};
    grant select (id, name), update (name), insert (id, name) on staff to ${reader};
    grant select on staff_names to ${reader};
  `,
    {
      ...tables({ listing: true }),
      connectionProvider: async (request) => {
        if (request.header('x-role') === undefined) return null;
        const client = new Client({ connectionString });
        // The database may be dropped before the connection has ended.
        client.on('error', () => undefined);
        clients.push(client);
        await client.connect();
        await client.query(`begin; set local role ${reader}`);
        const release = (): void => {
          const ended = client.query('commit').catch(() => undefined);
          void ended.then(() => client.end());
        };
        return { client, release };
      },
    },
  );
  ({ connectionString } = gateway.database);
  const as = { 'x-role': 'reader' };
  const all = [{ id: 1, name: 'Ann', salary: 100 }];
  expect(await ask(gateway, 'GET /api/staff')).toEqual([200, all]);
  expect(await ask(gateway, 'GET /api/staff', undefined, as)).toEqual(refusal(403, { code: '42501' }));
  expect(await ask(gateway, 'GET /api/staff-names?name=Ann', undefined, as)).toEqual([200, [{ id: 1, name: 'Ann' }]]);
  expect(await ask(gateway, 'POST /api/staff', { id: 1, name: 'Anna' }, as)).toEqual([204, null]);
  expect(await ask(gateway, 'POST /api/staff', { id: 1, salary: 1 }, as)).toEqual(refusal(403));
  expect(await ask(gateway, 'POST /api/staff/returning', { id: 1, name: 'x' }, as)).toEqual(refusal(403));
  expect(await ask(gateway, 'PUT /api/staff', { id: 2, name: 'Bob' }, as)).toEqual([204, null]);
  expect(await ask(gateway, 'PUT /api/staff', { id: 3, salary: 2 }, as)).toEqual(refusal(403));
  expect(await ask(gateway, 'DELETE /api/staff?id=1', undefined, as)).toEqual(refusal(403));
  expect(clients.length).toBe(8);
  expect(await gateway.database.query('select id, name, salary from staff order by id')).toEqual([
    { id: 1, name: 'Anna', salary: 100 },
    { id: 2, name: 'Bob', salary: null },
  ]);
  await gateway.database.query(`drop owned by ${reader}; drop role ${reader}`);
  await gateway.close();
});
