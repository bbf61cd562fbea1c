import { useDatabase } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ColumnMismatch, DatabaseError, type Statement } from '../../src/postgres/port.ts';
import { ask, backendOf, errorOf, named, open, rowsOf, until } from './support.ts';

const db = useDatabase(`
  create table log (entry text);
  create table fruit (id int primary key, name text);
  insert into fruit values (1, 'apple'), (2, null), (3, 'żółw 🐢');
  create function note(entry text) returns text language sql as 'insert into log values (entry) returning entry';
  create function tells(what text) returns int language plpgsql as $$
  begin
    raise notice using message = 'about ' || what, detail = 'a detail', hint = 'a hint', errcode = 'PG123',
      schema = 's', table = 't', column = 'c', datatype = 'd', constraint = 'n';
    raise warning 'second';
    return 1;
  end $$;
  create function shape() returns table (a int, b text) language sql as $$ select 1, 'x' $$;
`);

const setting = named(`select set_config('request.user', $1::text, true)`);
/** Otherwise PostgreSQL evaluates `1 / $1` while it plans with the value, which is part of Bind. */
const generic = { planCacheMode: 'force_generic_plan' } as const;
const readSetting = named(`select current_setting('request.user', true)`);

describe('several statements in one call', () => {
  test('a local setting is seen by the next statement and gone with the call', async () => {
    const database = open(db);
    const { rows } = await ask(database, [[setting, 'ann'], [readSetting]]).answer;
    expect(rows).toEqual([[['ann']], [['ann']]]);
    expect(await rowsOf(ask(database, [[readSetting]]))).toEqual([['']]);
  });

  test('the setting is gone after an error, a cancel and a timeout, on the same connection', async () => {
    const database = open(db);
    const backend = await backendOf(database);
    const failing = ask(database, [[setting, 'ann'], 'select 1 / 0']);
    expect(await errorOf(failing)).toBe('22012');
    expect(await rowsOf(ask(database, [[readSetting]]))).toEqual([['']]);

    const cancelled = ask(database, [[setting, 'ann'], 'select pg_sleep(20)']);
    cancelled.handle.cancel();
    expect(await errorOf(cancelled)).toBe('CallCancelled');
    expect(await rowsOf(ask(database, [[readSetting]]))).toEqual([['']]);

    const late = ask(
      database,
      [[setting, 'ann'], [`select set_config('statement_timeout', '50', true)`], 'select pg_sleep(20)'],
      {
        timeout: 50,
      },
    );
    expect(await errorOf(late)).toBe('CallTimeout');
    expect(await rowsOf(ask(database, [[readSetting]]))).toEqual([['']]);
    expect(await database.query(`select current_setting('statement_timeout')`)).toEqual([['20s']]);
    expect(await backendOf(database)).toBe(backend);
  });

  test('an error in a later statement rolls back the earlier ones and has its step index', async () => {
    const database = open(db, generic);
    const note = named('select note($1)');
    const divide = named('select 1 / $1::int');
    const broken = ask(database, [
      [note, 'undone'],
      [divide, '0'],
    ]);
    const error = await broken.answer.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DatabaseError);
    expect(error).toMatchObject({ step: 1, phase: 'execute', diagnostics: { code: '22012', severity: 'ERROR' } });
    expect(await db.query('select * from log')).toEqual([]);
  });
});

