import { installIdempotency } from '@pgway/core';
import { describe, expect, test } from 'vitest';
import { userByHeader } from '../rate-limits/support.ts';
import { useFiles } from './folder.ts';

/** Results that the gateway reads from a query of WITH: the names of the file, and how far its statements run. */

const sql = `
  create type pair as (a int, b text);
  create table q (id int primary key, parent int);
  insert into q values (1, null), (2, 1), (3, 2);
  create table item (id int primary key);
  insert into item values (1), (2), (3);
  create table note (by text);
  create function write_note(by text) returns int language sql as 'insert into note values (by) returning 7';
  create table watched (id int);
  create rule note_watched as on insert to watched do also insert into note values ('rule');
  ${installIdempotency({ schema: 'pgway', roles: [] }).join(';\n')};
`;

const names: readonly (readonly [name: string, text: string, body: string])[] = [
  ['a query q', 'with q as (select 4 as n, 5 as m) select * from q', '{"n":4,"m":5}'],
  ['a query Q in quotes', 'with "Q" as (select 4 as n, 5 as m), "q" as (select 6) select * from "Q"', '{"n":4,"m":5}'],
  ['queries q and q_', 'with q as (select 4 as n), q_ as (select 5 as m) select * from q, q_', '{"n":4,"m":5}'],
  [
    'a recursive query of the table q',
    'with recursive up as (select id, parent from q where id = 3 union all select q.id, q.parent from q join up on q.id = up.parent) select id, parent from q where id = (select min(id) from up)',
    '{"id":1,"parent":null}',
  ],
  [
    'a composite value',
    `with q as (select (1, 'x')::pair as p, 2 as n) select * from q`,
    '{"p":{"a":1,"b":"x"},"n":2}',
  ],
];

const effects: readonly (readonly [name: string, text: string, answer: string])[] = [
  ['function', `-- single\nselect write_note('function') from item`, '200 7'],
  [
    'composite',
    `-- single\nselect (write_note('composite'), 'x')::pair as p, 1 as n from item`,
    '200 {"p":{"a":7,"b":"x"},"n":1}',
  ],
  ['void', `-- void\n-- single\nselect write_note('void') from item`, '204 '],
  ['last', `-- result last\nselect 1;\n-- single\nselect write_note('last') from item`, '200 7'],
  ['several', `-- single\nselect write_note('several') from item;\nselect 1`, '200 {"result1":7,"result2":[1]}'],
];

const files = useFiles(
  sql,
  {
    ...Object.fromEntries(names.map(([, text], index) => [`n${index}.sql`, `-- HTTP GET\n-- single\n${text}`])),
    ...Object.fromEntries(
      names.map(([, text], index) => [`m${index}.sql`, `-- HTTP GET\n-- single\n${text};\n-- skip\nselect 1`]),
    ),
    ...Object.fromEntries(effects.map(([name, text]) => [`${name}.sql`, `-- HTTP POST\n${text}`])),
    'none.sql': `-- HTTP POST\n-- single\nselect write_note('none'), id from item where false`,
    'locks.sql': '-- HTTP POST\n-- single\nselect id, 1 as n from item order by id for update',
    'reads.sql':
      '-- HTTP GET\n-- single\nselect a, b from generate_series(1, 100000) a, generate_series(1, 100000) b, generate_series(1, 100000) c',
    'pay.sql':
      '-- HTTP POST\n-- idempotent\nwith call as (insert into note values (:by) returning :n::int as n), stored as (select n + 1 as m from call) select n, m from call, stored',
    'no_array.sql':
      '-- HTTP POST\n-- idempotent\n-- single\nupdate item set id = id where id = :id returning array[id] as ids',
    'no_row.sql': '-- HTTP POST\n-- idempotent\n-- single\nupdate item set id = id where id = :id returning id, 1 as n',
    'cached_array.sql': '-- HTTP GET\n-- cached\n-- single\nselect array[id] as ids from item where id = :id',
    'cached_text.sql':
      '-- HTTP GET\n-- cached\n-- response_null null_literal\n-- single\nselect id from item where id = :id',
    'watched.sql': '-- HTTP POST\n\n-- single\ninsert into watched values (1) returning id, id + 1 as next',
    'watched-with.sql': '-- HTTP POST\ninsert into watched values (1);\nselect 1',
    'watched-void.sql': '-- HTTP POST\n-- void\n-- single\ninsert into watched values (1) returning id',
    'watched-skip.sql': '-- HTTP POST\n-- skip\ninsert into watched values (1);\nselect 1',
  },
  { gateway: { authentication: { schemes: [userByHeader] }, batchPath: '/api/batch' } },
);

