import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { plain, problem, problemOf, text } from './support.ts';

describe('defaults', () => {
  const gateway = useGateway(`
    create function three(_a int, _b text default 'b''s "default", (x)', _c int default 3, _d date default current_date)
    returns text language sql volatile as $$ select concat_ws('|', _a, coalesce(_b, 'NULL'), coalesce(_c::text, 'NULL'), _d = current_date) $$;
    comment on function three(int, text, int, date) is 'HTTP';
    create procedure proc(_a int, inout _b text default 'b', inout _c int default 3) language plpgsql as $$
      begin _b := concat_ws('|', _a, _b, _c); end $$;
    comment on procedure proc(int, text, int) is 'HTTP';
    create function unnamed_defaults(int default 1, text default 'two', _third int default 3) returns text language sql immutable
      as $$ select concat_ws('|', $1, $2, $3) $$;
    comment on function unnamed_defaults(int, text, int) is 'HTTP';
  `);

  test.each([
    [{ a: 1 }, `1|b's "default", (x)|3|t`],
    [{ a: 1, c: 5 }, `1|b's "default", (x)|5|t`],
    [{ a: 1, d: '2000-01-01' }, `1|b's "default", (x)|3|f`],
    [{ a: 1, b: 'x', d: '2000-01-01' }, '1|x|3|f'],
    [{ a: 1, b: 'x', c: 5, d: '2000-01-01' }, '1|x|5|f'],
    [{ a: 1, b: null, c: null }, '1|NULL|NULL|t'],
  ])('any subset: %o', async (body, expected) => {
    expect(plain(await gateway.send('POST /api/three', { body }))).toEqual(text(expected));
  });

  test.each([
    [{ a: 1 }, { b: '1|b|3', c: 3 }],
    [
      { a: 1, c: 5 },
      { b: '1|b|5', c: 5 },
    ],
    [
      { a: 1, b: 'x', c: null },
      { b: '1|x', c: null },
    ],
  ])('of a procedure: %o', async (body, expected) => {
    const answer = await gateway.send('POST /api/proc', { body });
    expect(plain(answer)).toEqual({ status: 200, type: 'application/json', body: JSON.stringify(expected) });
  });

  test.each([
    ['GET /api/unnamed-defaults', '1|two|3'],
    ['GET /api/unnamed-defaults?$1=9', '9|two|3'],
    ['GET /api/unnamed-defaults?third=9', '1|two|9'],
    ['GET /api/unnamed-defaults?$1=9&$2=x', '9|x|3'],
    ['GET /api/unnamed-defaults?$1=9&third=7', '9|two|7'],
  ])('%s', async (line, expected) => {
    expect(plain(await gateway.send(line))).toEqual(text(expected));
  });

  test('an unnamed parameter cannot be left out before another: 400 names it', async () => {
    const answer = problem(await gateway.send('GET /api/unnamed-defaults?$2=x'));
    expect(answer).toMatchObject(problemOf(400));
    expect(answer.problem['detail']).toContain('"$1"');
  });
});

