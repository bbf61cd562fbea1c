import { randomUUID } from 'node:crypto';
import type { AuthScheme, Caller, GatewayOptions } from '@pgway/core';
import { startGateway, type TestGateway } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Connections } from '../../src/gateway/connections.ts';
import type { Database } from '../../src/postgres/port.ts';
import { RoutinePrivileges } from '../../src/gateway/routine-privileges.ts';
import type { CompiledEndpoint } from '../../src/request/compiled-endpoint.ts';
import { until } from '../database/support.ts';
import { executionId, type OpenStream, openStream } from './support.ts';

/** Roles belong to the whole server: the names are unique to this test. */
const mark = randomUUID().slice(0, 8);
const [staff, guest] = [`staff ${mark}`, `guest ${mark}`];

const raising = (name: string, comment: string): string => `
  create function ${name}(_text text default 'hello') returns void language plpgsql as $$ begin raise info '%', _text; end $$;
  comment on function ${name} is 'HTTP POST
${comment}';`;

const sql = `
  create role "${staff}"; create role "${guest}";
  create schema closed;
  create domain "odd type" as text;
  ${raising('news', 'info_path\ninfo_scope matching')}
  ${raising('own', 'info_path')}
  ${raising('for_all', 'info_path\ninfo_scope all')}
  ${raising('closed.hidden', 'info_path /hidden\ninfo_scope matching')}
  create function overloaded(_a int) returns void language plpgsql as $$ begin raise info 'int'; end $$;
  create function overloaded(_b "odd type"[], variadic _c int[] default '{}') returns void language plpgsql as $$ begin raise info 'text'; end $$;
  comment on function overloaded(int) is 'HTTP POST
info_path
info_scope matching';
  comment on function overloaded("odd type"[], int[]) is 'HTTP POST
info_path
info_scope matching';
  revoke execute on all functions in schema public from public;
  grant execute on all functions in schema public to "${staff}";
  grant execute on all functions in schema closed to public;
  grant usage on schema closed to "${staff}";
  grant execute on function overloaded(int) to "${guest}";
`;

/** Authenticates by a header with the name of a database role. */
const scheme: AuthScheme = {
  name: 'roles',
  authenticate: (request) => {
    const role = request.header('x-role');
    if (role === undefined) return null;
    const claims: Caller['claims'] = [
      ['name', role],
      ['db_role', role],
    ];
    return { scheme: 'roles', claims, session: null, sentByBrowser: false };
  },
  challenge: () => null,
  signIn: null,
  signOut: null,
  routes: [],
};

const options: Partial<GatewayOptions> = {
  events: { heartbeat: 0.1 },
  authentication: { schemes: [scheme], databaseRole: { claim: 'db_role', anonymous: guest } },
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway(sql, options);
});
afterAll(async () => {
  const roles = `"${staff}", "${guest}"`;
  await gateway.database.query(`drop owned by ${roles} cascade; drop role ${roles}`);
  await gateway.close();
});

const as = (role: string | null): Record<string, string> => (role === null ? {} : { 'x-role': role });
const open = (path: string, role: string | null): Promise<OpenStream> => openStream(gateway.url, path, as(role));
const call = async (name: string, role: string, body: object = {}): Promise<number> =>
  (await gateway.send(`POST /api/${name}`, { body, headers: as(role) })).status;

test.each([
  ['/api/news/info', staff, 200],
  ['/api/news/info', guest, 403],
  ['/api/news/info', null, 403],
  ['/api/news/info', `unknown ${mark}`, 403],
  ['/api/news/info', 'none', 403],
  ['/api/own/info', guest, 403],
  ['/api/closed/hidden/hidden', staff, 200],
  ['/api/closed/hidden/hidden', guest, 403],
  ['/api/for-all/info', guest, 200],
  ['/api/for-all/info', null, 200],
  ['/api/overloaded/info', guest, 200],
])('%s as %s: %d', async (path, role, status) => {
  const stream = await open(path, role);
  expect(stream.status).toBe(status);
});

