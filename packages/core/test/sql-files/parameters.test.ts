import { describe, expect, test } from 'vitest';
import { useFiles } from './folder.ts';

const sql = `
  create table film (film_id int primary key, title text not null, numbers int[], data jsonb);
  insert into film values (1, 'Alien', '{1,2,3,4}', '{"a": {"b": 1}, "k": 2}');
`;

describe('where a parameter is', () => {
  const files = useFiles(sql, {
    // Nothing of these is a parameter.
    'none.sql': `-- HTTP
select ':a' as "b:c", E'it\\'s :d', U&'\\0041 :e', $$ :f $1 $$, $x$ :g $$ $x$, 'it''s :h',
  numbers[2:film_id] /* :i /* :j */ $2 */, data -> 'a' ->> 'b', data #> '{a,b}', '12'::int, '{"a:b"}'::text[], -- :k $3
  data @? '$.k', data ? 'k'
from film`,
    'all.sql': `-- HTTP
-- single
select :a::int as plain, array[:b, 2, 3 + :b]::int[] as list, (numbers)[:low:3] as slice, :a + 1 as again, data -> :key as member
from film where :a=:a and title like :text||'%'`,
    'numbered.sql': `-- HTTP\n-- param $2 is from_id\n-- param $1 text\nselect title from film where title = $1 and film_id >= $2 and $2 > 0`,
    'unnamed.sql': `-- HTTP\nselect film_id + $1 from film`,
    'typed.sql': `-- HTTP
-- param ids type int[]
-- param at timestamptz
-- param amount type is numeric(6, 2) default 1.5
-- single
select :ids[1] as first, :at as at, :amount as amount, :ids as ids`,
    'defaults.sql': `-- HTTP
-- param a default null
-- param b = 'null'
-- param c default 'it''s'
-- param d default
-- param e default true
-- param f type int = -4
-- single
select :a::text as a, :b::text as b, :c::text as c, :d::int as d, :e::boolean as e, :f as f`,
    'domain.sql': `-- HTTP POST\n-- single\nselect :class::regclass = 'film'::regclass as same, :a::int is null as missing`,
    'defined.sql': `-- HTTP\n-- define_param page int\n-- X-Page: {page}\nselect 1 as one, 2 as two`,
    'defined-types.sql': `-- HTTP POST
-- define_param page int
-- define_param since date
-- param since default null
-- X-Page: {page} {since}
select title from film where title = :title;
update film set title = title where title = :title`,
  });

  test.each([
    ['all', 'a b low key text'],
    ['defaults', 'a b c d e f'],
    ['defined', 'page'],
    ['defined-types', 'title page since'],
    ['domain', 'class a'],
    ['none', ''],
    ['numbered', 'text fromId'],
    ['typed', 'ids at amount'],
    ['unnamed', '$1'],
  ])('the parameters of %s.sql', (name, keys) => {
    const endpoint = files.current().gateway.endpoints.find(({ id }) => id === `${name}.sql`);
    expect(endpoint?.parameters.map(({ key }) => key).join(' ')).toBe(keys);
  });

  test.each([
    [
      'GET /api/none',
      '[{"b:c":":a","column2":"it\'s :d","column3":"A :e","column4":" :f $1 ","column5":" :g $$ ","column6":"it\'s :h","numbers":[],"column8":"1","column9":1,"int4":12,"text":["a:b"],"column12":true,"column13":true}]',
    ],
    ['GET /api/all?a=5&b=6&low=2&key=k&text=A', '{"plain":5,"list":[6,2,9],"slice":[2,3],"again":6,"member":2}'],
    ['GET /api/numbered?text=Alien&from_id=1', '["Alien"]'],
    ['GET /api/unnamed?$1=5', '[6]'],
    [
      'GET /api/typed?ids=7&ids=8&at=2024-01-01T00:00:00Z',
      '{"first":7,"at":"2024-01-01T00:00:00+00:00","amount":1.50,"ids":[7,8]}',
    ],
    ['GET /api/defaults', '{"a":null,"b":"null","c":"it\'s","d":null,"e":true,"f":-4}'],
    ['GET /api/defaults?a=x&f=5', '{"a":"x","b":"null","c":"it\'s","d":null,"e":true,"f":5}'],
    ['GET /api/defined?page=3', '[{"one":1,"two":2}]'],
  ])('%s', async (line, body) => {
    const answer = await files.current().send(line);
    expect([answer.status, answer.body]).toEqual([200, body]);
  });

  test('values are bound, whatever they contain', async () => {
    const text = `x'; drop table film; --`;
    const answer = await files.current().send(`GET /api/numbered?text=${encodeURIComponent(text)}&fromId=1`);
    expect([answer.status, answer.body]).toEqual([200, '[]']);
    expect(await files.current().database.query('select count(*)::int from film')).toEqual([{ count: 1 }]);
  });

  test('a header of the response has the value of a parameter that no statement uses', async () => {
    const answer = await files.current().send('GET /api/defined?page=3');
    expect(answer.headers.get('x-page')).toBe('3');
  });

  test('a parameter that no statement uses has its type, and PostgreSQL refuses other values', async () => {
    const { gateway, send } = files.current();
    const endpoint = gateway.endpoints.find(({ id }) => id === 'defined-types.sql');
    expect(endpoint?.parameters.map(({ key, type }) => `${key} ${type.display}`)).toEqual([
      'title text',
      'page integer',
      'since date',
    ]);
    const given = { title: 'Alien', page: 3, since: '2026-01-31' };
    const good = await send('POST /api/defined-types', { body: given });
    expect([good.status, good.headers.get('x-page'), good.body]).toEqual([
      200,
      '3 2026-01-31',
      '{"result1":["Alien"],"result2":1}',
    ]);
    const bad = await send('POST /api/defined-types', { body: { title: 'Alien', page: 'abc' } });
    expect([bad.status, JSON.parse(bad.body)]).toMatchObject([
      400,
      { detail: 'The parameter "page" takes integer.', parameters: ['page'] },
    ]);
    expect((await send('GET /api/defined?page=abc')).status).toBe(400);
  });
});