describe('the file may have every name', () => {
  test.each(names.map(([name, , body], index) => [name, body, index] as const))('%s', async (_, body, index) => {
    const { send } = files.current();
    const whole = await send(`GET /api/n${index}`);
    expect([whole.status, whole.body]).toEqual([200, body]);
    const member = await send(`GET /api/m${index}`);
    expect([member.status, JSON.parse(member.body)]).toEqual([200, { result1: JSON.parse(body) }]);
  });

  test('with an idempotency key', async () => {
    const headers = { 'idempotency-key': '"names"', 'x-user': 'ada' };
    for (const replayed of [null, 'true']) {
      const answer = await files.current().send('POST /api/pay', { body: { n: 1, by: 'ada' }, headers });
      expect([answer.status, answer.body, answer.headers.get('idempotent-replayed')]).toEqual([
        200,
        '[{"n":1,"m":2}]',
        replayed,
      ]);
    }
  });
});

describe('a statement with effects runs completely', () => {
  test.each(effects)('%s', async (name, _, answer) => {
    const { send, database } = files.current();
    const { status, body } = await send(`POST /api/${name}`);
    expect(`${status} ${body}`).toBe(answer);
    expect(await database.query(`select count(*)::int from note where by = '${name}'`)).toEqual([{ count: 3 }]);
  });

  test('without rows', async () => {
    const { status, body } = await files.current().send('POST /api/none');
    expect(`${status} ${body}`).toBe('204 ');
  });

  test('rows that it locks', async () => {
    const { send, database } = files.current();
    expect((await send('POST /api/locks')).body).toBe('{"id":1,"n":1}');
    expect(await database.query(`select count(*)::int from item where xmax <> '0'`)).toEqual([{ count: 3 }]);
  });
});

test('without a row, the first response, its copies and one in a batch are those of NULL', async () => {
  const { send } = files.current();
  const answers = [
    ['POST /api/no-array', '200 null'],
    ['POST /api/no-row', '204 '],
    ['GET /api/cached-array?id=7', '200 null'],
    ['GET /api/cached-text?id=7', '200 NULL'],
  ] as const;
  for (const [line, answer] of answers) {
    const headers = { 'idempotency-key': `"${line}"`, 'x-user': 'ada' };
    for (const _ of [1, 2]) {
      const { status, body } = await send(line, line.startsWith('POST') ? { headers, body: { id: 7 } } : {});
      expect([line, `${status} ${body}`]).toEqual([line, answer]);
    }
  }
  const batch = ['cached-array', 'cached-text'].map((name) => ({ method: 'GET', path: `/api/${name}?id=8` }));
  expect(JSON.parse((await send('POST /api/batch', { body: batch })).body)).toMatchObject([
    { status: 200, body: null },
    { status: 200, body: 'NULL' },
  ]);
});

test('a statement that only reads ends with the first row', async () => {
  expect((await files.current().send('GET /api/reads')).body).toBe('{"a":1,"b":1}');
});

test('a load reports a change that cannot be a query of WITH', async () => {
  const { gateway, send, database } = files.current();
  const errors = gateway.diagnostics.filter(({ severity }) => severity === 'error');
  const message =
    'column 1: DO ALSO rules are not supported for data-modifying statements in WITH; the response has the result of a query of WITH, which the statement has to be: write void or skip, or a function\n';
  expect(errors.map((error) => [error.routine, error.line, error.message])).toEqual([
    ['watched-with.sql', 2, `${message}  insert into watched values (1);\n  ^`],
    ['watched.sql', 4, `${message}  insert into watched values (1) returning id, id + 1 as next\n  ^`],
  ]);
  expect((await send('POST /api/watched-void')).status).toBe(204);
  expect((await send('POST /api/watched-skip')).body).toBe('{"result2":[1]}');
  expect(await database.query(`select count(*)::int from note where by = 'rule'`)).toEqual([{ count: 2 }]);
});
