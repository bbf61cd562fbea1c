import { randomBytes } from 'node:crypto';
import { createGateway, sqlFilesSource } from '@pgway/core';
import { freshDatabase, pgbouncerVersion, startPgBouncer } from '@pgway/testing';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { roleByHeader } from '../auth/role-by-header.ts';
import { createFolder, type FilesGateway, startWithFiles, useFiles } from './folder.ts';

/** Files that only read run in a read-only transaction, unless every text that they run has been read. */

/** A dynamic statement cannot be read, so that the transaction of a file with this function is read-only. */
const modeFunction = `create function tx_mode() returns text language plpgsql stable as
    $$ declare found text; begin execute 'select current_setting(''transaction_read_only'')' into found; return found; end $$;`;

const sql = `
  create table log (message text);
  create function write_log(message text) returns text language sql as 'insert into log values ($1) returning message';
  create function "Write Log"(message text) returns text language sql as 'insert into log values ($1) returning message';
  create function peek() returns text language plpgsql stable as
    $$ declare found text; begin execute replace('select write-log(''peeked'')', '-', '_') into found; return found; end $$;
  ${modeFunction}
  create function is_read_only() returns text language sql stable as $$ select tx_mode() $$;
`;
const sqlFiles = {
  'mode.sql': `-- HTTP\nselect tx_mode()`,
  'by_function.sql': `-- HTTP\nselect is_read_only()`,
  'both.sql': `-- HTTP\nselect 1;\nselect tx_mode();`,
  'last.sql': `-- HTTP\n-- result last\nselect 1;\nselect tx_mode();`,
  'posted.sql': `-- HTTP POST\nselect tx_mode()`,
  'peek.sql': `-- HTTP\nselect peek()`,
  'write.sql': `-- HTTP\nselect write_log(:text), current_setting('transaction_read_only')`,
  'quoted.sql': `-- HTTP\nselect "Write Log"(:text)`,
  'escaped.sql': `-- HTTP\nselect U&"Write\\0020Log"(:text)`,
  'mixed.sql': `-- HTTP\nselect current_setting('transaction_read_only');\ninsert into log values (:text);`,
};

const refused = {
  type: 'urn:pgway:problem:database-error',
  title: 'cannot execute INSERT in a read-only transaction',
  status: 500,
  code: '25006',
  hint: 'The SQL file only reads, by its text and by those of the functions, views and policies that it uses, so that its transaction is read-only. Declare the function that writes as volatile.',
};

async function answer(files: FilesGateway, ...sending: Parameters<FilesGateway['send']>): Promise<string> {
  const { status, body } = await files.send(...sending);
  return `${status} ${body}`;
}

describe('on connections of the gateway', () => {
  const files = useFiles(sql, sqlFiles, { gateway: { poolSize: 1, batchPath: '/api/batch' } });

  test.each([
    ['GET /api/mode', undefined, '200 ["on"]'],
    ['GET /api/by-function', undefined, '200 ["on"]'],
    ['GET /api/both', undefined, '200 {"result1":[1],"result2":["on"]}'],
    ['GET /api/last', undefined, '200 ["on"]'],
    ['POST /api/posted', undefined, '200 ["on"]'],
    ['POST /api/write', { text: 'a' }, '200 [{"writeLog":"a","currentSetting":"off"}]'],
    ['POST /api/quoted', { text: 'b' }, '200 ["b"]'],
    ['POST /api/escaped', { text: 'c' }, '200 ["c"]'],
    ['POST /api/mixed', { text: 'd' }, '200 {"result1":["off"],"result2":1}'],
    ['GET /api/mode', undefined, '200 ["on"]'],
  ])('%s %j', async (line, body, expected) => {
    expect(await answer(files.current(), line, { body })).toBe(expected);
  });

  test('a function that is stable by its declaration alone cannot write', async () => {
    const { send, database } = files.current();
    await database.query('truncate log');
    const { status, body } = await send('GET /api/peek');
    expect([status, JSON.parse(body)]).toEqual([500, { ...refused, correlationId: expect.any(String) }]);
    expect(await database.query('select * from log')).toEqual([]);
    expect((await send('POST /api/write', { body: { text: 'e' } })).status).toBe(200);
    expect(await database.query('select * from log')).toEqual([{ message: 'e' }]);
  });

  test('the one transaction of a batch writes', async () => {
    const requests = [
      { method: 'GET', path: '/api/mode' },
      { method: 'POST', path: '/api/write', body: { text: 'f' } },
    ];
    const { status, body } = await files.current().send('POST /api/batch', { body: requests });
    expect([status, JSON.parse(body)]).toEqual([
      200,
      [
        { status: 200, body: ['off'] },
        { status: 200, body: [{ writeLog: 'f', currentSetting: 'off' }] },
      ],
    ]);
  });
});