describe('errors and notices', () => {
  const cases = [
    { what: 'parsing, no name', steps: ['select 1', 'select nothing'], step: 1, phase: 'parse', code: '42703' },
    {
      what: 'parsing, named',
      steps: [[setting, 'x'], [named('select nope()')]],
      step: 1,
      phase: 'parse',
      code: '42883',
    },
    {
      what: 'binding',
      steps: [
        [setting, 'x'],
        [named('select $1::int'), 'abc'],
      ],
      step: 1,
      phase: 'bind',
      code: '22P02',
    },
    { what: 'binding, no name', steps: [['select $1::int', 'abc']], step: 0, phase: 'bind', code: '22P02' },
    {
      what: 'running',
      steps: [[named('select 1 / $1::int'), '0'], 'select 1'],
      step: 0,
      phase: 'execute',
      code: '22012',
    },
  ] as const;
  test.each(cases)('an error of $what has its step and phase', async ({ steps, ...expected }) => {
    const database = open(db, generic);
    // The setting is already prepared, so that the faulty statement is not the first one to prepare.
    await ask(database, [[setting, 'x']]).answer;
    const error = await ask(database, steps).answer.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DatabaseError);
    const { step, phase, diagnostics } = error as DatabaseError;
    expect({ step, phase, code: diagnostics.code }).toEqual({
      step: expected.step,
      phase: expected.phase,
      code: expected.code,
    });
    expect(await database.query('select 1')).toEqual([['1']]);
  });

  test('an error has every field', async () => {
    const database = open(db);
    const raise = `do $$ begin raise exception using message = 'żle', detail = 'a detail', hint = 'a hint',
      errcode = 'PX001', schema = 's', table = 't', column = 'c', datatype = 'd', constraint = 'n'; end $$`;
    const error = (await ask(database, [raise]).answer.catch((reason: unknown) => reason)) as DatabaseError;
    expect(error.message).toBe('żle');
    expect(error.diagnostics).toEqual({
      severity: 'ERROR',
      code: 'PX001',
      message: 'żle',
      detail: 'a detail',
      hint: 'a hint',
      where: 'PL/pgSQL function inline_code_block line 1 at RAISE',
      schema: 's',
      table: 't',
      column: 'c',
      dataType: 'd',
      constraint: 'n',
      file: 'pl_exec.c',
      line: expect.stringMatching(/^\d+$/),
      routine: 'exec_stmt_raise',
    });
    const syntax = (await ask(database, ['select from from']).answer.catch(
      (reason: unknown) => reason,
    )) as DatabaseError;
    expect(syntax.diagnostics).toMatchObject({ code: '42601', position: expect.stringMatching(/^\d+$/) });
  });

  test('notices have every field and reach only their own call on a shared connection', async () => {
    const database = open(db);
    const tells = named('select tells($1)');
    await ask(database, [[tells, 'x']]).answer;
    const asked = Array.from({ length: 8 }, (_, n) => ask(database, [[tells, `call ${n}`]], { mayShare: true }));
    const answers = await Promise.all(asked.map(({ answer }) => answer));
    expect(answers.map(({ notices }) => notices.map(({ message }) => message))).toEqual(
      asked.map((_, n) => [`about call ${n}`, 'second']),
    );
    expect(answers[0]!.notices[0]).toEqual({
      severity: 'NOTICE',
      code: 'PG123',
      message: 'about call 0',
      detail: 'a detail',
      hint: 'a hint',
      where: 'PL/pgSQL function tells(text) line 3 at RAISE',
      schema: 's',
      table: 't',
      column: 'c',
      dataType: 'd',
      constraint: 'n',
      file: 'pl_exec.c',
      line: expect.stringMatching(/^\d+$/),
      routine: 'exec_stmt_raise',
    });
    expect(answers[0]!.notices[1]).toMatchObject({ severity: 'WARNING', code: '01000' });
  });

  test('values that exceed the size of a message fail only their own call', async () => {
    const database = open(db);
    const backend = await backendOf(database);
    const tooMany = ask(database, [['select 1', ...Array.from({ length: 70_000 }, () => 'x')]]);
    const next = ask(database, ['select 2']);
    expect(await errorOf(tooMany)).toBe('RangeError');
    expect(await rowsOf(next)).toEqual([['2']]);
    expect(await backendOf(database)).toBe(backend);
  });

  test('a zero byte in a value is an error of the caller, not of the connection', async () => {
    const database = open(db);
    const backend = await backendOf(database);
    expect(await errorOf(ask(database, [['select $1::text', 'a\0b']]))).toBe('22021');
    expect(await backendOf(database)).toBe(backend);
  });
});

