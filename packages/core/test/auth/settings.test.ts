import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGateway, crudSource, type GatewayOptions } from '@pgway/core';
import { pgbouncerVersion, quickHasher, startGateway, startPgBouncer, type TestGateway } from '@pgway/testing';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cookieOf, ownPage, people } from './people.ts';

const hasPooler = (await pgbouncerVersion()) !== null;
if (!hasPooler) console.warn('SKIPPED: there is no PgBouncer on this machine (apt-get install pgbouncer)');

const login = { body: { user: 'ada', password: 'secret' } };
const suffix = (): string => Math.random().toString(36).slice(2, 10);
const left = `create function left_over() returns text language sql stable as $$ select concat_ws('|',
    nullif(current_setting('request.user_id', true), ''), nullif(current_setting('request.user_name', true), ''),
    nullif(current_setting('request.user_roles', true), ''), nullif(current_setting('request.ip_address', true), ''), current_setting('role')) $$;
  comment on function left_over is 'HTTP';
  create function context_fails(_how text) returns text language plpgsql as $$ begin
    if _how = 'slow' then perform pg_sleep(30); end if;
    raise exception 'no'; end $$;
  comment on function context_fails is 'HTTP GET
  user_context
  timeout 200ms';`;

/** Calls with every kind of ending: the caller that each sees, and the state of its connection afterwards. */
async function toldAndLeft(send: TestGateway['send']): Promise<readonly unknown[]> {
  const headers = { cookie: cookieOf(await send('POST /api/login', login)), ...ownPage };
  const leftOver = async (): Promise<string> => (await send('GET /api/left-over')).body;
  const context = async (own: Record<string, string>): Promise<readonly string[]> =>
    (JSON.parse((await send('GET /api/context', { headers: own })).body) as readonly string[]).slice(0, 4);
  const ada = [await context(headers), await leftOver()];
  const raised = [(await send('GET /api/context-fails?how=raise', { headers })).status, await leftOver()];
  const slow = [(await send('GET /api/context-fails?how=slow', { headers })).status, await leftOver()];
  return [ada, raised, slow, await context({})];
}

const nothingLeft = [
  [['7', 'ada', '{admin,"a b"}', '127.0.0.1'], 'none'],
  [400, 'none'],
  [504, 'none'],
  ['', '', '', '127.0.0.1'],
];

