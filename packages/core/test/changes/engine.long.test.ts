import { randomBytes } from 'node:crypto';
import { useDatabase } from '@pgway/testing';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { ChangeEngine } from '../../src/changes/change-engine.ts';
import { asLines, column, queryOf, requestOf, startEngine, subscribe } from './engine-support.ts';

const role = `reader_${randomBytes(4).toString('hex')}`;
/** A condition of rows of the table "item". */
const own = `tenant = current_setting('app.tenant', true)`;
const database = useDatabase(`
  create table film (id integer primary key, title text, hidden text default 'h');
  create table member (tenant text, primary key (tenant));
  create table item (id integer primary key, tenant text not null, title text);
  create unique index item_changes on item (id, tenant);
  alter table item replica identity using index item_changes;
  alter table item enable row level security;
  create policy tenants on item using (${own});
  create function is_shown(integer) returns boolean language sql as 'select false';
  create policy shown on item using (is_shown(id));
  create policy old on item as restrictive using (exists (select from member as m where m.tenant = item.tenant));
  create publication pgway_changes for table film, item, member;
`);

beforeAll(async () => {
  await database.query(`create role ${role}; grant select on item, member to ${role};
    create role ${role}_all; create policy everyone on item to ${role}_all using (true)`);
});
afterAll(async () => {
  await database.query(`drop owned by ${role}, ${role}_all; drop role ${role}, ${role}_all`);
});

const film = queryOf('film', [column('id', 'number'), column('title', 'string')]);
const item = queryOf('item', [column('id', 'number'), column('title', 'string')]);

function tenant(name: string): { readonly identity: ReturnType<typeof requestOf>['identity'] } {
  const settings = [
    ['role', role],
    ['app.tenant', name],
  ] as const;
  return { identity: { role, settings, key: JSON.stringify(settings) } };
}

describe('the differences between two snapshots', () => {
  test('inserts, updates and deletes of committed transactions arrive as the table has them', async () => {
    const { engine } = await startEngine(database);
    const { messages } = await subscribe(engine, requestOf(film));

    await database.query(`insert into film values (1, 'One'), (2, 'Two')`);
    await expect
      .poll(() => asLines(messages))
      .toEqual(['begin', 'insert {"id":1,"title":"One"}', 'insert {"id":2,"title":"Two"}']);
    await database.query(`update film set title = 'First' where id = 1; update film set hidden = 'x' where id = 2`);
    await database.query('delete from film where id = 2');
    await expect
      .poll(() => asLines(messages).slice(3))
      .toEqual(['update {"id":1,"title":"First"}', 'delete was {"id":2}']);
    await database.query(`update film set id = 7 where id = 1`);
    await expect
      .poll(() => asLines(messages).slice(5))
      .toEqual(['delete was {"id":1}', 'insert {"id":7,"title":"First"}']);
    await database.query('delete from film');
  });

  test('a row that came and went within a transaction makes no event, and one that changed twice makes one', async () => {
    const { engine } = await startEngine(database);
    const { messages } = await subscribe(engine, requestOf(film, { withOld: true }));

    await database.query(`insert into film values (1, 'One')`);
    await expect.poll(() => asLines(messages).length).toBe(2);
    await database.query(`
      begin; insert into film values (2, 'Two'); delete from film where id = 2;
      update film set title = 'A' where id = 1; update film set title = 'B' where id = 1; commit`);
    await expect
      .poll(() => asLines(messages).slice(2))
      .toEqual(['update {"id":1,"title":"B"} was {"id":1,"title":"One"}']);
    await database.query('delete from film');
  });

  test('an update of another column is an event for those that ask for it', async () => {
    const { engine } = await startEngine(database);
    const [all, visible] = [
      await subscribe(engine, requestOf(film, { withUnchanged: true })),
      await subscribe(engine, requestOf(film, { operations: ['update', 'delete'] })),
    ];

    await database.query(`insert into film values (1, 'One')`);
    await expect.poll(() => asLines(all.messages).at(-1)).toBe('insert {"id":1,"title":"One"}');
    await database.query(`update film set hidden = 'other'`);
    await expect.poll(() => asLines(all.messages).at(-1)).toBe('update {"id":1,"title":"One"}');
    await database.query('delete from film');
    await expect.poll(() => asLines(visible.messages)).toEqual(['begin', 'delete was {"id":1}']);
  });
});

