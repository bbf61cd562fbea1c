import { expect, test } from 'vitest';
import { qualifyDefault, sequenceCall } from './default-expression.ts';

test.each([
  ['0', '0'],
  ['-1', '-1'],
  ['1.50', '1.50'],
  ['true', 'true'],
  ['NULL::character varying', 'NULL::character varying'],
  ["'a''b::text'::text", "'a''b::text'::pg_catalog.text"],
  [String.raw`E'a\\b\'c f()'::text`, String.raw`E'a\\b\'c f()'::pg_catalog.text`],
  ["'-1'::integer", "'-1'::integer"],
  ["'{}'::jsonb", "'{}'::pg_catalog.jsonb"],
  ['\'a\'::"char"', '\'a\'::pg_catalog."char"'],
  ["'{}'::text[]", "'{}'::pg_catalog.text[]"],
  ['ARRAY[]::text[]', 'ARRAY[]::pg_catalog.text[]'],
  ["'x'::character varying(20)", "'x'::character varying(20)"],
  ['(0)::numeric(10,2)', '(0)::numeric(10,2)'],
  ["'2024-01-01 00:00:00+00'::timestamp with time zone", "'2024-01-01 00:00:00+00'::timestamp with time zone"],
  ["'2024-01-01'::timestamp(3) without time zone", "'2024-01-01'::timestamp(3) without time zone"],
  ['\'new\'::shop."order state"', '\'new\'::shop."order state"'],
  ['now()', 'pg_catalog.now()'],
  ['CURRENT_TIMESTAMP', 'CURRENT_TIMESTAMP'],
  ['CURRENT_TIMESTAMP(3)', 'CURRENT_TIMESTAMP(3)'],
  ['(CURRENT_USER)::text', '(CURRENT_USER)::pg_catalog.text'],
  ['(gen_random_uuid())::text', '(pg_catalog.gen_random_uuid())::pg_catalog.text'],
  ['shop."next code"()', 'shop."next code"()'],
  ["nextval('shop.item_id_seq'::regclass)", "pg_catalog.nextval('shop.item_id_seq'::pg_catalog.regclass)"],
  [
    "pg_catalog.nextval('public.item_id_seq'::pg_catalog.regclass)",
    "pg_catalog.nextval('public.item_id_seq'::pg_catalog.regclass)",
  ],
])('%s means the same in each session', (expression, expected) => {
  expect(qualifyDefault(expression)).toBe(expected);
});

test.each([
  "lower('X'::text)",
  "(now() + '7 days'::interval)",
  "('a'::text || 'b'::text)",
  "'a'::text LIKE 'b'::text",
  '(\'a\'::text COLLATE "C")',
  'f(1)',
  'f(g())',
  "nextval(('item' || '_seq')::regclass)",
  'ARRAY[1, f(2)]',
  'CASE WHEN true THEN 1 ELSE 2 END',
  "'a'::text); drop table item; --",
  '1 OPERATOR(shop.+) 2',
])('%s may not', (expression) => {
  expect(qualifyDefault(expression)).toBe(null);
});

test.each([`'${"''".repeat(50_000)}`, `now()${'::text'.repeat(20_000)} x`, `"${'""'.repeat(50_000)}.f()`])(
  'a long expression is checked in linear time (%#)',
  (expression) => {
    expect(qualifyDefault(expression)).toBe(null);
  },
);

test.each([
  ["nextval('shop.item_id_seq'::regclass)", "pg_catalog.nextval('shop.item_id_seq'::pg_catalog.regclass)"],
  ["(nextval('a'::regclass))::shop.code", "pg_catalog.nextval('a'::pg_catalog.regclass)"],
  [String.raw`nextval(E'"a\\b"'::regclass)`, String.raw`pg_catalog.nextval(E'"a\\b"'::pg_catalog.regclass)`],
  ["'pg_catalog.nextval('::text", null],
  ['shop.nextval()', null],
  ["shop.nextval('a'::regclass)", null],
])('%s has the call of a sequence %s', (expression, expected) => {
  expect(sequenceCall(qualifyDefault(expression)!)).toBe(expected);
});
