import { randomBytes } from 'node:crypto';
import { functionsSource } from '@pgway/core';
import { postgrestSource, type PostgrestSourceOptions } from '@pgway/postgrest';
import { startGateway, type TestGateway, useGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ask } from './support.ts';

/* How the transaction of a request begins and ends: `preRequest`, `extraSearchPath`, `appSettings` and `txEnd`. */

const sources = (options: PostgrestSourceOptions) => ({
  routineSources: [functionsSource(), postgrestSource(options)],
  commentsMode: 'parseAll' as const,
});
const returning = (value: string): { readonly headers: Readonly<Record<string, string>> } => ({
  headers: { prefer: `return=representation${value}` },
});

describe('a function before each request', () => {
  const guest = `guest_${randomBytes(4).toString('hex')}`;
  const objects = `
    create role ${guest}; grant ${guest} to current_user;
    create table visit (id int generated always as identity primary key, page text);
    create function path() returns text language sql stable as $$ select current_setting('request.path', true) $$;
    create schema "Auth";
    create function "Auth".check_request(strict boolean default true) returns void language plpgsql as $$
    begin
      if current_setting('request.headers')::json ->> 'x-blocked' = 'yes' then
        raise sqlstate 'PT429' using message = 'Too many requests of ' || current_user, hint = 'Wait';
      end if;
      if current_setting('request.headers')::json ->> 'x-guest' = 'yes' then
        perform set_config('role', '${guest}', true);
      end if;
      perform set_config('response.headers', json_build_array(json_build_object('x-checked', current_setting('request.method')))::text, true);
      if current_setting('request.headers')::json ->> 'x-own' = 'yes' then
        perform set_config('response.headers', '[{"Vary": "X-Own"}, {"Content-Type": "application/own+json"}]', true);
      end if;
    end $$;
  `;
  const gateway = useGateway(objects, {
    ...sources({ preRequest: '"Auth".check_request', includeSchemas: ['public'] }),
    includeSchemas: ['public'],
    responseSettings: true,
    poolSize: 1,
  });

  test('runs in the transaction of reads, calls and writes, and sets headers of the response', async () => {
    expect(await ask(gateway, 'GET /rest/visit')).toMatchInlineSnapshot(`
      "200
      content-range: */*
      content-type: application/json; charset=utf-8
      x-checked: GET

      []"
    `);
    expect(await ask(gateway, 'POST /rest/rpc/path', { body: {} })).toMatchInlineSnapshot(`
      "200
      content-range: 0-0/*
      content-type: application/json; charset=utf-8
      x-checked: POST

      "/rpc/path""
    `);
    expect(await ask(gateway, 'POST /rest/visit', { body: { page: 'a' }, ...returning('') })).toMatchInlineSnapshot(`
      "201
      content-range: */*
      content-type: application/json; charset=utf-8
      preference-applied: return=representation
      x-checked: POST

      [{"id":1,"page":"a"}]"
    `);
    expect(await ask(gateway, 'HEAD /rest/visit', { headers: { prefer: 'count=planned' } })).toContain(
      'x-checked: HEAD',
    );
  });

  test('its headers replace those of the dialect', async () => {
    const { headers } = await gateway.send('HEAD /rest/visit', { headers: { 'x-own': 'yes' } });
    expect([headers.get('vary'), headers.get('content-type')]).toEqual(['X-Own', 'application/own+json']);
    expect((await gateway.send('GET /rest/visit')).headers.get('vary')).toBe('Accept, Prefer, Range');
  });

  test('refuses a request, which has no effect', async () => {
    const blocked = { body: { page: 'blocked' }, headers: { 'x-blocked': 'yes' } };
    expect(await ask(gateway, 'POST /rest/visit', blocked)).toContain('"code":"PT429"');
    expect((await gateway.send('GET /rest/visit?page=eq.blocked')).body).toBe('[]');
    const statuses = ['GET /rest/visit', 'DELETE /rest/visit?id=eq.1', 'POST /rest/rpc/path'].map(async (line) => {
      const { status } = await gateway.send(line, { headers: { 'x-blocked': 'yes' } });
      return status;
    });
    expect(await Promise.all(statuses)).toEqual([429, 429, 429]);
  });

  test('selects the role of the request, and of no other one on the connection', async () => {
    const asGuest = { headers: { 'x-guest': 'yes' } };
    expect((await gateway.send('GET /rest/visit', asGuest)).body).toContain('permission denied for table visit');
    expect((await gateway.send('GET /rest/visit')).status).toBe(200);
  });

  test('a function that does not exist stops the start', async () => {
    const start = startGateway('', sources({ preRequest: 'public.missing' }));
    await expect(start).rejects.toThrow('there is no function public.missing() without arguments');
    expect(() => postgrestSource({ preRequest: 'select 1; drop' })).toThrow('preRequest');
  });
});

