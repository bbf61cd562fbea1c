/** Mistakes in requests, with the whole problem of the response. `core/test/behaviour` has those of each kind of value. */
import { crudSource, functionsSource } from '@pgway/core';
import { type SendOptions, startGateway, useGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';

const gateway = useGateway(`
  create type mood as enum ('sad', 'ok');
  create function hello(_name text) returns text language sql stable as $$ select 'Hello ' || _name $$;
  comment on function hello is 'HTTP';
  create function add_note(_body text, _count int) returns int language sql as 'select _count';
  comment on function add_note is 'HTTP';
  create function feel(_mood mood, _day date default now(), _at timestamptz default now(), _id uuid default null, _sure bool default true)
    returns text language sql stable as $$ select 'x' $$;
  comment on function feel is 'HTTP';
  create function total(a int) returns int language sql immutable as 'select a';
  comment on function total(int) is 'HTTP';
  create function total(b text) returns int language sql immutable as 'select 1';
  comment on function total(text) is 'HTTP';
`);

const limited = useGateway(
  `
  create table visit (page text, at timestamptz default now());
  comment on table visit is 'HTTP';
  create function add_page(_text text) returns int language sql as 'select 1';
  comment on function add_page is 'HTTP';
  create function store(_meta json) returns json language sql as 'select _meta';
  comment on function store is 'HTTP
upload _meta as metadata';`,
  { maxBodySize: 100, uploadOptions: { maxFileSize: 100 }, routineSources: [functionsSource(), crudSource()] },
);

const problem = (name: string, title: string, status: number, members: object): object => ({
  type: `urn:pgway:problem:${name}`,
  title,
  status,
  ...members,
});

const unknown = (members: object): object =>
  problem('unknown-parameter', 'The request has an unknown parameter', 400, members);
const malformed = (detail: string, position: number): object =>
  problem('malformed-json', 'The body is not valid JSON', 400, {
    detail: `The body is not valid JSON: ${detail} at position ${position}.`,
    position,
  });
const invalid = (title: string, code: string, parameter: string, values: string): object =>
  problem('invalid-parameter', title, 400, {
    detail: `The parameter "${parameter}" takes ${values}.`,
    code,
    parameters: [parameter],
  });

const json = { 'content-type': 'application/json' };

test.each<[string, SendOptions, object]>([
  [
    'GET /api/hello?nmae=x',
    {},
    unknown({
      detail:
        '"nmae" in the query string is not a parameter of this endpoint; did you mean "name"? Missing in the query string: "name" (text).',
      unknown: ['nmae'],
      missing: ['name'],
    }),
  ],
  [
    'GET /api/hello?Name=x',
    {},
    unknown({
      detail:
        '"Name" in the query string is not a parameter of this endpoint; did you mean "name"? Missing in the query string: "name" (text).',
      unknown: ['Name'],
      missing: ['name'],
    }),
  ],
  [
    'GET /api/hello?name=x&nmae=y',
    {},
    unknown({ detail: '"nmae" in the query string is not a parameter of this endpoint.', unknown: ['nmae'] }),
  ],
  [
    'GET /api/hello?name=x&page=2',
    {},
    unknown({ detail: '"page" in the query string is not a parameter of this endpoint.', unknown: ['page'] }),
  ],
  [
    'POST /api/hello',
    { body: { name: 'x' } },
    problem('method-not-allowed', 'The path does not support this method', 405, {
      detail: 'POST is not answered here; try GET, HEAD, OPTIONS, QUERY.',
    }),
  ],
  [
    'GET /api/add-note?body=x&count=1',
    {},
    problem('method-not-allowed', 'The path does not support this method', 405, {
      detail: 'GET is not answered here; try OPTIONS, POST.',
    }),
  ],
  [
    'POST /api/add-note?body=x&count=1',
    {},
    problem('missing-parameter', 'A required parameter is missing', 400, {
      detail: 'Missing in the JSON body: "body" (text), "count" (integer).',
      missing: ['body', 'count'],
    }),
  ],
  [
    'POST /api/add-note',
    { body: 'body=x&count=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    problem('unsupported-media-type', 'The body must be application/json', 415, {
      detail: 'The body is "application/x-www-form-urlencoded"; send application/json.',
    }),
  ],
  ['POST /api/add-note', { body: `{'body':'x'}`, headers: json }, malformed(`unexpected "'"`, 1)],
  ['POST /api/add-note', { body: '{"body":"x","count":1,}', headers: json }, malformed('unexpected "}"', 22)],
  [
    'POST /api/add-note',
    { body: [{ body: 'x', count: 1 }] },
    problem('body-not-an-object', 'The body must be a JSON object', 400, {
      detail: 'The body is an array; send an object with one key per parameter.',
    }),
  ],
  [
    'POST /api/add-note',
    { body: { body: 'x', count: 'one' } },
    invalid('invalid input syntax for type integer: "one"', '22P02', 'count', 'integer'),
  ],
  [
    'GET /api/feel?mood=happy',
    {},
    invalid('invalid input value for enum mood: "happy"', '22P02', 'mood', 'public.mood: sad, ok'),
  ],
  [
    'GET /api/feel?mood=ok&day=31.12.2025',
    {},
    invalid('date/time field value out of range: "31.12.2025"', '22008', 'day', 'date, such as 2025-12-31'),
  ],
  [
    'GET /api/feel?mood=ok&at=soon',
    {},
    invalid(
      'invalid input syntax for type timestamp with time zone: "soon"',
      '22007',
      'at',
      'timestamp with time zone, such as 2025-12-31T18:30:00Z',
    ),
  ],
  [
    'GET /api/feel?mood=ok&sure=maybe',
    {},
    invalid('invalid input syntax for type boolean: "maybe"', '22P02', 'sure', 'boolean, such as true or false'),
  ],
  [
    'GET /api/total?c=1',
    {},
    problem('no-matching-signature', 'The parameters match no signature of this endpoint', 400, {
      detail: 'None takes exactly "c". On offer: public.total(a integer); public.total(b text).',
      signatures: ['public.total(a integer)', 'public.total(b text)'],
    }),
  ],
])('%s %j', async (line, options, expected) => {
  expect(JSON.parse((await gateway.send(line, options)).body)).toEqual(expected);
});

