import { PostgrestClient } from '@supabase/postgrest-js';
import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { ask, postgrest } from './support.ts';

/** The columns of several related rows become lists; time zones of a request. */
const gateway = useGateway(
  `
  create table author (id int primary key, name text);
  create table book (id int primary key, title text, author_id int references author, sold timestamptz);
  create table genre (id int primary key, name text);
  create table book_genre (book_id int references book, genre_id int references genre, primary key (book_id, genre_id));
  insert into author values (1, 'Ann'), (2, 'Bob'), (3, 'Cy');
  insert into book values (1, 'One', 1, '2024-07-01 12:00Z'), (2, 'Two', 1, null), (3, 'Three', 2, null);
  insert into genre values (1, 'epic'), (2, 'crime');
  insert into book_genre values (1, 1), (1, 2), (3, 2);
  create function now_text() returns timestamptz language sql stable as $$select '2024-07-01 12:00Z'::timestamptz$$;
`,
  postgrest({ allowAggregates: true }),
);
const client = (): PostgrestClient => new PostgrestClient(`${gateway.url}/rest`);

test('several rows become lists in their order, with filters, limits and renamed columns', async () => {
  expect(
    await client()
      .from('author')
      .select('name, ...book(books:id, titles:title)')
      .order('id', { referencedTable: 'book', ascending: false })
      .order('id'),
  ).toMatchObject({
    data: [
      { name: 'Ann', books: [2, 1], titles: ['Two', 'One'] },
      { name: 'Bob', books: [3], titles: ['Three'] },
      { name: 'Cy', books: [], titles: [] },
    ],
  });
  expect(
    await client()
      .from('author')
      .select('id, ...book!inner(title)')
      .like('book.title', 'T*')
      .limit(1, { referencedTable: 'book' })
      .order('id'),
  ).toMatchObject({
    data: [
      { id: 1, title: ['Two'] },
      { id: 2, title: ['Three'] },
    ],
  });
  expect(
    await client().from('author').select('id, ...book!inner(title)', { count: 'exact' }).eq('book.title', 'One'),
  ).toMatchObject({ count: 1, data: [{ id: 1, title: ['One'] }] });
});

test('through a junction, nested, in groups, without columns, and in the rows of a write', async () => {
  expect(
    await client()
      .from('book')
      .select('id, ...genre(genres:name)')
      .order('id', { referencedTable: 'genre' })
      .eq('id', 1),
  ).toMatchObject({
    data: [{ id: 1, genres: ['epic', 'crime'] }],
  });
  expect(await client().from('author').select('id, ...book(title, genre(name))').eq('id', 2)).toMatchObject({
    data: [{ id: 2, title: ['Three'], genre: [[{ name: 'crime' }]] }],
  });
  expect(await client().from('author').select('id, ...book(title, ...genre(genres:name))').eq('id', 2)).toMatchObject({
    data: [{ id: 2, title: ['Three'], genres: [['crime']] }],
  });
  expect(await client().from('book').select('...author(id, ...book(all:id))').eq('id', 3)).toMatchObject({
    data: [{ id: 2, all: [3] }],
  });
  expect(await client().from('author').select('count(), ...book(id)').eq('id', 2)).toMatchObject({
    data: [{ count: 1, id: [3] }],
  });
  expect(await client().from('author').select('id, ...book()').eq('id', 2)).toMatchObject({ data: [{ id: 2 }] });
  expect(await client().from('author').update({ name: 'Bo' }).eq('id', 2).select('name, ...book(title)')).toMatchObject(
    {
      data: [{ name: 'Bo', title: ['Three'] }],
    },
  );
});

test.each([
  ['author?select=...book(title,title)', 'PGRST100'],
  ['author?select=...book(id.max())', 'PGRST127'],
  ['author?select=...book(none)', '42703'],
  ['author?select=...none(id)', 'PGRST200'],
])('%s is an error of the request', async (target, code) => {
  const response = await gateway.send(`GET /rest/${target}`);
  expect([response.status, JSON.parse(response.body).code]).toEqual([400, code]);
});

