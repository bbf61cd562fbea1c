import { expect, test } from 'vitest';
import { column, int4, returns, routine, text, textArray } from '../../test/support/routine.ts';
import { buildEndpoints } from '../../test/support/build-endpoints.ts';
import { endpointDefaults } from './options.ts';
import type { Endpoint } from './endpoint.ts';
import { buildCallStatement, callColumnTypes } from './statement.ts';

/** Texts only; that PostgreSQL takes them and gives the right rows is tested on a server, in test/plan. */
function planned(sketch: Parameters<typeof routine>[0]): Endpoint {
  return buildEndpoints([routine(sketch)], endpointDefaults).endpoints[0]!;
}

const parameters = [
  { name: 'a', type: int4 },
  { name: 'b"c', hasDefault: true },
  { name: 'rest', type: textArray, variadic: true },
];

test('arguments are named, cast, and numbered in the order of the given ones', () => {
  const endpoint = planned({ schema: 's', name: 'f', parameters });
  const [a, b, rest] = endpoint.parameters;
  expect(buildCallStatement(endpoint, [rest!, b!, a!])).toBe(
    'select "s"."f"("a" => $3::"pg_catalog"."int4", "b""c" => $2::"pg_catalog"."text", variadic "rest" => $1::"pg_catalog"."_text")',
  );
  expect(buildCallStatement(endpoint, [])).toBe('select "s"."f"()');
});

test('plain columns stay plain, others are converted', () => {
  const columns = [column('id', int4), column('names', textArray)];
  const set = planned({ name: 'f', result: returns('composite', columns, { set: true, named: true }) });
  expect(buildCallStatement(set, [])).toBe(
    'select "r"."id", pg_catalog.to_json("r"."names") from "public"."f"() as "r"',
  );
  expect(callColumnTypes(set)).toEqual([
    [20, 21, 23, 700, 701, 1700],
    [114, 3802],
  ]);
  const row = planned({ name: 'f', result: returns('composite', columns, { named: true }) });
  expect(buildCallStatement(row, [])).toBe(
    'select ("r"."v")."id", pg_catalog.to_json(("r"."v")."names") from (select "public"."f"() as "v" offset 0) as "r" where "r"."v" is distinct from null',
  );
});

test('a procedure has placeholders where its outputs stand', () => {
  const endpoint = planned({
    kind: 'procedure',
    name: 'p',
    parameters: [{ name: null, type: int4 }, { name: 'b' }],
    outputs: [
      { name: null, before: 2 },
      { name: 'c', before: 3 },
    ],
    result: returns('composite', [column('column1', int4), column('c', text)]),
  });
  expect(buildCallStatement(endpoint, endpoint.parameters)).toBe(
    'call "public"."p"($1::"pg_catalog"."int4", null, "b" => $2::"pg_catalog"."text", "c" => null)',
  );
  expect(callColumnTypes(endpoint)).toEqual([[20, 21, 23, 700, 701, 1700], null]);
});
