import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { crudSource } from '@pgway/core';
import { useGateway } from '@pgway/testing';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf, folderWith, root } from './support.ts';

/** The generated client calls its gateway, from Node and from a page in a browser. */

const sql = `
create type mood as enum ('sad', 'ok */ "quoted"');
create type place as (street text, moved_on timestamptz);
create table note (id int primary key generated always as identity, body text not null, at timestamptz);
insert into note (body, at) values ('milk', '2025-01-31 12:30:00+00'), ('silk', null);

create function get_notes(_like text default '%', _ids int[] default null) returns setof note language sql stable as
$$ select * from note where body like _like and (_ids is null or id = any (_ids)) order by id $$;
comment on function get_notes is 'HTTP';

create function get_note(_id int) returns note language sql stable as $$ select * from note where id = _id $$;
comment on function get_note is 'HTTP GET /api/notes/{id}';

create function add_note(_body text, _at timestamptz, _moods mood[] default null) returns int language sql as
$$ insert into note (body, at) values (_body, _at) returning id $$;
comment on function add_note is 'HTTP';

create function move(_home place, _more jsonb default null) returns place language sql as
$$ select row(_home.street, coalesce((_more ->> 'on')::timestamptz, _home.moved_on))::place $$;
comment on function move is 'HTTP';

create function where_is(_home place) returns text language sql immutable as $$ select coalesce(_home.street, 'nowhere') $$;
comment on function where_is is 'HTTP';

create function is_ok(_mood mood) returns boolean language sql immutable as $$ select _mood <> 'sad' $$;
comment on function is_ok is 'HTTP';

create function mood_of(_ok boolean) returns mood language sql immutable as
$$ select case when _ok then 'ok */ "quoted"'::mood when not _ok then 'sad' end $$;
comment on function mood_of is 'HTTP';

create function archive(_year int, _title text default null) returns text language sql stable as
$$ select concat_ws('/', _year, _title) $$;
comment on function archive is 'HTTP GET /archive/{year}/{title?}';

create function null_or(_text text, _number int) returns jsonb language sql stable as
$$ select jsonb_build_array(_text, _number) $$;
comment on function null_or is 'HTTP GET
query_null null_literal';

create function count_letters(_name text, _content text) returns int language sql as $$ select length(_content) $$;
comment on function count_letters is 'HTTP POST
body_parameter_name content';

create function bytes() returns bytea language sql stable as $$ select '\\x010203'::bytea $$;
comment on function bytes is 'HTTP GET';

create function forget(_id int) returns void language plpgsql as
$$ begin if _id < 0 then raise exception 'There is no note %', _id using hint = 'Count from 1.'; end if; end $$;
comment on function forget is 'HTTP DELETE /api/notes/{id}';

create function cancelled() returns int language plpgsql as
$$ begin raise exception 'not now' using errcode = 'query_canceled'; end $$;
comment on function cancelled is 'HTTP';

create function news(_text text) returns void language plpgsql as $$ begin raise info '%', _text; end $$;
comment on function news is 'HTTP POST
authorize
info_path
info_scope authorize';

create function slow() returns int language sql as $$ select 1 from pg_sleep(20) $$;
comment on function slow is 'HTTP';

create function overload(_a int) returns text language sql stable as $$ select 'a ' || _a $$;
comment on function overload(int) is 'HTTP GET';
create function overload(_a int, _b int) returns text language sql stable as $$ select 'b ' || _b $$;
comment on function overload(int, int) is 'HTTP GET';

create function with_status(_id int) returns int language sql stable as $$ select 10 / _id $$;
comment on function with_status is 'HTTP GET
tsclient_status_code = on
tsclient_parse_url = on
tsclient_parse_request = on';

create function members("constructor" text, "toString" text default 'none', "hasOwnProperty" text default 'none')
returns table ("constructor" text, "toString" text, "hasOwnProperty" text, "__proto__" text) language sql stable as
$$ select "constructor", "toString", "hasOwnProperty", 'data' $$;
comment on function members is 'HTTP GET /members/{constructor}/{toString?}';
create function words("toString" text default 'left out', "__proto__" text default 'left out') returns text language sql as
$$ select "toString" || ', ' || "__proto__" $$;
comment on function words is 'HTTP';
create function "then"() returns text language sql stable as $$ select 'at once' $$;
comment on function "then" is 'HTTP';

create function shelf() returns setof note language sql stable rows 2 as $$ select * from note order by id limit 1 $$;
comment on function shelf is 'HTTP GET
tsclient_status_code = on
X-Shelf: A 1';

create function sign_in(_name text, _scheme text) returns table (name text, scheme text, message text) language sql as
$$ select _name, _scheme, 'Welcome' where _name = 'ada' $$;
comment on function sign_in is 'HTTP
login';
create function who(_user_name text) returns text language sql stable as $$ select coalesce(_user_name, 'anonymous') $$;
comment on function who is 'HTTP
user_parameters';
create function steps() returns int language plpgsql as
$$ begin raise info 'first'; raise info E'second\nof two lines'; return 2; end $$;
comment on function steps is 'HTTP
info_path';
create function quiet_steps() returns void language plpgsql as $$ begin raise info 'unheard'; end $$;
comment on function quiet_steps is 'HTTP
info_path
tsclient_events = off';
create function sign_out() returns void language sql as $$ $$;
comment on function sign_out is 'HTTP
logout';

create type entry as (id bigint, "__proto__" bigint, n int, ids bigint[]);
create function double(_id bigint, _entries entry[], _price numeric)
returns table (id bigint, entries entry[], price numeric, text text) language sql immutable as
$$ select 2 * _id, _entries, _price, '12' $$;
comment on function double is 'HTTP POST
large_numbers string';
create function next_id(_id bigint default null) returns bigint language sql immutable as $$ select _id + 1 $$;
comment on function next_id is 'HTTP GET /next-id
large_numbers string';
create function ids(_from bigint) returns setof bigint language sql immutable as $$ values (_from), (null) $$;
comment on function ids is 'HTTP GET /ids/{from}
large_numbers string';

create function "odd ñ%"("a&b" text, "__proto_" text default '') returns text language sql stable as $$ select "a&b" $$;
comment on function "odd ñ%" is 'HTTP GET /api/odd-ñ%-[x]';
`;

