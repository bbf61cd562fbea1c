/** A result of fifteen types, in the schema of the bench. */
export const fifteenTypesSql = `
create function bench.fifteen(lim int) returns table (
  a_smallint smallint, an_int int, a_bigint bigint, a_numeric numeric, a_real real, a_double double precision, a_boolean boolean,
  a_text text, a_varchar varchar(40), a_uuid uuid, a_date date, a_timestamp timestamp, a_timestamptz timestamptz, a_jsonb jsonb,
  an_array int[]
)
language sql stable parallel safe
as $$
  select n::smallint, n * 1000, n * 10000000000, n::numeric / 7, n::real / 3, sqrt(n), n % 2 = 0,
         'A sentence of some length, about "item" ' || n, 'short ' || n, md5(n::text)::uuid, date '2024-01-01' + n,
         timestamp '2024-01-01' + n * interval '1 hour', timestamptz '2024-01-01 00:00:00+00' + n * interval '1 minute',
         jsonb_build_object('n', n, 'name', 'x' || n), array[n, n + 1, n + 2]
  from generate_series(1, lim) n
$$;
comment on function bench.fifteen(int) is 'HTTP GET';
`;
