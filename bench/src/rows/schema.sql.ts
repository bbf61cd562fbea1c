const fifteenQuery = `select n::smallint, n * 1000, n * 10000000000, n::numeric / 7, (n::real / 3)::real, sqrt(n), n % 2 = 0,
         'A sentence of some length, about "item" ' || n, 'short ' || n, md5(n::text)::uuid, date '2024-01-01' + n,
         timestamp '2024-01-01' + n * interval '1 hour', timestamptz '2024-01-01 00:00:00+00' + n * interval '1 minute',
         jsonb_build_object('n', n, 'name', 'x' || n), array[n, n + 1, n + 2]
  from generate_series(1, lim) n`;

/** A result of fifteen types, in the schema of the bench. */
export const fifteenTypesSql: string = `
create function bench.fifteen(lim int) returns table (
  a_smallint smallint, an_int int, a_bigint bigint, a_numeric numeric, a_real real, a_double double precision, a_boolean boolean,
  a_text text, a_varchar varchar(40), a_uuid uuid, a_date date, a_timestamp timestamp, a_timestamptz timestamptz, a_jsonb jsonb,
  an_array int[]
)
language sql stable parallel safe
as $$
  ${fifteenQuery}
$$;
comment on function bench.fifteen(int) is 'HTTP GET';
`;

const fifteenNames =
  'a_smallint, an_int, a_bigint, a_numeric, a_real, a_double, a_boolean, a_text, a_varchar, a_uuid, a_date, a_timestamp, a_timestamptz, ' +
  'a_jsonb, an_array';

/** The statements of the functions, as endpoints below `/api/files`. */
export const sqlFiles: readonly { readonly name: string; readonly text: string }[] = [
  {
    name: 'add.sql',
    text: '-- HTTP GET /api/files/add\n-- scalar\nselect :a::int + :b::int;\n',
  },
  {
    name: 'items.sql',
    text: '-- HTTP GET /api/files/items\n-- param lim int\nselect * from bench.item order by id limit :lim;\n',
  },
  {
    name: 'fifteen.sql',
    text: `-- HTTP GET /api/files/fifteen\n-- param lim int\nselect * from (${fifteenQuery.replace('lim', ':lim')}) as t (${fifteenNames});\n`,
  },
];
