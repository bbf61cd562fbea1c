import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask, refusal, tables } from './support.ts';

const sql = `
  create type place as (the_city text, zip int);
  create table person (id int primary key, full_name text, home place, born date);
  insert into person values (1, 'A "b", c', '(Rome,1)', '2000-01-02'), (2, null, null, null);
`;

describe('response formats', () => {
  const gateway = useGateway(
    `${sql}
    create table raw_person (like person including all); insert into raw_person select * from person;
    comment on table raw_person is E'for select, returning\\nraw\\nseparator ;\\nnew_line = \\\\n\\ncolumn_names\\nContent-Type: text/plain';
    create table headed (id int primary key, title text); insert into headed values (1, 'x');
    comment on table headed is 'X-Id: <{id}>
      X-Title: {title}, {nothing}';
    create table slow (id int primary key); insert into slow values (1);
    create view slow_view as select id, pg_sleep(5)::text as slept from slow;
    comment on view slow_view is 'command_timeout 100ms';
    create table elsewhere (id int); comment on table elsewhere is 'connection_name unknown';
    create table guarded (id int primary key); comment on table guarded is 'for insert, delete, update
      authorize admin';
  `,
    tables(),
  );

  test('HEAD is GET without the body', async () => {
    const head = await gateway.send('HEAD /api/person?id=1');
    const get = await gateway.send('GET /api/person?id=1');
    expect([head.status, head.type, head.body]).toEqual([200, 'application/json', '']);
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.body)));
    expect((await gateway.send('HEAD /api/person?nothing=1')).status).toBe(400);
  });

  test('CSV and NDJSON, for select and returning', async () => {
    const csv = await gateway.send('GET /api/person', { headers: { accept: 'text/csv' } });
    expect([csv.status, csv.type, csv.body]).toEqual([
      200,
      'text/csv; charset=utf-8; header=present',
      'id,fullName,home,born\n1,"A ""b"", c","{""theCity"":""Rome"",""zip"":1}",2000-01-02\n2,,,\n',
    ]);
    const lines = await gateway.send('POST /api/person/returning', {
      body: { id: 2, born: '1999-01-01' },
      headers: { accept: 'application/x-ndjson' },
    });
    expect([lines.status, lines.type, lines.body]).toEqual([
      200,
      'application/x-ndjson',
      '{"id":2,"fullName":null,"home":null,"born":"1999-01-01"}\n',
    ]);
  });

  test('raw', async () => {
    const raw = await gateway.send('GET /api/raw-person?id=1');
    expect([raw.status, raw.type, raw.body]).toEqual([
      200,
      'text/plain',
      '"id";"full_name";"home";"born"\n1;"A ""b"", c";"(Rome,1)";"2000-01-02"',
    ]);
    const returned = await gateway.send('DELETE /api/raw-person/returning?id=2');
    expect([returned.status, returned.body]).toEqual([200, '"id";"full_name";"home";"born"\n2;;;']);
    expect((await gateway.send('PUT /api/raw-person', { body: { id: 9 } })).status).toBe(204);
  });

  test('response headers are filled from provided columns', async () => {
    const headers = async (line: string, body?: unknown): Promise<readonly (string | null)[]> => {
      const answer = await gateway.send(line, body === undefined ? {} : { body });
      return [answer.headers.get('x-id'), answer.headers.get('x-title')];
    };
    expect(await headers('GET /api/headed?id=1')).toEqual(['<1>', ', {nothing}']);
    expect(await headers('PUT /api/headed', { id: 2, title: 'y' })).toEqual(['<2>', 'y, {nothing}']);
    const bad = await ask(gateway, 'PUT /api/headed', { id: 3, title: 'a\r\nSet-Cookie: x' });
    expect(bad).toEqual(refusal(500, { type: 'urn:pgway:problem:invalid-response-header' }));
    expect(await gateway.database.query('select * from headed where id = 3')).toEqual([]);
  });

  test('annotations for timeout, connection and authorization apply', async () => {
    expect(await ask(gateway, 'GET /api/slow-view')).toEqual(refusal(504));
    expect(gateway.gateway.endpoints.filter(({ name }) => name === 'elsewhere')).toEqual([]);
    expect(await ask(gateway, 'GET /api/guarded')).toEqual([200, []]);
    expect(await ask(gateway, 'PUT /api/guarded', { id: 1 })).toEqual(refusal(401));
    // Authorization comes before parameters.
    expect(await ask(gateway, 'PUT /api/guarded', { nothing: 1 })).toEqual(refusal(401));
    expect(await ask(gateway, 'DELETE /api/guarded')).toEqual(refusal(401));
  });

  test('a composite column is an object in responses and requests', async () => {
    expect(await ask(gateway, 'PUT /api/person/returning', { id: 5, home: { theCity: 'Bern', zip: 3 } })).toEqual([
      200,
      [{ id: 5, fullName: null, home: { theCity: 'Bern', zip: 3 }, born: null }],
    ]);
    expect(await ask(gateway, 'PUT /api/person', { id: 6, homeTheCity: 'Bern' })).toEqual(
      refusal(400, { unknown: ['homeTheCity'] }),
    );
  });
});

test('flattened composite columns', async () => {
  const gateway = await startGateway(sql, { ...tables(), compositeColumns: 'flat' });
  const row = { id: 1, fullName: 'A "b", c', theCity: 'Rome', zip: 1, born: '2000-01-02' };
  expect(await ask(gateway, 'GET /api/person?id=1')).toEqual([200, [row]]);
  expect(await ask(gateway, 'POST /api/person/returning', { id: 1, fullName: 'D' })).toEqual([
    200,
    [{ ...row, fullName: 'D' }],
  ]);
  await gateway.close();
});

test('a named connection runs the statements', async () => {
  const other = await startGateway('create table item (id int primary key); insert into item values (7)');
  const gateway = await startGateway(
    `create table item (id int primary key); comment on table item is 'connection_name other'`,
    {
      ...tables(),
      connectionStrings: { other: other.database.connectionString },
    },
  );
  expect(await ask(gateway, 'GET /api/item')).toEqual([200, [{ id: 7 }]]);
  expect(await ask(gateway, 'PUT /api/item/returning', { id: 8 })).toEqual([200, [{ id: 8 }]]);
  expect(await other.database.query('select count(*)::int as n from item')).toEqual([{ n: 2 }]);
  await gateway.close();
  await other.close();
});

test('plan_cache_mode is auto, unless the whole key is provided or the comment sets a mode', async () => {
  const gateway = await startGateway(
    `create table item (id int primary key, n int); insert into item values (1, 2);
     create view mode as select id, n, current_setting('plan_cache_mode') as mode from item;
     create view chosen as select * from mode; comment on view chosen is 'plan_cache_mode force_custom_plan'`,
    { ...tables(), planCacheMode: 'force_generic_plan' },
  );
  const mode = async (path: string): Promise<unknown> =>
    ((await ask(gateway, `GET /api/${path}`))[1] as readonly { mode: string }[])[0]!.mode;
  expect(await mode('mode?n=2')).toBe('auto');
  expect(await mode('mode')).toBe('force_generic_plan');
  expect(await mode('mode?id=1')).toBe('force_generic_plan');
  expect(await mode('mode?id=1&n=2')).toBe('force_generic_plan');
  expect(await mode('chosen?n=2')).toBe('force_custom_plan');
  expect(await mode('chosen?id=1')).toBe('force_custom_plan');
  await gateway.close();
});
