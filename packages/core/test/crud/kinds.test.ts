import { serverVersion, startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask, published, refusal, tables } from './support.ts';

type Gateway = ReturnType<typeof useGateway>;

const operations = ({ gateway }: Gateway, name: string): readonly string[] =>
  gateway.endpoints.filter((one) => one.name === name).map(({ table }) => table!.operation);

const everything = [
  'select',
  'update',
  'updateReturning',
  'delete',
  'deleteReturning',
  'insert',
  'insertReturning',
  'insertOnConflictDoNothing',
  'insertOnConflictDoNothingReturning',
  'insertOnConflictDoUpdate',
  'insertOnConflictDoUpdateReturning',
];
const withoutConflict = everything.filter((one) => !one.includes('Conflict'));
const withoutKey = withoutConflict.filter((one) => !one.startsWith('update'));

describe('tables of every kind', () => {
  const gateway = useGateway(
    `
    create table sale (id int, region text, amount int check (amount > 0), primary key (id, region)) partition by list (region);
    create table sale_north partition of sale for values in ('n');
    create table sale_south partition of sale for values in ('s');
    insert into sale values (1, 'n', 5), (1, 's', 6);
    create table parent (id int primary key, note text);
    create table child (extra int) inherits (parent);
    insert into parent values (1, 'p'); insert into child values (1, 'c', 2), (2, 'd', 3);
    create foreign data wrapper dummy;
    create server nowhere foreign data wrapper dummy;
    create foreign table far (id int, name text) server nowhere;
    create view over_far as select id, name from far;
    create view over_view_over_far as select id from over_far;
    create unlogged table unlogged_one (id int primary key, n int);
    create temporary table temporary_one (id int primary key);
    create materialized view totals as select region, sum(amount) as total from sale group by region;
    create table nothing ();
    insert into nothing default values;
    create table later (id int primary key deferrable initially deferred, n int);
    create table generated_only (n int generated always as (1) stored);
    create type shape as (id int, label text);
    create table typed of shape (primary key (id));
    create table ruled (id int primary key, n int);
    create table ruled_log (id int);
    create rule also as on insert to ruled do also insert into ruled_log values (new.id);
  `,
    tables(),
  );

  test('a partitioned table has all eleven operations; its partitions have none', async () => {
    expect(operations(gateway, 'sale')).toEqual(everything);
    expect(published(gateway).filter((line) => line.includes('north'))).toEqual([]);
    const upsert = '/api/sale/on-conflict-do-update/returning';
    expect(await ask(gateway, `PUT ${upsert}`, { id: 1, region: 's', amount: 9 })).toEqual([
      200,
      [{ id: 1, region: 's', amount: 9 }],
    ]);
    expect(
      await ask(gateway, 'PUT /api/sale/on-conflict-do-nothing/returning', { id: 1, region: 'n', amount: 9 }),
    ).toEqual([200, []]);
    expect(await ask(gateway, 'GET /api/sale?region=n')).toEqual([200, [{ id: 1, region: 'n', amount: 5 }]]);
    expect(await ask(gateway, 'PUT /api/sale', { id: 1, region: 'west', amount: 9 })).toEqual(
      refusal(400, { code: '23514', title: /no partition/ }),
    );
    expect(await ask(gateway, 'POST /api/sale/returning', { id: 1, region: 'n', amount: 7 })).toEqual([
      200,
      [{ id: 1, region: 'n', amount: 7 }],
    ]);
  });

  test('a parent includes the rows of its children, in updates too', async () => {
    expect(await ask(gateway, 'GET /api/parent?id=1')).toEqual([
      200,
      [
        { id: 1, note: 'p' },
        { id: 1, note: 'c' },
      ],
    ]);
    expect(operations(gateway, 'child')).toEqual(withoutKey);
    expect(await ask(gateway, 'POST /api/parent/returning', { id: 2, note: 'e' })).toEqual([
      200,
      [{ id: 2, note: 'e' }],
    ]);
  });

  test('an unreadable foreign table does not stop the start', async () => {
    expect(operations(gateway, 'far')).toEqual(['select']);
    expect(operations(gateway, 'over_far')).toEqual(['select']);
    expect(operations(gateway, 'over_view_over_far')).toEqual(['select']);
    expect(await ask(gateway, 'GET /api/far')).toEqual(refusal(500, { title: /has no handler/ }));
  });

  test('unlogged and typed tables are published; temporary tables are not', () => {
    expect(operations(gateway, 'unlogged_one')).toEqual(everything);
    expect(operations(gateway, 'typed')).toEqual(everything);
    expect(operations(gateway, 'temporary_one')).toEqual([]);
  });

  test('a materialized view has select only', async () => {
    expect(operations(gateway, 'totals')).toEqual(['select']);
    expect(await ask(gateway, 'GET /api/totals?region=n')).toEqual([200, [{ region: 'n', total: 5 }]]);
  });

  test('a table without columns', async () => {
    expect(operations(gateway, 'nothing')).toEqual(['select', 'delete', 'insert']);
    expect(await ask(gateway, 'GET /api/nothing')).toEqual([200, [{}]]);
    expect(await ask(gateway, 'PUT /api/nothing', {})).toEqual(refusal(404, { missing: [] }));
    expect(await ask(gateway, 'GET /api/nothing?x=1')).toEqual(refusal(400, { unknown: ['x'] }));
    expect(await ask(gateway, 'PUT /api/generated-only/returning', {})).toEqual(refusal(404, { missing: [] }));
  });

  test('ON CONFLICT needs a key that is not deferrable, and no rules', async () => {
    expect(operations(gateway, 'later')).toEqual(withoutConflict);
    expect(operations(gateway, 'ruled')).toEqual(withoutConflict);
    expect(await ask(gateway, 'PUT /api/ruled/returning', { id: 1, n: 2 })).toEqual([200, [{ id: 1, n: 2 }]]);
  });
});