test('with settings of the call', async () => {
  const authentication = { schemes: [roleByHeader], databaseRole: { claim: 'db_role' } } as const;
  const files = await startWithFiles(
    sql,
    { 'mode.sql': `-- HTTP\nselect tx_mode(), current_user` },
    { gateway: { authentication } },
  );
  onTestFinished(() => files.close());
  const [{ me }] = (await files.database.query('select current_user::text as me')) as [{ me: string }];
  expect(await answer(files, 'GET /api/mode', { headers: { 'x-role': me } })).toBe(
    `200 [{"txMode":"on","currentUser":${JSON.stringify(me)}}]`,
  );
  expect((await files.send('GET /api/mode')).body).toContain('"on"');
});

test('a refused write is not taken for a server that has become a standby', async () => {
  const database = await freshDatabase(sql);
  onTestFinished(() => database.drop());
  const folder = await createFolder(sqlFiles);
  const address = new URL(database.connectionString);
  address.searchParams.set('target_session_attrs', 'read-write');
  const gateway = await createGateway({
    connectionString: address.href,
    routineSources: [sqlFilesSource({ files: '*.sql', folder })],
    observer: () => undefined,
  });
  onTestFinished(() => gateway.close());
  const response = await gateway.fetch(new Request('http://gateway/api/peek'));
  expect([response!.status, await response!.json()]).toMatchObject([500, { code: '25006' }]);
});

test('a transaction of the host can write after the call', async () => {
  const clients: Client[] = [];
  const files = await startWithFiles(sql, sqlFiles, {
    gateway: { connectionProvider: () => ({ client: clients[0]!, release: () => undefined }) },
  });
  onTestFinished(() => files.close());
  const client = new Client({ connectionString: files.database.connectionString });
  clients.push(client);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('begin');
  expect(await answer(files, 'GET /api/mode')).toBe('200 ["off"]');
  expect(await answer(files, 'POST /api/write', { body: { text: 'g' } })).toBe(
    '200 [{"writeLog":"g","currentSetting":"off"}]',
  );
  await client.query('commit');
  expect(await files.database.query('select * from log')).toEqual([{ message: 'g' }]);
});

const objects = `
    ${modeFunction}
    create table log (message text);
    create table plain (id int);
    create sequence numbers;
    create table guarded (id int);
    create table checked (id int);
    create table "Parent" (id int);
    insert into plain values (1); insert into guarded values (1); insert into checked values (1); insert into "Parent" values (1);
    create function note(id int) returns boolean language plpgsql as $$ begin insert into log values (id); return true; end $$;
    create function allows(id int) returns boolean language sql as $$ select exists (select from plain p where p.id = allows.id) $$;
    create function sees(id int) returns boolean language plpgsql stable as $$ begin return exists (select from guarded); end $$;
    do $do$ begin
      execute 'create function standard_body(id int default 1) returns boolean ' || case when current_setting('server_version_num')::int < 140000
        then 'language sql as ''select note(id)''' else 'begin atomic select note(id); end' end;
    end $do$;
    create function "Ändern"() returns text language sql as $$ insert into log values ('a') returning message $$;
    create function name_of_the_longest_length_that_a_function_can_have_in_postgres() returns text language sql
      as $$ insert into log values ('l') returning message $$;
    create function runs() returns int language plpgsql as $$ begin execute 'select ' || 1; return 1; end $$;
    create function locks() returns int language sql as $$ select id from plain for no key update $$;
    create function draws() returns bigint language sql stable as $$ select nextval('numbers') $$;
    create function add_one(total int, id int) returns int language plpgsql as $$ begin perform note(id); return total + id; end $$;
    create aggregate noted_sum(int) (sfunc = add_one, stype = int, initcond = '0');
    create domain noted as int check (note(value));
    alter table guarded enable row level security;
    create policy only_noted on guarded for select using (note(id));
    alter table checked enable row level security;
    create policy only_allowed on checked using (allows(id));
    create policy writers on checked for insert with check (note(id));
    alter table "Parent" enable row level security;
    create policy with_child on "Parent" using (exists (select from guarded g where g.id = "Parent".id));
    create view guarded_view as select id from guarded;
    create view plain_view as select id, clock_timestamp() as at from plain;
    create domain allowed as int check (allows(value));
    create function to_allowed(id int) returns allowed language sql stable as 'select id';
    create function to_noted(id int) returns noted language sql stable as 'select id';
    create function in_another_language() returns timestamptz language internal stable as 'now';
    create function inserts() returns int language sql stable as $$ insert into log values ('i') returning 1 $$;
    create view mode_view as select tx_mode();
    create view writing_view as select note(id) from plain;
  `;

