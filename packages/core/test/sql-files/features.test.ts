import { installIdempotency } from '@pgway/core';
import { beforeEach, describe, expect, test } from 'vitest';
import { executionId, openStream } from '../events/support.ts';
import { userByHeader } from '../rate-limits/support.ts';
import { form } from '../uploads/forms.ts';
import { useFiles } from './folder.ts';

/** SQL files have the features that routines have. */

const sql = `
  create table film (film_id int generated always as identity primary key, title text not null, tags text[]);
  create table payment (id int generated always as identity, amount numeric(20, 2), note json);
  create sequence calls;
  create function tell(message text) returns text language plpgsql volatile as $$ begin raise info '%', message; return message; end $$;
  create function add_row(line int, fields text[]) returns void language sql as 'insert into film (title) values ($2[1])';
  ${installIdempotency({ schema: 'pgway', roles: [] }).join(';\n')};
`;

const sqlFiles = {
  // Uploads
  'import_films.sql': `-- HTTP POST
-- upload for csv
-- param meta is upload metadata
-- row_command = select add_row($1, $2)
-- single
select :meta::json -> 0 ->> 'fileName' as file, (select count(*) from film) as films`,
  'import_and_fail.sql': `-- HTTP POST
-- upload for csv
-- row_command = select add_row($1, $2)
-- single
select 1 / (count(*) - 2) as n from film`,
  // Cache
  'next_call.sql': `-- HTTP GET\n-- cached\nselect nextval('calls')::int, :text as text`,
  'two_calls.sql': `-- HTTP GET\n-- cached text\nselect nextval('calls')::int;\nselect :text as text;`,
  'films.sql': `-- HTTP GET\n-- cached\nselect film_id, title from film order by 1`,
  'add_film.sql': `-- HTTP POST\n-- invalidates films\ninsert into film (title) values (:title) returning film_id`,
  // Events
  'shout.sql': `-- HTTP POST\n-- info_path\n-- void\nselect tell(:message)`,
  'shout_twice.sql': `-- HTTP POST\n-- sse\n-- info_scope all\nselect tell('one');\ndo $$ begin raise info 'two'; end $$;`,
  // Idempotency keys
  'pay.sql': `-- HTTP POST\n-- idempotent required\n-- single\ninsert into payment (amount, note) values (:amount, :note) returning *`,
  'pay_with.sql': `-- HTTP POST\n-- idempotent
with paid as (insert into payment (amount) values (:amount) returning id, amount) select id, amount, array[amount] as all from paid`,
  'pay_owned.sql': `-- HTTP POST\n-- idempotent\n-- param owner = select 1 + 1\n-- single\nwith paid as (insert into payment (amount) values (:amount) returning amount)
select amount, :owner::int as owner from paid where amount > :owner::int`,
  'pay_twice.sql': `-- HTTP POST\n-- idempotent
-- result first
insert into payment (amount) values (:amount) returning id;
with paid as (insert into payment (amount) values (:amount) returning id) select count(*) from paid;
insert into payment (amount) values (:amount);`,
  'pay_last.sql': `-- HTTP POST\n-- idempotent\n-- result last\ninsert into payment (amount) values (:amount);\nselect count(*) from payment`,
  'pay_quietly.sql': `-- HTTP POST\n-- idempotent\ninsert into payment (amount) values (:amount)`,
  'pay_and_do.sql': `-- HTTP POST\n-- idempotent\ninsert into payment (amount) values (:amount);\ndo $$ begin end $$;`,
  'pay_never.sql': `-- HTTP GET\n-- idempotent\nselect 1`,
  // Formats
  'shown.sql': `-- HTTP GET\n-- table_format = html\nselect 1 as first_number, '<b>' as text`,
  // Rate limits
  'limited.sql': `-- HTTP GET\n-- rate_limit two\nselect 1 as one, 2 as two`,
  // Bodies
  'raw_body.sql': `-- HTTP POST\n-- body_parameter_name text\n-- single\nselect length(:text) as length`,
  // Response settings and headers
  'created.sql': `-- HTTP POST\n-- response_settings\nselect set_config('response.status', '201', true) as status`,
};

const files = useFiles(sql, sqlFiles, {
  gateway: {
    batchPath: '/api/batch',
    authentication: { schemes: [userByHeader] },
    rateLimits: { policies: { two: { type: 'fixed-window', limit: 2, window: 60 } } },
  },
});

const send: ReturnType<typeof files.current>['send'] = (...sending) => files.current().send(...sending);

