import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { ask, postgrest } from './support.ts';

/* Related rows within CSV are jsonb, as in PostgREST, which cannot have all values of json. */

const gateway = useGateway(
  String.raw`
  create table author (id int primary key, name text);
  create table book (id int primary key, author_id int references author, data json, title text);
  insert into author values (1, 'Ann'), (2, 'Bob'), (3, 'Cid'), (4, 'Dan');
  insert into book values (1, 1, '{"a":1}', 'One'), (2, 2, '"\u0000"', 'Two'), (3, 3, '"\ud800"', 'Three'), (4, 4, '1e999999', 'Four');
`,
  postgrest(),
);

const asCsv = (line: string): Promise<string> => ask(gateway, `GET /rest/${line}`, { headers: { accept: 'text/csv' } });

test('a value of json that jsonb can have is written as jsonb', async () => {
  expect(await asCsv('author?id=eq.1&select=name,book(data)')).toMatch(
    /\n\nname,book\nAnn,"\[\{""data"": \{""a"": 1\}\}\]"$/,
  );
});

test.each([
  ['an escaped NUL', 2, '22P05'],
  ['half of a surrogate pair', 3, '22P02'],
  ['a number beyond numeric', 4, '22003'],
])('%s in json is an error of PostgreSQL in related rows, and only there', async (_, id, code) => {
  for (const select of ['name,book(data)', 'name,...book(data)']) {
    const response = await asCsv(`author?id=eq.${id}&select=${select}`);
    expect(response).toMatch(/^400\n/);
    expect(response).toContain(`"code":"${code}"`);
  }
  expect(await asCsv(`author?id=eq.${id}&select=name,book(title)`)).toMatch(/^200\n/);
  expect(await asCsv(`book?id=eq.${id}&select=data`)).toMatch(/^200\n/);
  expect(await ask(gateway, `GET /rest/author?id=eq.${id}&select=name,book(data)`)).toMatch(/^200\n/);
});
