import { startGateway, type TestGateway } from '@pgway/testing';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';

const guest = `guest_${Math.random().toString(36).slice(2, 10)}`;
const sql = `
  do $$ begin create role ${guest} nologin; end $$;
  create table seen (place text, role text, who text);
  grant insert, select on seen to ${guest};
  create procedure commits(inout _note text) language plpgsql as $$ begin
    insert into seen values ('before', current_user, current_setting('request.ip_address', true));
    commit;
    insert into seen values ('behind', current_user, current_setting('request.ip_address', true));
  end $$;
  create procedure notes(inout _note text) language plpgsql as $$ begin
    insert into seen values (_note, current_user, current_setting('request.ip_address', true));
  end $$;
  create procedure fails(_note text) language plpgsql as $$ begin
    insert into seen values (_note, current_user, null);
    raise exception 'no';
  end $$;
  create procedure plain(inout _note text) language plpgsql as $$ begin
    insert into seen values ('plain', current_user, null); commit; insert into seen values ('plain', current_user, null);
  end $$;
  create table parent (id int primary key); create table child (parent int references parent deferrable initially deferred);
  grant insert on child to ${guest}; grant select on parent to ${guest};
  create procedure orphan() language sql as 'insert into child values (9)';
  create function get_backend() returns int language sql volatile as 'select pg_backend_pid()';
  create function get_seen() returns table (place text, role text, who text) language sql stable security definer as 'select * from seen';
  comment on procedure commits is 'HTTP
user_context'; comment on procedure notes is 'HTTP
user_context'; comment on procedure fails is 'HTTP
user_context'; comment on procedure orphan is 'HTTP
user_context'; comment on procedure plain is 'HTTP';
  comment on function get_seen is 'HTTP'; comment on function get_backend is 'HTTP';`;

async function start(options: Parameters<typeof startGateway>[1] = {}): Promise<TestGateway> {
  const gateway = await startGateway(sql, { poolSize: 1, ...options });
  onTestFinished(async () => {
    await gateway.database.query(`drop owned by ${guest}; drop role ${guest}`);
    await gateway.close();
  });
  return gateway;
}

const asGuest = { authentication: { cookie: true, databaseRole: { claim: 'db_role', anonymous: guest } } } as const;

describe('a procedure under a role and settings of its caller', () => {
  test('a procedure cannot end the transaction of its settings: all its changes are rolled back', async () => {
    const { send } = await start(asGuest);
    const answer = await send('POST /api/commits', { body: { note: 'x' } });
    expect(answer.status).toBe(500);
    expect(JSON.parse(answer.body)).toMatchObject({ title: 'invalid transaction termination', code: '2D000' });
    expect((await send('GET /api/get-seen')).body).toBe('[]');
  });

  test('a procedure without COMMIT is committed; a failed one leaves no changes, and its connection is reusable', async () => {
    const { send } = await start(asGuest);
    const backend = (await send('GET /api/get-backend')).body;
    expect((await send('POST /api/notes', { body: { note: 'x' } })).body).toBe('{"note":"x"}');
    expect((await send('POST /api/fails', { body: { note: 'y' } })).status).toBe(400);
    expect((await send('POST /api/notes', { body: { note: 'z', unknown: 1 } })).status).toBe(400);
    expect((await send('GET /api/get-seen')).body).toBe(`[{"place":"x","role":"${guest}","who":"127.0.0.1"}]`);
    expect((await send('GET /api/get-backend')).body).toBe(backend);
  });

  test('an error at its COMMIT is reported as the error of the call', async () => {
    const { send } = await start(asGuest);
    const answer = await send('POST /api/orphan');
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([400, { code: '23503' }]);
    expect((await send('POST /api/notes', { body: { note: 'x' } })).status).toBe(200);
  });

  test('without role and settings a procedure may COMMIT', async () => {
    const { send } = await start();
    expect((await send('POST /api/plain', { body: { note: 'x' } })).body).toBe('{"note":"x"}');
    expect(JSON.parse((await send('GET /api/get-seen')).body)).toHaveLength(2);
  });

  test('a host-provided connection behaves the same, in a transaction of the host too', async () => {
    const clients: Client[] = [];
    const { send, database } = await start({ connectionProvider: () => ({ client: clients[0]! }) });
    const client = new Client({ connectionString: database.connectionString });
    await client.connect();
    clients.push(client);
    onTestFinished(() => client.end());
    expect((await send('POST /api/commits', { body: { note: 'x' } })).status).toBe(500);
    expect((await send('POST /api/fails', { body: { note: 'x' } })).status).toBe(400);
    expect((await send('POST /api/notes', { body: { note: 'done' } })).status).toBe(200);
    await client.query('begin');
    expect((await send('POST /api/notes', { body: { note: 'open' } })).status).toBe(200);
    expect((await send('POST /api/commits', { body: { note: 'x' } })).status).toBe(500);
    await client.query('rollback');
    expect((await client.query('select place from seen')).rows).toEqual([{ place: 'done' }]);
  });
});
