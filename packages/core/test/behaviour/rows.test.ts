import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { json, noContent, plain } from './support.ts';

const gateway = useGateway(`
  create type address as (street_name text, zip_code int);
  create type person as (full_name text, home_address address, other_addresses address[], raw_json json);
  create table book (book_id int, title text, in_print bool, published timestamptz, extra jsonb);
  insert into book values (1, E'Quotes "x" \\\\ \\b\\f\\n\\r\\t' || chr(1) || chr(31) || chr(127) || '/é🎈', true, '2024-01-12 11:06:59.334476+00', '{"a_b": 1}'), (2, null, null, null, null);
  create type bare as ();

  create function of_table() returns table (book_id int, the_title text) language sql stable as $$ select book_id, title from book order by 1 desc $$;
  create function of_one_column() returns table (t text) language sql stable as $$ select 'x' $$;
  create function of_no_rows() returns table (t text) language sql stable as $$ select 'x' where false $$;
  create function of_setof_table() returns setof book language sql stable as $$ select * from book order by 1 $$;
  create function of_setof_type() returns setof address language sql stable as $$ values ('a', 1), (null, null) $$;
  create function of_outs(out _a int, out b_c text) returns setof record language sql stable as $$ values (1, 'x'), (2, 'y') $$;
  create function of_setof_scalar() returns setof int language sql stable as $$ values (1), (null), (3) $$;
  create function of_setof_text() returns setof text language sql stable as $$ values ('a"b'), (''), (null) $$;
  create function of_setof_bool() returns setof bool language sql stable as $$ values (true), (false) $$;
  create function of_setof_timestamp() returns setof timestamp language sql stable as $$ values ('2024-01-12 11:06:59'::timestamp), ('-infinity') $$;
  create function of_setof_json() returns setof json language sql stable as $$ values ('{"a" : 1}'::json), ('[1, 2]'), ('"x"'), (null) $$;
  create function of_setof_array() returns setof int[] language sql stable as $$ values ('{1,2}'::int[]), (null) $$;
  create function of_setof_bytea() returns setof bytea language sql stable as $$ values ('\\x00ff'::bytea) $$;
  create function of_setof_nothing() returns setof int language sql stable as $$ select 1 where false $$;
  create function of_one_row(_id int) returns book language sql stable as $$ select * from book where book_id = _id $$;
  create function of_one_type(_a text) returns address language sql stable as $$ select _a, 7 $$;
  create function of_two_outs(out _a int, out b_c text) language sql stable as $$ select 1, 'x' $$;
  create function of_null_outs(out _a int, out b_c text) language sql stable as $$ select null::int, null::text $$;
  create function of_null_row() returns address language sql stable as $$ select null::address $$;
  create function of_row_of_nulls() returns address language sql stable as $$ select row(null, null)::address $$;
  create function of_plpgsql_row(_id int) returns book language plpgsql stable as $$
    declare found_book book; begin select * into found_book from book where book_id = _id; return found_book; end $$;
  create function of_plpgsql_null() returns book language plpgsql stable as $$ begin return null; end $$;
  create function of_nested() returns setof person language sql stable as $$
    values (row('A', row('s', 1), array[row('t', 2)::address, null, row(null, null)::address], '{ "street_name" : "as it is"}')::person),
      (row(null, null, '{}', null)::person) $$;
  create function of_nested_table() returns table (the_person person, id_s int[], when_s timestamptz[]) language sql stable as $$
    select row('B', row('u', 3), null, '[{"zip_code":1}]')::person, '{1,2}'::int[], '{2024-01-12 11:06:59+00}'::timestamptz[] $$;
  create function of_one_nested() returns person language sql stable as $$ select row('C', row('v', 4), null, null)::person $$;
  create function of_bare() returns setof bare language sql stable as $$ select row()::bare from generate_series(1, 2) $$;
  create function of_white_space() returns table (a address, j json, p person, z int) language sql stable as $$
    select row('s', 1)::address, E' {"a" :\\t1}\\r\\n'::json,
      row('D', null, null, E'\\t{"a":[1 , 2],"b":"}]\\\\""}\\r\\n\\t ')::person, 9 $$;

  do $$ declare routine regprocedure; begin
    for routine in select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace loop
      execute format('comment on function %s is %L', routine, 'HTTP GET');
    end loop;
  end $$;
`);

