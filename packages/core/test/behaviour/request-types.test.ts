import { crudSource, functionsSource } from '@pgway/core';
import { startGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { startWithFiles } from '../sql-files/folder.ts';

/** HTTP client types of NpgsqlRest, composite types whose comment is an HTTP request: no endpoint takes their values from clients. */

type Started = Awaited<ReturnType<typeof startGateway>>;

async function start(sql: string, options: object = {}): Promise<Started> {
  const started = await startGateway(sql, options);
  onTestFinished(() => started.close());
  return started;
}

function readErrors({ gateway }: Started): readonly string[] {
  return gateway.diagnostics
    .filter(({ severity }) => severity === 'error')
    .map(({ routine, code, message }) => `${routine}, ${code}: ${message.split(';')[0]}`);
}

const books = `
  create type books as (status_code int, body text);
  comment on type books is 'GET https://books.example/{_author}
Accept: application/json';`;

test('parameters of such a type, as elements, under domains and in fields', async () => {
  const started = await start(
    `${books}
    create domain checked as books check (value is not null);
    create type pair as (n int, answers books[]);
    create function answer(_author text, reply books default null) returns text language sql stable as 'select reply.body';
    comment on function answer is 'HTTP GET';
    create function many(variadic replies books[]) returns int language sql stable as 'select 1';
    comment on function many is 'HTTP POST';
    create procedure under(reply checked) language sql as 'select 1';
    comment on procedure under is 'HTTP POST';
    create function inside(given pair) returns int language sql stable as 'select 1';
    comment on function inside is 'HTTP POST';
    create function hidden(reply books) returns int language sql stable as 'select 1';
    comment on function hidden is E'HTTP\\ninternal';
    create function uncommented(reply books) returns int language sql stable as 'select 1';
    create function returned() returns books language sql stable as $$ select (200, 'own')::books $$;
    comment on function returned is 'HTTP GET';
    create function computed(reply books) returns text language sql stable as 'select reply.body';
    comment on function computed is E'HTTP GET\\nparam reply = select (200, ''own'')::books';`,
  );
  expect(readErrors(started)).toMatchInlineSnapshot(`
    [
      "public.answer(_author text, reply public.books), request-type: the parameter "reply" is of type public.books, whose comment is an HTTP request: NpgsqlRest sets it to the response, but here clients would set it",
      "public.inside(given public.pair), request-type: the parameter "given" contains type public.books, whose comment is an HTTP request: NpgsqlRest sets it to the response, but here clients would set it",
      "public.many(VARIADIC replies public.books[]), request-type: the parameter "replies" contains type public.books, whose comment is an HTTP request: NpgsqlRest sets it to the response, but here clients would set it",
      "public.under(reply public.checked), request-type: the parameter "reply" is of type public.checked, whose comment is an HTTP request: NpgsqlRest sets it to the response, but here clients would set it",
    ]
  `);
  expect(started.gateway.endpoints.map(({ name }) => name)).toEqual(['computed', 'returned']);
  expect((await started.send('GET /api/answer?author=a&replyStatusCode=200&replyBody=mine')).status).toBe(404);
  expect((await started.send('GET /api/computed?replyBody=mine')).status).toBe(400);
  expect((await started.send('GET /api/computed')).body).toBe('own');
  expect((await started.send('GET /api/returned')).body).toBe('{"statusCode":200,"body":"own"}');
  expect(started.gateway.diagnostics.find(({ code }) => code === 'request-type')?.message).toBe(
    'the parameter "reply" is of type public.books, whose comment is an HTTP request: NpgsqlRest sets it to the response, but here clients would set it; call the service in your program and pass the response in a parameter of another type, or change the comment of the type',
  );
});

test.each([
  ['GET https://books.example/', true],
  ['post https://books.example/films HTTP/1.1\r\nAccept: text/plain\r\n\r\n{"a": "{_a}"}', true],
  ['\n  PATCH /api/films\n@timeout 5s', true],
  ['GET /api/films HTTP/2', true],
  ['DELETE {_base}/films', true],
  ['# the service\n@timeout = 30s\ntimeout 5\n\nPUT\thttp://books.example', true],
  ['GET the films of https://books.example/', false],
  ['POST /films takes it as its body', false],
  ['Delete / restore', false],
  ['Get', false],
  ['Get /', true],
  ['The answer of\nGET https://books.example/', false],
  ['HTTP GET /films', false],
  ['OPTIONS https://books.example/', false],
  ['GETS https://books.example/', false],
  ['Gets the films.', false],
])('the comment %j is a request: %s', async (comment, isRequest) => {
  const started = await start(`
    create type reply as (body text);
    comment on type reply is $comment$${comment}$comment$;
    create function answer(given reply) returns text language sql stable as 'select given.body';
    comment on function answer is 'HTTP GET';`);
  expect([started.gateway.endpoints.length, readErrors(started).length]).toEqual(isRequest ? [0, 1] : [1, 0]);
});

test('a refresh finds a comment that is set or removed later', async () => {
  const started = await start(
    `create type books as (status_code int, body text);
     create function answer(reply books) returns text language sql stable as 'select reply.body';
     comment on function answer is 'HTTP GET';`,
  );
  const ask = async (): Promise<number> => {
    await started.gateway.refresh();
    return (await started.send('GET /api/answer?replyStatusCode=200&replyBody=mine')).status;
  };
  expect(await ask()).toBe(200);
  await started.database.query(`comment on type books is 'GET https://books.example/'`);
  expect(await ask()).toBe(404);
  await started.database.query(`comment on type books is 'The films'`);
  expect(await ask()).toBe(200);
});

test('a routine that only commentsMode would publish', async () => {
  const started = await start(
    `${books} create function answer(reply books) returns int language sql stable as 'select 1';`,
    { commentsMode: 'parseAll' },
  );
  expect([started.gateway.endpoints, readErrors(started).length]).toEqual([[], 1]);
});

test('columns of tables are data of clients, which NpgsqlRest does not fetch either', async () => {
  const started = await start(
    `${books} create table fetched (id int primary key, reply books); comment on table fetched is 'HTTP';`,
    { routineSources: [functionsSource(), crudSource()] },
  );
  expect(readErrors(started)).toEqual([]);
  const body = { id: 1, reply: { statusCode: 200, body: 'mine' } };
  expect((await started.send('PUT /api/fetched', { body })).status).toBe(204);
  expect((await started.send('GET /api/fetched')).body).toBe('[{"id":1,"reply":{"statusCode":200,"body":"mine"}}]');
});

test('SQL files', async () => {
  const started = await startWithFiles(books, {
    'given.sql': '-- HTTP GET\n-- @param $1 reply books\nselect ($1::books).body',
    'computed.sql': `-- HTTP GET\n-- @param reply = select (200, 'own')::books\nselect (:reply::books).body`,
  });
  onTestFinished(() => started.close());
  expect(started.gateway.diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([
    {
      routine: 'given.sql',
      code: 'request-type',
      message: expect.stringContaining('the parameter "reply" is of type'),
    },
  ]);
  expect((await started.send('GET /api/computed')).body).toBe('["own"]');
});
