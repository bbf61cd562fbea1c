import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';

/** Parameters whose elements are arrays themselves, by a domain, and PostgreSQL's two lists without braces. */

const gateway = useGateway(`
  create domain codes as int[];
  create domain words as text[];
  create domain more_codes as codes[];
  create type shelf as (label text, slots codes[], keys int2vector);
  create function of_codes(_v codes[]) returns json language sql as $$ select json_build_array(array_ndims(_v), _v) $$;
  create function of_words(_v words[]) returns json language sql as $$ select json_build_array(array_ndims(_v), _v) $$;
  create function of_more(_v more_codes[]) returns json language sql as $$ select json_build_array(array_ndims(_v), _v) $$;
  create function of_ints(_v int[]) returns json language sql as $$ select json_build_array(array_ndims(_v), _v) $$;
  create function of_int2vector(_v int2vector) returns text language sql as $$ select pg_typeof(_v) || ' ' || _v::text $$;
  create function of_oidvector(_v oidvector) returns text language sql as $$ select pg_typeof(_v) || ' ' || _v::text $$;
  create function of_vectors(_v int2vector[]) returns text language sql as $$ select array_ndims(_v) || ' ' || _v::text $$;
  create function of_shelf(_v shelf) returns text language sql as $$ select _v::text $$;
  create function get_codes(_v codes[]) returns json language sql as $$ select json_build_array(array_ndims(_v), _v) $$;
  create function get_vector(_v int2vector) returns text language sql as $$ select _v::text $$;
  do $$ declare routine regprocedure; begin
    for routine in select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace loop
      execute format('comment on function %s is %L', routine, 'HTTP');
    end loop;
  end $$;
`);

test.each([
  ['of-codes', [[1, 2], [3]], '[1, [[1,2],[3]]]'],
  ['of-codes', [[1, null], null, []], '[1, [[1,null],null,[]]]'],
  ['of-codes', [], '[null, []]'],
  // The elements are values of the domain, which may have two dimensions; the array has one.
  [
    'of-codes',
    [
      [
        [1, 2],
        [3, 4],
      ],
      [5],
    ],
    '[1, [[[1,2],[3,4]],[5]]]',
  ],
  [
    'of-words',
    [
      ['a,b', '{"x"}'],
      ['', 'NULL', null],
    ],
    String.raw`[1, [["a,b","{\"x\"}"],["","NULL",null]]]`,
  ],
  ['of-more', [[[1], [2, 3]], [[4]]], '[1, [[[1],[2,3]],[[4]]]]'],
  [
    'of-ints',
    [
      [1, 2],
      [3, 4],
    ],
    '[2, [[1,2],[3,4]]]',
  ],
  ['of-int2vector', [1, 2, -3], 'int2vector 1 2 -3'],
  ['of-int2vector', [], 'int2vector '],
  ['of-int2vector', '1 2', 'int2vector 1 2'],
  ['of-oidvector', [1, 4294967295], 'oidvector 1 4294967295'],
  ['of-vectors', [[1, 2], [3]], '1 {"1 2",3}'],
  ['of-shelf', { label: 'x', slots: [[1], [2, 3]], keys: [7, 8] }, String.raw`(x,"{""{1}"",""{2,3}""}","7 8")`],
])('%s %j', async (name, v, expected) => {
  const answer = await gateway.send(`POST /api/${name}`, { body: { v } });
  expect([answer.status, answer.body]).toEqual([200, expected]);
});

test('in a query string, each value of the key is an element in its own text', async () => {
  expect((await gateway.send('GET /api/get-codes?v={1,2}&v={3}')).body).toBe('[1, [[1,2],[3]]]');
  expect((await gateway.send('GET /api/get-vector?v=1&v=2')).body).toBe('1 2');
  expect((await gateway.send('GET /api/get-vector?v=1%202')).body).toBe('1 2');
});

test.each([
  ['of-codes', [1]],
  ['of-codes', [[[[[[[[1]]]]]]]]],
  ['of-int2vector', [null]],
  ['of-int2vector', [[1]]],
  ['of-int2vector', ['x']],
  ['of-int2vector', [40_000]],
])('%s %j is 400 and names the parameter', async (name, v) => {
  const answer = await gateway.send(`POST /api/${name}`, { body: { v } });
  expect([answer.status, (JSON.parse(answer.body) as { parameters: unknown }).parameters]).toEqual([400, ['v']]);
});