describe('overloads', () => {
  const gateway = useGateway(`
    create function over(_a int) returns text language sql immutable as $$ select 'int ' || _a $$;
    create function over(_a int, _b int) returns text language sql immutable as $$ select 'two ' || _a || _b $$;
    create function over(_c text) returns text language sql immutable as $$ select 'text ' || _c $$;
    create function over() returns text language sql immutable as $$ select 'none' $$;
    comment on function over(int) is 'HTTP'; comment on function over(int, int) is 'HTTP';
    comment on function over(text) is 'HTTP'; comment on function over() is 'HTTP';

    create function fewer(_a int) returns text language sql volatile as $$ select 'exact' $$;
    create function fewer(_a int, _b text, _c int default 1) returns text language sql volatile as $$ select 'one omitted' $$;
    create function fewer(_a int, _b int, _c int default 1, _d date default null) returns text language sql volatile as $$ select 'two omitted' $$;
    comment on function fewer(int) is 'HTTP'; comment on function fewer(int, text, int) is 'HTTP';
    comment on function fewer(int, int, int, date) is 'HTTP';

    create function alike(_a int) returns text language sql volatile as $$ select 'one' $$;
    create function alike(_a int, _b int default 2) returns text language sql volatile as $$ select 'two' $$;
    comment on function alike(int) is 'HTTP'; comment on function alike(int, int) is 'HTTP';

    create function same(_a int) returns text language sql volatile as $$ select 'int' $$;
    create function same(_a text) returns text language sql volatile as $$ select 'text' $$;
    comment on function same(int) is 'HTTP'; comment on function same(text) is 'HTTP';

    create function half(_a int) returns text language sql volatile as $$ select 'published' $$;
    create function half(_a int, _b int) returns text language sql volatile as $$ select 'not published' $$;
    comment on function half(int) is 'HTTP';

    create function guarded(_a int) returns text language sql volatile as $$ select 'open' $$;
    create function guarded(_b text) returns text language sql volatile as $$ select 'secret' $$;
    comment on function guarded(int) is 'HTTP'; comment on function guarded(text) is E'HTTP\\nauthorize';

    create function in_path(_id int) returns text language sql immutable as $$ select 'one ' || _id $$;
    create function in_path(_key int, _more text) returns text language sql immutable as $$ select 'more ' || _key || _more $$;
    comment on function in_path(int) is 'HTTP GET /in-path/{id}';
    comment on function in_path(int, text) is 'HTTP GET /in-path/{key}';

    create function by_method(_a int) returns text language sql immutable as $$ select 'get' $$;
    create function by_method(_a int, _b int) returns text language sql volatile as $$ select 'post' $$;
    comment on function by_method(int) is 'HTTP'; comment on function by_method(int, int) is 'HTTP';
  `);

  test.each([
    ['GET /api/over', 'none'],
    ['GET /api/over?a=1', 'int 1'],
    ['GET /api/over?a=1&b=2', 'two 12'],
    ['GET /api/over?c=x', 'text x'],
    ['GET /api/over?c=1', 'text 1'],
    ['GET /api/by-method?a=1', 'get'],
    ['GET /in-path/7', 'one 7'],
    ['GET /in-path/7?more=x', 'more 7x'],
  ])('%s', async (line, expected) => {
    expect(plain(await gateway.send(line))).toEqual(text(expected));
  });

  test.each([
    ['/api/fewer', { a: 1 }, 'exact'],
    ['/api/fewer', { a: 1, b: 'x' }, 'one omitted'],
    ['/api/fewer', { a: 1, b: 'x', c: 2 }, 'one omitted'],
    ['/api/fewer', { a: 1, b: 5, d: null }, 'two omitted'],
    ['/api/alike', { a: 1, b: 2 }, 'two'],
    ['/api/half', { a: 1 }, 'published'],
    ['/api/guarded', { a: 1 }, 'open'],
    ['/api/by-method', { a: 1, b: 2 }, 'post'],
  ])('POST %s %o', async (path, body, expected) => {
    expect(plain(await gateway.send(`POST ${path}`, { body }))).toEqual(text(expected));
  });

  test('none fits: 400 with the signatures on offer', async () => {
    const answer = problem(await gateway.send('GET /api/over?b=1'));
    expect(answer).toMatchObject(problemOf(400));
    for (const signature of ['_a integer', '_a integer, _b integer', '_c text']) {
      expect(answer.problem['detail']).toContain(signature);
    }
  });

  test('two fit equally: 400 says that it is ambiguous', async () => {
    const answer = problem(await gateway.send('POST /api/same', { body: { a: 1 } }));
    expect(answer).toMatchObject(problemOf(400));
    expect(JSON.stringify(answer.problem)).toMatch(/ambiguous/i);
  });

  test('PostgreSQL itself cannot tell them apart: 400 says that it is ambiguous', async () => {
    const answer = problem(await gateway.send('POST /api/alike', { body: { a: 1 } }));
    expect(answer).toMatchObject(problemOf(400));
    expect(JSON.stringify(answer.problem)).toMatch(/cannot choose|ambiguous/i);
  });

  test('an overload that is not published is not called', async () => {
    expect(problem(await gateway.send('POST /api/half', { body: { a: 1, b: 2 } }))).toMatchObject(problemOf(400));
  });

  test('a guarded overload is not called by an anonymous caller', async () => {
    const answer = await gateway.send('POST /api/guarded', { body: { b: 'x' } });
    expect([400, 401]).toContain(answer.status);
    expect(answer.body).not.toContain('secret');
  });
});

describe('overloads, without returnGatewayExceptionMessage', () => {
  const sql = `
    create function over(_a int) returns int language sql immutable as $$ select 1 $$;
    create function over(_internal_name text) returns int language sql immutable as $$ select 2 $$;
    comment on function over(int) is 'HTTP'; comment on function over(text) is 'HTTP';
    create function same(_a int) returns text language sql volatile as $$ select 'int' $$;
    create function same(_a text) returns text language sql volatile as $$ select 'text' $$;
    comment on function same(int) is 'HTTP'; comment on function same(text) is 'HTTP';
  `;
  const gateway = useGateway(sql, { returnGatewayExceptionMessage: false });
  const asText = useGateway(sql, { returnGatewayExceptionMessage: false, errorFormat: 'text' });

  test.each([
    ['GET /api/over?b=1', 'no-matching-signature', 'The parameters match no signature of this endpoint'],
    ['POST /api/same', 'ambiguous-signature', 'The parameters match several signatures of this endpoint'],
  ])('%s: no signature is told', async (line, code, title) => {
    const sending = line.startsWith('POST') ? { body: { a: 1 } } : {};
    expect(problem(await gateway.send(line, sending)).problem).toEqual({
      type: `urn:pgway:problem:${code}`,
      title,
      status: 400,
      correlationId: expect.any(String),
    });
    const { body } = await asText.send(line, sending);
    expect(body).toMatch(/^The request could not be answered \([\da-f]{12}-[\da-z]+\)$/);
  });
});
