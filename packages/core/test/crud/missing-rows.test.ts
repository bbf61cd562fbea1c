import { randomBytes } from 'node:crypto';
import { crudSource } from '@pgway/core';
import { useGateway } from '@pgway/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { roleByHeader } from '../auth/role-by-header.ts';
import { ask } from './support.ts';

const ann = `ann_${randomBytes(6).toString('hex')}`;

const sql = `
  create role ${ann};
  create table note (id int primary key, owner text not null, body text);
  insert into note values (1, '${ann}', 'a'), (2, 'bob', 'b');
  alter table note enable row level security;
  create policy readable on note for select using (true);
  create policy own_update on note for update using (owner = current_user);
  create policy own_delete on note for delete using (owner = current_user);
  grant select, insert, update, delete on note to ${ann};

  create table place (city text, street text, name text, primary key (city, street)) partition by list (city);
  create table place_here partition of place for values in ('here');
  insert into place values ('here', 'main', 'old');
  create view places as select city as town, street, name from place;

  create table marked (id int primary key, name text, deleted boolean not null default false);
  insert into marked values (1, 'a');
  create function mark() returns trigger language plpgsql as $$ begin
    update marked set deleted = true where id = old.id;
    return null;
  end $$;
  create trigger mark before delete on marked for each row execute function mark();
  create view marked_names as select id, name from marked;

  create table ruled (id int primary key, name text);
  insert into ruled values (1, 'a');
  create rule elsewhere as on update to ruled do instead insert into marked (id, name) values (new.id + 100, new.name);
  create view by_trigger as select id, body from note;
  create function write_note() returns trigger language plpgsql as $$ begin
    update note set body = new.body where id = new.id;
    return null;
  end $$;
  create trigger write_note instead of update on by_trigger for each row execute function write_note();

  create table log_line (message text);
  grant all on all tables in schema public to ${ann};
`;

const notFound = [
  404,
  {
    type: 'urn:pgway:problem:row-not-found',
    title: 'No such row',
    status: 404,
    detail: 'No row meets the conditions, or you may not change it.',
  },
];

describe('an update or delete by the complete key', () => {
  const gateway = useGateway(sql, {
    routineSources: [crudSource()],
    commentsMode: 'parseAll',
    authentication: { schemes: [roleByHeader], databaseRole: { claim: 'db_role', anonymous: ann } },
  });
  afterAll(async () => {
    await gateway.database.query(`drop owned by ${ann}; drop role ${ann}`);
  });

  test.each([
    ['no row has it', 'POST /api/note', { id: 9, body: 'x' }],
    ['no row has it', 'DELETE /api/note?id=9', undefined],
    ['row level security hides the row', 'POST /api/note', { id: 2, body: 'x' }],
    ['row level security hides the row', 'DELETE /api/note?id=2', undefined],
    ['another condition does not hold', 'DELETE /api/note?id=1&body=other', undefined],
    ['no row of a partitioned table has it', 'POST /api/place', { city: 'here', street: 'side', name: 'x' }],
    ['no row of a view has it', 'POST /api/places', { town: 'here', street: 'side', name: 'x' }],
    ['no row of a view has it', 'DELETE /api/places?town=there&street=main', undefined],
    ['no row with a trigger BEFORE DELETE has it', 'POST /api/marked', { id: 9, name: 'x' }],
  ])('%s, %s: 404', async (_, line, body) => {
    expect(await ask(gateway, line, body)).toEqual(notFound);
    expect(await gateway.database.query('select * from note order by id')).toEqual([
      { id: 1, owner: ann, body: 'a' },
      { id: 2, owner: 'bob', body: 'b' },
    ]);
  });

  test.each([
    ['a part of the key', 'POST /api/place', { city: 'there', name: 'x' }],
    ['a part of the key', 'DELETE /api/place?city=there', undefined],
    ['a table without a key', 'DELETE /api/log-line?message=x', undefined],
    ['an update that a rule replaces', 'POST /api/ruled', { id: 1, name: 'x' }],
    ['a trigger that returns no row', 'POST /api/by-trigger', { id: 1, body: 'a' }],
  ])('with %s, %s: 204', async (_, line, body) => {
    expect(await ask(gateway, line, body)).toEqual([204, null]);
  });

  test('a trigger that marks a row as deleted: 204', async () => {
    const marked = (): Promise<unknown> => gateway.database.query('select deleted from marked where id = 1');
    for (const path of ['marked', 'marked-names']) {
      await gateway.database.query('update marked set deleted = false');
      expect([path, await ask(gateway, `DELETE /api/${path}?id=1`)]).toEqual([path, [204, null]]);
      expect(await marked()).toEqual([{ deleted: true }]);
    }
  });

  test('the variant that returns the rows: []', async () => {
    expect(await ask(gateway, 'POST /api/note/returning', { id: 2, body: 'x' })).toEqual([200, []]);
    expect(await ask(gateway, 'DELETE /api/note/returning?id=2')).toEqual([200, []]);
  });
});

describe('with allowMissingRow', () => {
  const gateway = useGateway('create table note (id int primary key, body text)', {
    routineSources: [crudSource({ allowMissingRow: true })],
    commentsMode: 'parseAll',
  });

  test.each([
    ['POST /api/note', { id: 9, body: 'x' }],
    ['DELETE /api/note?id=9', undefined],
  ])('%s: 204', async (line, body) => {
    expect(await ask(gateway, line, body)).toEqual([204, null]);
  });
});