describe('views', () => {
  const gateway = useGateway(
    `
    create table item (id int generated always as identity primary key, name text not null, price numeric(8,2) default 1,
      gross numeric generated always as (price * 2) stored, kind text);
    insert into item (name, kind) values ('a', 'x'), ('b', 'y');
    create view plain as select id, name, price, gross from item;
    create view mixed as select name as title, id as number, upper(name) as loud, (select count(*) from item) as amount from item;
    create view over as select number, title from mixed;
    create view checked as select id, name, kind from item where kind = 'x' with check option;
    create view joined as select i.id, j.name from item i join item j using (id);
    create view doubled as select id, name, name as again from item;
    create view keyless as select name, kind from item;
    create view inserted as select i.id, i.name || '!' as shout from item i join item j using (id);
    create function insert_item() returns trigger language plpgsql as
      $$ begin insert into item (name, kind) values (new.shout, 'trigger') returning id into new.id; return new; end $$;
    create trigger t instead of insert on inserted for each row execute function insert_item();
    create view all_triggers as select id, name from item;
    create function no_item() returns trigger language plpgsql as
      $$ begin if tg_op = 'DELETE' then return old; end if; new.name := tg_op || new.name; return new; end $$;
    create trigger t instead of insert or update or delete on all_triggers for each row execute function no_item();
    create view over_triggers as select id, name from all_triggers;
    create view ruled as select i.id, i.name from item i join item j using (id);
    create rule r as on delete to ruled do instead delete from item where id = old.id;
    create view no_writable as select id + 1 as next from item;
    create view defaults as select id, name, kind from item;
    alter view defaults alter kind set default 'of the view';
    create table mandatory (id int primary key, must text not null, may text);
    create view over_mandatory as select id, must, may from mandatory;
  `,
    tables(),
  );

  test('views have the operations that PostgreSQL supports on them', () => {
    expect(operations(gateway, 'plain')).toEqual(everything);
    expect(operations(gateway, 'mixed')).toEqual(everything);
    expect(operations(gateway, 'over')).toEqual(everything);
    expect(operations(gateway, 'checked')).toEqual(everything);
    expect(operations(gateway, 'joined')).toEqual(['select']);
    expect(operations(gateway, 'keyless')).toEqual(withoutKey);
    expect(operations(gateway, 'inserted')).toEqual(['select', 'insert', 'insertReturning']);
    expect(operations(gateway, 'all_triggers')).toEqual(withoutConflict);
    expect(operations(gateway, 'over_triggers')).toEqual(withoutConflict);
    expect(operations(gateway, 'ruled')).toEqual(['select', 'delete', 'deleteReturning']);
    expect(operations(gateway, 'no_writable')).toEqual(['select', 'delete', 'deleteReturning']);
  });

  test('update, insert, upsert and delete through a view over a view', async () => {
    expect(await ask(gateway, 'POST /api/over/returning', { number: 1, title: 'A' })).toEqual([
      200,
      [{ number: 1, title: 'A' }],
    ]);
    expect(await ask(gateway, 'PUT /api/over/on-conflict-do-update/returning', { number: 1, title: 'AA' })).toEqual([
      200,
      [{ number: 1, title: 'AA' }],
    ]);
    expect(await ask(gateway, 'PUT /api/over/on-conflict-do-nothing/returning', { number: 1, title: 'B' })).toEqual([
      200,
      [],
    ]);
    expect(await ask(gateway, 'PUT /api/over/returning', { number: 70, title: 'seventy' })).toEqual([
      200,
      [{ number: 70, title: 'seventy' }],
    ]);
    expect(await ask(gateway, 'DELETE /api/over/returning?title=seventy')).toEqual([
      200,
      [{ number: 70, title: 'seventy' }],
    ]);
  });

  test('expressions are readable, not writable', async () => {
    const [status, body] = await ask(gateway, 'GET /api/mixed?number=2&loud=B');
    expect([status, body]).toEqual([200, [{ title: 'b', number: 2, loud: 'B', amount: 2 }]]);
    expect(await ask(gateway, 'POST /api/mixed', { number: 2, loud: 'x' })).toEqual(
      refusal(400, { unknown: ['loud'] }),
    );
    expect(await ask(gateway, 'PUT /api/mixed', { title: 'x', amount: 1 })).toEqual(
      refusal(400, { unknown: ['amount'] }),
    );
  });

  test('identity, generated and required columns are those of the table', async () => {
    expect(await ask(gateway, 'PUT /api/plain', { name: 'x', gross: 1 })).toEqual(refusal(400, { unknown: ['gross'] }));
    expect(await ask(gateway, 'PUT /api/plain/returning', { id: 50, name: 'x', price: '2.5' })).toEqual([
      200,
      [{ id: 50, name: 'x', price: 2.5, gross: 5 }],
    ]);
    expect(await ask(gateway, 'PUT /api/plain', { price: 1 })).toEqual(refusal(404, { missing: ['name'] }));
    expect(await ask(gateway, 'PUT /api/over-mandatory', { id: 1, may: 'x' })).toEqual(
      refusal(404, { missing: ['must'] }),
    );
    expect(await ask(gateway, 'PUT /api/defaults/returning', { id: 60, name: 'd' })).toEqual([
      200,
      [{ id: 60, name: 'd', kind: 'of the view' }],
    ]);
    await gateway.database.query('delete from item where id >= 50');
  });

  test('a second column with the same origin is read-only', async () => {
    expect(await ask(gateway, 'PUT /api/doubled', { name: 'x', again: 'x' })).toEqual(
      refusal(400, { unknown: ['again'] }),
    );
    expect(await ask(gateway, 'GET /api/doubled?again=b')).toEqual([200, [{ id: 2, name: 'b', again: 'b' }]]);
  });

  test('WITH CHECK OPTION refuses rows outside the view', async () => {
    expect(await ask(gateway, 'PUT /api/checked', { name: 'z', kind: 'other' })).toEqual(
      refusal(400, { code: '44000' }),
    );
    expect(await ask(gateway, 'POST /api/checked/returning', { id: 2, name: 'hidden' })).toEqual([200, []]);
  });

  test('INSTEAD OF triggers accept every column, without ON CONFLICT', async () => {
    const [status, body] = await ask(gateway, 'PUT /api/inserted/returning', { shout: 'hey' });
    expect([status, (body as { shout: string }[])[0]!.shout]).toEqual([200, 'hey']);
    expect(await ask(gateway, 'GET /api/item?kind=trigger&name=hey')).toMatchObject([200, [{ name: 'hey' }]]);
    expect(await ask(gateway, 'PUT /api/all-triggers/returning', { id: 5, name: 'x' })).toEqual([
      200,
      [{ id: 5, name: 'INSERTx' }],
    ]);
    expect(await ask(gateway, 'POST /api/over-triggers/returning', { id: 1, name: 'x' })).toEqual([
      200,
      [{ id: 1, name: 'UPDATEx' }],
    ]);
    expect(await ask(gateway, 'DELETE /api/all-triggers/returning?id=1')).toMatchObject([200, [{ id: 1 }]]);
  });
});