const first =
  '{"bookId":1,"title":"Quotes \\"x\\" \\\\ \\b\\f\\n\\r\\t\\u0001\\u001f\u007f/é🎈","inPrint":true,"published":"2024-01-12T11:06:59.334476+00:00","extra":{"a_b": 1}}';
const second = '{"bookId":2,"title":null,"inPrint":null,"published":null,"extra":null}';

describe('sets', () => {
  test.each([
    [
      '/api/of-table',
      '[{"bookId":2,"theTitle":null},{"bookId":1,"theTitle":"Quotes \\"x\\" \\\\ \\b\\f\\n\\r\\t\\u0001\\u001f\u007f/é🎈"}]',
    ],
    ['/api/of-one-column', '[{"t":"x"}]'],
    ['/api/of-no-rows', '[]'],
    ['/api/of-setof-table', `[${first},${second}]`],
    ['/api/of-setof-type', '[{"streetName":"a","zipCode":1},{"streetName":null,"zipCode":null}]'],
    ['/api/of-outs', '[{"a":1,"bC":"x"},{"a":2,"bC":"y"}]'],
    ['/api/of-setof-scalar', '[1,null,3]'],
    ['/api/of-setof-text', '["a\\"b","",null]'],
    ['/api/of-setof-bool', '[true,false]'],
    ['/api/of-setof-timestamp', '["2024-01-12T11:06:59","-infinity"]'],
    ['/api/of-setof-json', '[{"a" : 1},[1, 2],"x",null]'],
    ['/api/of-setof-array', '[[1,2],null]'],
    ['/api/of-setof-bytea', '["\\\\x00ff"]'],
    ['/api/of-setof-nothing', '[]'],
    ['/api/of-bare', '[{},{}]'],
  ])('GET %s', async (path, body) => {
    const answer = await gateway.send(`GET ${path}`);
    expect(plain(answer)).toEqual(json(body));
    expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(body)));
  });
});

describe('a single row', () => {
  test.each([
    ['/api/of-one-row?id=1', first],
    ['/api/of-one-row?id=2', second],
    ['/api/of-one-type?a=x', '{"streetName":"x","zipCode":7}'],
    ['/api/of-two-outs', '{"a":1,"bC":"x"}'],
    ['/api/of-null-outs', '{"a":null,"bC":null}'],
    ['/api/of-plpgsql-row?id=2', second],
    // PL/pgSQL makes a row of NULLs where `select into` found none.
    ['/api/of-plpgsql-row?id=3', '{"bookId":null,"title":null,"inPrint":null,"published":null,"extra":null}'],
    // It is a row, though all its fields are NULL: to_json gives an object for it, and null for no row.
    ['/api/of-row-of-nulls', '{"streetName":null,"zipCode":null}'],
  ])('GET %s', async (path, body) => {
    expect(plain(await gateway.send(`GET ${path}`))).toEqual(json(body));
  });

  test.each(['/api/of-one-row?id=3', '/api/of-null-row', '/api/of-plpgsql-null'])('GET %s: no row', async (path) => {
    expect(plain(await gateway.send(`GET ${path}`))).toEqual(noContent);
  });
});

describe('composite columns', () => {
  const nested = [
    '{"fullName":"A","homeAddress":{"streetName":"s","zipCode":1},"otherAddresses":[{"streetName":"t","zipCode":2},null,{"streetName":null,"zipCode":null}],"rawJson":{ "street_name" : "as it is"}}',
    '{"fullName":null,"homeAddress":null,"otherAddresses":[],"rawJson":null}',
  ];

  test.each([
    ['/api/of-nested', `[${nested.join(',')}]`],
    [
      '/api/of-nested-table',
      '[{"thePerson":{"fullName":"B","homeAddress":{"streetName":"u","zipCode":3},"otherAddresses":null,"rawJson":[{"zip_code":1}]},"idS":[1,2],"whenS":["2024-01-12T11:06:59+00:00"]}]',
    ],
    [
      '/api/of-one-nested',
      '{"fullName":"C","homeAddress":{"streetName":"v","zipCode":4},"otherAddresses":null,"rawJson":null}',
    ],
    [
      '/api/of-white-space',
      '[{"a":{"streetName":"s","zipCode":1},"j": {"a" :\t1}\r\n,"p":{"fullName":"D","homeAddress":null,"otherAddresses":null,"rawJson":\t{"a":[1 , 2],"b":"}]\\""}\r\n\t },"z":9}]',
    ],
  ])('GET %s', async (path, body) => {
    expect(plain(await gateway.send(`GET ${path}`))).toEqual(json(body));
  });
});
