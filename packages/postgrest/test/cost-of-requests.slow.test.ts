import { request as startRequest } from 'node:http';
import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';

/** Requests within the limits of size whose parts are nested, repeated or unfinished: none takes long before its statement is sent. */

const gateway = useGateway(
  `
  create table author (id int primary key, name text);
  create table doc (id int primary key, data jsonb, tags text[], name text, author_id int references author, parent int references doc);
  create type part as (a int, b text, c int[]);
  create function numbers(_n int[]) returns int language sql stable as 'select 1';
  comment on function numbers is 'HTTP POST';
  create function document(_d json) returns int language sql stable as 'select 1';
  comment on function document is 'HTTP POST';
  create function parts(_p part) returns int language sql stable as 'select 1';
  comment on function parts is 'HTTP POST';
  create function one(_a int, _b text default '', _n int[] default null) returns int language sql stable as 'select 1';
  comment on function one is 'HTTP GET';
`,
  {
    routineSources: [functionsSource(), postgrestSource({ path: '/rest', allowAggregates: true, planEnabled: true })],
    commentsMode: 'parseAll',
  },
);

/** Characters below the limits. */
const urlSize = 7_900;
const headerSize = 12_000;
const bodySize = 1_000_000;

/** Repeats a text up to a size. */
function fill(text: string, size: number): string {
  return text.repeat(Math.floor(size / text.length));
}

/** A list of elements up to a size. */
function list(element: string, size: number, separator = ','): string {
  return fill(element + separator, size) + element;
}

/** A list of different names. */
function names(count: number, toElement = (name: string): string => name): string {
  return Array.from({ length: count }, (_, index) => toElement((index + 1_296).toString(36))).join(',');
}

const path = `data${'->a'.repeat(32)}`;

const urls = {
  'steps of one path': `/rest/doc?select=data${fill('->a', urlSize)}`,
  paths: `/rest/doc?select=${list('a:data->b->c', urlSize)}`,
  'long paths': `/rest/doc?select=${list(`a:${path}`, urlSize)}`,
  'paths of a filter': `/rest/doc?or=(${list(`${path}.eq.1`, urlSize)})`,
  'order of grouped rows': `/rest/doc?select=${list('id', 1_400)},count()&order=${'name,'.repeat(31)}name`,
  'nested groups': `/rest/doc?or=${fill('(or', urlSize)}`,
  conditions: `/rest/doc?or=(${list('id.eq.1', urlSize)})`,
  'unfinished arrays': `/rest/doc?or=(${list('tags.cs.%7Bx', urlSize)})`,
  'elements of in': `/rest/doc?id=in.(${list('1', urlSize)})`,
  'nested relations': `/rest/doc?select=${fill('doc!parent(', urlSize)}`,
  relations: `/rest/doc?select=${Array.from({ length: 30 }, (_, index) => `a${index}:author(*)`).join(',')}`,
  'pages of related rows': `/rest/doc?select=${list('a:b()', 2_900)}&${Array.from({ length: 430 }, (_, index) => `${index}.limit=1`).join('&')}`,
  'names of a level': `/rest/doc?${fill('a.', urlSize)}b=eq.1`,
  quotes: `/rest/doc?select=${fill('%22', urlSize)}`,
  spaces: `/rest/doc?select=id::${fill('+', urlSize)}`,
  'spread relations': `/rest/doc?select=${list('...author(name)', urlSize)}`,
  'nested spread aggregates': `/rest/doc?select=${'...author('.repeat(5)}${list('id.sum()', urlSize)}${')'.repeat(5)}`,
  casts: `/rest/doc?select=${list('id::text', urlSize)}`,
  aliases: `/rest/doc?select=${list('a:id', urlSize)}`,
  aggregates: `/rest/doc?select=${list('id.sum()', urlSize)}`,
  hints: `/rest/doc?select=author${fill('!author_id', urlSize)}(id)`,
  'terms of order': `/rest/doc?order=${list('id.desc.nullslast', urlSize)}`,
  'words of a term': `/rest/doc?order=id${fill('.desc', urlSize)}`,
  'elements of any': `/rest/doc?id=eq(any).{${list('1', urlSize)}}`,
  'languages of a search': `/rest/doc?name=fts(${fill('a', urlSize)}).a`,
  'names of conflicts': `/rest/doc?on_conflict=${list('"a"', urlSize)}`,
  'backslashes in quotes': `/rest/doc?or=(name.eq."${fill('\\\\', urlSize)}`,
  'blanks in groups': `/rest/doc?or=(${fill('+', urlSize)}`,
  columns: `/rest/doc?columns=${fill('+', urlSize)}`,
  keys: `/api/one?a=1&${list('b=', urlSize, '&')}`,
  'elements of a key': `/api/one?a=1&${list('n=1', urlSize, '&')}`,
} as const;

