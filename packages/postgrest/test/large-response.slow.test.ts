import { holdLock, useGateway } from '@pgway/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HeldLock } from '@pgway/testing';
import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { ask, postgrest } from './support.ts';

/** A response is held as a whole: its size is limited. */
const gateway = useGateway(
  `create table item (id int primary key, body text); insert into item select 1, repeat('x', 65 * 1024 * 1024);`,
  postgrest(),
);

test('a response that is too large is refused, and its write undone', async () => {
  expect(await ask(gateway, 'GET /rest/item?select=body')).toMatchInlineSnapshot(`
    "400
    content-type: application/json; charset=utf-8

    {"code":"54000","message":"The response is too large","details":"It has more than 67108864 bytes","hint":"Request fewer rows with \\"limit\\", or fewer columns and related rows with \\"select\\""}"
  `);
  for (const accept of [
    'text/csv',
    'application/vnd.pgrst.object+json',
    'application/vnd.pgrst.array+json;nulls=stripped',
  ]) {
    expect(await ask(gateway, 'GET /rest/item?select=body', { headers: { accept } })).toMatch(/^400[^]*"code":"54000"/);
  }
  const representation = { headers: { prefer: 'return=representation' }, body: { id: 2 } };
  expect(await ask(gateway, 'PATCH /rest/item?id=eq.1&select=body', representation)).toMatchInlineSnapshot(`
    "400
    content-type: application/json; charset=utf-8

    {"code":"54000","message":"The response is too large","details":"It has more than 67108864 bytes","hint":"Request fewer rows with \\"limit\\", or fewer columns and related rows with \\"select\\""}"
  `);
  expect(await ask(gateway, 'GET /rest/item?select=id')).toMatch(/^200[^]*\[{"id":1}\]$/);
  expect(await ask(gateway, 'PATCH /rest/item?id=eq.1&select=id', representation)).toMatch(/^200[^]*\[{"id":2}\]$/);
});

const range = (first: number, last: number): readonly { id: number }[] =>
  Array.from({ length: last - first + 1 }, (_, index) => ({ id: first + index }));

