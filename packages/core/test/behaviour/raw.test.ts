import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

/** Raw mode: values as PostgreSQL's text, with what the author wants between them. */

const rows = `table (id int, "full_name" text, born date, seen timestamp, active boolean, price numeric, tags text[])
  language sql stable as $$ values
    (1, 'Ann "A" Lee', date '2000-01-02', timestamp '2024-05-06 07:08:09.5', true, 1.50, array['x','y']),
    (2, null, null, null, false, null, null) $$`;

const gateway = useGateway(`
  create function plain() returns ${rows};
  comment on function plain is 'HTTP GET
  raw';

  create function lines() returns ${rows};
  comment on function lines is E'HTTP GET
  raw
  separator = ,
  new_line = \\\\n
  column_names
  Content-Type: text/csv';

  create function tabs() returns table (a int, b text) language sql stable as $$ values (1, 'x'), (2, 'y') $$;
  comment on function tabs is E'HTTP GET
  raw
  separator = \\\\t
  new_line = \\\\n';

  create function nobody() returns table (a int, b text) language sql stable as $$ select 1, 'x' where false $$;
  comment on function nobody is E'HTTP GET
  raw
  separator = ;
  new_line = \\\\n
  column_names';

  create function one() returns boolean language sql stable as $$ select true $$;
  comment on function one is 'HTTP GET
  raw';

  create function many() returns setof text language sql stable as $$ values ('a"b'), (null), ('c') $$;
  comment on function many is E'HTTP GET
  raw
  separator = ,
  new_line = |';

  create function unknown_rows() returns setof record language sql stable as $$ values (1, 'a"b', true), (2, null, false) $$;
  comment on function unknown_rows is E'HTTP GET
  raw
  separator = ,
  new_line = \\\\n';

  create sequence calls;
  create function chosen(_between text, _end text default null, n int default 2) returns table (a int, b text, call int) language sql volatile as
    $$ select i, 'x', nextval('calls')::int from generate_series(1, n) i $$;
  comment on function chosen is E'HTTP GET
  raw
  separator = {between}
  new_line = <{_end}{nothing}>
  column_names
  cached n';

  create function chosen_record(_end text) returns setof record language sql stable as $$ values (1, 'x'), (2, 'y') $$;
  comment on function chosen_record is E'HTTP GET
  raw
  separator = {end}
  new_line = {end}';
`);

async function get(path: string) {
  const { status, type, body } = await gateway.send(`GET ${path}`);
  return { status, type, body };
}

describe('raw', () => {
  test('nothing between values or rows, NULL as nothing; the content type stays', async () => {
    expect(await get('/api/plain')).toEqual({
      status: 200,
      type: 'application/json',
      body: '1Ann "A" Lee2000-01-022024-05-06 07:08:09.5t1.50{x,y}2f',
    });
  });

  test('with a separator all but numbers and booleans are quoted; a heading of the original names', async () => {
    expect(await get('/api/lines')).toEqual({
      status: 200,
      type: 'text/csv',
      body:
        '"id","full_name","born","seen","active","price","tags"\n' +
        '1,"Ann ""A"" Lee","2000-01-02","2024-05-06 07:08:09.5",t,1.50,"{x,y}"\n' +
        '2,,,,f,,',
    });
  });

  test('escapes in the annotation are resolved', async () => {
    expect((await get('/api/tabs')).body).toBe('1\t"x"\n2\t"y"');
  });

  test('no rows: the heading alone', async () => {
    expect((await get('/api/nobody')).body).toBe('"a";"b"');
  });

  test('a single value, a set of values, and records with unknown columns', async () => {
    expect((await get('/api/one')).body).toBe('t');
    expect((await get('/api/many')).body).toBe('"a""b"||"c"');
    expect((await get('/api/unknown-rows')).body).toBe('"1","a""b","t"\n"2",,"f"');
  });
});

describe('{name} in a separator', () => {
  const rowsOf = async (query: string): Promise<string> =>
    (await get(`/api/chosen?${query}`)).body.replaceAll(/(?<="x"[^\d]*)\d+/g, '#');

  test('is the value of the parameter in this request; NULL is empty, and unknown names stay', async () => {
    expect(await rowsOf('between=;&end=%7B%7D')).toBe('"a";"b";"call"<{}{nothing}>1;"x";#<{}{nothing}>2;"x";#');
    expect(await rowsOf('between=%2B%22')).toBe('"a"+""b"+""call"<{nothing}>1+""x"+"#<{nothing}>2+""x"+"#');
    expect(await rowsOf('between=')).toBe('"a""b""call"<{nothing}>1"x"#<{nothing}>2"x"#');
  });

  test('varies the cache key, even if cached does not name the parameter', async () => {
    const [first, again] = [await get('/api/chosen?between=a&n=1'), await get('/api/chosen?between=a&n=1')];
    expect(again.body).toBe(first.body);
    expect((await get('/api/chosen?between=b&n=1')).body).not.toContain('"a"a"b"');
  });

  test('stays text between the values of a record, which the statement joins', async () => {
    expect((await get('/api/chosen-record?end=%7C')).body).toBe('"1"{end}"x"|"2"{end}"y"');
  });
});