describe('what a file reaches decides its default method and its transaction', () => {
  const mode = `1 as one, tx_mode() as mode`;
  const queries: Readonly<Record<string, [method: 'GET' | 'POST', query: string]>> = {
    'policy that writes': ['POST', `select ${mode} from guarded`],
    'policy of a view': ['POST', `select ${mode} from guarded_view`],
    'policy of another policy': ['POST', `select ${mode} from "Parent"`],
    'policy that a stable function reaches': ['POST', `select ${mode}, sees(1)`],
    'policy with a volatile function that only reads, and one for writes': ['GET', `select ${mode} from checked`],
    'volatile function that only reads': ['GET', `select ${mode}, allows(1)`],
    'harmless functions of PostgreSQL': [
      'GET',
      `select ${mode}, random(), clock_timestamp(), gen_random_uuid(), pg_relation_size('plain') from plain tablesample system (100)`,
    ],
    'view with a harmless function': ['GET', `select ${mode}, at from plain_view`],
    'view that writes': ['POST', `select ${mode} from writing_view`],
    'body in standard SQL': ['POST', `select ${mode}, standard_body()`],
    'letters beyond ASCII': ['POST', `select ${mode}, Ändern()`],
    'name that PostgreSQL cuts': [
      'POST',
      `select ${mode}, name_of_the_longest_length_that_a_function_can_have_in_postgres_itself()`,
    ],
    'dynamic statement': ['POST', `select ${mode}, runs()`],
    'row locks': ['POST', `select ${mode}, locks()`],
    'sequence in a stable function': ['POST', `select ${mode}, draws()`],
    aggregate: ['POST', `select ${mode}, noted_sum(id) from plain`],
    'check of a domain': ['POST', `select ${mode}, 1::noted`],
    'check of the domain that a function returns': ['POST', `select ${mode}, to_noted(1)`],
    setting: ['POST', `select ${mode}, set_config('my.a', 'b', true)`],
  };
  const paths = new Map(Object.keys(queries).map((name, index) => [name, `/api/query-${index}`]));
  const files = useFiles(
    objects,
    Object.fromEntries(
      Object.values(queries).map(([, query], index) => [`query_${index}.sql`, `-- HTTP\n-- single\n${query}`]),
    ),
  );

  test.each(Object.entries(queries))('%s: %s', async (name, [method]) => {
    const { status, body } = await files.current().send(`${method} ${paths.get(name)!}`);
    expect([status, JSON.parse(body)]).toMatchObject([200, { mode: method === 'GET' ? 'on' : 'off' }]);
  });

  test('an operator that writes can be anywhere', async () => {
    await files.current().database.query(`
      create function note_both(a int, b int) returns boolean language sql as $$ select note(a) and note(b) $$;
      create operator +&+ (function = note_both, leftarg = int, rightarg = int)`);
    await files.current().gateway.refresh();
    expect((await files.current().send(`POST ${paths.get('volatile function that only reads')!}`)).body).toContain(
      '"mode":"off"',
    );
  });
});