async function answer(...sending: Parameters<typeof send>): Promise<string> {
  const { status, body } = await send(...sending);
  return `${status} ${body}`;
}

beforeEach(() =>
  files.current().database.query('truncate film, payment restart identity; alter sequence calls restart'),
);

test('all files are endpoints, but those that cannot have a key', () => {
  const { endpoints, diagnostics } = files.current().gateway;
  expect(endpoints).toHaveLength(Object.keys(sqlFiles).length - 2);
  expect(diagnostics.filter(({ severity }) => severity !== 'info')).toEqual([
    expect.objectContaining({
      severity: 'error',
      routine: 'pay_never.sql',
      line: 2,
      message: expect.stringContaining('the function is stable, so that requests can be repeated anyway'),
    }),
    expect.objectContaining({
      severity: 'error',
      routine: 'pay_and_do.sql',
      message:
        'idempotent: PostgreSQL cannot tell whether a caller may still run do when a request is repeated; remove the statement or the line',
    }),
  ]);
});

describe('uploads', () => {
  test('rows of a CSV file are stored in the transaction of the file, which has the metadata', async () => {
    const body = form(['films.csv', 'Alien\nBrazil\n', 'text/csv']);
    expect(await answer('POST /api/import-films', { body })).toBe('200 {"file":"films.csv","films":2}');
  });

  test('a failed statement undoes the rows', async () => {
    const body = form(['films.csv', 'Alien\nBrazil\n', 'text/csv']);
    const { status, body: text } = await send('POST /api/import-and-fail', { body });
    expect([status, JSON.parse(text)]).toMatchObject([400, { title: 'division by zero', code: '22012' }]);
    expect(await files.current().database.query('select * from film')).toEqual([]);
  });
});

describe('tables in HTML', () => {
  test('table_format of a file, and Accept', async () => {
    const { headers, body } = await send('GET /api/shown');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(body).toContain(
      '<thead><tr><th class="n">firstNumber</th><th>text</th></tr></thead>\n<tbody>\n' +
        '<tr><td class="n">1</td><td>&lt;b&gt;</td></tr>\n</tbody>\n',
    );
    const json = await send('GET /api/shown', { headers: { accept: 'application/json' } });
    expect(json.body).toBe('[{"firstNumber":1,"text":"<b>"}]');
  });

  test('a repeated request with an idempotency key gets the rows in the format that it accepts', async () => {
    const pay = async (accept: string): Promise<string> => {
      const headers = { accept, 'idempotency-key': '"shown"' };
      return (await send('POST /api/pay-with', { headers, body: { amount: 5 } })).body;
    };
    const page = await pay('text/html');
    expect(page).toContain('<tr><td class="n">1</td><td class="n">5.00</td><td>[5.00]</td></tr>');
    expect(await pay('text/html')).toBe(page);
    expect(await pay('application/json')).toBe('[{"id":1,"amount":5.00,"all":[5.00]}]');
  });
});

test('a repeated request with a value query gets the stored response', async () => {
  const pay = (key: string): Promise<string> =>
    answer('POST /api/pay-owned', { headers: { 'idempotency-key': `"${key}"` }, body: { amount: 5 } });
  for (const key of ['owned', 'owned', 'other', 'other']) expect(await pay(key)).toBe('200 {"amount":5.00,"owner":2}');
});

describe('cache', () => {
  test('a response is cached by its parameters', async () => {
    expect(await answer('GET /api/next-call?text=a')).toBe('200 [{"nextval":1,"text":"a"}]');
    expect(await answer('GET /api/next-call?text=a')).toBe('200 [{"nextval":1,"text":"a"}]');
    expect(await answer('GET /api/next-call?text=b')).toBe('200 [{"nextval":2,"text":"b"}]');
    const { headers } = await send('GET /api/next-call?text=a');
    const again = await send('GET /api/next-call?text=a', { headers: { 'if-none-match': headers.get('etag')! } });
    expect([again.status, again.body]).toEqual([304, '']);
  });

  test('so is one of several statements', async () => {
    expect(await answer('GET /api/two-calls?text=a')).toBe('200 {"result1":[1],"result2":["a"]}');
    expect(await answer('GET /api/two-calls?text=a')).toBe('200 {"result1":[1],"result2":["a"]}');
  });

  test('a file that writes invalidates another by its name', async () => {
    expect(await answer('GET /api/films')).toBe('200 []');
    await files.current().database.query(`insert into film (title) values ('Alien')`);
    expect(await answer('GET /api/films')).toBe('200 []');
    expect(await answer('POST /api/add-film', { body: { title: 'Brazil' } })).toBe('200 [2]');
    expect(await answer('GET /api/films')).toBe('200 [{"filmId":1,"title":"Alien"},{"filmId":2,"title":"Brazil"}]');
  });
});

