import { randomBytes } from 'node:crypto';
import { createGateway, type GatewayOptions } from '@pgway/core';
import { pgbouncerVersion, startGateway, startPgBouncer, useDatabase, useGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startTenants } from '../tenants/support.ts';
import { ask, refusal, seen, tables } from './support.ts';

/** `select`, related rows, and groups of conditions of listings. */

const sql = `
  create table country (code text primary key, name text not null);
  create table author (id int primary key, full_name text not null, home text references country, born date);
  create table book (
    id int primary key, title text not null, author_id int references author, editor_id int references author,
    price numeric, pages bigint, data jsonb, printed_at timestamptz);
  create table genre (id int primary key, name text not null);
  create table book_genre (book_id int references book, genre_id int references genre, primary key (book_id, genre_id));
  insert into country values ('NO', 'Norway'), ('PL', 'Poland');
  insert into author values (1, 'Sigrid', 'NO', '1882-05-20'), (2, 'Olga', 'PL', '1962-01-29'), (3, 'Knut', null, null);
  insert into book values
    (1, 'Kristin', 1, 2, 20.50, 9007199254740993, '{"lang": {"code": "no"}, "tags": ["a", "b"]}', '2020-01-02 03:04:05+00'),
    (2, 'Jenny', 1, null, 12, 300, '{"lang": {"code": "no"}}', null),
    (3, 'Flights', 2, 1, null, 400, null, null);
  insert into genre values (1, 'novel'), (2, 'long');
  insert into book_genre values (1, 1), (1, 2), (2, 1);
`;

const options = { listing: true, listingLimits: { defaultLimit: 10, maxLimit: 20 } };
const gateway = useGateway(sql, { ...tables(options), logCommands: true });

const get = (target: string, headers: Readonly<Record<string, string>> = {}): Promise<readonly [number, unknown]> =>
  ask(gateway, `GET /api/${target}`, undefined, headers);