describe('rows are read until the limit only', () => {
  /** The element of a row from the 70th on waits until the lock is released. */
  const rows = useGateway(
    `
    create table author (id int primary key);
    create table book (id int primary key, author_id int references author);
    create table page (id int primary key, book_id int references book);
    create function content(n int) returns text language plpgsql as $$ begin
      if n % 1000 >= 70 then perform pg_advisory_xact_lock_shared(70); end if;
      return repeat('x', 1024 * 1024);
    end $$;
    create function content(book) returns text language sql as 'select content($1.id)';
    create function content(page) returns text language sql as 'select content($1.id)';
    create function contents() returns setof text language sql stable as 'select content(id) from book order by id';
    create function books() returns setof book language sql stable as 'select * from book order by id';
    insert into author values (1);
    insert into book select n, 1 from generate_series(1, 100) n;
    insert into page select n, n from generate_series(1, 100) n;
    `,
    { ...postgrest(), routineSources: [functionsSource(), postgrestSource()] },
  );
  let lock: HeldLock;
  beforeEach(async () => {
    lock = await holdLock(rows.database.connectionString, 70);
  });
  afterEach(() => lock.release());

  test.each([
    ['an array', 'GET /rest/book?select=content&order=id', 'application/json'],
    ['with a count', 'GET /rest/book?select=content&order=id', 'application/json', 'count=exact'],
    ['an object', 'GET /rest/book?select=content&order=id', 'application/vnd.pgrst.object+json'],
    ['without null values', 'GET /rest/book?select=content&order=id', 'application/json;nulls=stripped'],
    ['CSV', 'GET /rest/book?select=content&order=id', 'text/csv'],
    ['the rows of a function', 'GET /rest/rpc/books?select=content', 'application/json'],
    ['rows with a related row', 'GET /rest/page?select=content,book(id)&order=id', 'application/json'],
  ])('%s', async (_, line, accept, prefer = 'handling=lenient') => {
    expect(await ask(rows, line, { headers: { accept, prefer } })).toMatchInlineSnapshot(`
      "400
      content-type: application/json; charset=utf-8

      {"code":"54000","message":"The response is too large","details":"It has more than 67108864 bytes","hint":"Request fewer rows with \\"limit\\", or fewer columns and related rows with \\"select\\""}"
    `);
  });

  test.each([
    ['an array', 'PATCH /rest/book?id=gt.0&select=content', { author_id: 1 }, 'application/json'],
    ['in an order', 'DELETE /rest/page?id=gt.0&select=content&order=id', undefined, 'application/json'],
    [
      'without null values',
      'PATCH /rest/book?id=gt.0&select=content',
      { author_id: 1 },
      'application/json;nulls=stripped',
    ],
    ['CSV', 'POST /rest/book?select=content', range(1001, 1100), 'text/csv'],
    ['rows with a related row', 'POST /rest/page?select=content,book(id)', range(1001, 1100), 'application/json'],
    ['the rows of a function', 'POST /rest/rpc/books?select=content', {}, 'application/json'],
    ['the values of a function', 'POST /rest/rpc/contents', {}, 'application/json'],
  ])('of a write, which is undone: %s', async (_, line, body, accept) => {
    const sent = { body, headers: { accept, prefer: 'return=representation' } };
    expect(await ask(rows, line, sent)).toMatchInlineSnapshot(`
      "400
      content-type: application/json; charset=utf-8

      {"code":"54000","message":"The response is too large","details":"It has more than 67108864 bytes","hint":"Request fewer rows with \\"limit\\", or fewer columns and related rows with \\"select\\""}"
    `);
    const [counts] = await rows.database.query(
      'select (select count(*) from book where author_id = 1) as books, (select count(*) from page) as pages',
    );
    expect(counts).toEqual({ books: '100', pages: '100' });
  });

  test('related rows with related rows of their own', async () => {
    expect(await ask(rows, 'GET /rest/author?select=book(content,page(id))&book.order=id')).toMatchInlineSnapshot(`
      "400
      content-type: application/json; charset=utf-8

      {"code":"54000","message":"The response is too large","details":"The related rows of one row have 67111223 bytes; the limit is 67108864","hint":"Request fewer rows with \\"limit\\", or fewer columns and related rows with \\"select\\""}"
    `);
  });
});

describe('related rows of one row', () => {
  const related = useGateway(
    `
    create table author (id int primary key);
    create table book (id int primary key, author_id int references author, content text);
    insert into author values (1);
    insert into book select n, 1, repeat('x', 1024 * 1024) from generate_series(1, 64) n;
    `,
    postgrest(),
  );

  test('a list, and a list of values, that are too large', async () => {
    expect(await ask(related, 'GET /rest/author?select=book(content)')).toMatchInlineSnapshot(`
      "400
      content-type: application/json; charset=utf-8

      {"code":"54000","message":"The response is too large","details":"The related rows of one row have 67110018 bytes; the limit is 67108864","hint":"Request fewer rows with \\"limit\\", or fewer columns and related rows with \\"select\\""}"
    `);
    expect(await ask(related, 'GET /rest/author?select=...book(content)')).toMatchInlineSnapshot(`
      "400
      content-type: application/json; charset=utf-8

      {"code":"54000","message":"The response is too large","details":"The related rows of one row have 67109124 bytes; the limit is 67108864","hint":"Request fewer rows with \\"limit\\", or fewer columns and related rows with \\"select\\""}"
    `);
    const written = { body: { id: 1 }, headers: { prefer: 'return=representation' } };
    expect(await ask(related, 'PATCH /rest/author?id=eq.1&select=book(content)', written)).toMatchInlineSnapshot(`
      "400
      content-type: application/json; charset=utf-8

      {"code":"54000","message":"The response is too large","details":"The related rows of one row have 67110018 bytes; the limit is 67108864","hint":"Request fewer rows with \\"limit\\", or fewer columns and related rows with \\"select\\""}"
    `);
    expect(await ask(related, 'GET /rest/author?select=book(id)&book.limit=1')).toMatch(
      /^200[^]*\[{"book":\[{"id":1}\]}\]$/,
    );
  });
});
