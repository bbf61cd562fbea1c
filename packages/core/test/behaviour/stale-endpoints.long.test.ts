import { crudSource, functionsSource, type EndpointSource } from '@pgway/core';
import { startGateway, type TestGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

/** The routine of an endpoint is altered or dropped while the gateway runs, without a notification. */

const sql = `
  create table item (id int primary key, name text, note text);
  insert into item values (1, 'one', 'first');
  comment on table item is 'HTTP';
  create type mood as enum ('sad', 'happy');
  create table said (mood text);
  create function say(_mood mood) returns text language sql volatile as $$
    insert into said values (_mood::text); select 'said ' || _mood $$;
  comment on function say is 'HTTP POST';
  create function gone() returns text language sql stable as $$ select 'there' $$;
  comment on function gone is 'HTTP GET';
  create function wide() returns table (a int, b int) language sql stable as $$ select 1, 2 $$;
  comment on function wide is 'HTTP GET';
  create function inside(_table text) returns int language plpgsql stable as $$ declare found int; begin
    execute 'select missing from ' || _table into found; return found; end $$;
  comment on function inside is 'HTTP GET';
  create function inside_sql() returns int language sql volatile as $$ select 1 $$;
  comment on function inside_sql is 'HTTP GET';
  create function raises() returns int language plpgsql as $$ begin raise undefined_function using message = 'none'; end $$;
  comment on function raises is 'HTTP GET';
  create function of_table(_table regclass) returns text language sql stable as $$ select _table::text $$;
  comment on function of_table is 'HTTP GET';
`;

const start = (source: EndpointSource = functionsSource()): Promise<TestGateway> =>
  startGateway(sql, { poolSize: 3, routineSources: [source, crudSource({ includeNames: ['item'] })] });

const told = ({ observations }: TestGateway): readonly string[] =>
  observations.flatMap((one) => (one.kind === 'endpoint-stale' ? [one.endpoint.id] : []));

describe('an endpoint that is stale is read again, and its call is made again', () => {
  test.each([
    ['a column is dropped', 'GET /api/item', 'alter table item drop column note', [200, '[{"id":1,"name":"one"}]']],
    [
      'a column is renamed',
      'GET /api/item',
      'alter table item rename column note to remark',
      [200, '[{"id":1,"name":"one","remark":"first"}]'],
    ],
    ['a function is dropped', 'GET /api/gone', 'drop function gone', [404, '']],
    [
      'a function gives fewer columns',
      'GET /api/wide',
      `drop function wide; create function wide() returns table (a int) language sql stable as 'select 7';
       comment on function wide is 'HTTP GET'`,
      [200, '[{"a":7}]'],
    ],
    [
      'a function has become a procedure',
      'GET /api/gone',
      `drop function gone; create procedure gone() language sql as ''; comment on procedure gone is 'HTTP GET'`,
      [204, ''],
    ],
  ])('%s', async (_, line, change, expected) => {
    const gateway = await start();
    expect((await gateway.send(line)).status).toBe(200);
    await gateway.database.query(change);
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => gateway.send(line)));
    for (const { status, body } of answers) expect([status, status === 404 ? '' : body]).toEqual(expected);
    // One refresh for all of them.
    expect(told(gateway)).toHaveLength(1);
    await gateway.close();
  });

  test('a write is made once, with the body that was sent', async () => {
    const gateway = await start();
    expect((await gateway.send('POST /api/say', { body: { mood: 'sad' } })).body).toBe('said sad');
    await gateway.database.query(`drop function say; alter type mood rename to temper;
      create function say(_mood temper) returns text language sql volatile as $$
        insert into said values (_mood::text); select 'said ' || _mood $$;
      comment on function say is 'HTTP POST'`);
    expect((await gateway.send('POST /api/say', { body: { mood: 'happy' } })).body).toBe('said happy');
    expect(await gateway.database.query('select mood from said')).toEqual([{ mood: 'sad' }, { mood: 'happy' }]);
    expect(told(gateway)).toEqual(['public.say(_mood public.mood)']);
    await gateway.close();
  });
});

describe('what fails inside of a routine, or by the value of a client, is no stale endpoint', () => {
  test.each([
    ['/api/inside?table=item', 500, 'database-error', '42703'],
    ['/api/inside?table=missing', 500, 'database-error', '42P01'],
    ['/api/inside-sql', 500, 'database-error', '42P01'],
    ['/api/raises', 500, 'database-error', '42883'],
    ['/api/of-table?table=missing', 400, 'invalid-parameter', '42P01'],
  ])('GET %s', async (path, status, type, code) => {
    const gateway = await start();
    await gateway.database.query(`set check_function_bodies = off;
      create or replace function inside_sql() returns int language sql volatile as $$ select n from nowhere $$`);
    const answer = await gateway.send(`GET ${path}`);
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
      status,
      { type: `urn:pgway:problem:${type}`, code },
    ]);
    expect(told(gateway)).toEqual([]);
    await gateway.close();
  });
});

describe('an endpoint that stays stale after a refresh is answered 500, and requests cannot raise the number of refreshes', () => {
  interface CountedGateway extends TestGateway {
    /** How often routines were read. */
    readonly reads: () => number;
  }

  async function startWrong(): Promise<CountedGateway> {
    let reads = 0;
    const functions = functionsSource();
    const gateway = await start({
      ...functions,
      read: (database, filters) => {
        reads++;
        return functions.read(database, filters);
      },
      buildQuery: () => ({ sql: 'select nothing from nowhere', values: [] }),
    });
    onTestFinished(() => gateway.close());
    return { ...gateway, reads: () => reads };
  }

  async function expectStale(gateway: TestGateway): Promise<void> {
    const { status, body } = await gateway.send('GET /api/gone');
    expect([status, JSON.parse(body)]).toMatchObject([
      500,
      { type: 'urn:pgway:problem:stale-endpoint', code: '42P01' },
    ]);
  }

  test('while the catalog stays the same, it is read once', async () => {
    const gateway = await startWrong();
    for (let request = 0; request < 10; request++) await expectStale(gateway);
    expect([gateway.reads(), told(gateway).length]).toEqual([2, 1]);
  });

  test('while the catalog changes all the time, it is read twenty times a minute', async () => {
    const gateway = await startWrong();
    // No minute and no pause ends during the test.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    onTestFinished(() => clock.mockRestore());
    for (let request = 0; request < 25; request++) {
      await gateway.database.query('truncate item');
      await expectStale(gateway);
    }
    expect([gateway.reads(), told(gateway).length]).toEqual([21, 20]);
  });
});

test('the error names the expected and the received column types', async () => {
  const other: EndpointSource = { ...functionsSource(), buildQuery: () => ({ sql: `select 'text', 1`, values: [] }) };
  const gateway = await start(other);
  await gateway.send('GET /api/wide');
  const failure = gateway.observations.find(({ kind }) => kind === 'request-failed');
  expect(failure).toMatchObject({
    status: 500,
    error: {
      message: `unexpected result columns: expected types (20 or 21 or 23 or 700 or 701 or 1700, 20 or 21 or 23 or 700 or 701 or 1700), received (25, 23) from select 'text', 1`,
    },
  });
  await gateway.close();
});
