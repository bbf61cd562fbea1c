import { startGateway, useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { json, plain, problem, problemOf, text } from './support.ts';

const gateway = useGateway(`
  create function converted(_p1 text, _smallint_array smallint[], p_last text, "camelCase" text, "UPPER_CASE" text, x__double_ text)
  returns table (_p1_out text, "UPPER_OUT" text, "camelOut" text, __lead__trail__ text, "ünï_cödé" text, "with space" text)
  language sql volatile as $$ select _p1, "UPPER_CASE", "camelCase", x__double_, p_last, _smallint_array::text $$;
  comment on function converted is 'HTTP';

  create function unnamed(int, text) returns text language sql immutable as $$ select concat_ws('|', $1, $2) $$;
  comment on function unnamed(int, text) is 'HTTP';
  create function unnamed_body(int, _named text, date) returns text language sql volatile as $$ select concat_ws('|', $1, $2, $3) $$;
  comment on function unnamed_body(int, text, date) is 'HTTP';

  create schema "user";
  create function "user"."order"("select" int, "from" text, "table" int default 1)
  returns table ("where" int, "group" text, "order" int) language sql immutable as $$ select $1, $2, $3 $$;
  comment on function "user"."order"(int, text, int) is 'HTTP';

  create function "a""b;--"("p""1" text, "p'2" text, "p 3;--" text default 'three')
  returns table ("c""1" text, "c\\2" text, "{c3}" text) language sql volatile as $$ select $1, $2, $3 $$;
  comment on function "a""b;--"(text, text, text) is 'HTTP POST /quotes';

  create function "${'n'.repeat(63)}"("${'ü'.repeat(31)}" text) returns table ("${'ä'.repeat(31)}" text)
  language sql immutable as $$ select $1 $$;
  comment on function "${'n'.repeat(63)}"(text) is 'HTTP GET /long';

  create function case_sensitive("a" text default 'a', "A" text default 'A') returns text language sql immutable as $$ select $1 || $2 $$;
  comment on function case_sensitive(text, text) is 'HTTP';

  create function underscores(_ text) returns table (__ text) language sql immutable as $$ select $1 $$;
  comment on function underscores(text) is 'HTTP';

  create function variadic_ints(_first text, variadic _rest int[]) returns text language sql immutable
    as $$ select concat_ws('|', _first, array_length(_rest, 1), _rest) $$;
  comment on function variadic_ints(text, int[]) is 'HTTP';
  create function variadic_default(_first text default 'f', _second int default 2, variadic _rest text[] default '{r}')
    returns text language sql as $$ select concat_ws('|', _first, _second, _rest) $$;
  comment on function variadic_default is 'HTTP';
  create procedure variadic_procedure(_a int, _b int default 2, variadic _rest int[] default '{3}')
    language plpgsql as $$ begin raise exception '%', format('%s %s %s', _a, _b, _rest); end $$;
  comment on procedure variadic_procedure is 'HTTP';
  create function variadic_unnamed(text, variadic text[] default '{}') returns text language sql volatile
    as $$ select concat_ws('|', $1, $2) $$;
  comment on function variadic_unnamed(text, text[]) is 'HTTP';
`);

test('converted names of parameters and columns', async () => {
  const answer = await gateway.send('POST /api/converted', {
    body: { p1: '1', smallintArray: [1, 2], pLast: '3', camelCase: '4', UPPERCASE: 'never' },
  });
  expect(problem(answer)).toMatchObject(problemOf(400));
  const right = await gateway.send('POST /api/converted', {
    body: { p1: '1', smallintArray: [1, 2], pLast: '3', camelCase: '4', upperCase: '5', xDouble: '6' },
  });
  expect(plain(right)).toEqual(
    json('[{"p1Out":"1","upperOut":"5","camelOut":"4","leadTrail":"6","ünïCödé":"3","with space":"{1,2}"}]'),
  );
});

test('the original names are accepted too', async () => {
  const answer = await gateway.send('POST /api/converted', {
    body: { _p1: '1', _smallint_array: [1], p_last: '3', camelCase: '4', UPPER_CASE: '5', x__double_: '6' },
  });
  expect(plain(answer)).toEqual(
    json('[{"p1Out":"1","upperOut":"5","camelOut":"4","leadTrail":"6","ünïCödé":"3","with space":"{1}"}]'),
  );
});

test.each([
  ['both names of one parameter', { p1: '1', _p1: '1' }, '"p1"'],
  ['another case', { P1: '1' }, '"P1"'],
])('%s is 400', async (_, keys, named) => {
  const body = { smallintArray: [1], pLast: '3', camelCase: '4', upperCase: '5', xDouble: '6', ...keys };
  const answer = problem(await gateway.send('POST /api/converted', { body }));
  expect(answer).toMatchObject(problemOf(400));
  expect(answer.problem['detail']).toContain(named);
});

test('unnamed parameters by position', async () => {
  expect(plain(await gateway.send('GET /api/unnamed?$1=999&$2=a'))).toEqual(text('999|a'));
  expect(plain(await gateway.send('GET /api/unnamed?%242=a&%241=999'))).toEqual(text('999|a'));
  const body = { $1: 999, named: 'x', $3: '2024-02-29' };
  expect(plain(await gateway.send('POST /api/unnamed-body', { body }))).toEqual(text('999|x|2024-02-29'));
  const missing = problem(await gateway.send('GET /api/unnamed?$1=1'));
  expect(missing).toMatchObject(problemOf(400));
  expect(missing.problem['detail']).toContain('"$2"');
});

test('reserved words', async () => {
  expect(plain(await gateway.send('GET /api/user/order?select=1&from=x'))).toEqual(
    json('[{"where":1,"group":"x","order":1}]'),
  );
});

test('quotes, semicolons, braces and backslashes', async () => {
  const answer = await gateway.send('POST /quotes', { body: { 'p"1': '1', "p'2": '2', 'p 3;--': '3' } });
  expect(plain(answer)).toEqual(json(String.raw`[{"c\"1":"1","c\\2":"2","{c3}":"3"}]`));
});

test('names of 63 bytes, and more than ASCII', async () => {
  expect(plain(await gateway.send(`GET /long?${encodeURIComponent('ü'.repeat(31))}=x`))).toEqual(
    json(`[{"${'ä'.repeat(31)}":"x"}]`),
  );
});

test('a name of underscores only', async () => {
  const answer = await gateway.send('GET /api/underscores?_=x');
  expect(plain(answer)).toEqual(json('[{"__":"x"}]'));
});

test('variadic parameters take an array', async () => {
  expect(plain(await gateway.send('GET /api/variadic-ints?first=x&rest=1&rest=2&rest=3'))).toEqual(text('x|3|{1,2,3}'));
  expect(plain(await gateway.send('POST /api/variadic-unnamed', { body: { $1: 'x', $2: ['a', 'b'] } }))).toEqual(
    text('x|{a,b}'),
  );
  expect(plain(await gateway.send('POST /api/variadic-unnamed', { body: { $1: 'x' } }))).toEqual(text('x|{}'));
});

test.each([
  [{}, 'f|2|{r}'],
  [{ first: 'x' }, 'x|2|{r}'],
  [{ first: 'x', second: 3 }, 'x|3|{r}'],
  [{ first: 'x', second: 3, rest: ['y'] }, 'x|3|{y}'],
])('a variadic parameter with a default may be left out: %j', async (body, answer) => {
  expect(plain(await gateway.send('POST /api/variadic-default', { body }))).toEqual(text(answer));
});

test.each([
  [{ second: 3 }, 'first'],
  [{ rest: ['y'] }, 'first'],
  [{ first: 'x', rest: ['y'] }, 'second'],
])('what PostgreSQL cannot leave out of a call with variadic parameters is named: %j', async (body, missing) => {
  expect(problem(await gateway.send('POST /api/variadic-default', { body })).problem).toMatchObject({
    status: 400,
    detail: expect.stringContaining('is needed too: PostgreSQL has no call that leaves it out and gives the others.'),
    missing: [missing],
  });
});

test('a procedure may leave its variadic parameter out as well', async () => {
  expect(problem(await gateway.send('POST /api/variadic-procedure', { body: { a: 1 } })).problem).toMatchObject({
    status: 400,
    title: '1 2 {3}',
  });
});

test('nameConverter', async () => {
  const own = await startGateway(
    `create function shout(_a text) returns table (b_c text) language sql immutable as $$ select $1 $$;
     comment on function shout(text) is 'HTTP';`,
    { nameConverter: (name: string) => name.toUpperCase() },
  );
  try {
    expect(plain(await own.send('GET /api/shout?_A=x'))).toEqual(json('[{"B_C":"x"}]'));
    expect(plain(await own.send('GET /api/shout?_a=x'))).toEqual(json('[{"B_C":"x"}]'));
  } finally {
    await own.close();
  }
});