test('deleted rows are not read for subscribers that do not want them', async () => {
  const { engine } = await startEngine(database);
  // Snapshots do not apply to sequences: reading a row fails while the value is 0.
  await database.query('create sequence divisor minvalue 0 start 1');
  const fragile = { ...film, sql: `${film.sql} and 1 / (select last_value from divisor) = 1` };
  const { messages } = await subscribe(engine, requestOf(fragile, { operations: ['insert'] }));
  const other = await subscribe(engine, requestOf(film));
  await database.query(`insert into film values (1, 'One')`);
  await expect.poll(() => asLines(messages)).toEqual(['begin', 'insert {"id":1,"title":"One"}']);
  await database.query(`select setval('divisor', 0)`);
  await database.query('delete from film');
  await expect.poll(() => asLines(other.messages).at(-1)).toBe('delete was {"id":1}');
  await database.query(`select setval('divisor', 1)`);
  await database.query(`insert into film values (2, 'Two')`);
  await expect.poll(() => asLines(messages).slice(2)).toEqual(['insert {"id":2,"title":"Two"}']);
  await database.query('delete from film; drop sequence divisor');
});

describe('what a caller may not read', () => {
  test('rows of other tenants reach no one else, also when what the policy reads is deleted with them', async () => {
    const { engine } = await startEngine(database);
    const acme = await subscribe(engine, requestOf(item, { ...tenant('acme'), withOld: true }));
    const globex = await subscribe(engine, requestOf(item, { ...tenant('globex'), withOld: true }));

    await database.query(`
      begin; insert into member values ('acme'), ('globex');
      insert into item values (1, 'acme', 'A'), (2, 'globex', 'G'); commit`);
    await expect.poll(() => asLines(globex.messages)).toEqual(['begin', 'insert {"id":2,"title":"G"}']);
    await database.query(`update item set tenant = 'globex' where id = 1`);
    await expect
      .poll(() => asLines(acme.messages))
      .toEqual(['begin', 'insert {"id":1,"title":"A"}', 'delete was {"id":1,"title":"A"}']);
    await database.query(`begin; delete from item; delete from member; commit`);
    await expect
      .poll(() => asLines(globex.messages).slice(2))
      .toEqual(['insert {"id":1,"title":"A"}', 'delete was {"id":2,"title":"G"}', 'delete was {"id":1,"title":"A"}']);
    expect(asLines(acme.messages).length).toBe(3);
  });

  test('only keys of the value of a route are looked up', async () => {
    const { engine } = await startEngine(database);
    const route = (value: string | null) => ({ route: { column: 'tenant', value } });
    await database.query(`insert into member values ('acme'), ('globex')`);
    const acme = await subscribe(engine, requestOf(item, { ...tenant('acme'), ...route('acme') }));
    const wrong = await subscribe(engine, requestOf(item, { ...tenant('acme'), ...route('globex') }));

    await database.query(`insert into item values (3, 'acme', 'A'), (4, 'globex', 'G')`);
    await expect.poll(() => asLines(acme.messages)).toEqual(['begin', 'insert {"id":3,"title":"A"}']);
    await database.query(`update item set tenant = 'globex' where id = 3`);
    await expect
      .poll(() => asLines(acme.messages))
      .toEqual(['begin', 'insert {"id":3,"title":"A"}', 'delete was {"id":3}']);
    await expect.poll(() => asLines(wrong.messages).slice(1)).toEqual(['delete was {"id":3}']);
    await database.query(`delete from item; delete from member`);
  });

  test('a revoked privilege ends the stream at the next change', async () => {
    const { engine } = await startEngine(database);
    const acme = await subscribe(engine, requestOf(item, tenant('acme')));
    await database.query(`revoke select on item from ${role}`);
    await database.query(`insert into member values ('acme'); insert into item values (5, 'acme', 'A')`);

    await expect.poll(() => acme.ends).toEqual(['forbidden']);
    expect(asLines(acme.messages)).toEqual(['begin']);
    await expect(subscribe(engine, requestOf(item, tenant('acme')))).rejects.toMatchObject({
      diagnostics: { code: '42501' },
    });
    await database.query(`grant select on item to ${role}; delete from item; delete from member`);
  });
});

