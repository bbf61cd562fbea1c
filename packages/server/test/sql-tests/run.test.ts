/** `pgway test`: requests, statements, identities, and the transaction of a test. */
import { randomBytes } from 'node:crypto';
import { installIdempotency } from '@pgway/core';
import { serverConnectionString } from '@pgway/testing';
import { afterAll, expect, test } from 'vitest';
import { dropRoles } from '../support/roles.ts';
import { runPgwayTest } from './support.ts';

const prefix = `tests_${randomBytes(6).toString('hex')}`;
afterAll(() => dropRoles(prefix));

const films = `
  create table film (id int generated always as identity primary key, title text not null unique, owner text);
  insert into film (title, owner) values ('Alien', 'ada'), ('Amelie', 'bob');
  create function films(_text text default '') returns setof film language sql stable as
    $$ select * from film where title ilike _text || '%' order by title $$;
  comment on function films is 'HTTP GET /films';
  create function add_film(_title text) returns film language sql as
    $$ insert into film (title, owner) values (_title, current_setting('request.user_id', true)) returning * $$;
  comment on function add_film is E'HTTP POST /films\\nauthorize author\\nuser_context';
  create function remove_film(_id int) returns void language sql as $$ delete from film where id = _id $$;
  comment on function remove_film is 'HTTP DELETE /films/{id}';
`;
const bearer = { bearer: { enabled: true } };

test('requests, expectations, statements and captured values; nothing of them remains', async () => {
  const file = `-- Tests of films.
-- identity ada {"sub": "1",
--   "roles": ["author", "reader"]}
-- identity bob {"sub": "2"}

-- test an author adds a film
-- POST /films as ada
-- {"title": "Brazil"}
-- expect 200 header content-type: application/json
-- expect body contains {"title": "Brazil", "owner": "1"}
-- capture id = $.id
select title = 'Brazil' from film where id = :id;
-- GET /films?text=B
-- expect 200 rows 1
-- expect body [{"id": {{id}}, "title": "Brazil", "owner": "1"}]
-- DELETE /films/{{id}}
-- expect 204
select * from film;
-- expect rows 2
insert into film (title) values ('Not committed');

-- test a duplicate is refused, and the test goes on
-- POST /films as ada
-- Content-Type: application/json
-- {"title": "Alien"}
-- expect 409
insert into film (title) values ('Alien');
-- expect error 23505
select count(*) from film;
-- capture n
select :n::int = 2;

-- test others may not
-- POST /films as bob
-- {"title": "x"}
-- expect 403 problem forbidden
-- POST /films
-- {"title": "x"}
-- expect 401
`;
  const { code, stdout, stderr, query } = await runPgwayTest({
    sql: films,
    files: { 'api/films.test.sql': file },
    configuration: bearer,
  });

  expect({ stdout, stderr: stderr.replace(/^warning: .*\n/gm, ''), code }).toEqual({
    stdout: `api/films.test.sql
  ok     an author adds a film
  ok     a duplicate is refused, and the test goes on
  ok     others may not
3 tests, 0 failed
`,
    stderr: '',
    code: 0,
  });
  expect(await query('select title from film order by 1')).toEqual([{ title: 'Alien' }, { title: 'Amelie' }]);
});

