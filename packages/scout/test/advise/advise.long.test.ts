import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { useDatabase } from '@pgway/testing';
import { Client } from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { rules } from '../../src/advise/rules.ts';
import { indexRules } from '../../src/advise/index-rules.ts';
import { readFacts } from '../../src/advise/read-facts.ts';
import { noProgress } from '../../src/output/progress.ts';
import { folderWith } from '../support/folder.ts';
import { isPlain, type Outcome, scout } from '../support/scout.ts';

const superuserNote =
  'note: privileges and policies of calls are not examined for the superuser postgres; name the role of the gateway with --role\n';
const statisticsNote = 'note: unused indexes are not listed: the statistics are not 7 days old\n';

describe('the command', () => {
  const database = useDatabase(`
    revoke create on schema public from public;
    create schema shop;
    create table shop.film (id int primary key, title text);
    comment on table shop.film is 'HTTP';
    create table shop.rental (id int primary key, film_id int references shop.film);
    alter table shop.rental enable row level security;
    create policy all_rows on shop.rental using (true);
  `);
  const advise = async (argv: readonly string[], files: Readonly<Record<string, unknown>> = {}): Promise<Outcome> =>
    scout(['--advise', ...argv, '-c', database.connectionString], { folder: await folderWith(files) });

  const filmText = `-- rls-off: TABLE shop.film
-- row level security is off: each row is served by GET /api/shop/film and 10 more. Create policies, too: without one, the statement hides all rows
ALTER TABLE shop.film ENABLE ROW LEVEL SECURITY;
`;
  const policyText = `-- policy-always-true: POLICY shop.rental.all_rows
-- USING is always true: PUBLIC may use every command on any row. Replace false by the condition of the rows that belong to the caller
ALTER POLICY all_rows ON shop.rental USING (false);
`;
  const keyText = `-- foreign-key-without-index: CONSTRAINT shop.rental.rental_film_id_fkey
-- no index begins with film_id: each delete in shop.film, and a join with it, reads the whole table
CREATE INDEX CONCURRENTLY ON shop.rental (film_id);
`;

  test('prints the findings as a script of comments and statements, and what it could not examine', async () => {
    expect(await advise([])).toEqual({
      code: 0,
      stdout: [filmText, policyText, keyText].join('\n'),
      stderr: `${superuserNote}${statisticsNote}3 findings\n`,
    });
  });

  test('--exit-code ends with 3 when there are findings', async () => {
    expect((await advise(['--exit-code'])).code).toBe(3);
    expect(await advise(['--exit-code', '--exclude', 'shop.*'])).toEqual({
      code: 0,
      stdout: '',
      stderr: `${superuserNote}${statisticsNote}no findings\n`,
    });
  });

  test('--json has code, object, reason and statements of each finding', async () => {
    const { stdout, code } = await advise(['--json', 'rental']);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      [
        {
          code: 'policy-always-true',
          kind: 'POLICY',
          schema: 'shop',
          table: 'rental',
          name: 'all_rows',
          qualifiedName: 'shop.rental.all_rows',
          reason:
            'USING is always true: PUBLIC may use every command on any row. Replace false by the condition of the rows that belong to the caller',
          statements: ['ALTER POLICY all_rows ON shop.rental USING (false)'],
        },
        {
          code: 'foreign-key-without-index',
          kind: 'CONSTRAINT',
          schema: 'shop',
          table: 'rental',
          name: 'rental_film_id_fkey',
          qualifiedName: 'shop.rental.rental_film_id_fkey',
          reason: 'no index begins with film_id: each delete in shop.film, and a join with it, reads the whole table',
          statements: ['CREATE INDEX CONCURRENTLY ON shop.rental (film_id)'],
        },
      ],
    ]);
    expect(JSON.parse((await advise(['--json', '--exclude', '*'])).stdout)).toEqual([]);
  });

  test.each([
    ['a name, with its parts', ['shop.rental'], [policyText, keyText]],
    ['a wildcard', ['f*;all_rows'], [filmText, policyText]],
    ['a constraint', ['rental_film_id_fkey'], [keyText]],
    ['kinds', ['--kinds', 'policy'], [policyText]],
    ['kinds of tables, with their parts', ['--kinds', 'table'], [filmText, policyText, keyText]],
    ['all but a name', ['--exclude', 'shop.rental'], [filmText]],
  ])('selects %s', async (_title, argv, expected) => {
    expect((await advise(argv)).stdout).toBe(expected.join('\n'));
  });

  test('a name without an object, an unknown kind, role and code are errors', async () => {
    const outcome = (code: number, message: string): Outcome => ({ code, stdout: '', stderr: `pgscout: ${message}\n` });
    expect(await advise(['flim'])).toEqual(outcome(1, 'no object is named "flim"; did you mean film?'));
    expect(await advise(['--kinds', 'tabel'])).toEqual(outcome(2, '--kinds: no kind "TABEL"; did you mean TABLE?'));
    expect(await advise(['--role', 'no_such'])).toEqual(outcome(1, '--role: the server has no role "no_such"'));
    expect(await advise(['--ignore', 'rls-of'])).toEqual(
      outcome(2, '--ignore: no finding has the code "rls-of"; did you mean rls-off?'),
    );
  });

  test('findings are ignored by --ignore, and by settings with a reason; what ignores nothing is a note', async () => {
    expect(await advise(['--ignore', 'rls-off;foreign-key-without-index shop.rental;rls-off other'])).toEqual({
      code: 0,
      stdout: policyText,
      stderr: `${superuserNote}${statisticsNote}note: "rls-off other" ignores no finding\n1 finding, 2 ignored\n`,
    });
    const ignored = { 'policy-always-true shop.rental.*': 'each rental is public', 'rls-off film': 'the catalog' };
    expect(await advise(['--exit-code'], { 'pgscout.json': { AdviseIgnore: ignored } })).toEqual({
      code: 3,
      stdout: keyText,
      stderr: `${superuserNote}${statisticsNote}1 finding, 2 ignored\n`,
    });
  });

  test.each([
    [{ 'rls-off': '' }, 'AdviseIgnore "rls-off" needs a reason'],
    [['rls-off'], 'AdviseIgnore must be an object of findings and reasons'],
    [{ 'no-such': 'why' }, 'AdviseIgnore: no finding has the code "no-such"'],
  ])('a mistake in the settings: %j', async (ignored, message) => {
    expect(await advise([], { 'pgscout.json': { AdviseIgnore: ignored } })).toEqual({
      code: 2,
      stdout: '',
      stderr: `pgscout: pgscout.json: ${message}\n`,
    });
  });

  test('a table that the settings publish is served as one with an HTTP comment', async () => {
    const settings = { crud: { enabled: true, crudTypes: ['select'], commentsMode: 'parseAll' } };
    const { stdout } = await advise(['--ignore', 'foreign-key-without-index;policy-always-true', '--json'], {
      'pgway.json': settings,
    });
    expect(JSON.parse(stdout)).toMatchObject([{ code: 'rls-off', qualifiedName: 'shop.film' }]);
  });
});

