import { describe, expect, test } from 'vitest';
import { arrayLiteral } from '../../src/postgres/literal.ts';
import { checkRowCommand, RowCommands } from '../../src/uploads/row-commands.ts';
import { useUploadDatabase } from './support.ts';

const db = useUploadDatabase(`
  create table imported (number int, fields text[], previous text, metadata jsonb, inserted serial);
  create function process(number int, fields text[], previous text, metadata json) returns text
    language sql as 'insert into imported values ($1, $2, $3, $4) returning fields[1]';
  create function process_void(number int, fields text[]) returns void
    language sql as 'insert into imported values ($1, $2)';
  create procedure process_call(number int, fields text[], inout total int default 0)
    language sql as 'select number * 10';
  create function fail_at_5(number int) returns int language plpgsql as $$
  begin
    if number = 5 then raise 'row five' using errcode = '23505'; end if;
    return number;
  end $$;
`);

/** Runs the command for rows with these fields. */
function run(sql: string, rows: readonly (readonly string[])[]): Promise<string> {
  return db.inTransaction(async (transaction) => {
    const location = { file: 'books.csv' };
    const commands = new RowCommands(transaction, { sql, fields: 'array', metadata: '{"type":"csv"}', location });
    for (const [index, fields] of rows.entries()) await commands.add(index + 1, arrayLiteral(fields));
    return commands.finish();
  });
}

const manyRows = (count: number): string[][] => Array.from({ length: count }, (_, index) => [`row ${index + 1}`]);

async function takeLines(columns: string): Promise<unknown> {
  const rows = await db.database.query(`select ${columns} from imported order by inserted`);
  await db.database.query('truncate imported');
  return rows;
}

describe('the parameters of a row command', () => {
  test('are number, fields, previous result and metadata', async () => {
    expect(await run('select process($1, $2, $3, $4)', [['a', 'b'], [], ['c"\\,{}']])).toBe('"c\\"\\\\,{}"');
    const metadata = { type: 'csv' };
    expect(await takeLines('number, fields, previous, metadata')).toEqual([
      { number: 1, fields: ['a', 'b'], previous: null, metadata },
      { number: 2, fields: [], previous: 'a', metadata },
      { number: 3, fields: ['c"\\,{}'], previous: null, metadata },
    ]);
  });

  test.each(
    Object.entries({
      'select 1': '1',
      'select $2[1]': '"row 2"',
      'select cardinality($2)': '1',
      "select '$3', $1::int": '"$3"',
      'select $1::bigint -- $3': '2',
      'select $4::jsonb': '{"type": "csv"}',
    }),
  )('may be left out: %s', async (sql, result) => {
    expect(await run(sql, manyRows(2))).toBe(result);
  });

  test.each(
    Object.entries({
      'select f($1, $5)':
        'takes an SQL command with no parameters but $1 (number), $2 (fields), $3 (previous result) and $4 (metadata)',
      'select $0':
        'takes an SQL command with no parameters but $1 (number), $2 (fields), $3 (previous result) and $4 (metadata)',
      ' -- nothing': 'takes an SQL command, such as select process_row($1, $2)',
      '': 'takes an SQL command, such as select process_row($1, $2)',
    }),
  )('are at most four: %s', (sql, fault) => {
    expect(checkRowCommand(sql)).toBe(fault);
  });

  test.each(
    Object.entries({
      "select f($1, '$5')": null,
      'select "$5", $4': null,
      'select $a$ $5 $a$, a$5': null,
      'select 1 /* $5 /* $6 */ $7 */ -- $8': null,
    }),
  )('do not stand in texts, names and comments: %s', (sql, fault) => {
    expect(checkRowCommand(sql)).toBe(fault);
  });
});