describe('columns', () => {
  const gateway = useGateway(
    `
    create domain required as text not null;
    create domain required_deeper as required;
    create domain with_default as int default 7;
    create domain required_with_default as int not null default 8;
    create table identities (a int generated always as identity primary key, b int generated by default as identity, c text);
    create table identity_aside (id int primary key, a int generated always as identity, c text);
    create table computed (id int primary key, base int, stored int generated always as (base * 2) stored
      ${serverVersion() >= 18 ? ', virtual int generated always as (base * 3) virtual' : ''});
    create table domains (id int primary key, a required, b with_default not null, c required_with_default, d required_deeper);
    create table defaulted (id serial primary key, made_at timestamptz not null default now(), note text default 'n');
    create table "Mixed Case" ("camelCase" int, "Upper" text, snake_case int, "with space" int, _leading int, "a.b" int, "a,b" int,
      "q""uote" int, "'single" int, "select" int, "ünï" int, "🎈" int, "r" int, excluded int, "$1" int, "${'n'.repeat(63)}" int,
      primary key ("camelCase", "with space"));
    create table hidden_twins (user_name text, "userName" text, id int primary key);
    create table single_underscore (_ int primary key, __ int);
    create table including (id int, name text, n int, primary key (id) include (name));
    create table "order" ("order" int primary key, "table" text);
  `,
    tables(),
  );

  test('identity columns accept values, GENERATED ALWAYS by overriding', async () => {
    expect(await ask(gateway, 'PUT /api/identities/returning', { c: 'x' })).toEqual([200, [{ a: 1, b: 1, c: 'x' }]]);
    expect(await ask(gateway, 'PUT /api/identities/returning', { a: 50, b: 60 })).toEqual([
      200,
      [{ a: 50, b: 60, c: null }],
    ]);
    expect(await ask(gateway, 'PUT /api/identities/on-conflict-do-update/returning', { a: 50, c: 'y' })).toEqual([
      200,
      [{ a: 50, b: 60, c: 'y' }],
    ]);
    expect(await ask(gateway, 'POST /api/identities/returning', { a: 50, b: 61 })).toEqual([
      200,
      [{ a: 50, b: 61, c: 'y' }],
    ]);
    const aside = '/api/identity-aside';
    expect(await ask(gateway, `PUT ${aside}/returning`, { id: 1, a: 9 })).toEqual([200, [{ id: 1, a: 9, c: null }]]);
    expect(await ask(gateway, `PUT ${aside}/on-conflict-do-update/returning`, { id: 1, a: 10, c: 'z' })).toEqual([
      200,
      [{ id: 1, a: 9, c: 'z' }],
    ]);
    expect(await ask(gateway, `POST ${aside}`, { id: 1, a: 10 })).toEqual(refusal(400, { unknown: ['a'] }));
  });

  test('generated columns cannot be written', async () => {
    const virtual = serverVersion() >= 18 ? { virtual: 15 } : {};
    expect(await ask(gateway, 'PUT /api/computed/returning', { id: 1, base: 5 })).toEqual([
      200,
      [{ id: 1, base: 5, stored: 10, ...virtual }],
    ]);
    expect(await ask(gateway, 'GET /api/computed?stored=10')).toEqual([
      200,
      [{ id: 1, base: 5, stored: 10, ...virtual }],
    ]);
    for (const name of ['stored', ...Object.keys(virtual)]) {
      expect(await ask(gateway, 'PUT /api/computed', { id: 2, [name]: 1 })).toEqual(refusal(400, { unknown: [name] }));
      expect(await ask(gateway, 'POST /api/computed', { id: 1, [name]: 1 })).toEqual(refusal(400, { unknown: [name] }));
    }
  });

  test('constraints and defaults of domains apply', async () => {
    expect(await ask(gateway, 'PUT /api/domains', { id: 1 })).toEqual(refusal(404, { missing: ['a', 'd'] }));
    expect(await ask(gateway, 'PUT /api/domains/returning', { id: 1, a: 'x', d: 'y' })).toEqual([
      200,
      [{ id: 1, a: 'x', b: 7, c: 8, d: 'y' }],
    ]);
    expect(await ask(gateway, 'PUT /api/domains', { id: 2, a: null, d: 'y' })).toEqual(refusal(400, { code: '23502' }));
  });

  test('columns that are not provided get their defaults', async () => {
    const [status, body] = await ask(gateway, 'PUT /api/defaulted/returning', { note: null });
    expect([status, body]).toMatchObject([200, [{ id: 1, note: null }]]);
  });

  test('an insert without columns is refused, even if every column has a default', async () => {
    const rows = await gateway.database.query('select id from defaulted');
    const missing = refusal(404, { missing: ['id', 'madeAt', 'note'], detail: /^Give at least one column/ });
    expect(await ask(gateway, 'PUT /api/defaulted/returning', {})).toEqual(missing);
    expect((await gateway.send('PUT /api/defaulted')).status).toBe(404);
    expect(await gateway.database.query('select id from defaulted')).toEqual(rows);
    const upsert = 'PUT /api/defaulted/on-conflict-do-update';
    expect(await ask(gateway, upsert, {})).toEqual(refusal(404, { missing: ['id'] }));
    expect(await ask(gateway, 'PUT /api/domains', {})).toEqual(refusal(404, { missing: ['id', 'a', 'd'] }));
  });

  test('unusual names, original or converted', async () => {
    const long = 'n'.repeat(63);
    const given = {
      camelCase: 1,
      upper: 'u',
      snake_case: 2,
      'with space': 3,
      leading: 4,
      'a.b': 5,
      'a,b': 6,
      'q"uote': 7,
      "'single": 8,
      select: 9,
      ünï: 10,
      '🎈': 11,
      r: 12,
      excluded: 13,
      $1: 14,
      [long]: 15,
    };
    const { snake_case: snake, ...rest } = given;
    const answer = { ...rest, snakeCase: snake };
    const path = '/api/mixed-case';
    expect(await ask(gateway, `PUT ${path}/returning`, given)).toEqual([200, [answer]]);
    const query = Object.entries(given).map(([key, value]) => `${encodeURIComponent(key)}=${value}`);
    expect(await ask(gateway, `GET ${path}?${query.join('&')}`)).toEqual([200, [answer]]);
    expect(
      await ask(gateway, `PUT ${path}/on-conflict-do-update/returning`, {
        ...given,
        excluded: 99,
        Upper: 'v',
        upper: undefined,
      }),
    ).toEqual([200, [{ ...answer, excluded: 99, upper: 'v' }]]);
    expect(
      await ask(gateway, `POST ${path}/returning`, { camelCase: 1, 'with space': 3, '🎈': 0, r: 0 }),
    ).toMatchObject([200, [{ '🎈': 0, r: 0 }]]);
    expect(await ask(gateway, `PUT ${path}`, { camelCase: 2, 'with space': 3, snake_case: 1, snakeCase: 1 })).toEqual(
      refusal(400, { unknown: ['snakeCase'] }),
    );
    expect(await ask(gateway, 'PUT /api/order/returning', { order: 1, table: 't' })).toEqual([
      200,
      [{ order: 1, table: 't' }],
    ]);
  });

  test('INCLUDE columns of the primary key are not part of the key', async () => {
    expect(await ask(gateway, 'PUT /api/including/on-conflict-do-update/returning', { id: 1, n: 1 })).toEqual([
      200,
      [{ id: 1, name: null, n: 1 }],
    ]);
    expect(await ask(gateway, 'POST /api/including/returning', { id: 1, name: 'x' })).toEqual([
      200,
      [{ id: 1, name: 'x', n: 1 }],
    ]);
    expect(await ask(gateway, 'POST /api/including', { name: 'x', n: 1 })).toEqual(refusal(404, { missing: ['id'] }));
  });

  test('two columns with the same converted name: the table is not published, and both are reported', () => {
    expect(operations(gateway, 'hidden_twins')).toEqual([]);
    const errors = gateway.gateway.diagnostics.filter(({ routine }) => routine.includes('hidden_twins'));
    expect(errors).toEqual([
      {
        severity: 'error',
        code: expect.any(String),
        routine: 'public.hidden_twins',
        line: null,
        message: expect.stringMatching(/user_name.*userName|userName.*user_name/),
      },
      ...errors.slice(1),
    ]);
    // Once for the parameters, once for the result columns.
    expect(errors.length).toBeLessThanOrEqual(2);
    expect(operations(gateway, 'single_underscore')).toEqual(everything);
  });
});

