import { crudSource } from '@pgway/core';
import { freshDatabase, type TestDatabase, useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readFingerprint } from '../../src/catalog/fingerprint.ts';
import { functionsSource } from '../../src/catalog/functions-source.ts';
import { fingerprintSessionEffects } from '../../src/catalog/session-effects.ts';
import { connectDatabase } from '../../src/postgres/connect-database.ts';
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import type { Database } from '../../src/postgres/port.ts';
import { startTenants, type TenantGateway } from './support.ts';

/** Tenants share endpoints exactly as long as their schemas are the same. */

const schema = `
  create type mood as enum ('sad', 'happy');
  create domain positive as int check (value > 0);
  create type pair as (first text, second positive);
  create table entries (id int primary key generated always as identity, mood mood, pair pair, amount positive not null, note varchar(10));
  create view happy as select id, note from entries where mood = 'happy';
  create function add(_mood mood, _pair pair default null, _moods mood[] default '{}') returns setof entries
    language sql stable as $$ select * from entries where mood = _mood $$;
  comment on function add is 'HTTP GET';
  create function plus(a int, b int) returns int language sql immutable as 'select a + b';
  create operator @# (leftarg = int, rightarg = int, function = plus);`;

function connect(database: TestDatabase): Database {
  const opened = connectDatabase(parseConnectionString(database.connectionString), {
    statementTimeout: null,
    planCacheMode: 'auto',
    pooler: 'session',
    preparedStatements: true,
    poolSize: 1,
    acquireTimeout: 10_000,
    shareConnections: false,
    onNotice: () => undefined,
    onConnectionError: () => undefined,
  });
  onTestFinished(() => opened.close());
  return opened;
}

/** The version of a schema, as `SchemaVersions` reads it with routines and tables as sources. */
async function fingerprint(database: Database): Promise<string> {
  const sources = [functionsSource({ definitions: true }), crudSource()];
  const all = await Promise.all(sources.map((source) => source.fingerprint!(database, {})));
  return [...all, await fingerprintSessionEffects(database)].join();
}

describe('the fingerprint of a schema', () => {
  const database = useDatabase(schema);

  test('is the same in another database, whose types have other OIDs', async () => {
    const other = await freshDatabase(`create table later (id int); create type other as enum ('a');
      drop table later; drop type other; ${schema}`);
    onTestFinished(() => other.drop());
    const oid = `select 'mood'::regtype::oid::int as oid`;
    expect(await other.query(oid)).not.toEqual(await database.query(oid));
    expect(await fingerprint(connect(other))).toBe(await fingerprint(connect(database)));
  });

  test('changes with each change of the schema', async () => {
    const changes = [
      `alter function plus(int, int) volatile`,
      `create or replace function plus(a int, b int) returns int language sql as 'select b + a'`,
      `create or replace function add(_mood mood, _pair pair default null, _moods mood[] default '{sad}')
        returns setof entries language sql stable as $$ select * from entries where mood = _mood $$`,
      `comment on function add is 'HTTP GET /other'`,
      `create function add(_text text) returns text language sql as 'select _text'`,
      `alter type mood add value 'calm'`,
      `alter type mood rename value 'sad' to 'blue'`,
      `alter type pair add attribute third int`,
      `alter type pair rename attribute first to initial`,
      `alter domain positive drop constraint positive_check`,
      `alter table entries add column extra text`,
      `alter table entries alter column extra type varchar(20)`,
      `alter table entries alter column extra set not null`,
      `alter table entries alter column extra set default ''`,
      `comment on constraint entries_pkey on entries is 'There is such an entry'`,
      `alter table entries drop constraint entries_pkey`,
      `alter table entries add check (note <> '')`,
      `comment on table entries is 'HTTP'`,
      `create or replace view happy as select id, note from entries where mood = 'happy' and amount > 1`,
      `create policy own on entries using (note = current_user)`,
      `create function stamp() returns trigger language plpgsql as $$ begin set role none; return new; end $$`,
      `create trigger stamp before insert on entries for each row execute function stamp()`,
      `create rule nothing as on delete to entries do instead nothing`,
      `create function mood_json(mood) returns json language sql as 'select null::json'`,
      `create cast (mood as json) with function mood_json(mood)`,
      `alter type mood rename to feeling`,
      `alter function add(text) rename to append`,
    ];
    const connected = connect(database);
    const seen = new Map([[await fingerprint(connected), 'the beginning']]);
    for (const change of changes) {
      // Each change is one of the schema that the earlier ones have left.
      await database.query(change);
      const version = await fingerprint(connected);
      expect([change, seen.get(version)]).toEqual([change, undefined]);
      seen.set(version, change);
    }
  });

  test('has the same hash for rows in any order', async () => {
    const connected = connect(database);
    const hash = (order: string): Promise<string> =>
      readFingerprint(connected, `select n as number from pg_catalog.generate_series(1, 9) n order by n ${order}`, []);
    expect(await hash('asc')).toBe(await hash('desc'));
  });
});

describe('a migration of one tenant', () => {
  const before = `create type mood as enum ('sad', 'happy');
    create function how(_mood mood) returns text language sql stable as $$ select 'before ' || _mood $$;
    comment on function how is 'HTTP GET';`;
  const after = `drop function how(mood);
    create function how(_feeling mood) returns text language sql stable as $$ select 'after ' || _feeling $$;
    comment on function how is 'HTTP GET';`;

  const get = async (tenants: TenantGateway, tenant: string, query: string): Promise<readonly [number, string]> => {
    const response = await tenants.send(tenant, `GET /api/how?${query}`);
    return [response.status, await response.text()];
  };

  test.each([
    ['a hash of the catalog', undefined],
    ['a query', `select array_agg(name order by name) from migrations`],
  ])('changes its endpoints only, by %s; the last one brings all together again', async (_, versionQuery) => {
    const tenants = await startTenants(['acme', 'globex'], `create table migrations (name text);${before}`, {
      tenant: { versionQuery: versionQuery ?? null },
    });
    onTestFinished(() => tenants.close());
    const all = async (query: string): Promise<readonly unknown[]> => [
      await get(tenants, 'acme', query),
      await get(tenants, 'globex', query),
    ];
    const versions = (): number | undefined => tenants.gateway.health().tenants?.schemaVersions;
    const migrate = (database: TestDatabase): Promise<unknown> =>
      database.query(`begin; ${after} insert into migrations values ('2'); commit`);
    expect([await all('mood=sad'), versions()]).toEqual([
      [
        [200, 'before sad'],
        [200, 'before sad'],
      ],
      1,
    ]);
    await migrate(tenants.databases['acme']!);
    expect(await all('mood=happy')).toEqual([
      [400, expect.stringContaining('unknown-parameter')],
      [200, 'before happy'],
    ]);
    expect([await all('feeling=happy'), versions()]).toEqual([
      [
        [200, 'after happy'],
        [400, expect.stringContaining('unknown-parameter')],
      ],
      2,
    ]);
    await Promise.all([tenants.databases['globex']!, tenants.main].map(migrate));
    await tenants.gateway.refresh();
    expect(await all('feeling=happy')).toEqual([
      [200, 'after happy'],
      [200, 'after happy'],
    ]);
    const loads = tenants.observations.filter(({ kind }) => kind === 'endpoint-created').map(({ tenant }) => tenant);
    expect(loads).toEqual([undefined, 'acme']);
  });
});
