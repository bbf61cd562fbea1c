import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask, refusal, tables } from './support.ts';

const gateway = useGateway(
  `
  create schema "Shop One";
  create table author (id int primary key, name text not null constraint name_is_long check (length(name) > 1), email text);
  alter table author add constraint one_email unique (email);
  comment on constraint one_email on author is 'This address is in use.';
  create table book (id int primary key, author_id int constraint has_author references author, title text, isbn text unique,
    year int check (year > 1400), during int4range, constraint no_overlap exclude using gist (during with &&));
  comment on constraint has_author on book is 'A book and its author go together.';
  comment on constraint no_overlap on book is 'The shelf is taken.';
  create table "Shop One"."Item List" ("The Id" int constraint "pk""x" primary key, n int constraint "n, positive" check (n > 0));
  comment on constraint "pk""x" on "Shop One"."Item List" is 'There is such an item.';
  comment on constraint "n, positive" on "Shop One"."Item List" is 'Items are counted from one.';
  create view book_view as select id, isbn, author_id, during from book;
  create table parted (id int constraint parted_key primary key, n int constraint parted_check check (n > 0),
    author_id int constraint parted_author references author) partition by range (id);
  create table parted_low partition of parted for values from (0) to (100);
  comment on constraint parted_key on parted is 'Taken.';
  comment on constraint parted_check on parted is 'Too small.';
  comment on constraint parted_author on parted is 'An author goes with it.';
  create table raising (id int primary key, n int);
  create function refuse() returns trigger language plpgsql as
    $$ begin if new.n < 0 then raise exception 'never negative' using hint = 'give more'; end if; return new; end $$;
  create trigger t before insert or update on raising for each row execute function refuse();
  insert into author values (1, 'Ann', 'a@x'), (2, 'Bob', null);
  insert into book values (1, 1, 'One', 'i1', 2000, '[1,5)'), (2, 1, 'Two', 'i2', 2000, '[5,9)');
  insert into parted values (1, 1, 2);
`,
  tables(),
);

describe('violations', () => {
  test("a constraint without a comment has PostgreSQL's message and its name", async () => {
    expect(await ask(gateway, 'PUT /api/author', { id: 1, name: 'Cid' })).toEqual(
      refusal(409, {
        code: '23505',
        constraint: 'author_pkey',
        table: 'author',
        title: /duplicate key/,
        detail: /\(id\)=\(1\)/,
      }),
    );
    expect(await ask(gateway, 'PUT /api/book', { id: 9, isbn: 'i1' })).toEqual(
      refusal(409, { constraint: 'book_isbn_key' }),
    );
    expect(await ask(gateway, 'POST /api/book', { id: 2, isbn: 'i1' })).toEqual(
      refusal(409, { constraint: 'book_isbn_key' }),
    );
    expect(await ask(gateway, 'PUT /api/book/on-conflict-do-update', { id: 2, isbn: 'i1' })).toEqual(
      refusal(409, { constraint: 'book_isbn_key' }),
    );
    expect(await ask(gateway, 'PUT /api/author', { id: 3, name: 'x' })).toEqual(
      refusal(400, { code: '23514', constraint: 'name_is_long' }),
    );
    expect(await ask(gateway, 'POST /api/book/returning', { id: 1, year: 1000 })).toEqual(
      refusal(400, { code: '23514', constraint: 'book_year_check' }),
    );
    expect(await ask(gateway, 'PUT /api/author', { id: 3, name: null })).toEqual(
      refusal(400, { code: '23502', column: 'name', table: 'author' }),
    );
    expect(await ask(gateway, 'POST /api/author', { id: 1, name: null })).toEqual(
      refusal(400, { code: '23502', column: 'name' }),
    );
  });

  test('the comment of a constraint is the message', async () => {
    expect(await ask(gateway, 'POST /api/author', { id: 2, email: 'a@x' })).toEqual(
      refusal(409, { code: '23505', constraint: 'one_email', title: 'This address is in use.' }),
    );
    expect(await ask(gateway, 'PUT /api/book', { id: 9, authorId: 77 })).toEqual(
      refusal(400, { code: '23503', constraint: 'has_author', title: 'A book and its author go together.' }),
    );
    // The same foreign key, violated by a delete.
    expect(await ask(gateway, 'DELETE /api/author?id=1')).toEqual(
      refusal(400, {
        code: '23503',
        constraint: 'has_author',
        table: 'book',
        title: 'A book and its author go together.',
      }),
    );
    expect(await ask(gateway, 'PUT /api/book', { id: 9, during: '[2,3)' })).toEqual(
      refusal(409, { code: '23P01', constraint: 'no_overlap', title: 'The shelf is taken.' }),
    );
  });

  test('quoted names', async () => {
    const path = '/api/shop-one/item-list';
    expect(await ask(gateway, `PUT ${path}`, { 'The Id': 1, n: 1 })).toEqual([204, null]);
    expect(await ask(gateway, `PUT ${path}`, { 'The Id': 1, n: 1 })).toEqual(
      refusal(409, { constraint: 'pk"x', title: 'There is such an item.' }),
    );
    expect(await ask(gateway, `POST ${path}`, { 'The Id': 1, n: 0 })).toEqual(
      refusal(400, { constraint: 'n, positive', title: 'Items are counted from one.' }),
    );
  });

  test('a view has the constraints of its table', async () => {
    expect(await ask(gateway, 'PUT /api/book-view', { id: 9, authorId: 77 })).toEqual(
      refusal(400, { constraint: 'has_author', title: 'A book and its author go together.' }),
    );
    expect(await ask(gateway, 'PUT /api/book-view', { id: 9, isbn: 'i1' })).toEqual(
      refusal(409, { constraint: 'book_isbn_key' }),
    );
  });

  test('the comment of a partitioned table counts where PostgreSQL names the partition', async () => {
    expect(await ask(gateway, 'PUT /api/parted', { id: 1, n: 1 })).toEqual(refusal(409, { title: 'Taken.' }));
    expect(await ask(gateway, 'PUT /api/parted', { id: 2, n: 0 })).toEqual(refusal(400, { title: 'Too small.' }));
    expect(await ask(gateway, 'PUT /api/parted', { id: 3, n: 1, authorId: 77 })).toEqual(
      refusal(400, { title: 'An author goes with it.' }),
    );
    expect(await ask(gateway, 'DELETE /api/author?id=2')).toEqual(refusal(400, { title: 'An author goes with it.' }));
  });

  test('an error that a trigger raises', async () => {
    expect(await ask(gateway, 'PUT /api/raising', { id: 1, n: -1 })).toEqual(
      refusal(400, { code: 'P0001', title: 'never negative', hint: 'give more' }),
    );
  });
});

test('a statement that fails changes nothing', async () => {
  const before = await gateway.database.query('select * from book order by id');
  // The second of the two matching rows fails.
  await gateway.database.query(
    `create table pair (a int, b int, n int unique, primary key (a, b)); insert into pair values (1, 1, 1), (1, 2, 2)`,
  );
  await gateway.gateway.refresh();
  expect(await ask(gateway, 'POST /api/pair/returning', { a: 1, n: 5 })).toEqual(
    refusal(409, { constraint: 'pair_n_key' }),
  );
  expect(await gateway.database.query('select * from pair order by b')).toEqual([
    { a: 1, b: 1, n: 1 },
    { a: 1, b: 2, n: 2 },
  ]);
  expect(await ask(gateway, 'DELETE /api/author/returning?name=Ann')).toEqual(refusal(400));
  expect(await gateway.database.query('select * from book order by id')).toEqual(before);
});