const form = new FormData();
form.append('file', new File(['x'.repeat(101)], 'a.txt', { type: 'text/plain' }));

test.each<[string, SendOptions, object]>([
  [
    'POST /api/add-page',
    { body: { text: 'x'.repeat(100) } },
    problem('body-too-large', 'The body is larger than this server accepts', 413, {
      detail: 'The limit is 100 bytes.',
      hint: 'The option maxBodySize sets the limit; it is gateway.maxBodySize in pgway.json.',
    }),
  ],
  [
    'POST /api/store',
    { body: form },
    problem('body-too-large', 'The body is larger than this server accepts', 413, {
      detail: 'The file "a.txt" is larger than the limit of 100 bytes.',
      hint: 'The options maxFileSize, maxTotalSize and maxFiles of uploadOptions set the limits.',
    }),
  ],
  [
    'POST /api/visit',
    { body: { page: '/' } },
    problem('method-not-allowed', 'The path does not support this method', 405, {
      detail:
        'POST is not answered here; try DELETE, GET, HEAD, OPTIONS, PUT, QUERY. POST updates rows by their primary key, which this table or view does not have.',
    }),
  ],
  [
    'PATCH /api/visit',
    { body: { page: '/' } },
    problem('method-not-allowed', 'The path does not support this method', 405, {
      detail: 'PATCH is not answered here; try DELETE, GET, HEAD, OPTIONS, PUT, QUERY.',
    }),
  ],
])('limits and methods: %s %j', async (line, options, expected) => {
  expect(JSON.parse((await limited.send(line, options)).body)).toEqual(expected);
});

test('clients of a server in production do not learn that a table has no primary key', async () => {
  const production = await startGateway(
    `create table visit (page text);
    comment on table visit is 'HTTP';`,
    { authentication: { production: true }, routineSources: [crudSource()] },
  );
  onTestFinished(() => production.close());
  expect(JSON.parse((await production.send('POST /api/visit', { body: { page: '/' } })).body)).toEqual(
    problem('method-not-allowed', 'The path does not support this method', 405, {
      detail: 'POST is not answered here; try DELETE, GET, HEAD, OPTIONS, PUT, QUERY.',
    }),
  );
});
