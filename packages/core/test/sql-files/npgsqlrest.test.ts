import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useFiles } from './folder.ts';

/** What the documentation of NpgsqlRest says of SQL files; `docs/reference/npgsqlrest.md` has the same list, with what differs. */

const sql = `
create type money_of as (amount numeric, currency text);
create table item (id int primary key, name text not null, active boolean not null default true, price money_of);
insert into item values (1, 'pen', true, (1.5, 'EUR')), (2, 'cup', false, null);`;

type Behaviour = readonly [name: string, file: string, text: string, request: string, answer: string, body?: object];

const behaviours: readonly Behaviour[] = [
  [
    'a SELECT is GET',
    'list_items.sql',
    '-- HTTP\nselect id, name from item where id < 3 order by id',
    'GET /api/list-items',
    '200 [{"id":1,"name":"pen"},{"id":2,"name":"cup"}]',
  ],
  [
    'WITH … SELECT is GET',
    'with.sql',
    '-- HTTP\nwith x as (select 1 as n) select n, n as m from x',
    'GET /api/with',
    '200 [{"n":1,"m":1}]',
  ],
  ['an INSERT is PUT', 'put.sql', "-- HTTP\ninsert into item values (:id, 'new')", 'PUT /api/put', '204 ', { id: 10 }],
  [
    'an UPDATE is POST',
    'post.sql',
    "-- HTTP\nupdate item set price = price where id = 2 returning 'newer'",
    'POST /api/post',
    '200 ["newer"]',
  ],
  ['a DELETE is DELETE', 'delete.sql', '-- HTTP\ndelete from item where id = :id', 'DELETE /api/delete?id=10', '204 '],
  ['DO is POST', 'do.sql', '-- HTTP\ndo $$ begin perform 1; end $$', 'POST /api/do', '204 '],
  [
    'several writes are POST',
    'mixed.sql',
    '-- HTTP\nupdate item set name = name where false; delete from item where false',
    'POST /api/mixed',
    '200 {"result1":0,"result2":0}',
  ],
  ['the HTTP line sets the method', 'patch.sql', '-- HTTP PATCH\nselect 1', 'PATCH /api/patch', '200 [1]'],
  [
    'path with parameters',
    'path.sql',
    '-- HTTP GET\n-- @path /custom/{id}\n-- @param $1 id\nselect name from item where id = $1',
    'GET /custom/1',
    '200 ["pen"]',
  ],
  ['$1 without a name', 'numbered.sql', '-- HTTP\nselect $1::int + $2::int', 'GET /api/numbered?$1=1&$2=2', '200 [3]'],
  [
    '@param $1 name',
    'named.sql',
    '-- HTTP\n-- @param $1 first_one\nselect $1::int',
    'GET /api/named?first_one=1',
    '200 [1]',
  ],
  [
    '@param $1 is name',
    'is.sql',
    '-- HTTP\n-- @param $1 is first_one\nselect $1::int',
    'GET /api/is?first_one=1',
    '200 [1]',
  ],
  ['@param $1 name type', 'typed.sql', '-- HTTP\n-- @param $1 n integer\nselect $1', 'GET /api/typed?n=7', '200 [7]'],
  [
    '@param $1 is name type',
    'is-typed.sql',
    '-- HTTP\n-- @parameter $1 is n integer\nselect $1',
    'GET /api/is-typed?n=7',
    '200 [7]',
  ],
  [
    'default null',
    'null.sql',
    "-- HTTP\n-- @param $1 n default null\nselect coalesce($1::text, 'none')",
    'GET /api/null',
    '200 ["none"]',
  ],
  [
    'default in a line of its own',
    'own-line.sql',
    '-- HTTP\n-- @param $1 n\n-- @param n default 4\nselect $1::int',
    'GET /api/own-line',
    '200 [4]',
  ],
  [
    'name, type and default',
    'all.sql',
    '-- HTTP\n-- @param $1 n integer default 42\nselect $1',
    'GET /api/all',
    '200 [42]',
  ],
  [
    'is, name, type and default',
    'is-all.sql',
    '-- HTTP\n-- @param $1 is n integer default 42\nselect $1',
    'GET /api/is-all',
    '200 [42]',
  ],
  [
    'a default without a name',
    'nameless.sql',
    "-- HTTP\n-- @param $1 default 'fall back'\nselect $1::text",
    'GET /api/nameless',
    '200 ["fall back"]',
  ],
  [
    'a default of a boolean',
    'boolean.sql',
    '-- HTTP\n-- @param $1 b default true\nselect $1::boolean',
    'GET /api/boolean',
    '200 [true]',
  ],
  [
    "default 'null' is a text",
    'quoted.sql',
    "-- HTTP\n-- @param $1 t default 'null'\nselect $1::text",
    'GET /api/quoted',
    '200 ["null"]',
  ],
  [
    'default without a value is NULL',
    'bare.sql',
    "-- HTTP\n-- @param $1 t default\nselect coalesce($1::text, 'none')",
    'GET /api/bare',
    '200 ["none"]',
  ],
  ['= is default', 'equals.sql', "-- HTTP\n-- @param $1 t text = 'hey'\nselect $1", 'GET /api/equals', '200 ["hey"]'],
  [
    'a type hint for Describe',
    'hint.sql',
    "-- HTTP POST\n-- @param $1 t text\nselect set_config('app.key', $1, true)",
    'POST /api/hint',
    '200 ["x"]',
    { t: 'x' },
  ],
  ['define_param', 'virtual.sql', '-- HTTP\n-- @define_param page int\nselect 1', 'GET /api/virtual?page=2', '200 [1]'],
  ['block comments', 'block.sql', '/* HTTP GET\n@param $1 n\n*/\nselect $1::int', 'GET /api/block?n=1', '200 [1]'],
  [
    'comments after statements',
    'after.sql',
    'select $1::int;\n-- HTTP GET\n-- @param $1 n',
    'GET /api/after?n=1',
    '200 [1]',
  ],
  ['void', 'void.sql', '-- HTTP POST\n-- @void\nselect 1; select 2', 'POST /api/void', '204 '],
  ['void_result', 'void-result.sql', '-- HTTP POST\n-- @void_result\nselect 1', 'POST /api/void-result', '204 '],
  [
    'single',
    'single.sql',
    '-- HTTP\n-- @single\nselect id, name from item where id < 3 order by id',
    'GET /api/single',
    '200 {"id":1,"name":"pen"}',
  ],
  [
    'single_record',
    'single-record.sql',
    '-- HTTP\n-- @single_record\nselect id, name from item where id < 3 order by id',
    'GET /api/single-record',
    '200 {"id":1,"name":"pen"}',
  ],
  [
    'single_result',
    'single-result.sql',
    '-- HTTP\n-- @single_result\nselect id, name from item where id < 3 order by id',
    'GET /api/single-result',
    '200 {"id":1,"name":"pen"}',
  ],
  [
    'single with one column',
    'bare-value.sql',
    '-- HTTP\n-- @single\nselect name from item where id < 3 order by id',
    'GET /api/bare-value',
    '200 pen',
  ],
  [
    'one column is a flat array',
    'flat.sql',
    '-- HTTP\nselect name from item where id < 3 order by id',
    'GET /api/flat',
    '200 ["pen","cup"]',
  ],
  [
    'columns without names',
    'unnamed.sql',
    "-- HTTP\nselect 'a', 'b'",
    'GET /api/unnamed',
    '200 [{"column1":"a","column2":"b"}]',
  ],
  [
    'columns with one name',
    'same.sql',
    '-- HTTP\nselect 1 as n, 2 as n',
    'GET /api/same',
    '200 [{"column1":1,"column2":2}]',
  ],
  [
    'a member for each statement',
    'order.sql',
    '-- HTTP POST\n-- @param $1 id\n-- @result validate\nselect count(*) from item where id = $1;\nupdate item set active = active where id = $1;\n-- @result confirm\nselect id, name from item where id = $1;',
    'POST /api/order',
    '200 {"validate":[1],"result2":1,"confirm":[{"id" : 1, "name" : "pen"}]}',
    { id: 1 },
  ],
  [
    'result is name',
    'result-is.sql',
    '-- HTTP\n-- @result is users\nselect 1;\nselect 2; -- @result orders',
    'GET /api/result-is',
    '200 {"users":[1],"orders":[2]}',
  ],
  [
    'resultN name',
    'result-n.sql',
    '-- HTTP\n-- @result2 orders\nselect 1;\nselect 2;',
    'GET /api/result-n',
    '200 {"result1":[1],"orders":[2]}',
  ],
  [
    'single of one statement',
    'one-single.sql',
    '-- HTTP\n-- @single\nselect id, name from item where id = 1;\n-- @single\nselect id, name from item where id = 0;\nselect 3',
    'GET /api/one-single',
    '200 {"result1":{"id" : 1, "name" : "pen"},"result2":null,"result3":[3]}',
  ],
  [
    'statements without rows are not counted',
    'begin.sql',
    '-- HTTP POST\n-- @param $1 id\nbegin;\nupdate item set active = active where id = $1;\ncommit;',
    'POST /api/begin',
    '204 ',
    { id: 1 },
  ],
  [
    'SET and DO are not counted',
    'set.sql',
    "-- HTTP POST\nset local work_mem = '5MB';\nselect 1;\ndo $$ begin perform 1; end $$;\n-- @result verification\nselect 2",
    'POST /api/set',
    '200 {"result1":[1],"verification":[2]}',
  ],
  [
    'skip',
    'skip.sql',
    '-- HTTP POST\n-- @skip\nselect 1;\n-- @result data\nselect 2',
    'POST /api/skip',
    '200 {"data":[2]}',
  ],
  [
    'skip_result and no_result',
    'skip-result.sql',
    '-- HTTP POST\nselect 1; -- @skip_result\nselect 2; -- @no_result\n-- @result data\nselect 3',
    'POST /api/skip-result',
    '200 {"data":[3]}',
  ],
  [
    'a failure fails the request',
    'fail.sql',
    '-- HTTP POST\n-- @result a\nupdate item set active = false where id = 1;\nselect 1 / 0',
    'POST /api/fail',
    '400 ',
  ],
  [
    'nothing of a failed request is kept',
    'kept.sql',
    '-- HTTP\nselect active from item where id = 1',
    'GET /api/kept',
    '200 [true]',
  ],
  [
    'single of rows that a change returns',
    'changed.sql',
    "-- HTTP POST\n-- @single\nupdate item set active = active where id < 3 returning 'all' as text, active is null as missing",
    'POST /api/changed',
    '200 {"text":"all","missing":false}',
  ],
  [
    'nested',
    'nested.sql',
    '-- HTTP\n-- @nested\nselect id, price from item where id = 1',
    'GET /api/nested',
    '200 [{"id":1,"price":{"amount":1.5,"currency":"EUR"}}]',
  ],
  [
    'a composite value as text',
    'composite.sql',
    '-- HTTP\n-- @param $1 data money_of\nselect ($1::money_of).amount, ($1::money_of).currency',
    'GET /api/composite?data=(2,"USD")',
    '200 [{"amount":2,"currency":"USD"}]',
  ],
  [
    'raw with separators',
    'raw.sql',
    '-- HTTP\n-- @raw\n-- @separator ;\n-- @new_line \\n\nselect id, name from item where id < 3 order by id',
    'GET /api/raw',
    '200 1;"pen"\n2;"cup"',
  ],
  [
    'response headers',
    'header.sql',
    '-- HTTP\n-- Content-Type: text/plain\n-- @raw\nselect name from item where id = 1',
    'GET /api/header',
    '200 pen',
  ],
  ['authorize', 'secret.sql', '-- HTTP\n-- @authorize\nselect 1', 'GET /api/secret', '401 '],
  ['internal', 'hidden.sql', '-- HTTP GET\n-- @internal\nselect 1', 'GET /api/hidden', '404 '],
  [
    'timeout and cached are read',
    'cached.sql',
    '-- HTTP\n-- @timeout 5s\n-- @cached\n-- @cache_expires_in 1m\nselect 1',
    'GET /api/cached',
    '200 [1]',
  ],
  ['a file without an HTTP line is no endpoint', 'migration.sql', 'select 1', 'GET /api/migration', '404 '],
];

const files = useFiles(sql, Object.fromEntries(behaviours.map(([, file, text]) => [file, text])));

test.each(behaviours.map((behaviour) => [behaviour[0], behaviour] as const))('%s', async (_, behaviour) => {
  const [, , , request, answer, body] = behaviour;
  const { status, body: text } = await files.current().send(request, body === undefined ? {} : { body });
  expect(status >= 400 ? `${status} ` : `${status} ${text}`).toBe(answer);
});

const page = readFileSync(join(import.meta.dirname, '../../../../docs/reference/npgsqlrest.md'), 'utf8');

test('the page has each of them', () => {
  expect(behaviours.filter(([name]) => !page.includes(`| ${name} | the same |\n`))).toEqual([]);
  expect(page).toContain(`The first ${behaviours.length} lines`);
});
