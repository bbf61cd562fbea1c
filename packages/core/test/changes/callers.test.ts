import { randomBytes } from 'node:crypto';
import { crudSource } from '@pgway/core';
import { useDatabase, useGateway } from '@pgway/testing';
import { afterAll, describe, expect, test } from 'vitest';
import type { Caller } from '../../src/ports/ports.ts';
import { toChangeIdentity } from '../../src/request/changes/change-identity.ts';
import { people } from '../events/people.ts';
import { openStream, type OpenStream } from './stream-support.ts';

const role = `notes_${randomBytes(4).toString('hex')}`;
const server = useDatabase();
// After the database with its privileges.
afterAll(async () => void (await server.query(`drop role if exists ${role}`)));

const person = people();
const gateway = useGateway(
  `
  create table note (id integer primary key, author text not null, text text);
  comment on table note is 'HTTP
authorize
user_context
changes
changes old
changes_path live';
  alter table note enable row level security;
  create policy own on note using (author = current_setting('request.user_name', true));
  create publication pgway_changes for table note;
  create role ${role};
  grant select on note to ${role};
  `,
  {
    routineSources: [crudSource({ listing: true })],
    changes: { window: 0 },
    events: { heartbeat: 1 },
    authentication: { schemes: [person.scheme], databaseRole: { claim: 'database_role', anonymous: role } },
  },
);

const path = '/api/note/live?snapshot=true';

function open(name: string): Promise<OpenStream> {
  return openStream(gateway, path, { 'x-user': name });
}

function records(stream: OpenStream): readonly string[] {
  return stream.events().map(({ data }) => data!.replace(/,"(?:schema|table|commitTimestamp)":"[^"]*"/g, ''));
}

describe('each caller', () => {
  test('gets the changes of the rows that its policies show', async () => {
    const [ada, bob] = [await open('ada'), await open('bob')];
    await expect.poll(() => [ada.lastId(), bob.lastId()]).toEqual([expect.any(String), expect.any(String)]);

    await gateway.database.query(`insert into note values (1, 'ada', 'A'), (2, 'bob', 'B')`);
    await expect.poll(() => [records(ada).length, records(bob).length]).toEqual([1, 1]);
    await gateway.database.query(`update note set author = 'bob' where id = 1`);
    await expect.poll(() => [records(ada).length, records(bob).length]).toEqual([2, 2]);
    await gateway.database.query(`delete from note`);

    await expect
      .poll(() => records(ada))
      .toEqual([
        '{"type":"insert","record":{"id":1,"author":"ada","text":"A"}}',
        '{"type":"delete","old":{"id":1,"author":"ada","text":"A"}}',
      ]);
    await expect
      .poll(() => records(bob))
      .toEqual([
        '{"type":"insert","record":{"id":2,"author":"bob","text":"B"}}',
        '{"type":"insert","record":{"id":1,"author":"bob","text":"A"}}',
        '{"type":"delete","old":{"id":2,"author":"bob","text":"B"}}',
        '{"type":"delete","old":{"id":1,"author":"bob","text":"A"}}',
      ]);
  });

  test('is authenticated, and has one stream until its credentials end', async () => {
    expect((await gateway.send(`GET ${path}`)).status).toBe(401);
    const eve = await open('eve');
    await expect.poll(() => eve.lastId()).toBeDefined();
    person.gone.add('eve');
    await expect.poll(() => eve.hasEnded()).toBe(true);
    expect((await open('eve')).response.status).toBe(401);
  });

  test('loses its stream with the privilege of its role', async () => {
    const ada = await open('ada');
    await expect.poll(() => ada.lastId()).toBeDefined();
    await gateway.database.query(`revoke select on note from ${role}`);
    await gateway.database.query(`insert into note values (9, 'ada', 'secret')`);

    await expect.poll(() => ada.hasEnded()).toBe(true);
    expect(records(ada)).toEqual(['{"type":"gap","reason":"forbidden"}']);
    expect((await open('ada')).response.status).toBe(403);
    await gateway.database.query(`grant select on note to ${role}; delete from note`);
  });
});

describe('the key of an identity', () => {
  const keys = { id: 'a.id', name: 'a.name', roles: 'a.roles', ipAddress: 'a.address', claims: 'a.claims' };
  const caller: Caller = { scheme: 'jwt', issuer: 'x', claims: [['id', '1']], session: null, sentByBrowser: false };
  const settings = { 'a.address': '10.0.0.1', 'a.claims': '{"id":1}', 'request.jwt.claims': '{"iss":"x"}', 'b.c': 'd' };
  const keyOf = (changed: Readonly<Record<string, string>> = {}, other: Partial<Caller> = {}): string =>
    toChangeIdentity(Object.entries({ ...settings, ...changed }), null, {
      caller: { ...caller, ...other },
      keys,
      byAddress: false,
    }).key;

  test.each([
    ['an integer beyond 2⁵³', '{"iss":"x","id":1096512345678901234}', '{"iss":"x","id":1096512345678901235}'],
    ['a null', '{"iss":"x","id":null}', '{"iss":"x"}'],
    ['the audience', '{"iss":"x","aud":"a"}', '{"iss":"x","aud":"b"}'],
    ['a member of an object', '{"app_metadata":{"tenant":1}}', '{"app_metadata":{"tenant":2}}'],
    ['a repeated member', '{"id":1,"id":2}', '{"id":3,"id":2}'],
  ])('differs with %s of the token', (_, left, right) => {
    expect(keyOf({ 'request.jwt.claims': left })).not.toBe(keyOf({ 'request.jwt.claims': right }));
    expect(keyOf({ 'a.claims': left })).not.toBe(keyOf({ 'a.claims': right }));
  });

  test('differs with each other setting, the scheme and the issuer', () => {
    const others = [
      keyOf({ 'b.c': 'e' }),
      keyOf({ 'a.claims': '' }),
      keyOf({}, { scheme: 'y' }),
      keyOf({}, { issuer: 'y' }),
    ];
    expect(new Set([keyOf(), ...others]).size).toBe(5);
  });

  test('is equal for two tokens of a caller, and for its addresses', () => {
    const token = (time: number): string =>
      ` { "e\\u0078p": ${time}, "iat":${time},"iss":"x" , "nbf":${time}, "jti":"${time}"}`;
    expect(keyOf({ 'request.jwt.claims': token(1), 'a.address': '10.0.0.2' })).toBe(
      keyOf({ 'request.jwt.claims': token(2) }),
    );
  });
});
