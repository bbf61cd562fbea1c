import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ask, type Sent } from './support.ts';

/* Bodies and responses of functions in other media types than JSON, and the errors that functions raise. */

const gateway = useGateway(
  `
  create domain "text/html" as text;
  create domain "image/png" as bytea;
  create domain "*/*" as text;
  create function page(title text default 'Hi') returns "text/html" language sql stable as $$ select '<h1>' || title || '</h1>' $$;
  create function pixel() returns "image/png" language sql stable as $$ select '\\x89504e47'::bytea $$;
  create function anything() returns "*/*" language sql stable as $$ select 'any' $$;
  create function nothing() returns "text/html" language sql stable as $$ select null::text $$;

  create function join_words(a text, n int, variadic rest text[] default '{}') returns text language sql stable
    as $$ select a || n || array_to_string(rest, '+') $$;
  create function plain(text) returns text language sql stable as $$ select $1 || '!' $$;
  create function bytes(bytea) returns text language sql stable as $$ select encode($1, 'hex') $$;
  create function document(xml) returns text language sql stable as $$ select (xpath('/a/text()', $1))[1]::text $$;

  create function pay() returns int language plpgsql as $$ begin
    raise sqlstate 'PT402' using message = 'Payment Required', detail = 'Quota exceeded', hint = 'Upgrade your plan';
  end $$;
  create function refuse(message text, detail text) returns int language plpgsql as $$ begin
    raise sqlstate 'PGRST' using message = message, detail = detail;
  end $$;
  create table item (id int primary key);
  create function check_item() returns trigger language plpgsql as $$ begin raise sqlstate 'PT418' using message = 'No item'; end $$;
  create trigger check_item before insert on item for each row execute function check_item();
  `,
  { routineSources: [functionsSource(), postgrestSource()], commentsMode: 'parseAll' },
);

test('overloads with an unnamed parameter are selected by the type of the body, and have no warning', async () => {
  const overloads = await startGateway(
    `create function note(text) returns text language sql stable as $$ select 'text ' || $1 $$;
     create function note(xml) returns text language sql stable as $$ select 'xml ' || $1 $$;
     create function note(json) returns text language sql stable as $$ select 'json ' || $1 $$;
     create function entry(json) returns text language sql stable as $$ select 'json' $$;
     create function entry(jsonb) returns text language sql stable as $$ select 'jsonb' $$;
     create function total(x int) returns int language sql stable as 'select x';
     create function total(x text) returns text language sql stable as 'select x';`,
    { routineSources: [functionsSource(), postgrestSource()], commentsMode: 'parseAll' },
  );
  onTestFinished(() => overloads.close());
  const call = async (type: string, body: string): Promise<string> =>
    (await overloads.send('POST /rest/rpc/note', { headers: { 'content-type': type }, body })).body;
  expect(await call('text/plain', 'a')).toBe('"text a"');
  expect(await call('text/xml', '<a/>')).toBe('"xml <a/>"');
  expect(await call('application/json', '{"a": 1}')).toBe('"json {\\"a\\": 1}"');
  const { diagnostics } = overloads.gateway;
  const remedy = 'so every request fails; rename the parameters, or set another path for one of them';
  expect(diagnostics.flatMap(({ message }) => (message.includes('/rest/') ? [message] : [])).toSorted()).toEqual([
    `GET "/rest/rpc/entry" has the same parameter names as postgrest rpc GET public.entry(json), ${remedy}`,
    `GET "/rest/rpc/total" has the same parameter names as postgrest rpc GET public.total(x integer), ${remedy}`,
    `POST "/rest/rpc/entry" has the same parameter names as postgrest rpc POST public.entry(json), ${remedy}`,
    `POST "/rest/rpc/total" has the same parameter names as postgrest rpc POST public.total(x integer), ${remedy}`,
  ]);
  expect((await overloads.send('POST /rest/rpc/entry', { body: { a: 1 } })).status).toBe(300);
  expect((await overloads.send('GET /rest/rpc/total?x=1')).status).toBe(300);
});

const form = { 'content-type': 'application/x-www-form-urlencoded' };

