import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import type { Sent } from './support.ts';

/* Which function a call means by its arguments, and the errors of calls that mean none, or several. */

const gateway = useGateway(
  `
  create table book (id int primary key, title text);
  insert into book values (1, 'One'), (2, 'Two'), (3, 'Three');
  create function books_until(id int) returns setof book language sql stable as $$ select * from book where id <= $1 $$;
  create function greet(name text) returns text language sql stable as $$ select 'Hello ' || name $$;
  create function sum_of(a int, b int) returns int language sql stable as $$ select a + b $$;
  create function size(a int) returns text language sql stable as $$ select 'one' $$;
  create function size(a int, b int) returns text language sql stable as $$ select 'two' $$;
  create function size(a text, b text, c text) returns text language sql stable as $$ select 'three' $$;
  create function twin(a int) returns text language sql stable as $$ select 'int' $$;
  create function twin(a text) returns text language sql stable as $$ select 'text' $$;
  create function twin(a int, b int default 0) returns text language sql stable as $$ select 'default' $$;
  create function take() returns text language sql stable as $$ select 'nothing' $$;
  create function take(x int, y int) returns text language sql stable as $$ select 'named' $$;
  create function take(json) returns text language sql stable as $$ select 'json ' || $1 $$;
  create function take(text) returns text language sql stable as $$ select 'text ' || $1 $$;
  create function take(bytea) returns text language sql stable as $$ select 'bytes ' || encode($1, 'escape') $$;
  create function either(json) returns text language sql stable as $$ select 'json' $$;
  create function either(jsonb) returns text language sql stable as $$ select 'jsonb' $$;
  create function take_number(int) returns int language sql stable as $$ select $1 $$;
  create function note(text) returns text language sql stable as $$ select 'note ' || $1 $$;
  create function shown(book) returns text language sql stable as $$ select upper($1.title) $$;
  create function secret_sum(a int) returns int language sql stable as $$ select 1 $$;
  comment on function secret_sum is 'HTTP
authorize';
  `,
  { routineSources: [functionsSource(), postgrestSource()], commentsMode: 'parseAll' },
);

const call = async (line: string, sent: Sent = {}): Promise<unknown> => {
  const { status, body } = await gateway.send(line.replace(' ', ' /rest/rpc/'), sent as object);
  return status === 200 ? JSON.parse(body) : { status, ...JSON.parse(body) };
};
const typed = (type: string, body: string): Sent => ({ headers: { 'content-type': type }, body });

describe('a query string', () => {
  test('gives arguments by plain values, and filters by operators, of one name too', async () => {
    expect(await call('GET books_until?id=2')).toMatchObject([{ id: 1 }, { id: 2 }]);
    expect(await call('GET books_until?id=3&id=gt.1&select=id')).toEqual([{ id: 2 }, { id: 3 }]);
    expect(await call('GET books_until?id=not.in.(1,3)&id=3&select=id')).toEqual([{ id: 2 }]);
    expect(await call('GET greet?name=ignored&name=eqeq')).toBe('Hello eqeq');
  });

  test('a value that looks like a filter is none', async () => {
    expect(await call('GET greet?name=eq.5')).toMatchObject({ status: 404, code: 'PGRST202' });
    expect(await call('POST greet', { body: { name: 'eq.5' } })).toBe('Hello eq.5');
  });
});

describe('a body', () => {
  test('has the names of arguments, of which columns lists those that count', async () => {
    expect(await call('POST greet?columns=name', { body: { name: 'Ada', other: 1 } })).toBe('Hello Ada');
    expect(await call('POST greet', { body: { name: 'Ada', other: 1 } })).toMatchObject({ code: 'PGRST202' });
  });

  test('of several objects has the arguments in the first one', async () => {
    expect(
      await call('POST sum_of', {
        body: [
          { a: 1, b: 2 },
          { a: 100, b: 200 },
        ],
      }),
    ).toBe(3);
    expect(await call('POST sum_of', typed('text/csv', 'a,b\n1,2\n3,4'))).toBe(3);
  });

  test.each<[string, Sent, unknown]>([
    ['no argument', { body: {} }, 'nothing'],
    ['no body', {}, 'nothing'],
    ['the names of an overload', { body: { x: 1, y: 2 } }, 'named'],
    ['other names', { body: { z: 1 } }, 'json {"z":1}'],
    ['no object', { body: [1, 2] }, 'json [1,2]'],
    ['text', typed('text/plain', 'abc'), 'text abc'],
    ['bytes', typed('application/octet-stream', 'abc'), 'bytes abc'],
  ])('%s', async (_, sent, expected) => {
    expect(await call('POST take', sent)).toEqual(expected);
  });

  test('the name "" is that of an argument without a name: it takes the body', async () => {
    expect(await call('POST note', { body: { '': 'x' } })).toBe('note {"":"x"}');
    expect(await call('POST note', typed('text/plain', 'x'))).toBe('note x');
  });

  test('without a function that takes it', async () => {
    expect(await call('POST sum_of', { body: '5', headers: { 'content-type': 'application/json' } })).toMatchObject({
      status: 400,
      code: 'PGRST102',
      message: 'The arguments must be a JSON object',
    });
    expect(await call('POST sum_of', { body: '{"a":', headers: { 'content-type': 'application/json' } })).toMatchObject(
      {
        status: 400,
        code: 'PGRST102',
      },
    );
    expect(await call('POST sum_of', typed('image/png', 'x'))).toMatchObject({ status: 400, code: 'PGRST102' });
  });
});