describe('a transaction is not made read-only where every text has been read', () => {
  const plain = `current_setting('transaction_read_only') as mode`;
  const queries: Readonly<Record<string, [mode: string, query: string]>> = {
    'a table': ['off', `select ${plain}, id from plain`],
    'a policy': ['off', `select ${plain}, id from checked`],
    'a view': ['off', `select ${plain}, at from plain_view`],
    'a volatile function that only reads': ['off', `select ${plain}, allows(1)`],
    'a domain': ['off', `select ${plain}, to_allowed(1), 1::allowed as other`],
    'a dynamic statement': ['on', `select ${plain}, tx_mode()`],
    'a dynamic statement in a view': ['on', `select ${plain}, tx_mode from mode_view`],
    'a dynamic statement in the query of a parameter': ['on', `select ${plain}, :n::text as n`],
    'another language': ['on', `select ${plain}, in_another_language()`],
    'a stable function with a word that writes': ['on', `select ${plain}, case when false then inserts() end as n`],
  };
  const names = Object.keys(queries);
  const files = useFiles(
    objects,
    Object.fromEntries(
      Object.entries(queries).map(([name, [, query]], index) => [
        `query_${index}.sql`,
        `-- HTTP\n-- single\n${name.endsWith('parameter') ? '-- param n = select tx_mode()\n' : ''}${query}`,
      ]),
    ),
  );

  test.each(Object.entries(queries))('%s: %s', async (name, [mode]) => {
    const { status, body } = await files.current().send(`GET /api/query-${names.indexOf(name)}`);
    expect([status, JSON.parse(body)]).toMatchObject([200, { mode }]);
  });
});

test('a policy that writes can do so for the role of the call', async () => {
  const role = `auditor_${randomBytes(6).toString('hex')}`;
  const files = await startWithFiles(
    `create role ${role};
     create table log (message text);
     create table film (title text);
     insert into film values ('Alien');
     create function audited(title text) returns boolean language plpgsql security definer as
       $$ begin insert into log values (title); return true; end $$;
     alter table film enable row level security;
     create policy audit on film for select using (audited(title));
     grant select on film to ${role}`,
    { 'films.sql': '-- HTTP GET\nselect title from film' },
    { gateway: { authentication: { schemes: [roleByHeader], databaseRole: { claim: 'db_role' } } } },
  );
  onTestFinished(async () => {
    await files.database.query(`drop owned by ${role}; drop role ${role}`);
    await files.close();
  });
  expect(await answer(files, 'GET /api/films', { headers: { 'x-role': role } })).toBe('200 ["Alien"]');
  expect(await files.database.query('select * from log')).toEqual([{ message: 'Alien' }]);
});

const version = await pgbouncerVersion();
test.skipIf(version === null)('calls share the one connection of a pooler in transaction mode', async () => {
  const database = await freshDatabase(sql);
  const pooler = await startPgBouncer(database.connectionString, { mode: 'transaction', size: 1 });
  const folder = await createFolder({
    ...sqlFiles,
    'added.sql': `-- HTTP\n-- result added\ninsert into log values (:text) returning message;\n-- result state\nselect :text, current_setting('transaction_read_only');`,
  });
  const gateway = await createGateway({
    connectionString: pooler.connectionString,
    pooler: 'transaction',
    // Only PgBouncer 1.21 and later keeps the names of statements apart.
    preparedStatements: !version!.startsWith('1.1'),
    routineSources: [sqlFilesSource({ files: '*.sql', folder })],
    observer: () => undefined,
  });
  onTestFinished(async () => {
    await gateway.close();
    await pooler.stop();
    await database.drop();
  });
  const send = async (method: string, path: string, text?: string): Promise<string> => {
    const sent =
      text === undefined ? {} : { body: JSON.stringify({ text }), headers: { 'content-type': 'application/json' } };
    const response = await gateway.fetch(new Request(`http://gateway/api/${path}`, { method, ...sent }));
    return `${response!.status} ${await response!.text()}`;
  };
  const rounds = Array.from({ length: 20 }, (_, index) => [
    send('GET', 'mode'),
    send('POST', 'write', `${index}`),
    send('POST', 'added', `${index}`),
    send('GET', 'both'),
  ]);
  for (const [index, answers] of (await Promise.all(rounds.map((round) => Promise.all(round)))).entries())
    expect(answers).toEqual([
      '200 ["on"]',
      `200 [{"writeLog":"${index}","currentSetting":"off"}]`,
      `200 {"added":["${index}"],"state":[{"column1" : "${index}", "currentSetting" : "off"}]}`,
      '200 {"result1":[1],"result2":["on"]}',
    ]);
  expect(await send('GET', 'peek')).toContain('25006');
  expect(await send('POST', 'write', 'after')).toBe('200 [{"writeLog":"after","currentSetting":"off"}]');
});