describe('select', () => {
  test.each<[string, unknown]>([
    ['book?select=id,title&id=1', [{ id: 1, title: 'Kristin' }]],
    ['book?select=authorId,author_id&id=1', [{ authorId: 1, author_id: 1 }]],
    [
      'book?select=name:title,price::text,printedAt,printed:printed_at::date,n:price::int4,l:id::text&id=1',
      [
        {
          name: 'Kristin',
          price: '20.50',
          printedAt: '2020-01-02T03:04:05+00:00',
          printed: '2020-01-02',
          n: 21,
          l: '1',
        },
      ],
    ],
    [
      'book?select=id,lang:data->lang->>code,tags:data->tags&data->lang->>code=eq.no',
      [
        { id: 1, lang: 'no', tags: ['a', 'b'] },
        { id: 2, lang: 'no', tags: null },
      ],
    ],
    [
      'book?select=id,author!author_id(fullName,country(name))&id=lte.2',
      [1, 2].map((id) => ({ id, author: { fullName: 'Sigrid', country: { name: 'Norway' } } })),
    ],
    ['author?select=*,country(*)&id=3', [{ id: 3, fullName: 'Knut', home: null, born: null, country: null }]],
    [
      'author?select=fullName,book!author_id(title)&book.order=title.desc&book.limit=1',
      [
        { fullName: 'Sigrid', book: [{ title: 'Kristin' }] },
        { fullName: 'Olga', book: [{ title: 'Flights' }] },
        { fullName: 'Knut', book: [] },
      ],
    ],
    [
      'book?select=title,genres:genre(name)&genres.name=eq.long&id=lte.2',
      [
        { title: 'Kristin', genres: [{ name: 'long' }] },
        { title: 'Jenny', genres: [] },
      ],
    ],
    ['book?select=title,genre!inner(name)&genre.name=eq.long', [{ title: 'Kristin', genre: [{ name: 'long' }] }]],
    ['book?select=id,book_genre(count)&id=1', [{ id: 1, book_genre: [{ count: 2 }] }]],
    [
      'book?select=title,...author!author_id(writer:full_name,born)&id=1',
      [{ title: 'Kristin', writer: 'Sigrid', born: '1882-05-20' }],
    ],
    ['book?select=id,author!editor_id()&and=(author.is.null)', [{ id: 2 }]],
  ])('%s', async (target, expected) => {
    const [status, body] = await get(target);
    expect([status, body]).toEqual([200, expected]);
  });

  test('* has the values of a request without select, in JSON and CSV', async () => {
    for (const accept of [
      'application/json',
      'text/csv',
      'application/x-ndjson',
      'application/json; numbers=strings',
    ]) {
      const all = await gateway.send('GET /api/book', { headers: { accept } });
      const selected = await gateway.send('GET /api/book?select=*', { headers: { accept } });
      expect([selected.status, selected.type, selected.body]).toEqual([200, all.type, all.body]);
    }
  });

  test('CSV has the columns of the request', async () => {
    const { type, body } = await gateway.send(
      'GET /api/book?select=id,writer:author!author_id(fullName),day:printed_at::date,lang:data->lang->>code&order=id.desc',
      { headers: { accept: 'text/csv' } },
    );
    expect([type, body]).toEqual([
      'text/csv; charset=utf-8; header=present',
      'id,writer,day,lang\n3,"{""fullName"":""Olga""}",,\n2,"{""fullName"":""Sigrid""}",,no\n1,"{""fullName"":""Sigrid""}",2020-01-02,no\n',
    ]);
  });

  test('the statement', async () => {
    await get('book?select=id,lang:data->>lang,author!author_id(home)&id=gt.1&or=(price.gt.10,title.eq.x)&limit=2');
    const [command] = gateway.observations.filter(({ kind }) => kind === 'command').slice(-1);
    expect(command).toMatchObject({
      sql: `select "page"."id", (pg_catalog.to_json("page"."lang") operator(pg_catalog.#>>) '{}'), pg_catalog.to_json("page"."author") from (select "r"."id" as "id", ("r"."data" operator(pg_catalog.->>) $1::pg_catalog.text) as "lang", "e3"."value" as "author" from "public"."book" as "r" left join lateral (select pg_catalog.row_to_json("row".*) as "value" from (select "t2"."home" as "home" from "public"."author" as "t2" where "r"."author_id" operator(pg_catalog.=) "t2"."id" limit 1) "row") "e3" on true where "r"."id" operator(pg_catalog.>) $2::"pg_catalog"."int4" and ("r"."price" operator(pg_catalog.>) $3::"pg_catalog"."numeric" or "r"."title" operator(pg_catalog.=) $4::"pg_catalog"."text") order by "r"."id" limit $5::pg_catalog.int8) "page"`,
    });
  });

  test('pages, counts and versions', async () => {
    const page = await gateway.send('GET /api/book?select=title&order=title&after=Flights&after=3&limit=1', {
      headers: { prefer: 'count=exact' },
    });
    expect([page.body, page.headers.get('x-total-count')]).toEqual(['[{"title":"Jenny"}]', '3']);
    const inner = await gateway.send(
      'HEAD /api/book?select=id,genre!inner(name)&genre.name=eq.long&or=(id.eq.1,id.eq.2)',
      {
        headers: { prefer: 'count=exact' },
      },
    );
    expect([inner.status, inner.headers.get('x-total-count')]).toEqual([200, '1']);
    const own = await gateway.send('GET /api/book?select=title&id=1');
    const etag = own.headers.get('etag')!;
    expect(etag).toMatch(/^"\d+"$/);
    const again = await gateway.send('GET /api/book?select=title&id=1', { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    const related = await gateway.send('GET /api/book?select=title,author!author_id(id)&id=1');
    expect(related.headers.get('etag')).toBeNull();
  });

  test('QUERY has the parameters in its body', async () => {
    const form = await gateway.send('QUERY /api/book', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'select=id,genre(name)&genre.order=name&genre.limit=1&id=1',
    });
    expect(seen(form)).toEqual([200, [{ id: 1, genre: [{ name: 'long' }] }]]);
    const body = { select: 'id,genre(name)', 'genre.name': ['neq.long', 'neq.x'], or: '(id.eq.1,id.eq.9)' };
    expect(await ask(gateway, 'QUERY /api/book', body)).toEqual([200, [{ id: 1, genre: [{ name: 'novel' }] }]]);
    expect(await ask(gateway, 'QUERY /api/book', { select: 'id,genre(name)', 'genre.limit': 1, id: 'eq.2' })).toEqual([
      200,
      [{ id: 2, genre: [{ name: 'novel' }] }],
    ]);
    expect(
      await ask(gateway, 'QUERY /api/book', { select: 'id', id: ['gte.2', 'lt.3'], and: ['(id.gt.0)', '(id.lt.9)'] }),
    ).toEqual([200, [{ id: 2 }]]);
    expect(await ask(gateway, 'QUERY /api/book', { 'genre.name': { a: 1 } })).toEqual(
      refusal(400, { parameters: ['genre.name'] }),
    );
  });
});

describe('groups of conditions', () => {
  test.each<[string, readonly number[]]>([
    ['or=(title.eq.Jenny,price.is.null)', [2, 3]],
    ['not.or=(title.eq.Jenny,price.is.null)', [1]],
    ['and=(price.gt.10,price.lt.15)', [2]],
    ['not.and=(id.gt.1,price.is.null)', [1, 2]],
    ['or=(id.eq.1,and(price.not.is.null,pages.lt.1000))', [1, 2]],
    ['or=(id.eq.1,id.eq.2)&or=(id.eq.2,id.eq.3)', [2]],
    ['or=(authorId.eq.2,author_id.eq.9)&price=is.null', [3]],
    ['or=(data->lang->>code.eq.no,id.in.(3))&order=id.desc', [3, 2, 1]],
  ])('%s', async (query, expected) => {
    const [status, body] = await get(`book?${query}`);
    expect([status, (body as { id: number }[]).map(({ id }) => id)]).toEqual([200, expected]);
  });

  test('columns with the names of the parameters have theirs', async () => {
    const reserved = await startGateway(
      `create table odd (id int primary key, "select" int, "or" text, "and" int, "a.b" int);
       insert into odd values (1, 5, 'x', 7, 9), (2, 6, 'y', 8, 10)`,
      tables({ listing: true }),
    );
    try {
      const ids = async (query: string): Promise<unknown> => ask(reserved, `GET /api/odd?${query}`);
      expect(await ids('select=5&or=x&and=7&a.b=9&$select=id')).toEqual([200, [{ id: 1 }]]);
      expect(await ids('$or=(select.eq.6,"a.b".eq.11)&$select=or,"a.b"')).toEqual([200, [{ or: 'y', 'a.b': 10 }]]);
    } finally {
      await reserved.close();
    }
  });
});

describe('refused', () => {
  const related =
    'book is related with "author" in several ways: book_author_id_fkey using book(author_id) and author(id); book_editor_id_fkey using book(editor_id) and author(id). Write one of author!book_author_id_fkey, author!book_editor_id_fkey.';
  const columns = 'id, title, authorId, editorId, price, pages, data, printedAt';

  test.each<[string, string, number | undefined, string]>([
    ['book?select=id,author(id)', 'select', 3, related],
    ['book?select=id,nope', 'select', 3, `"nope" is not a column of book; the columns are ${columns}.`],
    ['book?select=genre(id,nope)', 'select', 9, '"nope" is not a column of genre; the columns are id, name.'],
    [
      'book?select=id,x:nope(y)',
      'select',
      5,
      'book is not related with "nope" here; it is related with author, book_genre, genre.',
    ],
    [
      'book?select=id,genre!x(id)',
      'select',
      3,
      'book is not related with "genre!x" here; it is related with author, book_genre, genre.',
    ],
    ['book?select=', 'select', undefined, 'a column or related table with columns is expected.'],
    ['book?select=id,', 'select', 3, 'a name is expected.'],
    ['book?select=genre(id', 'select', 8, '")" is expected.'],
    ['book?select=*,id', 'select', undefined, '"id" appears twice; give one of them another name, as in other:id.'],
    ['book?select=author!author_id()', 'select', undefined, 'a column or related table with columns is expected.'],
    ['book?select=count', 'select', undefined, '"count" is not a column; "Prefer: count=exact" counts the rows.'],
    [
      'book?select=price.sum()',
      'select',
      undefined,
      'aggregates are not available; a function of the database can return them.',
    ],
    ['book?or=(nope.eq.1)', 'or', 1, `"nope" is not a column of book; the columns are ${columns}.`],
    ['book?or=(id.eq.1', 'or', 8, '")" is expected.'],
    [
      'book?and=(id.equals.1)',
      'and',
      undefined,
      '"equals" is not an operator; the operators are eq, neq, gt, gte, lt, lte, like, ilike, match, imatch, in, is, isdistinct, cs, cd, ov, sl, sr, nxr, nxl, adj, fts, plfts, phfts, wfts.',
    ],
    ['book?or=(data.gt.1,id.cs.1)', 'or', 11, '"id" is integer, which has no "cs".'],
    ['book?select=data->>lang->0', 'select', 0, '"->>" gives text, which has no "->0"; write "->" before it.'],
    ['book?author.order=id', 'author', undefined, '"author" is not a related table that "select" names.'],
    ['book?select=id,genre(id)&genre.limit=x', 'genre.limit', undefined, 'a number from 0 on is expected.'],
    [
      'book?select=id,x:id::nothing',
      'select',
      undefined,
      '"nothing" is not a type to cast to; the types are bit, bool, boolean, bytea, char, cidr, date, daterange, float4, float8, inet, int, int2, int4, int4range, int8, int8range, integer, interval, json, jsonb, macaddr, money, name, numeric, numrange, oid, real, smallint, bigint, text, time, timestamp, timestamptz, timetz, tsquery, tsrange, tstzrange, tsvector, uuid, varbit, varchar, character varying, double precision, time with time zone, time without time zone, timestamp with time zone, timestamp without time zone.',
    ],
  ])('%s', async (target, parameter, position, reason) => {
    expect(await get(target)).toEqual([
      400,
      {
        type: 'urn:pgway:problem:invalid-parameter',
        title: 'A parameter has an invalid value',
        status: 400,
        detail: `The parameter "${parameter}"${position === undefined ? '' : ` at position ${position}`}: ${reason}`,
        parameters: [parameter],
        ...(position === undefined ? {} : { position }),
      },
    ]);
  });

  test('a cast that the type does not have', async () => {
    expect(await get('book?select=printed_at::int4')).toEqual(
      refusal(400, {
        parameters: ['select'],
        detail:
          'PostgreSQL cannot evaluate what the request selects: cannot cast type timestamp with time zone to integer.',
      }),
    );
    expect(await get('book?select=title::int4')).toEqual(refusal(400, { code: '22P02' }));
    expect(await get('book?or=(title.fts.a b)')).toEqual(refusal(400, { code: '42601' }));
    const members = Array.from({ length: 101 }, () => 'id.eq.1').join();
    expect(await get(`book?or=(${members})`)).toEqual(refusal(400, { detail: /more than 100 filters/ }));
    expect(await get('book?or=(id.eq.x)')).toEqual(refusal(400, { parameters: ['or'] }));
  });

  test('limits: depth, relations, columns, conditions, steps', async () => {
    const nested = (depth: number): string => (depth === 0 ? 'id' : `book_genre(genre(${nested(depth - 1)}))`);
    expect(await get(`book?select=${nested(3).replaceAll('genre(book_genre', 'genre(id,book_genre')}`)).toEqual(
      refusal(400),
    );
    expect(await get(`book?select=${Array.from({ length: 31 }, (_, n) => `g${n}:genre(id)`).join()}`)).toEqual(
      refusal(400, { detail: /more than 30 relations/ }),
    );
    expect(await get(`book?select=${Array.from({ length: 501 }, (_, n) => `g${n}:id`).join()}`)).toEqual(
      refusal(400, { detail: /more than 500 items/ }),
    );
    expect(await get(`book?or=(${Array.from({ length: 101 }, () => 'id.eq.1').join()})`)).toEqual(
      refusal(400, { detail: /more than 100 filters/ }),
    );
    expect(await get(`book?select=x:data${'->a'.repeat(33)}`)).toEqual(refusal(400, { detail: /more than 32 steps/ }));
    const [, [author]] = (await get('author?select=book!author_id(id)&book.limit=99999&id=1')) as [
      number,
      { book: unknown[] }[],
    ];
    expect(author!.book.length).toBe(2);
  });

  test('unknown keys, and paths of endpoints without a listing', async () => {
    expect(await get('book?nope=1')).toEqual(refusal(400, { unknown: ['nope'] }));
    const plain = await startGateway('create table plain (id int primary key)', tables());
    try {
      expect(await ask(plain, 'GET /api/plain?select=id&a.b=1')).toEqual(refusal(400, { unknown: ['select', 'a.b'] }));
    } finally {
      await plain.close();
    }
  });
});

const pgbouncer = await pgbouncerVersion();

describe('other connections', () => {
  const target =
    'book?select=title,author!author_id(fullName),genre(name)&or=(title.eq.Jenny,and(price.not.is.null,price.gte.15))&not.and=(id.eq.3)&genre.name=eq.novel';
  const rows = ['Kristin', 'Jenny'].map((title) => ({
    title,
    author: { fullName: 'Sigrid' },
    genre: [{ name: 'novel' }],
  }));

  test('the databases of tenants', async () => {
    const tenants = await startTenants(['acme', 'globex'], sql, {
      ...(tables(options) as Omit<Partial<GatewayOptions>, 'tenant'>),
      tenant: { connectionStrings: {}, query: 'select name, connection_string from tenants', queryInterval: 3600 },
    });
    onTestFinished(() => tenants.close());
    await tenants.databases['globex']!.query(`update author set full_name = 'Another'`);
    expect(await (await tenants.send('acme', `GET /api/${target}`)).json()).toEqual(rows);
    const other = await (await tenants.send('globex', `GET /api/${target}`)).json();
    expect(other).toEqual(rows.map((row) => ({ ...row, author: { fullName: 'Another' } })));
  });

  test.skipIf(pgbouncer === null)('PgBouncer in transaction mode', async () => {
    const pooler = await startPgBouncer(gateway.database.connectionString, { mode: 'transaction', size: 1 });
    const pooled = await createGateway({
      connectionString: pooler.connectionString,
      pooler: 'transaction',
      preparedStatements: false,
      ...tables(options),
    });
    onTestFinished(async () => {
      await pooled.close();
      await pooler.stop();
    });
    const send = async (): Promise<unknown> => (await pooled.fetch(new Request(`http://x/api/${target}`)))!.json();
    expect(await Promise.all([send(), send(), send()])).toEqual([rows, rows, rows]);
  });
});

describe('access', () => {
  const role = `pgway_embed_${randomBytes(6).toString('hex')}`;
  const database = useDatabase(`
    create table owner (id int primary key, name text, secret text);
    create table item (id int primary key, owner_id int references owner, label text);
    create table hidden (id int primary key, item_id int references item, note text);
    create table guarded (id int primary key, item_id int references item);
    create table tenant_row (id int primary key, item_id int references item, tenant text);
    create table tag (id int primary key, name text);
    create table item_tag (item_id int references item, tag_id int references tag, primary key (item_id, tag_id));
    insert into owner values (1, 'Ann', 's1'), (2, 'Bob', 's2');
    insert into item values (1, 1, 'a'), (2, 2, 'b');
    insert into tag values (1, 't');
    insert into item_tag values (1, 1);
    comment on table hidden is 'disabled';
    comment on table item_tag is 'disabled';
    comment on table guarded is 'authorize admin';
    comment on table tenant_row is 'HTTP GET /tenants/{tenant}/rows';
    create role ${role} login password 'secret';
    grant select on item, hidden, guarded, tenant_row, tag, item_tag to ${role};
    grant select (id, name) on owner to ${role};
    alter table owner enable row level security;
    create policy first on owner using (id = 1);
  `);

  test('related rows are those that the role may read, of tables that the caller may call', async () => {
    const url = new URL(database.connectionString);
    url.username = role;
    url.password = 'secret';
    const limited = await createGateway({ connectionString: url.href, ...tables({ listing: true }) });
    const send = async (target: string): Promise<readonly [number, unknown]> => {
      const response = (await limited.fetch(new Request(`http://x/api/${target}`)))!;
      return [response.status, await response.json()];
    };
    try {
      expect(await send('item?select=id,owner(name)')).toEqual([
        200,
        [
          { id: 1, owner: { name: 'Ann' } },
          { id: 2, owner: null },
        ],
      ]);
      expect(await send('item?select=id,owner(*)')).toEqual(refusal(403, { code: '42501' }));
      expect(await send('item?select=id,owner(id)&owner.secret=eq.s2')).toEqual(refusal(403, { code: '42501' }));
      for (const name of ['hidden', 'guarded', 'tag', 'item_tag', 'tenant_row']) {
        expect(await send(`item?select=id,${name}(id)`)).toEqual(
          refusal(400, {
            detail: `The parameter "select" at position 3: item is not related with "${name}" here; it is related with owner.`,
          }),
        );
      }
    } finally {
      await limited.close();
      await database.query(`drop owned by ${role}; drop role ${role}`);
    }
  });
});

test('responses with related rows are not cached', async () => {
  const cached = await startGateway(
    `create table owner (id int primary key, name text);
     create table item (id int primary key, owner_id int references owner);
     insert into owner values (1, 'a'); insert into item values (1, 1);
     comment on table item is 'cached';`,
    tables({ listing: true }),
  );
  try {
    const read = async (query: string): Promise<unknown> => (await ask(cached, `GET /api/item?${query}`))[1];
    expect(await read('select=id,owner(name)')).toEqual([{ id: 1, owner: { name: 'a' } }]);
    expect(await read('select=ownerId')).toEqual([{ ownerId: 1 }]);
    expect(await read('select=o:ownerId')).toEqual([{ o: 1 }]);
    await cached.database.query(
      `update owner set name = 'b'; update item set owner_id = null; insert into item values (2)`,
    );
    expect(await read('select=id,owner(name)&id=1')).toEqual([{ id: 1, owner: null }]);
    expect(await read('select=ownerId')).toEqual([{ ownerId: 1 }]);
  } finally {
    await cached.close();
  }
});