describe('settings', () => {
  const gateway = useGateway(
    `
    create schema "Odd ""one"; create schema api;
    create function "Odd ""one".secret() returns int language sql stable as 'select 42';
    create function api.answer() returns int language plpgsql stable as $$ begin return secret(); end $$;
    create function api.setting(name text) returns text language sql stable as $$ select current_setting(name, true) $$;
    create table api.item (id int);
  `,
    {
      ...sources({
        extraSearchPath: ['Odd "one', 'public'],
        appSettings: { region: 'north', 'jwt.secret': '' },
        includeSchemas: ['api'],
      }),
      includeSchemas: ['api'],
      poolSize: 1,
    },
  );

  test('the search path has the schema of the function, and the extra ones', async () => {
    expect((await gateway.send('GET /rest/rpc/answer')).body).toBe('42');
    const path = await gateway.send('GET /rest/rpc/setting?name=search_path');
    expect(JSON.parse(path.body)).toBe('"api", "Odd ""one", "public"');
  });

  test('app.settings', async () => {
    expect((await gateway.send('GET /rest/rpc/setting?name=app.settings.region')).body).toBe('"north"');
    expect((await gateway.send('GET /rest/rpc/setting?name=app.settings.jwt.secret')).body).toBe('""');
    expect(() => postgrestSource({ appSettings: { 'a b': 'x' } })).toThrow('must be the name of a setting');
  });
});

describe('the end', () => {
  const objects = `
    create table item (id int primary key, place int unique deferrable initially deferred);
    insert into item values (1, 1);
    create function swap(place int) returns void language sql as $$ insert into item values (99, place) $$;
  `;

  async function start(txEnd: NonNullable<PostgrestSourceOptions['txEnd']>): Promise<TestGateway> {
    const gateway = await startGateway(objects, { ...sources({ txEnd }), poolSize: 1 });
    onTestFinished(() => gateway.close());
    return gateway;
  }

  /** Inserts a row, and returns `Preference-Applied` and the number of rows after it, without and with each preference. */
  async function ends(txEnd: NonNullable<PostgrestSourceOptions['txEnd']>): Promise<readonly string[]> {
    const gateway = await start(txEnd);
    const found: string[] = [];
    for (const tx of ['', ', tx=commit', ', tx=rollback']) {
      // One after the other.
      const { headers } = await gateway.send('POST /rest/item', { body: { id: 2, place: 2 }, ...returning(tx) });
      const { body, headers: read } = await gateway.send('GET /rest/item?id=eq.2', returning(tx));
      const applied = [headers, read].map((each) => /tx=\w+/.exec(each.get('preference-applied') ?? '')?.[0] ?? '-');
      found.push(`${applied.join(' ')} ${body === '[]' ? 'undone' : 'kept'}`);
      await gateway.database.query('delete from item where id = 2');
    }
    return found;
  }

  test('with and without the preference of the client', async () => {
    expect(await ends('commit')).toEqual(['- - kept', '- - kept', '- - kept']);
    expect(await ends('commit-allow-override')).toEqual([
      '- - kept',
      'tx=commit tx=commit kept',
      'tx=rollback tx=rollback undone',
    ]);
    expect(await ends('rollback')).toEqual(['- - undone', '- - undone', '- - undone']);
    expect(await ends('rollback-allow-override')).toEqual([
      '- - undone',
      'tx=commit tx=commit kept',
      'tx=rollback tx=rollback undone',
    ]);
  });

  test('deferred constraints are checked before a rollback', async () => {
    const gateway = await start('rollback');
    expect(await ask(gateway, 'POST /rest/rpc/swap', { body: { place: 1 } })).toMatchInlineSnapshot(`
      "409
      content-type: application/json; charset=utf-8

      {"code":"23505","message":"duplicate key value violates unique constraint \\"item_place_key\\"","details":"Key (place)=(1) already exists.","hint":null}"
    `);
    expect((await gateway.send('POST /rest/rpc/swap', { body: { place: 2 } })).status).toBe(204);
    expect((await gateway.send('GET /rest/item?select=id')).body).toBe('[{"id":1}]');
  });
});