describe('prepared statements', () => {
  const preparedCount = `select count(*) from pg_prepared_statements where name like 'test_%'`;

  test('are parsed once per connection', async () => {
    const database = open(db);
    const statement = named('select $1::int + 1');
    const prepared = `select statement, prepare_time from pg_prepared_statements where name = '${statement.name}'`;
    expect(await rowsOf(ask(database, [[statement, '1']]))).toEqual([['2']]);
    const once = await database.query(prepared);
    expect(once).toEqual([[statement.sql, expect.any(String)]]);
    expect(await rowsOf(ask(database, [[statement, '2']]))).toEqual([['3']]);
    expect(await rowsOf(ask(database, [[statement, '3']]))).toEqual([['4']]);
    expect(await database.query(prepared)).toEqual(once);
  });

  test('are evicted past 500, the least recently used first, and prepared again on use', async () => {
    const database = open(db);
    const statements = Array.from({ length: 520 }, (_, n) => named(`select ${n}`));
    for (const [n, statement] of statements.entries()) {
      expect(await rowsOf(ask(database, [[statement]]))).toEqual([[String(n)]]);
    }
    const count = async (): Promise<number> => Number((await database.query(preparedCount))[0]![0]);
    expect(await count()).toBeLessThanOrEqual(500);
    const isPrepared = async ({ name }: Statement): Promise<boolean> =>
      (await database.query('select from pg_prepared_statements where name = $1', [name])).length === 1;
    expect(await isPrepared(statements[0]!)).toBe(false);
    expect(await isPrepared(statements[519]!)).toBe(true);
    expect(await rowsOf(ask(database, [[statements[0]!], [statements[21]!], [statements[519]!]]))).toEqual([['519']]);
    // The oldest statement belongs to a call that is preparing another statement.
    expect(await rowsOf(ask(database, [[statements[70]!], [named('select 600')], [statements[70]!]]))).toEqual([
      ['70'],
    ]);
    expect(await count()).toBeLessThanOrEqual(500);
  });

  test('are also evicted by the size of their SQL', async () => {
    const database = open(db);
    for (let n = 0; n < 40; n++) {
      const long = named(`select ${n} /* ${'x'.repeat(30_000)} */`);
      expect(await rowsOf(ask(database, [[long]]))).toEqual([[String(n)]]);
    }
    const [[bytes]] = (await database.query(
      `select sum(length(statement)) from pg_prepared_statements where name like 'test_%'`,
    )) as [[string]];
    expect(Number(bytes)).toBeLessThanOrEqual(512 * 1024);
    expect(Number(bytes)).toBeGreaterThan(256 * 1024);
  });

  test.each(['deallocate all', 'discard all'])('an external %s is not visible to callers', async (sql) => {
    const database = open(db);
    const statement = named('select $1::int * 2');
    const other = named('select $1::int * 3');
    await ask(database, [
      [statement, '1'],
      [other, '1'],
    ]).answer;
    await database.query(sql);
    const asked = [1, 2, 3, 4, 5, 6].map((n) =>
      ask(database, [[n % 2 === 0 ? statement : other, String(n)]], { mayShare: true }),
    );
    const rows = await Promise.all(asked.map((one) => rowsOf(one)));
    expect(rows).toEqual([[['3']], [['4']], [['9']], [['8']], [['15']], [['12']]]);
  });

  test('a stale statement while other calls share the connection', async () => {
    const database = open(db);
    const statement = named('select $1::int * 2');
    const deallocate = 'deallocate all';
    await ask(database, [[statement, '1']]).answer;
    const asked = Array.from({ length: 12 }, (_, n) =>
      n % 4 === 0
        ? ask(database, [deallocate], { mayShare: true })
        : ask(database, [[statement, String(n)]], { mayShare: true }),
    );
    const rows = await Promise.all(asked.map((one) => rowsOf(one)));
    expect(rows).toEqual(asked.map((_, n) => (n % 4 === 0 ? [] : [[String(n * 2)]])));
  });

  test('a table with changed columns: the statement is prepared again', async () => {
    const database = open(db);
    await db.query('create table changing (a int); insert into changing values (1)');
    const statement = named('select * from changing');
    expect(await rowsOf(ask(database, [[statement]]))).toEqual([['1']]);
    await db.query(`alter table changing add b text default 'new'`);
    expect(await rowsOf(ask(database, [[statement]]))).toEqual([['1', 'new']]);
  });

  test('unexpected columns: an error, and nothing is executed', async () => {
    const database = open(db);
    const right = named(`select 1::int4, note('right')`, [[23, 20], null]);
    const wrongType = named(`select 1::int4, note('wrong type')`, [[25], null]);
    const wrongCount = named(`select 1::int4, note('wrong count')`, [[23]]);
    const none = named(`delete from log where false`, [[23]]);
    expect(await rowsOf(ask(database, [[right]]))).toEqual([['1', 'right']]);
    for (const statement of [wrongType, wrongCount, none]) {
      const asked = ask(database, [[statement]]);
      await expect(asked.answer).rejects.toBeInstanceOf(ColumnMismatch);
    }
    expect(await db.query('select entry from log')).toEqual([{ entry: 'right' }]);
    await db.query('truncate log');
  });

  test('a function that was recreated with other columns', async () => {
    const database = open(db);
    const statement = named('select a, b from shape()', [[23], [25]]);
    expect(await rowsOf(ask(database, [[statement]]))).toEqual([['1', 'x']]);
    await db.query(`drop function shape();
      create function shape() returns table (a bigint, b text) language sql as $$ select note('ran')::text::bigint, '' $$`);
    expect(await errorOf(ask(database, [[statement]]))).toBe('ColumnMismatch');
    await db.query(`drop function shape();
      create function shape() returns table (a int, b text) language sql as $$ select 2, 'y' $$`);
    expect(await rowsOf(ask(database, [[statement]]))).toEqual([['2', 'y']]);
    expect(await db.query('select * from log')).toEqual([]);
  });

  test('a statement with a syntax error leaves the other statements of its call prepared', async () => {
    const database = open(db);
    const good = named('select 1');
    expect(await errorOf(ask(database, [[good], [named('select nowhere')]]))).toBe('42703');
    expect(await rowsOf(ask(database, [[good]]))).toEqual([['1']]);
  });

  test('waiting for a lock while a statement is prepared: its timeout is a timeout, and its cancel a cancel', async () => {
    const database = open(db, { statementTimeout: 300 });
    const blocker = open(db);
    const backend = await backendOf(database);
    const blocking = ask(blocker, ['do $$ begin lock table fruit; perform pg_sleep(20); end $$']);
    const locked = async (): Promise<boolean> =>
      (
        await db.query(`select from pg_locks where mode = 'AccessExclusiveLock' and granted
        and relation = 'fruit'::regclass`)
      ).length > 0;
    await until('the table is locked', locked);
    const late = ask(database, [[named('select name from fruit')]], { timeout: 300 });
    expect(await errorOf(late)).toBe('CallTimeout');
    const left = ask(database, [[named('select id from fruit')]], { timeout: 300 });
    left.handle.cancel();
    expect(await errorOf(left)).toBe('CallCancelled');
    blocking.handle.cancel();
    expect(await errorOf(blocking)).toBe('CallCancelled');
    expect(await rowsOf(ask(database, [[named('select count(*) from fruit')]]))).toEqual([['3']]);
    expect(await backendOf(database)).toBe(backend);
  });
});