// The module does not exist before the test.
// oxlint-disable-next-line typescript/no-explicit-any -- other tests compile it
type Client = any;

const gateway = useGateway(sql, { authentication: { cookie: true, bearer: true } });

/** The calls of the test. Runs in Node and in a browser. */
async function conversation(client: Client): Promise<unknown> {
  const aborted = new AbortController();
  const messages: string[] = [];
  const told = new Promise<void>((resolve) => {
    const onMessage = (message: string): void => {
      if (messages.push(message) === 2) resolve();
    };
    messages.length = 0;
    void client.steps({ onMessage }).then((steps: number) => (counted = steps));
  });
  let counted = 0;
  await told;
  const tokens = await client.signIn({ name: 'ada', scheme: 'bearer' });
  const slow = client.slow({ signal: aborted.signal }).catch((error: Error) => error.name);
  aborted.abort();
  const answers: unknown[] = [];
  const onResponse = ({ status, headers }: { status: number; headers: Headers }): void => {
    answers.push([status, headers.get('content-type')]);
  };
  return {
    members: [
      await client.membersConstructorToString({ constructor: 'a' }),
      await client.membersConstructorToString({ constructor: 'b', toString: 'c', hasOwnProperty: 'd' }),
    ],
    words: [await client.words(), await client.words({ toString: 'x', proto: 'y' }), await client.then_()],
    headers: [
      (await client.getNotes({}, { onResponse })).length,
      await client
        .notesIdDelete({ id: -1 }, { onResponse })
        .catch((error: Client) => error.headers.get('content-type')),
      (await client.shelf({ onResponse })).headers.get('x-shelf'),
      answers,
    ],
    notes: await client.getNotes(),
    some: await client.getNotes({ like: '%ilk', ids: [2, 99] }),
    ofLongUrl: await client.getNotes({ like: '%ilk', ids: Array.from({ length: 5000 }, (_, index) => index + 2) }),
    note: await client.notesIdGet({ id: 1 }),
    missing: await client.notesIdGet({ id: 99 }),
    moved: await client.move({ home: { street: 'Elm', movedOn: new Date(0) }, more: '{"on":"2025-01-01"}' }),
    whereIs: await client.whereIs({ homeStreet: 'a/b & c?', homeMovedOn: null }),
    ok: [
      await client.isOk({ mood: 'ok */ "quoted"' }),
      await client.isOk({ mood: 'sad' }),
      await client.isOk({ mood: null }),
    ],
    mood: [await client.moodOf({ ok: true }), await client.moodOf({ ok: null })],
    archive: [
      await client.archiveYearTitle({ year: 2025 }),
      await client.archiveYearTitle({ year: 1, title: '../x y/%' }),
    ],
    dots: await client.archiveYearTitle({ year: 1, title: '..' }).catch((error: Error) => error.message),
    nulls: [await client.nullOr({ text: null, number: null }), await client.nullOr({ text: '', number: 7 })],
    letters: await client.countLetters({ name: 'x', content: 'näh\n' }),
    bytes: [...new Uint8Array(await (await client.bytes()).arrayBuffer())],
    forgotten: await client.notesIdDelete({ id: 1 }),
    refused: await client
      .notesIdDelete({ id: -1 })
      .catch((error: Client) => [
        error instanceof client.GatewayError,
        error.status,
        error.message,
        error.problem.hint,
      ]),
    cancelled: await client.cancelled().catch((error: Client) => [error.name, error.status]),
    overloads: [await client.overload({ a: 1 }), await client.overload2({ a: 1, b: 2 })],
    odd: await client.oddÑX({ 'a&b': 'x=y&z' }),
    slow: await slow,
    followed: [messages, counted, await client.steps(), await client.quietSteps()],
    byToken: [tokens.token_type, await client.who({ headers: { Authorization: `Bearer ${tokens.access_token}` } })],
    strange: await client.signIn({ name: 'eve', scheme: 'bearer' }).catch((error: Client) => error.status),
    status: [
      await client
        .withStatus({ id: 5 })
        .then((result: Client) => ({ ...result, headers: result.headers instanceof Headers })),
      (await client.withStatus({ id: 0 })).problem.code,
      (await client.withStatus({ id: 5 }, (url: string) => `${url}0`)).response,
      (await client.withStatus({ id: 5 }, undefined, (init: RequestInit) => ({ ...init, method: 'PUT' }))).status,
    ],
  };
}