describe('a domain that is named after a media type', () => {
  test.each<[string, string, string]>([
    ['GET /rest/rpc/page?title=You', 'text/html,application/xhtml+xml;q=0.9', '200 text/html <h1>You</h1>'],
    ['POST /rest/rpc/page', '*/*', '200 text/html <h1>Hi</h1>'],
    ['GET /rest/rpc/anything', 'application/x-unknown', '200 application/octet-stream any'],
    ['GET /rest/rpc/nothing', 'text/html', '200 text/html '],
    [
      'GET /rest/rpc/page',
      'application/json',
      '406 application/json; charset=utf-8 {"code":"PGRST107","message":"None of these media types are available: application/json","details":null,"hint":null}',
    ],
  ])('%s %s', async (line, accept, expected) => {
    const body = line.startsWith('POST') ? { body: {} } : {};
    const response = await gateway.send(line, { headers: { accept }, ...body });
    expect(`${response.status} ${response.type} ${response.body}`).toBe(expected);
  });

  test('bytes are sent as they are', async () => {
    const response = await fetch(`${gateway.url}/rest/rpc/pixel`, { headers: { accept: 'image/*' } });
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await response.arrayBuffer()).toString('hex')).toBe('89504e47');
  });
});

describe('bodies', () => {
  test.each<[string, Sent, string]>([
    ['join_words', { body: 'a=x&n=2', headers: form }, '"x2"'],
    ['join_words', { body: 'a=x%20y&n=2&rest=p&rest=q', headers: form }, '"x y2p+q"'],
    ['join_words', { body: 'a=x&n=2&nope=1', headers: form }, 'PGRST202'],
    ['join_words', { body: 'a=x&n=two', headers: form }, '22P02'],
    ['join_words', { body: 'a=%ff&n=2', headers: form }, '400'],
    ['plain', { body: 'hel"lo', headers: { 'content-type': 'text/plain; charset=utf-8' } }, '"hel\\\\"lo!"'],
    ['bytes', { body: '\\x00é', headers: { 'content-type': 'application/octet-stream' } }, '"5c783030c3a9"'],
    ['document', { body: '<a>b</a>', headers: { 'content-type': 'text/xml' } }, '"b"'],
    ['document', { body: '<a>', headers: { 'content-type': 'text/xml' } }, '2200'],
  ])('%s %j', async (name, sent, expected) => {
    expect(await ask(gateway, `POST /rest/rpc/${name}`, sent)).toContain(
      JSON.parse(`"${expected.replaceAll('"', '\\"')}"`),
    );
  });
});

describe('errors with a status of their own', () => {
  test('PTxyz', async () => {
    expect(await ask(gateway, 'POST /rest/rpc/pay', { body: {} })).toMatchInlineSnapshot(`
      "402
      content-type: application/json; charset=utf-8

      {"code":"PT402","message":"Payment Required","details":"Quota exceeded","hint":"Upgrade your plan"}"
    `);
    expect(await ask(gateway, 'POST /rest/item', { body: { id: 1 } })).toMatchInlineSnapshot(`
      "418
      content-type: application/json; charset=utf-8

      {"code":"PT418","message":"No item","details":null,"hint":null}"
    `);
  });

  const message = JSON.stringify({ code: 'A1', message: 'Too fast', details: { n: 1 }, hint: 'Wait' });
  test.each([
    [message, '{"status": 429, "headers": {"Retry-After": "9"}}', [429, { ...JSON.parse(message) }, '9']],
    [message, '{"status": 200, "headers": {}}', [500, { code: 'PGRST121' }, null]],
    [message, '{"status": 429, "headers": {"Transfer-Encoding": "chunked"}}', [500, { code: 'PGRST121' }, null]],
    [message, '{"status": 429, "headers": {"Retry-After": "a\\nb"}}', [500, { code: 'PGRST121' }, null]],
    ['no JSON', '{"status": 429, "headers": {}}', [500, { code: 'PGRST121' }, null]],
  ])('PGRST %s %s', async (text, detail, expected) => {
    const response = await gateway.send('POST /rest/rpc/refuse', { body: { message: text, detail } });
    expect([response.status, JSON.parse(response.body), response.headers.get('retry-after')]).toMatchObject(expected);
  });
});