test('what fails is shown with file, line, step, expected and actual values; the test ends there', async () => {
  const file = `-- test a body
-- GET /films?text=Al
-- expect 200 body [{"id": 1, "title": "Aliens", "owner": "ada"}]
select false;

-- test a part of a body
-- GET /films
-- expect rows 2 body contains [{"title": "Brazil"}]

-- test an unexpected error
-- GET /films?texts=x

-- test another header
-- GET /films
-- expect header x-none: 1

-- test an assertion
select count(*) = 3, 1 from film;
-- expect true

-- test a boolean column
select title = 'Alien' from film order by 1;

-- test a mistake
select title,
  titel from film;

-- test another error
insert into film (title) values ('Alien');
-- expect error 23503

-- test no error
select 1;
-- expect error 23503

-- test no endpoint
-- GET /filmz
`;
  const { code, stdout } = await runPgwayTest({ sql: films, files: { 'a.test.sql': file }, configuration: bearer });

  expect(code).toBe(1);
  expect(stdout).toBe(`a.test.sql
  failed a body
           GET /films?text=Al
           a.test.sql:3: the body is another one
             - expected
             + actual
               [
                 {
                   "id": 1,
             -     "title": "Aliens",
             +     "title": "Alien",
                   "owner": "ada"
                 }
               ]
  failed a part of a body
           GET /films
           a.test.sql:8: the body does not contain the expected value
             - expected
             + actual
               [
                 {
             -     "title": "Brazil"
             +     "id": 1,
             +     "title": "Alien",
             +     "owner": "ada"
             +   },
             +   {
             +     "id": 2,
             +     "title": "Amelie",
             +     "owner": "bob"
                 }
               ]
  failed an unexpected error
           GET /films?texts=x
           a.test.sql:11: expected a success, got status 400
             {
               "type": "urn:pgway:problem:unknown-parameter",
               "title": "The request has an unknown parameter",
               "status": 400,
               "detail": "\\"texts\\" in the query string is not a parameter of this endpoint; did you mean \\"text\\"?",
               "unknown": [
                 "texts"
               ]
             }
  failed another header
           GET /films
           a.test.sql:15: expected the header x-none: 1, got none
  failed an assertion
           select count(*) = 3, 1 from film
           a.test.sql:19: expected one row with true
             ?column? | ?column?
             f | 1
  failed a boolean column
           select title = 'Alien' from film order by 1
           a.test.sql:22: expected one row with true
             ?column?
             f
             t
  failed a mistake
           select title,
           a.test.sql:26: column 3: 42703: column "titel" does not exist (Perhaps you meant to reference the column "film.title".)
               titel from film;
               ^
  failed another error
           insert into film (title) values ('Alien')
           a.test.sql:29: expected the error 23503, got 23505: duplicate key value violates unique constraint "film_title_key"
             Key (title)=(Alien) already exists.
  failed no error
           select 1
           a.test.sql:34: expected the error 23503, but the statement has succeeded
             ?column?
             1
  failed no endpoint
           GET /filmz
           a.test.sql:37: no endpoint has this path; pgway endpoints prints them
10 tests, 10 failed
`);
});

