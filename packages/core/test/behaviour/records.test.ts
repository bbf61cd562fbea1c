import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { json, plain } from './support.ts';

const gateway = useGateway(`
  create function many() returns setof record language sql stable as $$
    values (1, 'text', true, null::text, '2024-01-12 11:06:59'::timestamp, '{1,NULL}'::int[], '{"a": "b"}'::json),
      (2, 'a,b "c" \\ (d)', false, '', null, '{}', 'null') $$;
  create function no_rows() returns setof record language sql stable as $$ select 1, 2 where false $$;
  create function one() returns record language sql stable as $$ select 1, 'x', null::int, true, E'line\\nfeed' $$;
  create function one_column() returns setof record language sql stable as $$ select row('a,b') union all select row(null::text) $$;
  create function nested() returns setof record language sql stable as $$ select 1, row('a', row(2, 'b"c')) $$;
  create function bytes() returns setof record language sql stable as $$ select '\\x00ff'::bytea, 1.50, 'NaN'::float8 $$;
  create function lots() returns setof record language sql stable as $$ select i, 'row ' || i from generate_series(1, 3) i $$;
  do $$ declare routine regprocedure; begin
    for routine in select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace loop
      execute format('comment on function %s is %L', routine, 'HTTP GET');
    end loop;
  end $$;
`);

test.each([
  [
    '/api/many',
    '[["1","text","t",null,"2024-01-12 11:06:59","{1,NULL}","{\\"a\\": \\"b\\"}"],["2","a,b \\"c\\" \\\\ (d)","f","",null,"{}","null"]]',
  ],
  ['/api/no-rows', '[]'],
  ['/api/one', '["1","x",null,"t","line\\nfeed"]'],
  ['/api/one-column', '[["a,b"],[null]]'],
  ['/api/nested', '[["1","(a,\\"(2,\\"\\"b\\"\\"\\"\\"c\\"\\")\\")"]]'],
  ['/api/bytes', '[["\\\\x00ff","1.50","NaN"]]'],
  ['/api/lots', '[["1","row 1"],["2","row 2"],["3","row 3"]]'],
])('GET %s: arrays of text', async (path, body) => {
  const [row] = await gateway.database.query(`select row('a', row(2, 'b"c'))::text as nested`);
  // The text of a nested row is PostgreSQL's own.
  const expected = path === '/api/nested' ? `[["1",${JSON.stringify(row!['nested'])}]]` : body;
  expect(plain(await gateway.send(`GET ${path}`))).toEqual(json(expected));
});