describe('gaps', () => {
  test('a transaction with too many changes, another definition and a related table', async () => {
    const { engine } = await startEngine(database, { maxKeys: 3 });
    const all = { sql: 'select "r"."id", "r"."title" from "film" as "r" order by 1', values: [] };
    const { messages } = await subscribe(
      engine,
      requestOf(film, { snapshot: all, gapOn: [{ schema: 'public', name: 'member' }] }),
    );
    await expect.poll(() => asLines(messages)).toEqual(['rows ']);

    await database.query(`insert into member values ('other')`);
    await expect.poll(() => asLines(messages).slice(1)).toEqual(['gap related-change', 'reset ']);
    await database.query(`insert into film select n, 'n' from generate_series(1, 20) as n`);
    await expect.poll(() => asLines(messages)[3]).toBe('gap too-many-changes');
    await expect.poll(() => asLines(messages)[4]).toMatch(/^reset \{"id":1,"title":"n"\} .*\{"id":20,"title":"n"\}$/);
    expect(engine.statistics().gaps).toEqual({ 'related-change': 1, 'too-many-changes': 1 });
    await database.query(`delete from film where id > 2; delete from member`);
  });

  test('a rewrite of the table is a gap: earlier snapshots would see no rows', async () => {
    const { engine } = await startEngine(database);
    const all = { sql: 'select "r"."id", "r"."title" from "film" as "r" order by 1', values: [] };
    await database.query(`insert into film values (1, 'One') on conflict do nothing`);
    const { messages } = await subscribe(engine, requestOf(film, { snapshot: all }));
    await expect.poll(() => asLines(messages).length).toBe(1);
    await database.query(`
      begin; alter table film add column added double precision default random(); update film set title = 'New'; commit`);
    await expect.poll(() => asLines(messages)[1]).toBe('gap schema-changed');
    await expect.poll(() => asLines(messages)[2]).toMatch(/^reset \{"id":1,"title":"New"\}/);
    await database.query(`insert into film values (40, 'after')`);
    await expect.poll(() => asLines(messages).at(-1)).toBe('insert {"id":40,"title":"after"}');
    await database.query('delete from film');
  });

  test('a changed policy is a gap: rows that it hides or shows have not changed', async () => {
    const { engine } = await startEngine(database);
    const { messages } = await subscribe(engine, requestOf(film));
    const lines = (): readonly string[] => asLines(messages);
    const statements = [
      'alter table film enable row level security',
      'create policy shown on film using (true)',
      'alter policy shown on film using (id > 1)',
      'drop policy shown on film; alter table film disable row level security',
    ];
    for (const statement of statements) {
      const known = lines().length;
      await database.query(statement);
      await expect.poll(() => lines()[known]).toBe('gap schema-changed');
    }
  });

  /** Starts an engine. Each cut runs one of the steps, when its snapshot is taken and no row is read yet. */
  async function startWithSteps(): Promise<{
    readonly engine: ChangeEngine;
    readonly steps: (() => Promise<unknown>)[];
  }> {
    const steps: (() => Promise<unknown>)[] = [];
    const { engine } = await startEngine(database, {
      changeReader: (reader) => ({
        slot: reader.slot,
        get position() {
          return reader.position;
        },
        reach: async (lsn) => {
          await steps.shift()?.();
          return reader.reach(lsn);
        },
        close: () => reader.close(),
      }),
    });
    return { engine, steps };
  }

  describe('other definitions between a snapshot and the lookups in it', () => {
    const write = `insert into member values ('a'); insert into item values (1, 'a', 'Secret')`;
    const alter = `alter policy tenants on item using (true)`;
    const items = { sql: 'select "r"."id", "r"."title" from "item" as "r"', values: [] };
    const restore = `alter policy tenants on item using (${own})`;
    /** The caller may read the row from the moment on at which its title is another one. */
    const publish = (change: string): Promise<unknown> =>
      database.query(`begin; ${change}; update item set title = 'Public'; commit`);

    beforeEach(() => database.query('delete from item; delete from member'));
    afterEach(() => database.query('delete from item; delete from member'));

    test.each([
      ['policy', alter, restore],
      ['row security', 'alter table item disable row level security', 'alter table item enable row level security'],
      [
        'owner',
        `alter table item owner to ${role}`,
        `alter table item owner to current_user; grant select on item to ${role}`,
      ],
      [
        'function of a policy',
        `create or replace function is_shown(integer) returns boolean language sql as 'select true'`,
        `create or replace function is_shown(integer) returns boolean language sql as 'select false'`,
      ],
      ['attribute of the role', `alter role ${role} bypassrls`, `alter role ${role} nobypassrls`],
      ['membership of the role', `grant ${role}_all to ${role}`, `revoke ${role}_all from ${role}`],
    ])('another %s is a gap in place of rows that the caller could not see then', async (_, change, undo) => {
      const { engine, steps } = await startWithSteps();
      const { messages } = await subscribe(engine, requestOf(item, tenant('b')));
      steps.push(
        () => database.query(write),
        () => publish(change),
      );
      await database.query(`insert into film values (1, 'One'); delete from film`);
      await expect.poll(() => steps).toEqual([]);
      await expect.poll(() => asLines(messages)[1]).toBeDefined();
      await database.query(`insert into item values (2, 'a', 'Two')`);

      await expect.poll(() => asLines(messages).at(-1)).toBe('insert {"id":2,"title":"Two"}');
      await database.query(undo);
      expect(asLines(messages)).toContain('gap schema-changed');
      expect(asLines(messages).join('')).not.toContain('Secret');
    });

    test.each([
      ['policy', 'b', alter, restore],
      [
        'rewrite of the table, which looks empty in earlier snapshots',
        'a',
        'alter table item add column extra float default random()',
        'alter table item drop column extra',
      ],
    ])('make a subscriber begin at a later snapshot: a %s', async (_, caller, change, undo) => {
      const { engine, steps } = await startWithSteps();
      await subscribe(engine, requestOf(item, tenant('a')));
      await database.query(write);
      let joining: ReturnType<typeof subscribe> | null = null;
      steps.push(
        async () => {
          joining = subscribe(engine, requestOf(item, { ...tenant(caller), snapshot: items }));
          await database.query('select');
        },
        () => publish(change),
      );

      await expect.poll(() => steps).toEqual([]);
      const { messages, subscription } = await joining!;
      expect(asLines(messages)).toEqual(['rows {"id":1,"title":"Public"}']);
      expect(subscription.lastId >= messages[0]!.id).toBe(true);
      await database.query(undo);
    });

    test('leave a subscriber without changes of rows that it does not have', async () => {
      const { engine } = await startEngine(database);
      const locked = { sql: `${items.sql} where (select pg_advisory_xact_lock_shared(4713)) is not null`, values: [] };
      const { messages, subscription } = await subscribe(
        engine,
        requestOf(item, { ...tenant('a'), snapshot: locked, gapOn: [{ schema: 'public', name: 'film' }] }),
      );
      const plain = await subscribe(engine, requestOf(item, tenant('a')));
      await database.query(`insert into member values ('a')`);
      const client = new Client({ connectionString: database.connectionString });
      await client.connect();
      onTestFinished(() => client.end());
      await client.query('select pg_advisory_lock(4713)');
      await database.query(`insert into film values (1, 'One'); delete from film`);
      await expect.poll(() => asLines(messages)).toEqual(['rows ', 'gap related-change']);
      await database.query(`insert into item values (1, 'a', 'Secret')`);
      await expect.poll(() => asLines(plain.messages)).toContain('insert {"id":1,"title":"Secret"}');
      expect(subscription.lastId).toBe(messages[1]!.id);
      await database.query(`begin; alter role ${role} bypassrls; update item set title = 'Public'; commit`);
      await expect.poll(() => asLines(plain.messages)).toContain('gap schema-changed');
      await client.query('select pg_advisory_unlock(4713)');

      await expect.poll(() => asLines(messages).at(-1)).toBe('reset {"id":1,"title":"Public"}');
      await database.query(`alter role ${role} nobypassrls`);
      expect(asLines(messages)).toEqual([
        'rows ',
        'gap related-change',
        'gap schema-changed',
        'reset {"id":1,"title":"Public"}',
      ]);
    });
  });

  test('a table that another one replaces is a gap, also when it is read again anyway', async () => {
    await database.query(`
      create table one (id integer primary key, title text); insert into one values (1, 'One');
      create table two (id integer primary key, title text); insert into two values (2, 'Two');
      alter publication pgway_changes add table one, two`);
    const { engine, steps } = await startWithSteps();
    const all = { sql: 'select "r"."id", "r"."title" from "one" as "r"', values: [] };
    const one = queryOf('one', [column('id', 'number'), column('title', 'string')]);
    const { messages } = await subscribe(engine, requestOf(one, { snapshot: all }));
    await expect.poll(() => asLines(messages)).toEqual(['rows {"id":1,"title":"One"}']);
    // After this cut, the table of a new watcher is read again.
    steps.push(() => database.query('begin; alter table one rename to former; alter table two rename to one; commit'));
    onTestFinished(engine.watchTables([{ schema: 'public', name: 'one' }], () => undefined));

    await expect.poll(() => asLines(messages).slice(1)).toEqual(['gap schema-changed', 'reset {"id":2,"title":"Two"}']);
  });

  test('a lost connection of the reader is a gap, and the stream goes on', async () => {
    const { engine } = await startEngine(database);
    const { messages } = await subscribe(engine, requestOf(film));
    await database.query(`
      select pg_terminate_backend(active_pid) from pg_replication_slots where database = current_database()`);
    await expect.poll(() => asLines(messages), { timeout: 20_000 }).toContain('gap connection-lost');
    await database.query(`insert into film values (30, 'x')`);
    await expect.poll(() => asLines(messages).at(-1)).toBe('insert {"id":30,"title":"x"}');
    await database.query('delete from film');
  });
});

describe('many identities', () => {
  test('more groups than have transactions of their own share them, and each gets its rows only', async () => {
    const { engine } = await startEngine(database);
    const names = Array.from({ length: 60 }, (_, index) => `t${index}`);
    const subscribers = await Promise.all(names.map((name) => subscribe(engine, requestOf(item, tenant(name)))));
    await database.query(`
      begin; insert into member select 't' || n from generate_series(0, 59) as n;
      insert into item select n, 't' || n, 'title ' || n from generate_series(0, 59) as n; commit`);

    for (const [index, { messages }] of subscribers.entries())
      await expect.poll(() => asLines(messages)).toEqual(['begin', `insert {"id":${index},"title":"title ${index}"}`]);
    await database.query(`delete from item; delete from member`);
  });
});
