import { cases, useDatabase } from '@pgway/testing';
import fc from 'fast-check';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { analyzeSql } from '../../src/catalog/statement-effects.ts';

/** A dynamic statement that counts as harmless leaves nothing in its session, whatever its values are. */

const database = useDatabase(`create table t (a int, b text); insert into t values (1, 'x');`);
let client: Client;

beforeAll(async () => {
  client = new Client({ connectionString: database.connectionString });
  await client.connect();
});
afterAll(() => client.end());

const leak = `select set_config('app.leak', 'yes', false)`;
const values = [
  'a',
  'temp',
  'set',
  'prepare',
  'are',
  't',
  `x'; ${leak}; --`,
  `x"; ${leak}; --`,
  `1; ${leak}`,
  `1; ${leak}; /*`,
  `\n${leak}; --`,
  ` role pg_monitor`,
  `t role pg_monitor; select 1`,
  `\\'; ${leak}; --`,
  `$$; ${leak}; --`,
];

const literals = [
  'select 1',
  'select a from t',
  'select a from t where b = ',
  'select a into ',
  ' from t',
  ' x',
  ' order by ',
  ' where b = ',
  '; ',
  '; se',
  '; prep',
  '; prepare ',
  ' mine as select 1',
  ' as select 1',
  'select 1; se',
  'select 1; ',
  ' role pg_monitor',
  't role pg_monitor',
  ' table z (a int)',
  ' z from t',
  '; create ',
  ' as ',
  ' -- ',
  ' /* ',
  ' */ ',
  `''`,
  `select ''`,
  '"',
  'select "',
  '(1)',
  ' (',
  ') ',
  ', ',
  ' or ',
  '$$',
  '\\',
];
const quote = (text: string): string => `'${text}'`;
const literal = fc.oneof(
  fc.constantFrom(...literals).map(quote),
  fc.constantFrom(...literals).map((text) => `E${quote(text.replaceAll('\\', '\\\\'))}`),
);
const value = fc.constantFrom('_a', '_b');
const pattern = fc
  .array(fc.constantFrom(...literals, '%I', '%L', '%s', ' %I ', ' %L ', ' %s '), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(''));

const { expression } = fc.letrec<{ expression: string; part: string }>((tie) => ({
  part: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 6, arbitrary: literal },
    { weight: 3, arbitrary: value.map((name) => `quote_ident(${name})`) },
    { weight: 3, arbitrary: value.map((name) => `quote_literal(${name})`) },
    { weight: 1, arbitrary: value.map((name) => `quote_nullable(${name})`) },
    { weight: 1, arbitrary: fc.constantFrom('p', 'q', '_a') },
    {
      weight: 2,
      arbitrary: fc
        .tuple(pattern, fc.array(fc.oneof(value, tie('part')), { minLength: 4, maxLength: 4 }))
        .map(([text, given]) => `format(${[quote(text), ...given].join(', ')})`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(value, tie('expression'), tie('expression'))
        .map(([name, yes, no]) => `(case when ${name} = 'a' then ${yes} else ${no} end)`),
    },
    { weight: 1, arbitrary: tie('expression').map((inner) => `(${inner})`) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('coalesce', 'concat'), tie('expression'), tie('expression'))
        .map(([name, first, second]) => `${name}(${first}, ${second})`),
    },
  ),
  expression: fc.array(tie('part'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(' || ')),
}));

const start = fc.constantFrom(`'select 1'`, `'select a from t'`, `'select a from t where b = '`, `''`);
const plain = fc
  .tuple(start, expression)
  .map(([first, executed]) => `begin execute ${first} || ${executed}; end`)
  // Only the variables of the other form are declared.
  .filter((text) => !/\b[pq]\b/.test(text));
const withVariables = fc.tuple(start, expression, expression, expression, fc.constantFrom(':=', '=')).map(
  ([first, initial, more, executed, sign]) => `declare p text ${sign} ${initial}; q text := ${first};
begin
  if _b = 'a' then q ${sign} q || ${more}; end if;
  execute ${first} || ${executed};
  execute q;
end`,
);
const body = fc.oneof({ weight: 2, arbitrary: plain }, withVariables);