const members = (constructor: string, toString: string, hasOwnProperty: string): object => ({
  constructor,
  toString,
  hasOwnProperty,
  proto: 'data',
});

const expected = {
  members: [[members('a', 'none', 'none')], [members('b', 'c', 'd')]],
  words: ['left out, left out', 'x, y', 'at once'],
  headers: [
    2,
    'application/problem+json',
    'A 1',
    [
      [200, 'application/json'],
      [400, 'application/problem+json'],
      [200, 'application/json'],
    ],
  ],
  notes: [
    { id: 1, body: 'milk', at: '2025-01-31T12:30:00+00:00' },
    { id: 2, body: 'silk', at: null },
  ],
  some: [{ id: 2, body: 'silk', at: null }],
  ofLongUrl: [{ id: 2, body: 'silk', at: null }],
  note: { id: 1, body: 'milk', at: '2025-01-31T12:30:00+00:00' },
  missing: null,
  moved: { street: 'Elm', movedOn: '2025-01-01T00:00:00+00:00' },
  whereIs: 'a/b & c?',
  ok: [true, false, null],
  mood: ['ok */ "quoted"', null],
  archive: ['2025', '1/../x y/%'],
  dots: '".." cannot be a path segment',
  nulls: [
    [null, null],
    ['', 7],
  ],
  letters: 4,
  bytes: [1, 2, 3],
  forgotten: undefined,
  refused: [true, 400, 'There is no note -1', 'Count from 1.'],
  cancelled: ['GatewayError', 205],
  overloads: ['a 1', 'b 2'],
  odd: 'x=y&z',
  slow: 'AbortError',
  followed: [['first', 'second\nof two lines'], 2, 2, undefined],
  byToken: ['Bearer', 'ada'],
  strange: 401,
  status: [{ status: 200, headers: true, response: 2, problem: undefined }, '22012', 0, 405],
};

/** The browser stores the cookie and sends `Sec-Fetch-Site`. */
async function visit(client: Client): Promise<unknown> {
  const before = await client.who();
  const said = await client.signIn({ name: 'ada', scheme: 'cookie' });
  const inside = await client.who();
  const out = await client.signOut();
  return [before, said, inside, out, await client.who()];
}

interface Followed {
  readonly data: readonly string[];
  readonly states: readonly number[];
  readonly refused: unknown;
}