/** The message of JSON.parse, which versions of Node.js word differently. */
function messageOf(json: string): string {
  try {
    JSON.parse(json);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

test('mistakes of a file are shown with a caret, and fail; other files run', async () => {
  const faulty = `-- identity ada {"sub": 1
-- test one
-- GET films
-- GET /films as bob
-- expect 2000
-- expects 200
begin;
select :nobody
-- expect true
;
-- POST /films
-- {"title"}
-- test two
`;
  const { code, stdout } = await runPgwayTest({
    sql: films,
    files: {
      'a.test.sql': faulty,
      'b.test.sql': '-- expect 200',
      'c.test.sql': 'select true;',
      'd.test.sql': "select 'x",
      'e.test.sql': `-- get /films
-- GTE /films as ada
-- FETCH /films
-- GET /films as
-- GET /films
-- expect status = 200
-- expect rows many
-- expect body {"a": 1
-- capture = $.id
/* never closed`,
      'f.test.sql':
        '\uFEFF-- test a file of an editor for Windows\r\n-- GET /films\r\n-- expect 200 rows 2\r\nselect true;\r\n',
      'g.test.sql': '',
      'h.test.sql': Buffer.from('-- GET /films\xff', 'latin1'),
    },
  });

  expect(code).toBe(1);
  expect(stdout).toContain(
    'g.test.sql:1: column 1: the file has no request and no statement; add some, or remove the file',
  );
  expect(stdout).toContain('h.test.sql:1: is not encoded in UTF-8; save it as UTF-8');
  expect(stdout.slice(stdout.indexOf('8 tests'))).toBe('8 tests, 6 failed\n');
  expect(stdout.slice(0, stdout.indexOf('g.test.sql'))).toBe(`a.test.sql
  failed the file can be read
           a.test.sql:1: column 4: the claims are not a JSON object: ${messageOf('{"sub": 1')}
             -- identity ada {"sub": 1
                ^
           a.test.sql:3: column 4: the path "films" does not begin with "/"; write GET /films
             -- GET films
                ^
           a.test.sql:4: column 4: the identity "bob" is not declared; add: identity bob {"sub": "1"}
             -- GET /films as bob
                ^
           a.test.sql:5: column 4: "2000" is not an expectation; a request has a status, rows <n>, problem <code>, header <name>: <value>, body <JSON>, body contains <JSON>, body text <text>
             -- expect 2000
                ^
           a.test.sql:6: column 4: "expects" is not a word of tests; write expect, or begin the comment with another word
             -- expects 200
                ^
           a.test.sql:7: column 1: begin controls the transaction; a test is one transaction, which pgway begins and rolls back; remove it
             begin;
             ^
           a.test.sql:8: column 1: the value "nobody" is not captured above; add: capture nobody
             select :nobody
             ^
           a.test.sql:9: column 4: this line is within a statement; end the statement above with a semicolon
             -- expect true
                ^
           a.test.sql:12: column 4: the body of the request is not JSON: ${messageOf('{"title"}')}; correct it, set a Content-Type below the request, or separate a comment from the request by an empty line
             -- {"title"}
                ^
           a.test.sql:13: column 4: the test "two" has no request and no statement; add some, or begin the comment with another word
             -- test two
                ^
b.test.sql
  failed the file can be read
           b.test.sql:1: column 4: there is no request and no statement above; expect stands below one
             -- expect 200
                ^
           b.test.sql:1: column 4: the file has no request and no statement; add some, or remove the file
             -- expect 200
                ^
c.test.sql
  ok     c.test.sql
d.test.sql
  failed the file can be read
           d.test.sql:1: column 8: a string literal that begins here has no closing '
             select 'x
                    ^
e.test.sql
  failed the file can be read
           e.test.sql:1: column 4: "get" is not a method; write GET
             -- get /films
                ^
           e.test.sql:2: column 4: "GTE" is not a method; write GET
             -- GTE /films as ada
                ^
           e.test.sql:3: column 4: "FETCH" is not a method; write GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, QUERY
             -- FETCH /films
                ^
           e.test.sql:4: column 4: "as" is not part of a request; write GET /films as <identity>, or encode spaces of the path as %20
             -- GET /films as
                ^
           e.test.sql:6: column 4: "status = 200" is not an expectation; a request has a status, rows <n>, problem <code>, header <name>: <value>, body <JSON>, body contains <JSON>, body text <text>
             -- expect status = 200
                ^
           e.test.sql:7: column 4: "rows many" is not an expectation; a request has a status, rows <n>, problem <code>, header <name>: <value>, body <JSON>, body contains <JSON>, body text <text>
             -- expect rows many
                ^
           e.test.sql:8: column 4: the expected body is not JSON: ${messageOf('{"a": 1')}
             -- expect body {"a": 1
                ^
           e.test.sql:9: column 4: capture needs a name and a path in the body, as in: capture id = $.items[0].id; after a statement, a name
             -- capture = $.id
                ^
           e.test.sql:10: column 1: the comment that begins here has no closing */
             /* never closed
             ^
f.test.sql
  ok     a file of an editor for Windows
`);
});

test('a request has the settings of a session, and no setting of a request or statement reaches the next one', async () => {
  const sql = `
    create function show(_name text) returns text language sql volatile as $$ select current_setting(_name, true) $$;
    comment on function show is 'HTTP GET';
    create function keep(_name text, _value text) returns text language sql as $$ select set_config(_name, _value, false) $$;
    comment on function keep is 'HTTP';
    create function day() returns text language sql stable as $$ select date '2001-02-03'::text $$;
    comment on function day is 'HTTP GET';
  `;
  const file = `
-- POST /api/keep
-- {"name": "app.name", "value": "1"}
-- expect body text 1
-- GET /api/show?name=app.name
-- expect body text
-- POST /api/keep
-- {"name": "search_path", "value": "nowhere"}
-- GET /api/show?name=search_path
-- expect body text "$user", public
set DateStyle to German;
set app.name to 'statement';
select current_setting('app.name') = 'statement';
-- GET /api/show?name=app.name
-- expect body text
-- GET /api/day
-- expect body text 2001-02-03
`;
  const { stdout } = await runPgwayTest({ sql, files: { 'settings.test.sql': file } });

  expect(stdout).toBe('settings.test.sql\n  ok     settings.test.sql\n1 test, 0 failed\n');
});

test('deferred constraints are checked at the end of a request, as its commit would', async () => {
  const sql = `
    create table parent (id int primary key);
    create table child (id int primary key, parent_id int references parent deferrable initially deferred);
    create function add_child(_id int, _parent_id int) returns void language sql as 'insert into child values (_id, _parent_id)';
    comment on function add_child is 'HTTP';
    create function add_both(_id int) returns void language sql as 'insert into child values (_id, _id); insert into parent values (_id)';
    comment on function add_both is 'HTTP';
  `;
  const file = `-- test complete
-- POST /api/add-both
-- {"id": 1}
-- POST /api/add-both
-- {"id": 2}

-- test incomplete
-- POST /api/add-child
-- {"id": 1, "parentId": 9}
-- expect 204
`;
  const { code, stdout } = await runPgwayTest({ sql, files: { 'a.test.sql': file } });

  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: `a.test.sql
  ok     complete
  failed incomplete
           POST /api/add-child
           a.test.sql:8: the request has succeeded, but its commit would fail: 23503: insert or update on table "child" violates foreign key constraint "child_parent_id_fkey"
             Key (parent_id)=(9) is not present in table "parent".
2 tests, 1 failed
`,
  });
});