const headers = {
  'media types': { accept: list('a/b', headerSize) },
  'parameters of a media type': { accept: `a/b${fill(';', headerSize)}` },
  'time zones': { prefer: list('timezone=Europe/Vienna', headerSize) },
  'unknown time zones': { prefer: list('timezone=x', headerSize) },
  preferences: { prefer: list('a', headerSize) },
  ranges: { range: fill('0-', headerSize) },
  'parameters of a plan': { accept: `application/vnd.pgrst.plan+json;options=${list('analyze', headerSize, '|')}` },
  'media types of a plan': { accept: list('application/vnd.pgrst.plan+json;for="a/b"', headerSize) },
  offsets: { prefer: list('timezone=+05:30', headerSize) },
  'entity tags': { 'if-none-match': list('"a"', headerSize) },
  cookies: { cookie: list('a=b', headerSize, ';') },
} as const;

const bodies = {
  'arrays in an array': ['/api/numbers', `{"n":${fill('[', bodySize / 2)}${fill(']', bodySize / 2)}}`],
  'arrays in a document': ['/api/document', `{"d":${fill('[', bodySize / 2)}${fill(']', bodySize / 2)}}`],
  'objects in a composite value': ['/api/parts', `{"p":${fill('{"a":', bodySize)}`],
  'rows in rows': ['/rest/doc', fill('[', bodySize)],
  'values in a row': ['/rest/doc', `[{"id":1,"data":${fill('{"a":', bodySize)}`],
  'keys beside listed ones': [`/rest/doc?columns=${names(1_950)}`, `[${names(5_000, (name) => `{"${name}":1}`)}]`],
  'equal keys': ['/api/document', `{${list('"d":1', bodySize)}}`],
} as const;

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends a request, whose URL is not encoded, and reads its response. */
function send(url: string, { body, ...options }: Sent): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = startRequest({ port: new URL(gateway.url).port, host: '127.0.0.1', path: url, ...options });
    outgoing.on('error', reject).on('response', (response) => void response.on('end', resolve).resume());
    outgoing.end(body);
  });
}

/** Returns the least CPU time of some requests in milliseconds, with that of the client. */
async function cost(url: string, sent: Sent = {}): Promise<number> {
  const costs: number[] = [];
  for (let count = 0; count < 4; count++) {
    const start = process.cpuUsage();
    // One after the other.
    await send(url, sent);
    const { user, system } = process.cpuUsage(start);
    costs.push((user + system) / 1_000);
  }
  return Math.min(...costs);
}

/** Several times what a request takes: the machine may be busy. */
const maxMs = 40;

test.each(Object.entries(urls))('URL: %s', async (_, url) => {
  expect(await cost(url)).toBeLessThan(maxMs);
});

test.each(Object.entries(headers))('header: %s', async (_, header) => {
  expect(await cost('/rest/doc?limit=0', { headers: header })).toBeLessThan(maxMs);
});

test.each(Object.entries(bodies))('body: %s', async (_, [url, body]) => {
  expect(await cost(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })).toBeLessThan(
    maxMs,
  );
});