describe('no function', () => {
  const unknown = (signature: string, searched: string, hint: string | null): object => ({
    status: 404,
    code: 'PGRST202',
    message: `Could not find the function ${signature} in the schema cache`,
    details: `Searched for the function ${searched}, but no matches were found in the schema cache.`,
    hint: hint === null ? null : `Perhaps you meant to call the function ${hint}`,
  });
  const json = 'or with a single unnamed json/jsonb parameter';

  test('a misspelt name, and one that is not similar', async () => {
    expect(await call('GET gret?name=x')).toEqual(
      unknown('public.gret(name)', 'public.gret with parameter name', 'public.greet'),
    );
    expect(await call('GET elsewhere')).toEqual(
      unknown('public.elsewhere without parameters', 'public.elsewhere without parameters', null),
    );
  });

  test('a function that needs a login is not named', async () => {
    expect(await call('GET secret_sums')).toMatchObject({ code: 'PGRST202', hint: null });
  });

  test('a misspelt argument, one too many, and none', async () => {
    expect(await call('GET greet?nam=x')).toEqual(
      unknown('public.greet(nam)', 'public.greet with parameter nam', 'public.greet(name)'),
    );
    expect(await call('POST sum_of', { body: { a: 1, b: 2, c: 3 } })).toEqual(
      unknown('public.sum_of(a, b, c)', `public.sum_of with parameters a, b, c ${json}`, 'public.sum_of(a, b)'),
    );
    expect(await call('POST sum_of', { body: {} })).toEqual(
      unknown('public.sum_of without parameters', `public.sum_of without parameters ${json}`, 'public.sum_of(a, b)'),
    );
    expect(await call('GET size?a=1&b=2&d=3')).toMatchObject({
      hint: 'Perhaps you meant to call the function public.size(a, b, c)',
    });
  });

  test('an argument without a name that no body can be', async () => {
    expect(await call('POST take_number', { body: { x: 1 } })).toEqual(
      unknown('public.take_number(x)', `public.take_number with parameter x ${json}`, null),
    );
    expect(await call('POST take_number', typed('text/plain', '1'))).toEqual(
      unknown('public.take_number', 'public.take_number with a single unnamed text parameter', null),
    );
    expect(await call('GET take_number?$1=1')).toMatchObject({ status: 404, code: 'PGRST202' });
    // It is a computed column.
    const rows = await gateway.send('GET /rest/book?select=shown&id=eq.1');
    expect(rows.body).toBe('[{"shown":"ONE"}]');
  });

  test('long names and many of them are shortened', async () => {
    const body = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}`.padEnd(300, 'x'), 1]));
    expect(JSON.stringify(await call('POST greet', { body })).length).toBeLessThan(8000);
  });
});

test('several functions', async () => {
  const hint =
    'Try renaming the parameters or the function itself in the database so function overloading can be resolved';
  expect(await call('GET twin?a=1')).toEqual({
    status: 300,
    code: 'PGRST203',
    message:
      'Could not choose the best candidate function between: public.twin(a => integer), public.twin(a => text), public.twin(a => integer, b => integer)',
    details: null,
    hint,
  });
  expect(await call('POST either', { body: [1] })).toMatchObject({
    status: 300,
    message: 'Could not choose the best candidate function between: public.either( => json), public.either( => jsonb)',
  });
});

test('a limit on the rows of a function without rows', async () => {
  const headers = { prefer: 'handling=strict, max-affected=1' };
  expect(await call('POST greet', { body: { name: 'x' }, headers })).toEqual({
    status: 400,
    code: 'PGRST128',
    message: 'Function must return SETOF or TABLE when max-affected preference is used with handling=strict',
    details: null,
    hint: null,
  });
  expect(await call('POST books_until', { body: { id: 1 }, headers })).toHaveLength(1);
  expect(await call('POST books_until', { body: { id: 2 }, headers })).toMatchObject({ code: 'PGRST124' });
});

test('Range is for GET', async () => {
  const headers = { range: '1-1', prefer: 'count=exact' };
  const ranged = async (line: string, body?: unknown): Promise<unknown> => {
    const response = await gateway.send(line, { headers, ...(body === undefined ? {} : { body }) });
    return [response.status, response.headers.get('content-range')];
  };
  expect(await ranged('GET /rest/rpc/books_until?id=3')).toEqual([206, '1-1/3']);
  expect(await ranged('HEAD /rest/rpc/books_until?id=3')).toEqual([200, '0-2/3']);
  expect(await ranged('POST /rest/rpc/books_until', { id: 3 })).toEqual([200, '0-2/3']);
  expect(await ranged('HEAD /rest/book')).toEqual([200, '0-2/3']);
});