describe('rows', () => {
  test('are processed in order, in batches', async () => {
    expect(await run('select process($1, $2, null, $4)', manyRows(1001))).toBe('"row 1001"');
    const lines = await takeLines('number');
    expect(lines).toEqual(manyRows(1001).map((_, index) => ({ number: index + 1 })));
  });

  test('receive the previous result', async () => {
    expect(await run('select $1::int + coalesce($3::int, 0)', manyRows(50))).toBe('1275');
  });

  test('that are large are not collected', async () => {
    const large = 'x'.repeat(300 * 1024);
    expect(await run('select process_void($1, $2)', [[large], [large], [large], ['end']])).toBe('null');
    expect(await takeLines('number, length(fields[1])')).toEqual([
      { number: 1, length: large.length },
      { number: 2, length: large.length },
      { number: 3, length: large.length },
      { number: 4, length: 3 },
    ]);
  });

  test('name their number when they fail, and none is stored', async () => {
    const sql = 'with entry as (insert into imported values ($1, $2)) select 1 / (700 - $1::int)';
    await expect(run(sql, manyRows(1000))).rejects.toMatchObject({
      name: 'LocatedError',
      message: 'division by zero',
      location: { file: 'books.csv', row: 700 },
      diagnostics: { code: '22012' },
      step: -1,
      phase: 'execute',
    });
    expect(await takeLines('*')).toEqual([]);
  });

  test.each(
    Object.entries({
      'select fail_at_5($1)': { row: 5, code: '23505' },
      'select fail_at_5($1), $3': { row: 5, code: '23505' },
      'select missing($1)': { row: 1, code: '42883' },
      'select ($2[1])::date': { row: 1, code: '22007' },
      'select 1; select 2': { row: 1, code: '42601' },
    }),
  )('that fail are named: %s', async (sql, { row, code }) => {
    await expect(run(sql, manyRows(8))).rejects.toMatchObject({
      location: { file: 'books.csv', row },
      diagnostics: { code },
      phase: 'execute',
    });
  });
});

describe('the last result', () => {
  test.each(
    Object.entries({
      'select 1.50': '1.50',
      "select '2020-01-02 03:04'::timestamp": '"2020-01-02T03:04:00"',
      'select array[[1,2],[3,null]]': '[[1,2],[3,null]]',
      'select true': 'true',
      'select null::int': 'null',
      "select ' a\u0001\u2028 '": '" a\\u0001\u2028 "',
      'select \'{"a" : 1}\'::json': '{"a" : 1}',
      'select (1, null)': '"(1,)"',
      "select (1, array['a'], null, null, 7)::imported":
        '{"number":1,"fields":["a"],"previous":null,"metadata":null,"inserted":7}',
      'select process_void($1, $2)': 'null',
      'insert into imported values ($1)': 'null',
      'insert into imported values ($1) returning number': '2',
      'select 1 where $1 = 1': 'null',
      'values (1), ($1)': '2',
      'call process_call($1, $2)': '20',
      'call process_call($1::int, $2, $1::int)': '20',
    }),
  )('has the form of to_json: %s', async (sql, result) => {
    expect(await run(sql, manyRows(2))).toBe(result);
    await takeLines('number');
  });

  test('of no row is null', async () => {
    expect(await run('select process($1, $2, $3, $4)', [])).toBe('null');
  });
});

describe('the prepared statement of a command', () => {
  test('follows changes of the routine between uploads', async () => {
    const define = (type: string): Promise<unknown> =>
      db.database.query(`
        drop function if exists changing;
        create function changing(number ${type}) returns ${type} language sql as 'select $1'`);
    await define('int');
    expect(await run('select changing($1)', manyRows(3))).toBe('3');
    await define('text');
    expect(await run('select changing($1)', manyRows(3))).toBe('"3"');
  });

  test('is closed at the end', async () => {
    await run('select 1', manyRows(3));
    await expect(run('select fail_at_5($1)', manyRows(10))).rejects.toThrow('row five');
    expect(await db.query("select count(*) from pg_prepared_statements where name like 'pgway_row%'")).toEqual([['0']]);
  });
});