/** Returns what the session has that a new one has not. */
async function leftState(): Promise<Record<string, unknown>> {
  const { rows } = await client.query<Record<string, unknown>>(
    `select coalesce(current_setting('app.leak', true), '') as leak, current_setting('role') as role,
      (select count(*)::int from pg_class where relnamespace = pg_my_temp_schema()) as tables,
      (select count(*)::int from pg_prepared_statements where from_sql) as statements`,
  );
  return rows[0]!;
}

const clean = { leak: '', role: 'none', tables: 0, statements: 0 };

/** Returns whether the body counts as harmless, after a run with these values that has left nothing it is not known for. */
async function leavesNothing(text: string, a: string, b: string): Promise<boolean> {
  const { alters, mayPrepare } = analyzeSql(text);
  if (mayPrepare) return false;
  await client.query(
    `create or replace function run(_a text, _b text) returns void language plpgsql as $run$ ${text} $run$`,
  );
  await client.query('select run($1, $2)', [a, b]).catch(() => undefined);
  const left = await leftState();
  expect(left).toEqual(alters ? { ...left, statements: 0 } : clean);
  if (alters) await client.query('discard all');
  return !alters;
}

test('random statements', async () => {
  let harmless = 0;
  const value = fc.constantFrom(...values);
  await fc.assert(
    fc.asyncProperty(body, value, value, async (...input) => {
      if (await leavesNothing(...input)) harmless++;
    }),
    { numRuns: cases(20_000) },
  );
  expect(harmless).toBeGreaterThan(0);
});

const leaks = [
  'select 1; set role pg_monitor',
  `select 1; set app.leak to 'yes'`,
  leak,
  'select 1 as a into temp z',
  'select 1; create temp table z (a int)',
  'select 1; prepare mine as select 1',
  'prepare mine as select 1',
  `select ''; set app.leak to 'yes' --''`,
  `select 'a'; set app.leak to 'yes'`,
  `select 1 as "a"; set app.leak to 'yes'`,
  `select 1 -- a\n; set app.leak to 'yes'`,
  `select 1 /* a */; set app.leak to 'yes'`,
];

/** Writes a part of a statement: as a literal, or as the value of the parameter. */
const writers: readonly ((part: string, name: string) => string)[] = [
  (part) => quote(part.replaceAll("'", "''")),
  (part) => `E${quote(part.replaceAll('\\', '\\\\').replaceAll("'", "''"))}`,
  (_, name) => `quote_ident(${name})`,
  (_, name) => `quote_literal(${name})`,
  (_, name) => `format('%I', ${name})`,
  (_, name) => `coalesce(quote_ident(${name}), '')`,
  (_, name) => `case when true then quote_ident(${name}) else '' end`,
];
const writer = fc.constantFrom(...writers);

test('statements that leave something, with parts that are values', async () => {
  let harmless = 0;
  const cut = fc.tuple(fc.nat({ max: 40 }), fc.integer({ min: 1, max: 6 }), fc.nat({ max: 6 }), fc.nat({ max: 6 }));
  const otherWriter = fc.oneof({ weight: 2, arbitrary: fc.constant(writers[0]!) }, writer);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...leaks), cut, writer, otherWriter, async (...input) => {
      const [text, [at, lengthOfA, between, lengthOfB], write, writeOther] = input;
      const end = at + lengthOfA;
      const a = text.slice(at, end);
      const b = text.slice(end + between, end + between + lengthOfB);
      const parts = [
        writers[0]!(text.slice(0, at), ''),
        write(a, '_a'),
        writers[0]!(text.slice(end, end + between), ''),
        writeOther(b, '_b'),
        writers[0]!(text.slice(end + between + lengthOfB), ''),
      ];
      if (await leavesNothing(`begin execute ${parts.join(' || ')}; end`, a, b)) harmless++;
      const rest = parts.slice(2).join(' || ');
      await leavesNothing(
        `declare q text := ${parts[0]}; r text = ${parts[1]}; begin q := q || r; q = q || ${rest}; execute q; end`,
        a,
        b,
      );
    }),
    { numRuns: cases(20_000) },
  );
  expect(harmless).toBeGreaterThan(0);
});
