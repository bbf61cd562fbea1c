import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ask } from './support.ts';

/* GET and HEAD call volatile functions in a read-only transaction. */

const sql = `
  create table visit (id int generated always as identity primary key, page text not null);
  insert into visit (page) values ('a'), ('b');
  create function pages() returns setof visit language plpgsql as $$ begin return query select * from visit order by id; end $$;
  create function total() returns bigint language plpgsql as $$ begin return (select count(*) from visit); end $$;
  create function record_visit(page text) returns int language sql as $$ insert into visit (page) values (page) returning id $$;
  create function is_read_only() returns text language sql as $$ select current_setting('transaction_read_only') $$;
  comment on function pages is 'HTTP';
  comment on function total is 'HTTP';
  comment on function record_visit is 'HTTP';
  comment on function is_read_only is 'HTTP';
`;
const sources = { routineSources: [functionsSource(), postgrestSource()] };

describe('on a connection of the pool', () => {
  const gateway = useGateway(sql, { ...sources, poolSize: 1 });

  test('rows, values, and their headers', async () => {
    expect(await ask(gateway, 'GET /rest/rpc/pages?select=page&id=gt.1')).toMatchInlineSnapshot(`
      "200
      content-range: 0-0/*
      content-type: application/json; charset=utf-8

      [{"page":"b"}]"
    `);
    expect(await ask(gateway, 'GET /rest/rpc/total')).toMatchInlineSnapshot(`
      "200
      content-range: 0-0/*
      content-type: application/json; charset=utf-8

      2"
    `);
    expect(await ask(gateway, 'HEAD /rest/rpc/pages', { headers: { prefer: 'count=exact' } })).toMatchInlineSnapshot(`
      "200
      content-range: 0-1/2
      content-type: application/json; charset=utf-8
      preference-applied: count=exact"
    `);
  });

  test('a write is refused; the next calls may write', async () => {
    expect(await ask(gateway, 'GET /rest/rpc/record_visit?page=c')).toMatchInlineSnapshot(`
      "405
      content-type: application/json; charset=utf-8

      {"code":"25006","message":"cannot execute INSERT in a read-only transaction","details":null,"hint":null}"
    `);
    expect(await ask(gateway, 'GET /rest/rpc/is_read_only')).toContain('"on"');
    expect(await ask(gateway, 'POST /rest/rpc/is_read_only', { body: {} })).toContain('"off"');
    expect(await ask(gateway, 'POST /rest/rpc/record_visit', { body: { page: 'c' } })).toContain('200');
    expect(await ask(gateway, 'GET /rest/rpc/total')).toMatch(/3$/);
  });

  test('a page of another site cannot call it with the cookies of a visitor', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    expect((await ask(gateway, 'GET /rest/rpc/total', { headers })).slice(0, 3)).toBe('403');
  });
});

describe('on a connection of the host', () => {
  let client: Client;
  const gateway = useGateway(sql, { ...sources, connectionProvider: () => ({ client }) });

  test('its transaction goes on, and may write', async () => {
    client = new Client({ connectionString: gateway.database.connectionString });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('begin');
    expect(await ask(gateway, 'GET /rest/rpc/is_read_only')).toContain('"on"');
    expect(await ask(gateway, 'GET /rest/rpc/total')).toMatch(/2$/);
    await client.query(`insert into visit (page) values ('host')`);
    expect(await ask(gateway, 'POST /rest/rpc/record_visit', { body: { page: 'ours' } })).toMatch(/^200/);
    await client.query('commit');
    expect((await gateway.database.query('select count(*)::int as n from visit'))[0]).toEqual({ n: 4 });
  });
});