describe('hostile names', () => {
  const name = 'a"b\u001b[31m\u202e;--\n$1';
  const sqlName = `"${name.replaceAll('"', '""')}"`;
  const database = useDatabase(`
    revoke create on schema public from public;
    create schema ${sqlName};
    create table ${sqlName}.${sqlName} (${sqlName} text);
    create table shown (${sqlName} int, "password ${name.replaceAll('"', '""')}" text not null unique);
    comment on table shown is 'It''s \\ \u001b[31m
HTTP';
    create function ${sqlName}.${sqlName}(${sqlName} int default 1) returns int language sql security definer as 'select 1';
    create index "1${sqlName.slice(1)} on ${sqlName}.${sqlName} (${sqlName});
    create index "2" on ${sqlName}.${sqlName} (${sqlName});
    create policy ${sqlName} on ${sqlName}.${sqlName} using (1 = 1);
    create table child (id int primary key, parent int references child);
    alter table child rename constraint child_parent_fkey to ${sqlName};
  `);

  test('no output holds what a terminal interprets, and each statement can be run', async () => {
    const argv = ['--advise', '-c', database.connectionString];
    const folder = await folderWith();
    const { stdout, stderr } = await scout(argv, { folder });
    expect(isPlain(stdout) && isPlain(stderr)).toBe(true);
    const json = (await scout([...argv, '--json'], { folder })).stdout;
    expect(isPlain(json)).toBe(true);
    const findings = JSON.parse(json) as readonly { readonly code: string; readonly statements: readonly string[] }[];
    expect(findings.map(({ code }) => code)).toEqual([
      'rls-off',
      'rls-off-with-policies',
      'secret-column',
      'no-primary-key',
      'policy-always-true',
      'definer-search-path',
      'public-definer',
      'foreign-key-without-index',
      'duplicate-index',
    ]);
    for (const statement of findings.flatMap(({ statements }) => statements)) await database.query(statement);
    // The table has no policy yet.
    const later = await scout([...argv, '--json'], { folder });
    expect(JSON.parse(later.stdout)).toMatchObject([{ code: 'rls-without-policy', qualifiedName: 'public.shown' }]);
  });
});