test('what would leave the transaction of a test is refused, and has no effect', async () => {
  const sql = `
    create table note (id int);
    create procedure commits() language plpgsql as $$ begin insert into note values (1); commit; end $$;
    comment on procedure commits is 'HTTP';
    create function elsewhere() returns void language sql as 'insert into note values (2)';
    comment on function elsewhere is E'HTTP\\nconnection other';
    create function store(_meta json default null) returns json language sql as 'select _meta';
    comment on function store is E'HTTP\\nupload for large_object\\nparam _meta is upload metadata';
    create function raise_event() returns void language plpgsql as $$ begin raise info 'x'; end $$;
    comment on function raise_event is E'HTTP\\ninfo_path';
  `;
  const file = `-- test commits
-- POST /api/commits
-- test elsewhere
-- POST /api/elsewhere
-- test store
-- POST /api/store
-- Content-Type: multipart/form-data; boundary=x
-- --x--
-- test stream
-- GET /api/raise-event/info
-- test raise
-- POST /api/raise-event
-- expect 204
`;
  const { stdout, query } = await runPgwayTest({
    sql,
    files: { 'a.test.sql': file },
    configuration: { gateway: { connectionStrings: { other: serverConnectionString() } } },
  });

  expect(stdout).toBe(`a.test.sql
  failed commits
           POST /api/commits
           a.test.sql:2: the procedure ends its transaction, which is that of the test; a procedure that commits cannot be tested
  failed elsewhere
           POST /api/elsewhere
           a.test.sql:4: the endpoint runs on the connection "other", and not in the transaction of the test
  failed store
           POST /api/store
           a.test.sql:6: uploads may store files outside of the database; test the routine that they call
  failed stream
           GET /api/raise-event/info
           a.test.sql:10: an event stream does not end, and its events come from committed calls; test the endpoint that raises them
  ok     raise
5 tests, 4 failed
`);
  expect(await query('select id from note')).toEqual([]);
});

test('a request with an idempotency key is repeated by its test, and no key remains', async () => {
  const sql = `
    ${installIdempotency({ schema: 'pgway', roles: [] }).join(';')};
    create table payment (id int generated always as identity, amount int check (amount > 0));
    create function pay(_amount int) returns payment language sql as $$ insert into payment (amount) values (_amount) returning * $$;
    comment on function pay is E'HTTP POST /payments\\nidempotent required';
  `;
  const file = `-- test a key is one payment
-- POST /payments
-- Idempotency-Key: k1
-- {"amount": 5}
-- expect 200 body contains {"amount": 5}
-- capture id = $.id
-- POST /payments
-- Idempotency-Key: k1
-- {"amount": 5}
-- expect 200 header idempotent-replayed: true
-- expect body {"id": {{id}}, "amount": 5}
select count(*) = 1 from payment;
-- POST /payments
-- Idempotency-Key: k1
-- {"amount": 6}
-- expect 422 problem idempotency-key-reused
-- POST /payments
-- Idempotency-Key: k2
-- {"amount": 0}
-- expect 400
-- POST /payments
-- Idempotency-Key: k2
-- {"amount": 6}
-- expect 200 body contains {"amount": 6}
select array_agg(amount order by id) = '{5,6}' from payment;
-- POST /payments
-- {"amount": 6}
-- expect 400 problem missing-idempotency-key

-- test a key of another test is free
-- POST /payments
-- Idempotency-Key: k1
-- {"amount": 7}
-- expect 200 body contains {"amount": 7}

-- test statements
-- POST /files
-- Idempotency-Key: k1
-- {"amount": 8}
-- expect 200 body {"added": 1, "total": 8}
-- POST /files
-- Idempotency-Key: k1
-- {"amount": 8}
-- expect 200 header idempotent-replayed: true
-- expect body {"added": 1, "total": 8}
`;
  const { code, stdout, query } = await runPgwayTest({
    sql,
    files: {
      'pay.test.sql': file,
      'api/files.sql': `-- HTTP POST /files\n-- idempotent\n-- result added\ninsert into payment (amount) values (:amount::int);\n-- result total\n-- single\nselect sum(amount) from payment;`,
    },
    configuration: { sqlFiles: 'api/*.sql' },
  });

  expect([stdout, code]).toEqual([
    `pay.test.sql
  ok     a key is one payment
  ok     a key of another test is free
  ok     statements
3 tests, 0 failed
`,
    0,
  ]);
  expect(await query('select count(*)::int as keys from pgway.idempotency_key')).toEqual([{ keys: 0 }]);
});