test('values have the time zone of the request', async () => {
  expect(await ask(gateway, 'GET /rest/book?select=sold&id=eq.1', { headers: { prefer: 'timezone=America/New_York' } }))
    .toMatchInlineSnapshot(`
    "200
    content-range: 0-0/*
    content-type: application/json; charset=utf-8
    preference-applied: timezone=America/New_York

    [{"sold":"2024-07-01T08:00:00-04:00"}]"
  `);
  expect(
    (
      await gateway.send('PATCH /rest/book?id=eq.1&select=sold', {
        headers: { prefer: 'timezone=Asia/Tokyo, return=representation' },
        body: { sold: '2024-07-01T12:00:00' },
      })
    ).body,
  ).toBe('[{"sold":"2024-07-01T12:00:00+09:00"}]');
  // The next request of the session has the zone of the server again.
  const { body } = await gateway.send('GET /rest/book?select=sold&id=eq.1');
  expect(new Date(JSON.parse(body)[0].sold).toISOString()).toBe('2024-07-01T03:00:00.000Z');
});

test('offsets are time zones, with the sign that PostgreSQL gives them', async () => {
  const zones = ['-4', '+05:30', '08', '+14:00'];
  const read = async (zone: string): Promise<string> => {
    const response = await gateway.send('GET /rest/book?select=sold&id=eq.1', {
      headers: { prefer: `timezone=${zone}` },
    });
    expect(response.headers.get('preference-applied')).toBe(`timezone=${zone}`);
    return JSON.parse(response.body)[0].sold as string;
  };
  expect(await Promise.all(zones.map(read))).toMatchInlineSnapshot(`
    [
      "2024-06-30T23:00:00-04:00",
      "2024-06-30T21:30:00-05:30",
      "2024-07-01T11:00:00+08:00",
      "2024-06-30T13:00:00-14:00",
    ]
  `);
});

test('the time zones are those of the server, in any case of letters', async () => {
  const names = (await gateway.database.query('select name from pg_timezone_names')).map(({ name }) => String(name));
  const known = new Set(names.map((name) => name.toLowerCase()));
  // A part of those that both know, and all that only Node.js knows.
  const node = Intl.supportedValuesOf('timeZone').filter(
    (zone, index) => index % 20 === 0 || !known.has(zone.toLowerCase()),
  );
  const candidates = [...node, 'utc', 'EUROPE/VIENNA', '+01', 'America/Coyhaique'];
  const applied = await Promise.all(
    candidates.map(async (zone) => {
      const { status, headers } = await gateway.send('HEAD /rest/book?select=id&limit=1', {
        headers: { prefer: `timezone=${zone}` },
      });
      return [zone, status, headers.get('preference-applied')];
    }),
  );
  expect(applied).toEqual(
    candidates.map((zone) => {
      const isKnown = known.has(zone.toLowerCase()) || zone === '+01';
      return isKnown ? [zone, 200, `timezone=${zone}`] : [zone, 400, null];
    }),
  );
});

test.each<[zone: string, message?: string, details?: string]>([
  ['Nowhere'],
  ["'; drop"],
  ['XYZ-3'],
  ['+16'],
  ['05:31'],
  ['05:30:00'],
  [''],
  ['localtime'],
  ['05:30:15', 'time zone "05:30:15" appears to use leap seconds', 'PostgreSQL does not support leap seconds.'],
])('a time zone that is unknown, or of a form that has too many, is an error: %s', async (zone, message, details) => {
  const error = {
    code: '22023',
    message: message ?? `invalid value for parameter "TimeZone": "${zone}"`,
    details: details ?? null,
    hint: null,
  };
  // The first one counts.
  for (const others of ['', ', timezone=Asia/Tokyo', ', handling=lenient', ', handling=strict']) {
    const { status, body } = await gateway.send('GET /rest/book?select=id&id=eq.1', {
      headers: { prefer: `timezone=${zone}${others}` },
    });
    expect([status, JSON.parse(body)]).toEqual([400, error]);
  }
});