describe('an ordinary user', () => {
  const role = `advised_${randomBytes(8).toString('hex')}`;
  const database = useDatabase(`
    revoke create on schema public from public;
    create role ${role} login password 'password';
    create table note (id int primary key, owner text);
    insert into note select n, 'a' from generate_series(1, 20000) n;
    analyze note;
    comment on table note is 'HTTP';
    alter table note enable row level security;
    create policy own on note using (owner = current_setting('request.user_id', true));
    grant select on note to ${role};
    create table secret (id int primary key, name text);
    create function secrets(_name text) returns setof secret language sql stable as $$ select * from secret where name = _name $$;
    comment on function secrets is 'HTTP';
  `);
  afterAll(async () => {
    await database.query(`drop owned by ${role}; drop role ${role}`);
  });

  test('reads what all users may read; what cannot be planned is a note', async () => {
    const url = new URL(database.connectionString);
    [url.username, url.password] = [role, 'password'];
    const { stdout, stderr, code } = await scout(['--advise', '-c', url.href], { folder: await folderWith() });
    expect({ code, stdout: stdout.replaceAll(role, '{role}'), stderr }).toEqual({
      code: 0,
      stdout: `-- policy-per-row: POLICY public.note.own
-- current_setting('request.user_id'::text, true) is called for each row; in a sub-select, it is called once for a statement
ALTER POLICY own ON public.note USING ((owner = ( SELECT current_setting('request.user_id'::text, true))));

-- missing-grant: TABLE public.note
-- calls of GET /api/note and 10 more fail: no DELETE, INSERT, UPDATE for {role}
GRANT DELETE, INSERT, UPDATE ON public.note TO {role};
`,
      stderr: `${statisticsNote}note: statements that cannot be planned alone are not examined: public.secrets(text)\n2 findings\n`,
    });
  });
});