test('a role gets the events of the overloads that it may execute', async () => {
  const [all, some] = [await open('/api/overloaded/info', staff), await open('/api/overloaded/info', guest)];
  expect([await call('overloaded', staff, { b: ['x'] }), await call('overloaded', staff, { a: 1 })]).toEqual([
    204, 204,
  ]);
  expect([await all.messages(2), await some.messages(1)]).toEqual([['text', 'int'], ['int']]);
});

test.each([
  [
    'EXECUTE',
    `revoke execute on function news(text) from "${staff}"`,
    `grant execute on function news(text) to "${staff}"`,
  ],
  ['USAGE', `revoke usage on schema public from public`, `grant usage on schema public to public`],
])('a stream ends when %s is revoked, and can be opened after a new grant', async (_, revoke, grant) => {
  const stream = await open('/api/news/info', staff);
  expect(await call('news', staff, { text: 'still' })).toBe(204);
  expect(await stream.messages(1)).toEqual(['still']);
  await gateway.database.query(revoke);
  onTestFinished(() => void gateway.database.query(grant));
  await stream.over();
  expect([stream.ended, (await open('/api/news/info', staff)).status]).toEqual([true, 403]);
  await gateway.database.query(grant);
  expect((await open('/api/news/info', staff)).status).toBe(200);
});

test('a public stream stays open, without the events that require EXECUTE', async () => {
  const id = executionId();
  const [stream, own] = [
    await open('/api/for-all/info', guest),
    await openStream(gateway.url, `/api/own/info?${id}`, as(staff)),
  ];
  await gateway.send('POST /api/own', { body: { text: 'mine' }, headers: { ...as(staff), 'x-gateway-id': id } });
  expect(await call('for-all', staff, { text: 'all' })).toBe(204);
  expect([await own.messages(1), await stream.messages(1)]).toEqual([['mine'], ['all']]);
});

describe('privilege queries', () => {
  const operation = (name: string): CompiledEndpoint =>
    ({ endpoint: { id: name, schema: 'public', name, table: null, parameters: [], connection: null } }) as never;
  const caller = (role: string): Caller => ({
    scheme: 'x',
    claims: [['db_role', role]],
    session: null,
    sentByBrowser: false,
  });

  /** Queries wait until the test answers them, with true for every check. */
  function database() {
    const queries: { readonly roles: string; readonly answer: () => void }[] = [];
    const query: Database['query'] = (_, values) =>
      new Promise((resolve) => {
        const roles = String(values![0]);
        queries.push({ roles, answer: () => resolve(roles.split(',').map(() => ['t'])) });
      });
    const connections = { main: { query }, named: new Map() } as unknown as Connections;
    return { queries, privileges: new RoutinePrivileges(connections, { claim: 'db_role', anonymous: null }) };
  }

  test('equal checks of many streams are one; checks during a query share the next query', async () => {
    const { queries, privileges } = database();
    const ask = (role: string): Promise<ReadonlySet<string>> =>
      privileges.executable(caller(role), [operation('news')]);
    const first = Array.from({ length: 1000 }, () => ask('ada'));
    await until('the first query has started', () => queries.length === 1);
    const later = Array.from({ length: 1000 }, (_, index) => ask(index % 2 === 0 ? 'ada' : 'bob'));
    await new Promise(setImmediate);
    expect(queries.map(({ roles }) => roles)).toEqual(['{"ada"}']);
    queries[0]!.answer();
    expect((await Promise.all(first)).every((executable) => executable.has('news'))).toBe(true);
    await until('the second query has started', () => queries.length === 2);
    queries[1]!.answer();
    await Promise.all(later);
    expect(queries.map(({ roles }) => roles)).toEqual(['{"ada"}', '{"ada","bob"}']);
  });

  test('a database that does not answer in time: 503', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { privileges } = database();
    const answer = privileges.executable(caller('ada'), [operation('news')]).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await answer).toMatchObject({ status: 503, headers: ['retry-after', '1'] });
  });
});