describe('session state after a statement', () => {
  test.each(['begin', 'start transaction read only'])('%s: the connection is not used again', async (sql) => {
    const database = open(db);
    const backend = await backendOf(database);
    await errorOf(ask(database, [sql]));
    expect(
      await database.query(`select pg_current_xact_id_if_assigned(), current_setting('transaction_read_only')`),
    ).toEqual([[null, 'off']]);
    expect(await backendOf(database)).not.toBe(backend);
  });

  test('COPY TO STDOUT returns no rows and leaves the connection usable', async () => {
    const database = open(db);
    const backend = await backendOf(database);
    expect(await rowsOf(ask(database, ['copy fruit to stdout']))).toEqual([]);
    expect(await rowsOf(ask(database, ['copy fruit to stdout', 'select 1']))).toEqual([['1']]);
    expect(await backendOf(database)).toBe(backend);
  });

  test('COPY FROM STDIN fails without a timeout, and the next call works', async () => {
    const database = open(db, { statementTimeout: 600_000 });
    expect(await errorOf(ask(database, ['copy fruit from stdin']))).toBe('OutcomeUnknown');
    expect(await errorOf(ask(database, ['copy fruit from stdin', 'select 1']))).not.toBe('done');
    expect(await database.query('select count(*) from fruit')).toEqual([['3']]);
  });

  test('an empty statement and one without columns', async () => {
    const database = open(db);
    expect((await ask(database, ['', 'select', [named('')], 'do $$ begin end $$']).answer).rows).toEqual([
      [],
      [[]],
      [],
      [],
    ]);
  });
});