describe('statements of endpoints', () => {
  const database = useDatabase(`
    revoke create on schema public from public;
    create schema shop;
    create table shop.film (id int primary key, title varchar(40), price int, "Year" int, director text);
    insert into shop.film select n, 'film ' || n, n % 100, n % 1000, 'd' || n % 500 from generate_series(1, 20000) n;
    create table shop.small (id int, title text);
    analyze;
    create function shop.by_title(_title text) returns setof shop.film language sql stable as $$
      -- _title's comment
      select * from shop.film where film.title = _title and "Year" > 5 $$;
    create function shop.by_year("Year" int, _price int) returns bigint language sql stable set search_path = shop as $$
      select count(*) from small;
      select count(*) from film f where f."Year" = by_year."Year" and f.price = _price $$;
    create function shop.by_position(int) returns setof shop.film language sql stable as 'select * from shop.film where price = 3 and "Year" = $1';
    create function shop.change(_director text) returns void language sql as $$
      update shop.film set price = price + 1 where director = _director $$;
    create function shop.by_part(_part text) returns setof shop.film language sql stable as $$
      select * from shop.film where director = lower(_part) or price = 4 and title like _part $$;
    create function shop.by_id(_id int) returns setof shop.film language sql stable as 'select * from shop.film where id = _id';
    create function shop.all_films() returns setof shop.film language sql stable as 'select * from shop.film where id > 0';
    create function shop.small_ones(_title text) returns setof shop.small language sql stable as 'select * from shop.small where title = _title';
    create function shop.unserved(_director text) returns setof shop.film language sql stable as 'select * from shop.film where director = _director';
    comment on function shop.by_title is 'HTTP';
    comment on function shop.by_year is 'HTTP';
    comment on function shop.by_position is 'HTTP';
    comment on function shop.change is 'HTTP';
    comment on function shop.by_part is 'HTTP';
    comment on function shop.by_id is 'HTTP';
    comment on function shop.all_films is 'HTTP';
    comment on function shop.small_ones is 'HTTP';
  `);
  const advise = async (): Promise<Outcome> =>
    scout(['--advise', '-c', database.connectionString], { folder: await folderWith() });

  test('scans of a large table for few rows, with an index that mends them; nothing is executed', async () => {
    const prices = async (): Promise<unknown> => database.query('select sum(price) from shop.film');
    const before = await prices();
    const { stdout, stderr } = await advise();
    const unmended = `-- sequential-scan: FUNCTION shop.by_part(text)
-- all of about 20000 rows of shop.film are read for ((film.director = lower($1)) OR ((film.price = 4) AND ((film.title)::text ~~ $1))) by GET /api/shop/by-part; no index of its columns is proposed for this condition
`;
    expect(stdout).toBe(`${unmended}
-- sequential-scan: TABLE shop.film
-- all of about 20000 rows of shop.film are read for ((film.price = 3) AND (film."Year" = $1)) by GET /api/shop/by-position and 1 more
CREATE INDEX CONCURRENTLY ON shop.film (price, "Year");

-- sequential-scan: TABLE shop.film
-- all of about 20000 rows of shop.film are read for ((film."Year" > 5) AND ((film.title)::text = $1)) by GET /api/shop/by-title
CREATE INDEX CONCURRENTLY ON shop.film (title, "Year");

-- sequential-scan: TABLE shop.film
-- all of about 20000 rows of shop.film are read for (film.director = $1) by POST /api/shop/change
CREATE INDEX CONCURRENTLY ON shop.film (director);
`);
    expect(stderr).toBe(
      `${superuserNote}${statisticsNote}note: the proposed indexes were not tried: the extension hypopg is not installed\n4 findings\n`,
    );
    expect(await prices()).toEqual(before);

    for (const [statement] of stdout.matchAll(/^CREATE .*$/gm)) await database.query(statement);
    expect((await advise()).stdout).toBe('');
  });

  test.each([
    ['function', `create function shop.trap() returns int language sql as 'select 1'`],
    ['view', 'create view shop.trap as select 1 as one'],
  ])('nothing is planned while a role with fewer rights owns a %s, which could run as the user', async (kind, sql) => {
    const role = `advised_${randomBytes(8).toString('hex')}`;
    await database.query(`create role ${role}; ${sql}; alter ${kind} shop.trap owner to ${role}`);
    try {
      const { stdout, stderr } = await advise();
      expect({ stdout, stderr: stderr.replaceAll(role, '{role}') }).toEqual({
        stdout: '',
        stderr: `${superuserNote}${statisticsNote}note: statements are not planned: functions and views of {role} could run with the rights of postgres; connect as {role}\nno findings\n`,
      });
    } finally {
      await database.query(`drop owned by ${role}; drop role ${role}`);
    }
  });

  test('with hypopg, an index is proposed only if the plan uses it', async (context) => {
    const [extension] = await database.query(`select from pg_available_extensions where name = 'hypopg'`);
    if (extension === undefined) return context.skip();
    await database.query(`create schema "Hypo"; create extension hypopg schema "Hypo";
      create table shop.wide (id int, kind int, note text);
      insert into shop.wide select n, n % 12, repeat('x', 10) from generate_series(1, 20000) n order by random(); analyze shop.wide;
      alter database ${database.connectionString.split('/').at(-1)} set enable_bitmapscan = off;
      create function shop.by_kind(_kind int) returns setof shop.wide language sql stable as 'select * from shop.wide where kind = _kind';
      create function shop.by_wide_id(_id int) returns setof shop.wide language sql stable as 'select * from shop.wide where id = _id';
      comment on function shop.by_kind is 'HTTP'; comment on function shop.by_wide_id is 'HTTP'`);
    const { stdout, stderr } = await scout(['--advise', 'shop.wide;by_kind', '-c', database.connectionString], {
      folder: await folderWith(),
    });
    expect(stdout).toBe(`-- sequential-scan: FUNCTION shop.by_kind(integer)
-- all of about 20000 rows of shop.wide are read for (wide.kind = $1) by GET /api/shop/by-kind; no index of its columns is proposed for this condition

-- sequential-scan: TABLE shop.wide
-- all of about 20000 rows of shop.wide are read for (wide.id = $1) by GET /api/shop/by-wide-id
CREATE INDEX CONCURRENTLY ON shop.wide (id);
`);
    expect(stderr).toBe(`${superuserNote}${statisticsNote}2 findings\n`);
  });
});

