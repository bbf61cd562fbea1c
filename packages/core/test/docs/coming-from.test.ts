import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { startWithFiles } from '../sql-files/folder.ts';

/** The table about NpgsqlRest in `docs/guide/coming-from.md`, line by line. Lines about the server and packages have tests of their pages. */

const page = readFileSync(join(import.meta.dirname, '../../../../docs/guide/coming-from.md'), 'utf8');
const sql = `
  create type books as (status int, body text);
  comment on type books is 'GET https://books.example/';
  create function spaced(n int) returns int language sql stable as 'select n';
  comment on function spaced is 'HTTP GET
cacheexpires 1h
parse_response';
  create function answer(reply books) returns text language sql stable as 'select reply.body';
  comment on function answer is 'HTTP GET';`;

test('`app.UseNpgsqlRest(new(connectionString))` is `app.use(gateway.middleware)`', async () => {
  const started = await startGateway(sql);
  onTestFinished(() => started.close());
  const server = createServer((request, response) =>
    started.gateway.middleware(request, response, () => response.end('next')),
  );
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await (await fetch(`${url}/api/spaced?n=3`)).text()).toBe('3');
  expect(await (await fetch(`${url}/other`)).text()).toBe('next');
});

test('a file needs an `HTTP` line', async () => {
  const started = await startWithFiles('', { 'a.sql': '-- HTTP\nselect 1', 'b.sql': 'select 2' });
  onTestFinished(() => started.close());
  expect(started.gateway.endpoints.map(({ id }) => id)).toEqual(['a.sql']);
});

test('`CommentsMode`', async () => {
  const names = async (commentsMode: 'parseAll' | 'onlyWithHttpTag' | 'ignore'): Promise<readonly string[]> => {
    const started = await startGateway(`${sql} create function silent() returns int language sql as 'select 1';`, {
      commentsMode,
    });
    onTestFinished(() => started.close());
    return started.gateway.endpoints.map(({ name }) => name).toSorted();
  };
  expect(await names('onlyWithHttpTag')).toEqual(['spaced']);
  expect(await names('parseAll')).toEqual(['silent', 'spaced']);
  expect(await names('ignore')).toEqual(['silent', 'spaced']);
});

test('`ValidateParameters`, `CommandCallback`', async () => {
  const calls: string[] = [];
  const started = await startGateway(sql, {
    validateParameters: () => void calls.push('validateParameters'),
    commandCallback: () => void calls.push('commandCallback'),
  });
  onTestFinished(() => started.close());
  await started.send('GET /api/spaced?n=1');
  expect(calls).toEqual(['validateParameters', 'commandCallback']);
});

test('names without separators, and `parse_response`, are reported', async () => {
  const started = await startGateway(sql);
  onTestFinished(() => started.close());
  const found = started.gateway.diagnostics.filter(({ severity }) => severity === 'warning');
  expect(found.map(({ line, message }) => `${line}: ${message}`)).toMatchInlineSnapshot(`
    [
      "2: "cacheexpires 1h" is read as prose; did you mean cache_expires (cache_expires_in <interval>, cache_expires = <interval>)?",
      "3: "parse_response" has a meaning in NpgsqlRest, and no effect here; fill the response in a hook or in a template of static files, and remove the line",
    ]
  `);
});

test('an endpoint with a parameter whose type has an HTTP request as its comment stops', async () => {
  const started = await startGateway(sql);
  onTestFinished(() => started.close());
  expect((await started.send('GET /api/answer?replyStatus=200&replyBody=mine')).status).toBe(404);
  expect(started.gateway.diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([
    { routine: 'public.answer(reply public.books)', code: 'request-type' },
  ]);
  expect(page).toContain(
    '| composite types whose comment is an HTTP request | call the service in your program: an error stops endpoints with such a parameter |',
  );
});
