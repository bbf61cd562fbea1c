import { randomBytes } from 'node:crypto';
import { createGateway, functionsSource } from '@pgway/core';
import { startGateway, useGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { ask, postgrest } from './support.ts';

/** Roles belong to the whole server: their names are unique, and they are dropped at the end. */
const role = `pgway_rest_${randomBytes(6).toString('hex')}`;

test('writes have the privileges and policies of the role of the connection', async () => {
  const superuser = await startGateway(`
    create table note (id int primary key, owner text not null, body text, secret text);
    insert into note values (1, 'ann', 'a', 's'), (2, 'bob', 'b', 's');
    comment on table note is 'request_headers context';
    create role ${role} login password 'secret';
    grant select (id, owner, body), insert (id, owner, body), update (body), delete on note to ${role};
    alter table note enable row level security;
    create policy own on note using (owner = current_setting('request.headers', true)::json ->> 'x-user');
  `);
  const url = new URL(superuser.database.connectionString);
  url.username = role;
  url.password = 'secret';
  const gateway = await createGateway({ connectionString: url.href, ...postgrest() });
  onTestFinished(async () => {
    await gateway.close();
    await superuser.database.query(`drop owned by ${role}; drop role ${role}`);
    await superuser.close();
  });
  const send = async (line: string, body?: unknown, prefer = 'return=representation'): Promise<unknown> => {
    const [method, path] = line.split(' ') as [string, string];
    const response = await gateway.fetch(
      new Request(`http://x${path}`, {
        method,
        headers: { 'x-user': 'ann', 'content-type': 'application/json', prefer },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    const text = await response!.text();
    return [response!.status, text === '' ? null : JSON.parse(text)];
  };
  expect(await send('PATCH /rest/note?id=gt.0&select=id,body', { body: 'x' })).toEqual([200, [{ id: 1, body: 'x' }]]);
  // RETURNING needs privileges on the columns that the response has, and on no others.
  expect(await send('PATCH /rest/note?id=gt.0', { body: 'x' })).toMatchObject([401, { code: '42501' }]);
  expect(await send('PATCH /rest/note?id=gt.0&select=body', { owner: 'bob' })).toMatchObject([401, { code: '42501' }]);
  expect(await send('POST /rest/note?select=id', { id: 3, owner: 'bob' })).toMatchObject([401, { code: '42501' }]);
  expect(await send('POST /rest/note', { id: 3, owner: 'ann' }, 'return=minimal')).toEqual([201, null]);
  expect(await send('DELETE /rest/note?id=gt.1&select=id')).toEqual([200, [{ id: 3 }]]);
  expect(await superuser.database.query('select id, body from note order by id')).toEqual([
    { id: 1, body: 'x' },
    { id: 2, body: 'b' },
  ]);
});

const guarded = useGateway(
  `
  create table owner (id int primary key, name text);
  create table pet (id int primary key, owner_id int references owner, vet_id int);
  create table hidden (id int primary key, pet_id int references pet);
  comment on table pet is 'HTTP';
  comment on table owner is 'HTTP
authorize keeper';
  create table chip (pet_id int primary key references pet, code text);
  comment on table chip is 'HTTP
security_sensitive';
  create table log (id int);
  comment on table log is 'HTTP';
  insert into owner values (1, 'Ann'); insert into pet values (1, 1);
`,
  { ...postgrest({ crudTypes: ['select', 'insert'] }), commentsMode: 'onlyWithHttpTag' },
);

test('related rows come from published tables with the same authorization, and as sensitive', async () => {
  expect(await ask(guarded, 'GET /rest/owner')).toContain('401');
  expect(await ask(guarded, 'GET /rest/pet?select=id')).toContain('[{"id":1}]');
  expect(await ask(guarded, 'GET /rest/pet?select=id,owner(name)')).toContain('"code":"PGRST200"');
  expect(await ask(guarded, 'GET /rest/pet?select=id,hidden(id)')).toContain('"code":"PGRST200"');
  // Logs would have the filters of a sensitive table.
  expect(await ask(guarded, 'GET /rest/pet?select=id,chip(code)&chip.code=eq.x')).toContain('"code":"PGRST200"');
  const insert = { headers: { prefer: 'return=representation' }, body: { id: 2, owner_id: 1 } };
  expect(await ask(guarded, 'POST /rest/pet?select=id,owner(name)', insert)).toContain('"code":"PGRST200"');
  expect(await guarded.database.query('select id from pet')).toEqual([{ id: 1 }]);
});

test('an internal table is unknown, also to the tables that refer to it', async () => {
  const internal = await startGateway(
    `create table owner (id int primary key, name text);
     create table pet (id int primary key, owner_id int references owner);
     comment on table owner is 'internal';
     create function owners() returns setof owner language sql stable as 'select * from owner';
     comment on function owners is 'internal';
     create function secret(pet) returns text language sql stable as $$ select 'x' $$;
     comment on function secret is 'internal';`,
    { ...postgrest(), routineSources: [functionsSource(), ...postgrest().routineSources!] },
  );
  onTestFinished(() => internal.close());
  expect(await ask(internal, 'GET /rest/pet?select=id')).toMatch(/^200/);
  const unknown = await ask(internal, 'GET /rest/unknown');
  expect(unknown).toMatch(/^404/);
  expect((await ask(internal, 'GET /rest/owner')).replaceAll('owner', 'unknown')).toBe(unknown);
  expect((await ask(internal, 'GET /rest/rpc/owners')).replaceAll('owners', 'unknown')).toBe(
    await ask(internal, 'GET /rest/rpc/unknown'),
  );
  expect(await ask(internal, 'GET /rest/pet?select=id,owner(name)')).toContain('"code":"PGRST200"');
  expect(await ask(internal, 'GET /rest/pet?select=id,secret')).toContain('"code":"42703"');
});

test('operations that are not published are refused', async () => {
  const merge = { headers: { prefer: 'resolution=merge-duplicates' }, body: { id: 1 } };
  expect(await ask(guarded, 'POST /rest/pet', merge)).toContain('resolution=merge-duplicates is not available');
  expect(await ask(guarded, 'PATCH /rest/pet?id=eq.1', { body: { id: 2 } })).toMatch(/^405/);
  expect(await ask(guarded, 'DELETE /rest/pet?id=eq.1')).toMatch(/^405/);
  expect(
    await ask(guarded, 'POST /rest/pet', { headers: { prefer: 'handling=strict, tx=rollback' }, body: { id: 5 } }),
  ).toContain('Invalid preferences: tx=rollback');
});
