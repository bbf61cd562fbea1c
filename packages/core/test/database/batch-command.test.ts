import { openBatchCommand } from '@pgway/core/internal';
import { useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';

const database = useDatabase(`
  create table line (line jsonb not null);
  create table visit (id int generated always as identity, method text, status int, who text);
  create function track(_method text, _status int, _who text) returns void language sql
    as $$ insert into visit (method, status, who) values (_method, _status, _who) $$;
`);

function open(command: string, parameters = 3) {
  const { connectionString } = database;
  const batch = openBatchCommand({ connectionString, command, parameters, applicationName: 'batch test' });
  onTestFinished(() => batch.close());
  return batch;
}

test('rows are written in order, in one transaction', async () => {
  const batch = open('select track($1, $2, $3)');
  expect(
    await batch.run([
      ['GET', '200', 'ada'],
      ['POST', '404', null],
    ]),
  ).toBe(0);
  expect(await database.query('select method, status, who from visit order by id')).toEqual([
    { method: 'GET', status: 200, who: 'ada' },
    { method: 'POST', status: 404, who: null },
  ]);
  const transactions = await database.query('select count(distinct xmin::text)::int from visit');
  expect(transactions).toEqual([{ count: 1 }]);
});

test('a command may leave out parameters', async () => {
  await database.query('truncate visit');
  await open('insert into visit (who) values ($3)').run([['a', 'b', 'c']]);
  await open('insert into visit default values').run([['a', 'b', 'c']]);
  expect(await database.query('select who from visit order by id')).toEqual([{ who: 'c' }, { who: null }]);
});

test('a refused row does not prevent the others', async () => {
  await database.query('truncate line');
  const batch = open('insert into line values ($1)', 1);
  expect(await batch.run([['{"n":1}'], ['{'], ['{"n":2}']])).toBe(1);
  expect(await database.query('select line from line')).toEqual([{ line: { n: 1 } }, { line: { n: 2 } }]);
  await expect(batch.run([['{'], ['}']])).rejects.toThrow('invalid input syntax for type json');
  await expect(batch.run([['{']])).rejects.toThrow('invalid input syntax for type json');
});

test('the connection is opened again after a loss', async () => {
  const batch = open('insert into line values ($1)', 1);
  await batch.run([['{}']]);
  await database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'batch test' and datname = current_database()`,
  );
  await expect.poll(() => batch.run([['{"n":3}']]).catch((error: Error) => error.name)).toBe(0);
  expect((await database.query(`select count(*)::int from line where line = '{"n":3}'`))[0]).toEqual({ count: 1 });
});

test.each([
  ['', 'the command is empty; set one such as insert into log values ($1)'],
  ['-- nothing', 'the command is empty; set one such as insert into log values ($1)'],
  ['select track($1, $4)', 'the command has the parameter $4; there is $1 to $3'],
  ['select $0', 'the command has the parameter $0; there is $1 to $3'],
])('refused at start: %s', (command, message) => {
  expect(() => open(command)).toThrow(message);
});

test('text in a string that looks like a parameter does not count', async () => {
  expect(await open(`select '$9', $1`).run([['a', 'b', 'c']])).toBe(0);
});

test('an invalid connection string', () => {
  expect(() =>
    openBatchCommand({ connectionString: 'nonsense', command: 'select 1', parameters: 1, applicationName: 'x' }),
  ).toThrow('connection string');
});