/** Another gateway over the database of the first. */
async function another(options: GatewayOptions): Promise<TestGateway['send']> {
  const gateway = await createGateway({
    ...options,
    authentication: { passwordHasher: quickHasher, ...options.authentication },
  });
  const server = createServer(gateway.middleware);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await gateway.close();
  });
  return async (line, { headers = {}, body } = {}) => {
    const [method, path] = line.split(' ');
    const json = { 'content-type': 'application/json' };
    const answer = await fetch(base + path, {
      method: method!,
      headers: body === undefined ? headers : { ...json, ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: answer.status, headers: answer.headers, type: null, body: await answer.text() };
  };
}

describe('a call leaves no caller data on a connection', () => {
  test('on a connection of the pool', async () => {
    const gateway = await startGateway(people + left, { authentication: { cookie: true }, poolSize: 1 });
    expect(await toldAndLeft(gateway.send)).toEqual(nothingLeft);
    await gateway.close();
  });

  test.skipIf(!hasPooler)('behind a pooler in transaction mode, on a single connection', async () => {
    const gateway = await startGateway(people + left);
    const pooler = await startPgBouncer(gateway.database.connectionString, { mode: 'transaction', size: 1 });
    const send = await another({
      connectionString: pooler.connectionString,
      pooler: 'transaction',
      preparedStatements: !(await pgbouncerVersion())!.startsWith('1.1'),
      authentication: { cookie: true },
    });
    expect(await toldAndLeft(send)).toEqual(nothingLeft);
    // The settings that other clients see on the same server connection.
    const client = new Client({ connectionString: pooler.connectionString });
    await client.connect();
    const { rows } = await client.query(
      `select current_setting('request.user_id', true) as id, current_setting('role') as role`,
    );
    expect([['', null].includes(rows[0].id), rows[0].role]).toEqual([true, 'none']);
    await client.end();
    await pooler.stop();
    await gateway.close();
  });

  test('on a host-provided connection, in a transaction of the host', async () => {
    const role = `provided_${suffix()}`;
    const gateway = await startGateway(`create role ${role}; ${people}${left}
      create function who_runs() returns text language sql stable as $$ select current_user $$;
      comment on function who_runs is 'HTTP
      user_context';`);
    const client = new Client({ connectionString: gateway.database.connectionString });
    await client.connect();
    const send = await another({
      connectionString: gateway.database.connectionString,
      connectionProvider: (_, endpoint) => (endpoint.loginOrLogout === null ? { client } : null),
      authentication: { cookie: true, databaseRole: { claim: 'db_role', anonymous: role } },
    });
    await client.query('begin');
    expect((await send('GET /api/who-runs')).body).toBe(role);
    const { rows } = await client.query(
      `select current_setting('role') as role, nullif(current_setting('request.ip_address', true), '') as address`,
    );
    expect(rows).toEqual([{ role: 'none', address: null }]);
    await client.query('rollback');
    await client.end();
    await gateway.close();
  });
});

describe('calls under a role of the caller', () => {
  test('a name with quotes, spaces and a comma works; an unknown or foreign role is refused; none is anonymous', async () => {
    const odd = `odd "role", '${suffix()}`;
    const foreign = `foreign_${suffix()}`;
    const id = `"${odd.replaceAll('"', '""')}"`;
    const me = `me_${suffix()}`;
    const gateway = await startGateway(
      `create role ${id}; create role ${foreign}; create role ${me} login password 'pw' in role ${id};
      create function me() returns text language sql stable as $$ select current_user || '|' || session_user $$;
      comment on function me is 'HTTP';
      create function enter(_role text) returns table (db_role text) language sql as $$ select _role $$;
      comment on function enter is 'HTTP
      login';`,
    );
    const connection = new URL(gateway.database.connectionString);
    connection.username = me;
    connection.password = 'pw';
    const send = await another({
      connectionString: connection.href,
      authentication: { cookie: true, databaseRole: { claim: 'db_role' } },
      poolSize: 1,
    });
    const call = async (role: string | null): Promise<readonly [number, string]> => {
      const headers = { cookie: cookieOf(await send('POST /api/enter', { body: { role }, headers: ownPage })) };
      const { status, body } = await send('GET /api/me', { headers });
      return [status, body];
    };
    expect(await call(odd)).toEqual([200, `${odd}|${me}`]);
    expect((await call(foreign))[0]).toBe(403);
    expect((await call(`${me}; reset role`))[0]).toBe(400);
    // PostgreSQL reads these as "the role of the connection", which may have more privileges.
    expect((await call('none'))[0]).toBe(403);
    expect((await call(''))[0]).toBe(400);
    expect((await call('NONE'))[0]).toBe(400);
    expect(await call(null)).toEqual([200, `${me}|${me}`]);
    await gateway.database.query(`drop owned by ${me}`);
    await gateway.close();
  });
});

describe('tables', () => {
  const role = `editor_${suffix()}`;
  const guest = `guest_${suffix()}`;
  const sql = `create role ${role}; create role ${guest};
    create table note (id int primary key, owner text not null default current_setting('request.user_name', true), body text);
    insert into note values (1, 'ada', 'hers'), (2, 'bob', 'his');
    comment on table note is 'HTTP
    authorize editor
    user_context';
    alter table note enable row level security;
    create policy own on note using (owner = current_setting('request.user_name', true));
    grant select, insert, update, delete on note to ${role};
    create table open_note (id int primary key); insert into open_note values (1);
    comment on table open_note is 'HTTP';
    grant select on open_note to ${role};
    create function enter(_name text, _roles text[], _db_role text) returns table (name text, roles text[], db_role text) language sql as
    $$ select _name, _roles, _db_role $$;
    comment on function enter is 'HTTP
    login';`;
  const options: Partial<GatewayOptions> = {
    sourcesCreated: (sources) => void sources.push(crudSource()),
    authentication: { cookie: true, databaseRole: { claim: 'db_role', anonymous: guest } },
    poolSize: 1,
  };

  test('authorize, settings, role and row level security apply to every operation', async () => {
    const gateway = await startGateway(sql, options);
    const enter = async (name: string, roles: readonly string[]): Promise<Record<string, string>> => {
      const answer = await gateway.send('POST /api/enter', { body: { name, roles, dbRole: role } });
      return { cookie: cookieOf(answer), ...ownPage };
    };
    const [ada, reader] = [await enter('ada', ['editor']), await enter('eve', ['reader'])];
    const statuses = async (headers: Record<string, string>): Promise<readonly number[]> => {
      const lines = ['GET /api/note', 'POST /api/note', 'PUT /api/note', 'DELETE /api/note?id=1', 'HEAD /api/note'];
      const answers = [];
      for (const line of lines) {
        const body = line.startsWith('P') ? { body: { id: 9, body: 'x' } } : {};
        answers.push((await gateway.send(line, { headers, ...body })).status);
      }
      return answers;
    };
    expect(await statuses({})).toEqual([401, 401, 401, 401, 401]);
    expect(await statuses(reader)).toEqual([403, 403, 403, 403, 403]);
    expect((await gateway.send('GET /api/note', { headers: ada })).body).toBe('[{"id":1,"owner":"ada","body":"hers"}]');
    const changed = await gateway.send('POST /api/note/returning', { headers: ada, body: { id: 2, body: 'mine' } });
    expect([changed.status, changed.body]).toEqual([200, '[]']);
    const added = await gateway.send('PUT /api/note/returning', { headers: ada, body: { id: 3, body: 'new' } });
    expect(added.body).toBe('[{"id":3,"owner":"ada","body":"new"}]');
    const forged = await gateway.send('PUT /api/note', { headers: ada, body: { id: 4, owner: 'bob', body: 'forged' } });
    expect(forged.status).toBe(403);
    // A cross-site page cannot make the browser write.
    const foreign = { ...ada, 'sec-fetch-site': 'cross-site' };
    expect((await gateway.send('DELETE /api/note?id=1', { headers: foreign })).status).toBe(403);
    expect((await gateway.send('GET /api/open-note', { headers: ada })).body).toBe('[{"id":1}]');
    expect((await gateway.send('GET /api/open-note')).status).toBe(403);
    expect(await gateway.database.query('select id, owner, body from note order by id')).toEqual([
      { id: 1, owner: 'ada', body: 'hers' },
      { id: 2, owner: 'bob', body: 'his' },
      { id: 3, owner: 'ada', body: 'new' },
    ]);
    await gateway.close();
  });

  test.each(['param owner is user_name', 'user_parameters', 'param body is hash of body'])(
    'a table with "%s" is not published, because the annotation would have no effect',
    async (words) => {
      const gateway = await startGateway(
        `create table note (id int primary key, owner text, body text); comment on table note is 'HTTP\n${words}';`,
        { sourcesCreated: (sources) => void sources.push(crudSource()) },
      );
      const codes = new Set(
        gateway.gateway.diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code),
      );
      expect([[...codes], gateway.gateway.endpoints.length]).toEqual([['not-a-routine'], 0]);
      await gateway.close();
    },
  );
});
