/** Which endpoints and policies tests have reached. */
import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { dropRoles } from '../support/roles.ts';
import { runPgwayTest } from './support.ts';

const prefix = `coverage_${randomBytes(6).toString('hex')}`;
const [reader, author, owner, gateway] = ['reader', 'author', 'owner', 'gateway'].map((name) => `${prefix}_${name}`);
afterAll(() => dropRoles(prefix));

/** A policy of each command, and ones that only other ways reach. */
const notes = `
  do $$ begin
    create role ${reader}; create role ${author}; create role ${owner} login password 'secret';
    create role ${gateway} login password 'secret';
    grant ${reader}, ${author} to ${owner}; grant ${reader}, ${author} to ${gateway};
  exception when duplicate_object then null; end $$;
  grant create on schema public to ${owner};
  set role ${owner};
  create table tag (id int primary key);
  create table note (id int primary key, owner text not null, tag_id int references tag);
  insert into tag values (1);
  insert into note values (1, 'ada'), (2, 'bob');
  alter table note enable row level security;
  alter table tag enable row level security;
  create policy reads on note for select to ${reader}, ${author} using (owner = current_setting('request.user_id', true));
  create policy inserts on note for insert to ${author} with check (owner = current_setting('request.user_id', true));
  create policy updates on note for update to ${author} using (true) with check (id < 100);
  create policy deletes on note for delete to ${author} using (false);
  create policy tags on tag using (true);
  grant select on note to ${reader};
  grant select, insert, update, delete on note to ${author};
  grant select on tag to ${author};
  create function notes() returns setof note language sql stable as 'select * from note order by id';
  comment on function notes is E'HTTP\\nuser_context';
  create function add_note(_id int, _owner text, _tag_id int default null) returns void language sql as
    'insert into note values (_id, _owner, _tag_id)';
  comment on function add_note is E'HTTP\\nuser_context';
  create function all_notes() returns setof note language sql stable security definer as 'select * from note order by id';
  comment on function all_notes is 'HTTP';
  create function unused() returns int language sql stable as 'select 1';
  comment on function unused is 'HTTP GET';
`;
const configuration = {
  bearer: { enabled: true },
  authentication: { databaseRole: { claim: 'role', anonymous: reader } },
};
const identities = `-- identity ada {"id": "ada", "role": "${author}"}\n`;

test('a policy is reached when PostgreSQL has evaluated its condition in a request', async () => {
  const file = `${identities}
-- test own notes, and those of all by a function of the owner
-- GET /api/notes as ada
-- expect 200 rows 1
-- GET /api/all-notes
-- expect rows 2

-- test a refused insert, which also reads a tag
-- POST /api/add-note as ada
-- {"id": 3, "owner": "bob", "tagId": 1}
-- expect 403

-- test statements of a test do not count
set local role ${author};
update note set owner = 'x' where false;
delete from note;
-- GET /api/notes as ada
-- expect rows 1
`;
  const { code, stdout, stderr, query } = await runPgwayTest({
    sql: notes,
    files: { 'notes.test.sql': file },
    configuration,
    args: ['--complete'],
    user: owner!,
  });

  expect(stdout).toBe(`notes.test.sql
  ok     own notes, and those of all by a function of the owner
  ok     a refused insert, which also reads a tag
  ok     statements of a test do not count
Endpoints that no test has called:
  GET /api/unused (public.unused())
Policies that no request of a test has evaluated:
  public.note: deletes (for delete to ${author})
  public.note: updates (for update to ${author})
  public.tag: tags (for all to public)
coverage: 3 of 4 endpoints, 2 of 5 policies
3 tests, 0 failed
`);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^--complete: some endpoints or policies are not tested; the report lists them$/m);
  expect(
    await query("select pg_get_expr(polqual, polrelid) as using from pg_policy where polname = 'updates'"),
  ).toEqual([{ using: 'true' }]);
});

test('policies of tables of other roles are not measured, and so not complete', async () => {
  const { code, stdout } = await runPgwayTest({
    sql: `${notes} reset role; grant usage on schema public to ${gateway}; drop function unused;`,
    files: { 'notes.test.sql': `${identities}-- GET /api/notes as ada\n-- GET /api/all-notes` },
    configuration,
    args: ['--complete'],
    user: gateway!,
  });

  expect(stdout).toBe(`notes.test.sql
  ok     notes.test.sql
Endpoints that no test has called:
  POST /api/add-note (public.add_note(_id integer, _owner text, _tag_id integer))
Policies that cannot be measured, because the role of the connection does not own their tables:
  public.note: deletes (for delete to ${author})
  public.note: inserts (for insert to ${author})
  public.note: reads (for select to ${author}, ${reader})
  public.note: updates (for update to ${author})
  public.tag: tags (for all to public)
coverage: 2 of 3 endpoints, 0 of 5 policies
1 test, 0 failed
`);
  expect(code).toBe(1);
});

test('without endpoints and policies that are missed, the tests are complete', async () => {
  const { code, stdout, stderr } = await runPgwayTest({
    sql: `create function ready() returns int language sql stable as 'select 1'; comment on function ready is 'HTTP GET';`,
    files: { 'a.test.sql': '-- GET /api/ready' },
    args: ['--complete'],
  });

  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: 'a.test.sql\n  ok     a.test.sql\ncoverage: 1 of 1 endpoints, 0 of 0 policies\n1 test, 0 failed\n',
  });
  expect(stderr).not.toContain('--complete');
});