describe('events', () => {
  test('RAISE INFO of what a file calls is an event of its caller', async () => {
    const id = executionId();
    const stream = await openStream(files.current().url, `/api/shout/info?${id}`);
    const headers = { 'x-gateway-id': id };
    expect(await answer('POST /api/shout', { body: { message: 'hello' }, headers })).toBe('204 ');
    expect(await stream.messages(1)).toEqual(['hello']);
  });

  test('all statements of a file raise events', async () => {
    const stream = await openStream(files.current().url, '/api/shout-twice/info');
    expect(await answer('POST /api/shout-twice')).toBe('200 {"result1":["one"]}');
    expect(await stream.messages(2)).toEqual(['one', 'two']);
  });
});

describe('idempotency keys', () => {
  test.each([
    [
      'pay',
      { amount: '12345678901234567.89', note: { a: null } },
      '200 {"id":1,"amount":12345678901234567.89,"note":{"a":null}}',
      1,
    ],
    ['pay-with', { amount: 2 }, '200 [{"id":1,"amount":2.00,"all":[2.00]}]', 1],
    ['pay-twice', { amount: 3 }, '200 {"first":[1],"result2":[1],"result3":1}', 3],
    ['pay-last', { amount: 4 }, '200 [1]', 1],
    ['pay-quietly', { amount: 5 }, '204 ', 1],
  ])('%s: a repeated request gets the first response', async (path, body, expected, rows) => {
    const headers = { 'idempotency-key': `"${path}-${executionId()}"` };
    expect(await answer(`POST /api/${path}`, { body, headers })).toBe(expected);
    const again = await send(`POST /api/${path}`, { body, headers });
    expect(`${again.status} ${again.body}`).toBe(expected);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await files.current().database.query('select count(*)::int from payment')).toEqual([{ count: rows }]);
    const other = await send(`POST /api/${path}`, { body: { ...body, amount: 9 }, headers });
    expect([other.status, JSON.parse(other.body)]).toMatchObject([
      422,
      { title: 'Another request had this Idempotency-Key' },
    ]);
  });

  test('a key that is missing', async () => {
    expect((await send('POST /api/pay', { body: { amount: 1, note: null } })).status).toBe(400);
  });
});

test('a batch runs files in one transaction, with references to earlier results', async () => {
  const requests = [
    { method: 'POST', path: '/api/add-film', body: { title: 'Alien' } },
    { method: 'GET', path: '/api/films' },
    { method: 'POST', path: '/api/add-film', body: { title: { $ref: '1/0/title' } } },
    { method: 'POST', path: '/api/pay-twice', body: { amount: { $ref: '0/0' } } },
  ];
  const headers = { 'idempotency-key': `"batch-${executionId()}"` };
  const expected = [
    { status: 200, body: [1] },
    { status: 200, body: [{ filmId: 1, title: 'Alien' }] },
    { status: 200, body: [2] },
    { status: 200, body: { first: [1], result2: [1], result3: 1 } },
  ];
  // The second one is repeated: its statements are checked, and do not run.
  for (let time = 1; time <= 2; time++) {
    const { status, body } = await send('POST /api/batch', { body: requests, headers });
    expect([status, JSON.parse(body)]).toEqual([200, expected]);
    expect(await files.current().database.query('select count(*)::int from payment')).toEqual([{ count: 3 }]);
    expect(await files.current().database.query('select last_value::int from payment_id_seq')).toEqual([
      { last_value: 3 },
    ]);
  }
});

test('rate limits', async () => {
  expect(await answer('GET /api/limited')).toBe('200 [{"one":1,"two":2}]');
  expect((await send('GET /api/limited')).status).toBe(200);
  const { status, body } = await send('GET /api/limited');
  expect([status, JSON.parse(body)]).toMatchObject([429, { type: 'urn:pgway:problem:quota-exceeded' }]);
});

test('the whole body is a parameter', async () => {
  const headers = { 'content-type': 'text/plain' };
  expect(await answer('POST /api/raw-body', { body: 'a text', headers })).toBe('200 6');
});

test('a file sets the status of its response', async () => {
  expect(await answer('POST /api/created')).toBe('201 ["201"]');
});