describe('indexes on the running server', () => {
  const database = useDatabase(`
    create table parent (id int primary key);
    create table note (id int primary key, a int unique, b text, c int, parent int references parent);
    insert into note select n, n, 'a', n % 2, null from generate_series(1, 3000) n;
    create index unused on note (b);
    create index scanned on note (c);
    create index of_key on note (parent);
  `);
  const findings = async (code: string, statisticsDays: number | null): Promise<readonly object[]> => {
    const client = new Client(database.connectionString);
    await client.connect();
    try {
      await client.query(`begin; set local search_path = ''`);
      const facts = await readFacts(client, { endpoints: [], roles: [] }, noProgress);
      const { find } = indexRules.find((rule) => rule.code === code)!;
      const server = { ...facts.server, statisticsDays };
      return find({ ...facts, server, scans: [] }).map(({ object, statements }) => [object.qualifiedName, statements]);
    } finally {
      await client.end();
    }
  };

  test('an index without scans is unused when the statistics are old, unless something else needs it', async () => {
    await database.query(`set enable_seqscan = off; select count(*) from note where c = 7`);
    const scans = async (): Promise<number> =>
      Number(
        (await database.query(`select idx_scan from pg_stat_user_indexes where indexrelname = 'scanned'`))[0]![
          'idx_scan'
        ],
      );
    await expect.poll(scans).toBeGreaterThan(0);
    expect(await findings('unused-index', 7)).toEqual([['public.unused', ['DROP INDEX CONCURRENTLY public.unused']]]);
    expect(await findings('unused-index', 6.9)).toEqual([]);
    expect(await findings('unused-index', null)).toEqual([]);
  });

  test('an index of an interrupted build is invalid', async () => {
    await expect(database.query('create unique index concurrently broken on note (c)')).rejects.toThrow(
      'could not create',
    );
    expect(await findings('invalid-index', null)).toEqual([
      ['public.broken', ['REINDEX INDEX CONCURRENTLY public.broken']],
    ]);
  });
});

test('the table of codes in the guide is that of the rules', () => {
  const guide = readFileSync(new URL('../../../../docs/guide/pgscout-advise.md', import.meta.url), 'utf8');
  const rows = [...guide.matchAll(/^\| `([a-z-]+)` \| (.*) \|$/gm)].map(([, code, summary]) => [code, summary]);
  expect(rows).toEqual(rules.map(({ code, summary }) => [code, summary]));
});
