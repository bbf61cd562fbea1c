import { crudSource, functionsSource, type GatewayOptions } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { type PrimaryServer, type ReplicaServer, startPrimary } from '@pgway/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openGateway } from '../../core/test/replicas/support.ts';

const schema = `
  create function location() returns text language sql stable as
    $$ select case when pg_is_in_recovery() then 'replica' else 'primary' end $$;
  create function server() returns text language sql stable as $$ select location() $$;
  comment on function server is 'HTTP GET';
  create function server_volatile() returns text language sql volatile as $$ select location() $$;
  comment on function server_volatile is 'HTTP GET';
  create table note (id int primary key, text text);
  create table tag (note_id int references note, name text);
  create view place as select location() as place;
  comment on table note is 'HTTP';
  comment on table tag is 'HTTP';
  comment on view place is 'HTTP';
  insert into note values (1, 'first');
  insert into tag values (1, 'blue');
`;

let primary: PrimaryServer;
let replica: ReplicaServer;

beforeAll(async () => {
  primary = await startPrimary();
  await primary.query(schema);
  replica = await primary.startReplica();
});
afterAll(() => primary.stop());

const options = (): GatewayOptions => ({
  connectionString: primary.connectionString,
  // The lag of a busy machine is no subject of these tests.
  readReplicas: { connectionStrings: [replica.connectionString], maxLagSeconds: 60 },
  routineSources: [functionsSource(), crudSource({ listing: true }), postgrestSource()],
});

test('reads of tables run on a replica, with the headers of consistency on the primary', async () => {
  const { gateway, send } = await openGateway(options());
  const read = async (line: string, headers?: Readonly<Record<string, string>>): Promise<string> =>
    (await send(line, headers)).body;
  expect({
    dialect: await read('GET /rest/place?select=place'),
    'with a count': await read('GET /rest/place?select=place', { prefer: 'count=exact' }),
    'as one object': await read('GET /rest/place', { accept: 'application/vnd.pgrst.object+json' }),
    'stable function': await read('GET /rest/rpc/server'),
    'volatile function': await read('GET /rest/rpc/server_volatile'),
    strong: await read('GET /rest/place', { consistency: 'strong' }),
    listing: await read('GET /api/place?select=place'),
    'strong listing': await read('GET /api/place?select=place', { consistency: 'strong' }),
  }).toEqual({
    dialect: '[{"place":"replica"}]',
    'with a count': '[{"place":"replica"}]',
    'as one object': '{"place":"replica"}',
    'stable function': '"replica"',
    'volatile function': '"primary"',
    strong: '[{"place":"primary"}]',
    listing: '[{"place":"replica"}]',
    'strong listing': '[{"place":"primary"}]',
  });
  const before = gateway.statistics().reads.replicas[0]!.calls;
  expect(await read('GET /rest/note?select=id,tag(name)&id=eq.1')).toBe('[{"id":1,"tag":[{"name":"blue"}]}]');
  expect(await read('GET /api/note?select=id,tag(name)&id=eq.1')).toBe('[{"id":1,"tag":[{"name":"blue"}]}]');
  expect(gateway.statistics().reads.replicas[0]!.calls - before).toBe(2);
});

test('a read with the token of a write has its rows, in the dialect and in listings', async () => {
  const { send } = await openGateway(options());
  for (let id = 10; id < 20; id++) {
    const written = await send('POST /rest/note', { consistency: 'session' }, { id, text: `note ${id}` });
    expect(written).toMatchObject({ status: 201, body: '' });
    const token = { 'consistency-token': written.headers.get('consistency-token')! };
    expect((await send(`GET /rest/note?id=eq.${id}`, token)).body).toBe(`[{"id":${id},"text":"note ${id}"}]`);
    expect((await send(`GET /api/note?select=text&id=${id}`, token)).body).toBe(`[{"text":"note ${id}"}]`);
  }
});

test('a write with embedded rows that it returns runs on the primary as a whole', async () => {
  const { gateway, send } = await openGateway(options());
  const before = gateway.statistics().reads.replicas[0]!.calls;
  expect(
    await send(
      'POST /rest/note?select=id,tag(name)',
      { prefer: 'return=representation' },
      { id: 30, text: 'third', tag: [{ name: 'red' }] },
    ),
  ).toMatchObject({ status: 201, body: '[{"id":30,"tag":[{"name":"red"}]}]' });
  expect(gateway.statistics().reads.replicas[0]!.calls).toBe(before);
});
