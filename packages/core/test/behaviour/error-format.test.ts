import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { plain } from './support.ts';

const gateway = useGateway(
  `
  create table thing (id int primary key);
  insert into thing values (1);
  create function raise(_code text, _message text) returns int language plpgsql volatile as $$
    begin raise exception using errcode = _code, message = _message; end $$;
  comment on function raise(text, text) is 'HTTP';
  create function one(_a int) returns int language sql immutable as $$ select _a $$;
  comment on function one(int) is 'HTTP';
`,
  { errorFormat: 'text', postgreSqlErrorCodeToHttpStatusCodeMapping: { T1234: 418, TX: 418 } },
);

const type = 'text/plain; charset=utf-8';

test.each([
  ['P0001', 400, 'Überraschung'],
  ['P0004', 400, 'Überraschung'],
  ['23505', 409, 'Überraschung'],
  ['T1234', 418, 'Überraschung'],
  ['22012', 400, 'Überraschung'],
  ['23000', 400, 'Überraschung'],
  ['TX000', 418, 'Überraschung'],
  ['42P01', 500, '42P01: Überraschung'],
  ['XX001', 500, 'XX001: Überraschung'],
])('%s: %i %s', async (code, status, body) => {
  const answer = await gateway.send('POST /api/raise', { body: { code, message: 'Überraschung' } });
  expect(plain(answer)).toEqual({ status, type, body });
});

test('57014 is 205 with an empty body', async () => {
  const answer = await gateway.send('POST /api/raise', { body: { code: '57014', message: 'x' } });
  expect(plain(answer)).toEqual({ status: 205, type: null, body: '' });
});

test.each([
  ['GET /api/one', 400, '"a"'],
  ['GET /api/one?a=1&b=2', 400, '"b"'],
  ['GET /api/one?a=x', 400, 'x'],
  ['DELETE /api/one', 405, 'GET'],
])('%s is text too', async (line, status, part) => {
  const answer = await gateway.send(line);
  expect(plain(answer)).toEqual({ status, type, body: expect.stringContaining(part) });
});

test('a path that is not there too', async () => {
  for (const line of ['GET /api/nothing', 'POST /api/one/%ff', 'GET /']) {
    expect(plain(await gateway.send(line))).toEqual({ status: 404, type, body: 'Not found' });
  }
});