/** Follows a stream with a token, also after its connection was lost. Runs in Node and in a browser. */
async function follow(client: Client): Promise<Followed> {
  const globals = globalThis as { token?: string; loseConnections?: () => Promise<void> };
  globals.token = '';
  const refusal = client.newsEvents();
  const refused: unknown = await new Promise((resolve) => {
    refusal.onerror = ({ problem }: Client) => resolve([problem.status, refusal.readyState]);
  });
  globals.token = (await client.signIn({ name: 'ada', scheme: 'bearer' })).access_token;
  const aborted = new AbortController();
  const stream = client.newsEvents('', { signal: aborted.signal });
  const data: string[] = [];
  const states: number[] = [stream.readyState];
  const next = (count: number): Promise<void> =>
    new Promise((resolve) => {
      stream.onmessage = (event: Client) => {
        if (data.push(event.data) === count) resolve();
      };
    });
  const opened = new Promise((resolve) => stream.addEventListener('open', resolve, { once: true }));
  await opened;
  states.push(stream.readyState);
  const first = next(1);
  await client.news({ text: 'a\nb' });
  await first;
  const lost = new Promise((resolve) => stream.addEventListener('error', resolve, { once: true }));
  await globals.loseConnections!();
  await lost;
  states.push(stream.readyState);
  stream.addEventListener('gap', () => data.push('gap'));
  const second = next(3);
  // The first one is raised while the stream is closed.
  await client.news({ text: 'c' });
  await client.news({ text: 'd' });
  await second;
  aborted.abort();
  states.push(stream.readyState);
  const steps: string[] = [];
  let call: Promise<unknown> = Promise.resolve();
  const message = new Promise<void>((resolve) => {
    call = client.news({ text: 'own' }, { onMessage: (text: string) => resolve(void steps.push(text)) });
  });
  // The caller of this function closes the connections.
  await Promise.all([message, call]);
  return { data: [...data, ...steps], states, refused };
}

const followed: Followed = { data: ['a\nb', 'c', 'd', 'own'], states: [0, 1, 0, 2], refused: [401, 2] };
const token = { Authorization: '"Bearer " + globalThis.token' };

describe('in Node', () => {
  test('the module as TypeScript', async () => {
    const { folder, remove } = await folderWith([
      ...clientOf(gateway.gateway.endpoints, { customHost: gateway.url, parseBigints: true }),
      { path: 'package.json', content: '{ "type": "module" }' },
    ]);
    try {
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      const words = '--strict --target es2022 --lib es2022,dom --module esnext --moduleResolution bundler --types';
      await promisify(execFile)(process.execPath, [tsc, ...words.split(' '), '', 'client.ts'], { cwd: folder });
      const client: Client = await import(pathToFileURL(join(folder, 'client.js')).href);
      expect(await conversation(client)).toEqual(expected);
      expect(await client.addNote({ body: 'ink', at: new Date('2025-02-01T00:00:00Z'), moods: ['sad', null] })).toBe(3);
      expect(await client.notesIdGet({ id: 3 })).toEqual({ id: 3, body: 'ink', at: '2025-02-01T00:00:00+00:00' });
      await gateway.database.query('delete from note where id = 3');
      const entries = [{ id: 1n, proto: null, n: 2, ids: [3n, null] }, null];
      const [doubled] = await client.double({ id: 9007199254740993n, entries, price: '0.10' });
      expect(doubled).toEqual({ id: 18014398509481986n, entries, price: '0.10', text: '12' });
      expect([await client.nextId({ id: 9007199254740993n }), await client.nextId()]).toEqual([
        9007199254740994n,
        null,
      ]);
      expect(await client.idsFrom({ from: -5n })).toEqual([-5n, null]);
    } finally {
      await remove();
    }
  });

  test('an event stream of a caller with a token', async () => {
    const server = pageServer('').listen(0, '127.0.0.1');
    await once(server, 'listening');
    const customHost = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const options = { customHost, skipTypes: true, filePath: 'client.mts', customHeaders: token };
    const { folder, remove } = await folderWith(clientOf(gateway.gateway.endpoints, options));
    const loseConnections = (): Promise<void> => Promise.resolve(server.closeAllConnections());
    Object.assign(globalThis, { loseConnections });
    try {
      expect(await follow(await import(pathToFileURL(join(folder, 'client.mjs')).href))).toEqual(followed);
    } finally {
      for (const name of ['token', 'loseConnections']) Reflect.deleteProperty(globalThis, name);
      server.closeAllConnections();
      server.close();
      await remove();
    }
  });

  test('the module as plain JavaScript, with URLs', async () => {
    const { folder, remove } = await folderWith(
      clientOf(gateway.gateway.endpoints, {
        customHost: gateway.url,
        skipTypes: true,
        exportUrls: true,
        filePath: 'client.mts',
        customHeaders: { Accept: '"text/csv"' },
      }),
    );
    try {
      const client: Client = await import(pathToFileURL(join(folder, 'client.mjs')).href);
      expect(client.archiveYearTitleUrl({ year: 5, title: 'a b' })).toBe(`${gateway.url}/archive/5/a%20b`);
      expect(await (await fetch(client.overload2Url({ a: 1, b: 2 }))).text()).toBe('b 2');
      // Headers of the call override `customHeaders`, here `Accept: text/csv`.
      await expect(client.getNotes()).rejects.toThrow(SyntaxError);
      expect(await client.getNotes({ ids: [2] }, { headers: { Accept: 'application/json' } })).toEqual(expected.some);
    } finally {
      await remove();
    }
  });
});