test('1,600 columns, of which a request may provide 1,000', async () => {
  const names = Array.from({ length: 1600 }, (_, index) => `c${index}`);
  const gateway = await startGateway(
    `create table wide (${names.map((name) => `${name} "char"`).join(', ')}, primary key (c0))`,
    tables(),
  );
  const body = Object.fromEntries(names.slice(0, 1000).map((name) => [name, 'x']));
  const row = Object.fromEntries(names.map((name, index) => [name, index < 1000 ? 'x' : null]));
  expect(await ask(gateway, 'PUT /api/wide/returning', body)).toEqual([200, [row]]);
  expect(await ask(gateway, 'PUT /api/wide/on-conflict-do-update/returning', { c0: 'x', c1599: 'y' })).toEqual([
    200,
    [{ ...row, c1599: 'y' }],
  ]);
  expect(await ask(gateway, 'GET /api/wide?c0=x&c1599=y')).toEqual([200, [{ ...row, c1599: 'y' }]]);
  await gateway.close();
});

test.runIf(serverVersion() >= 18)('a key WITHOUT OVERLAPS cannot be the target of ON CONFLICT', async () => {
  const gateway = await startGateway(
    `create table booking (room int4range, during daterange, guest text, primary key (room, during without overlaps))`,
    tables(),
  );
  expect(operations(gateway, 'booking')).toEqual(withoutConflict);
  const row = { room: '[1,2)', during: '[2024-01-01,2024-01-03)', guest: 'g' };
  expect(await ask(gateway, 'PUT /api/booking/returning', row)).toEqual([200, [row]]);
  expect(await ask(gateway, 'POST /api/booking/returning', { ...row, guest: 'h' })).toEqual([
    200,
    [{ ...row, guest: 'h' }],
  ]);
  expect(await ask(gateway, 'PUT /api/booking', { ...row, during: '[2024-01-02,2024-01-09)' })).toEqual(
    refusal(409, { code: '23P01' }),
  );
  await gateway.close();
});