test('each test has rate limits of its own', async () => {
  const sql = `
    create function limited() returns int language sql stable as 'select 1';
    comment on function limited is E'HTTP GET\nrate_limit once';
  `;
  const file = `-- test first
-- GET /api/limited
-- GET /api/limited
-- expect 429
-- test second
-- GET /api/limited
`;
  const { stdout } = await runPgwayTest({
    sql,
    files: { 'a.test.sql': file },
    configuration: {
      rateLimits: { policies: { once: { type: 'fixed-window', limit: 1, window: 3600 } } },
    },
  });

  expect(stdout).toBe('a.test.sql\n  ok     first\n  ok     second\n2 tests, 0 failed\n');
});

test('SQL files, tables, the dialect of PostgREST, and steps before the first test, which each test has', async () => {
  const sql = `
    create table film (id int primary key, title text not null);
    comment on table film is 'HTTP';
  `;
  const file = `insert into film values (1, 'Alien');
-- GET /rest/film?id=eq.1
-- expect rows 1
-- capture title = $[0].title

-- test an SQL file
-- GET /api/by-title?title={{title}}
-- expect body [{"id": 1, "title": "{{title}}"}]

-- test a table in the dialect of PostgREST
-- POST /rest/film
-- Prefer: return=representation
-- {"id": 2, "title": "{{title}}s"}
-- expect 201 body [{"id": 2, "title": "Aliens"}]
-- POST /rest/film
-- {"id": 2, "title": "x"}
-- expect 409 problem 23505
-- GET /rest/film?select=id&order=id
-- expect body [{"id": 1}, {"id": 2}]
`;
  const { stdout } = await runPgwayTest({
    sql,
    files: {
      'films.test.sql': file,
      'api/by_title.sql': '-- HTTP GET\nselect * from film where title = :title',
    },
    configuration: { sqlFiles: 'api/*.sql', crud: { dialect: 'postgrest' } },
  });

  expect(stdout).toBe(
    'films.test.sql\n  ok     an SQL file\n  ok     a table in the dialect of PostgREST\n2 tests, 0 failed\n',
  );
});

test('a caller whose role may not be used gets the error of a server, where constraints are deferred, too', async () => {
  const sql = `
    create table parent (id int primary key deferrable initially deferred);
    create function ready() returns int language sql stable as 'select 1';
    comment on function ready is 'HTTP GET';
  `;
  const file = `-- identity none {"role": "none"}
-- GET /api/ready as none
-- expect 403
-- GET /api/ready
-- expect 200
`;
  const { stdout } = await runPgwayTest({
    sql,
    files: { 'roles.test.sql': file },
    configuration: { authentication: { databaseRole: { claim: 'role' } }, bearer: { enabled: true } },
  });

  expect(stdout).toBe('roles.test.sql\n  ok     roles.test.sql\n1 test, 0 failed\n');
});

test('numbers are compared with all digits, and captured with them', async () => {
  const { code, stdout } = await runPgwayTest({
    sql: `
      create function big(_n bigint default 9007199254740993) returns setof bigint language sql stable as $$ select _n $$;
      comment on function big is 'HTTP GET /big';
    `,
    files: {
      'big.test.sql': `-- test equal
-- GET /big
-- expect body [9007199254740993]
-- capture n = $[0]
-- GET /big?n={{n}}
-- expect body [{{n}}]
select :n::bigint = 9007199254740993;

-- test another one
-- GET /big
-- expect body [9007199254740992]
`,
    },
  });
  expect([code, stdout]).toEqual([
    1,
    `big.test.sql
  ok     equal
  failed another one
           GET /big
           big.test.sql:11: the body is another one
             - expected
             + actual
               [
             -   9007199254740992
             +   9007199254740993
               ]
2 tests, 1 failed
`,
  ]);
});