const tables = useGateway(readFileSync(join(root, 'packages/generators/test/golden/tables/setup.sql'), 'utf8'), {
  sourcesCreated: (sources) => void sources.push(crudSource()),
});

test('operations on tables, from Node', async () => {
  const { folder, remove } = await folderWith(
    clientOf(tables.gateway.endpoints, { customHost: tables.url, skipTypes: true, filePath: 'tables.mts' }),
  );
  try {
    const client: Client = await import(pathToFileURL(join(folder, 'tables.mjs')).href);
    const createdAt = new Date('2025-01-31T12:30:00Z');
    const ada = { name: 'Ada', tier: 'gold', home: { street: 'St James Square' }, tags: ['a', null], createdAt };
    const row = {
      customerId: 1,
      name: 'Ada',
      tier: 'gold',
      home: { street: 'St James Square', city: null },
      tags: ['a', null],
      createdAt: '2025-01-31T12:30:00+00:00',
      nameLength: 3,
    };
    expect(await client.customersReturningPut(ada)).toEqual([row]);
    expect(await client.customersPut({ name: 'Bob', createdAt })).toBeUndefined();
    expect(await client.customersGet({ tier: 'gold' })).toEqual([row]);
    expect(await client.findCustomers({ name: 'A%' })).toEqual([row]);
    expect(await client.customersReturningPost({ customerId: 1, home: null })).toEqual([{ ...row, home: null }]);
    expect(await client.customersOnConflictDoUpdateReturningPut({ customerId: 1, name: 'Ada L' })).toMatchObject([
      { customerId: 1, name: 'Ada L', tier: 'gold', nameLength: 5 },
    ]);
    expect(await client.goldCustomersGet()).toEqual([{ customerId: 1, name: 'Ada L' }]);
    for (const line of [1, 2, 3])
      await client.orderLinesPut({ orderId: 7, line, article: `article ${line}`, price: line });
    const lines: Client = await client.orderLinesGet({ price: ['gt.1', 'lt.3'], order: 'line.desc', limit: 5 });
    expect(lines.map(({ line }: Client) => line)).toEqual([2]);
    expect(await client.customersReturningDelete({ customerId: 2 })).toMatchObject([{ name: 'Bob' }]);
    await expect(client.customersDelete({})).rejects.toMatchObject({ status: 400, name: 'GatewayError' });
  } finally {
    await remove();
  }
});

const browser = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);

/** Serves the gateway, and a page with the client. */
function pageServer(script: string, streamScript = ''): Server {
  return createServer((request, response) => {
    if (request.url === '/stream-client.js') response.setHeader('content-type', 'text/javascript').end(streamScript);
    else if (request.url === '/client.js') response.setHeader('content-type', 'text/javascript').end(script);
    else if (request.url === '/')
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>page</title>');
    else gateway.gateway.middleware(request, response);
  });
}

describe.skipIf(browser === undefined)('in a browser (skipped where there is no Chromium)', () => {
  let server: Server;
  beforeAll(async () => {
    const [file] = clientOf(gateway.gateway.endpoints, { skipTypes: true });
    const [streams] = clientOf(gateway.gateway.endpoints, { skipTypes: true, customHeaders: token });
    server = pageServer(file!.content, streams!.content).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test('an event stream of a caller with a token', async () => {
    const started = await chromium.launch({ executablePath: browser!, args: ['--no-sandbox'] });
    try {
      const page = await started.newPage();
      await page.exposeFunction('loseConnections', () => server.closeAllConnections());
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      const answer = await page.evaluate(`import('/stream-client.js').then(${follow.toString()})`);
      expect(answer).toEqual(followed);
    } finally {
      await started.close();
    }
  });

  test('a page that imports the module', async () => {
    const started = await chromium.launch({ executablePath: browser!, args: ['--no-sandbox'] });
    try {
      const page = await started.newPage();
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      const answer = await page.evaluate(`import('/client.js').then(${conversation.toString()})`);
      expect(answer).toEqual(expected);
      const visited = await page.evaluate(`import('/client.js').then(${visit.toString()})`);
      expect(visited).toEqual(['anonymous', 'Welcome', 'ada', undefined, 'anonymous']);
    } finally {
      await started.close();
    }
  });
});
