/** Findings of each code: SQL with objects that have it and others that have not, and all that `--advise` prints of this code. */

export interface AdviceCase {
  readonly code: string;
  readonly title: string;
  /** `{role}` is a role of the test. */
  readonly sql: string;
  readonly expected: string;
  /** Whether calls run under `{role}`. */
  readonly hasRole?: true;
  /** The first version of PostgreSQL that has the objects. */
  readonly version?: number;
}

/** The functions of Supabase that policies call. */
const supabase = `
  create schema auth;
  create function auth.uid() returns uuid language plpgsql stable as $$ begin
    return nullif(current_setting('request.jwt.claim.sub', true), '')::uuid; end $$;
  create function auth.jwt() returns jsonb language plpgsql stable as $$ begin
    return current_setting('request.jwt.claims', true)::jsonb; end $$;
`;

const tables: readonly AdviceCase[] = [
  {
    code: 'rls-off',
    title: 'served tables without row level security',
    sql: `
      create table open_note (id int primary key);
      comment on table open_note is 'HTTP';
      create table year (id int primary key) partition by range (id);
      comment on table year is 'HTTP';
      create table own_note (id int primary key);
      comment on table own_note is 'HTTP';
      alter table own_note enable row level security;
      create table unserved (id int primary key);
      create view shown as select 1 as one;
      comment on view shown is 'HTTP'`,
    expected: `
-- rls-off: TABLE public.open_note
-- row level security is off: each row is served by GET /api/open-note and 10 more. Create policies, too: without one, the statement hides all rows
ALTER TABLE public.open_note ENABLE ROW LEVEL SECURITY;

-- rls-off: TABLE public.year
-- row level security is off: each row is served by GET /api/year and 10 more. Create policies, too: without one, the statement hides all rows
ALTER TABLE public.year ENABLE ROW LEVEL SECURITY;`,
  },
  {
    code: 'rls-off-with-policies',
    title: 'policies without an effect',
    sql: `
      create table "Note" (owner text);
      create policy own on "Note" using (owner = (select current_setting('request.user_id', true)));
      create table other (owner text);
      alter table other enable row level security;
      create policy own on other using (owner = (select current_setting('request.user_id', true)))`,
    expected: `
-- rls-off-with-policies: TABLE public."Note"
-- the table has policies, but row level security is off: they have no effect
ALTER TABLE public."Note" ENABLE ROW LEVEL SECURITY;`,
  },
  {
    code: 'rls-without-policy',
    title: 'tables whose rows only the owner sees',
    sql: `
      create table note (id int);
      alter table note enable row level security;
      create table other (id int)`,
    expected: `
-- rls-without-policy: TABLE public.note
-- row level security is on, but there is no policy: only the owner sees rows. Replace false by the condition of the rows that callers may see
CREATE POLICY visible_rows ON public.note USING (false);`,
  },
  {
    code: 'rls-bypassed',
    title: 'the role of calls owns the table',
    hasRole: true,
    sql: `
      create table note (id int primary key);
      create table forced (id int primary key);
      create table of_others (id int primary key);
      comment on table note is 'HTTP';
      comment on table forced is 'HTTP';
      comment on table of_others is 'HTTP';
      alter table note owner to {role};
      alter table forced owner to {role};
      alter table note enable row level security;
      alter table forced enable row level security, force row level security;
      alter table of_others enable row level security`,
    expected: `
-- rls-bypassed: TABLE public.note
-- policies do not apply to calls: the role {role} owns the table
ALTER TABLE public.note FORCE ROW LEVEL SECURITY;`,
  },
  {
    code: 'rls-bypassed',
    title: 'the role of calls has BYPASSRLS',
    hasRole: true,
    sql: `
      alter role {role} bypassrls;
      create table note (id int primary key);
      comment on table note is 'HTTP';
      alter table note enable row level security, force row level security`,
    expected: `
-- rls-bypassed: TABLE public.note
-- policies do not apply to calls: the role {role} has BYPASSRLS
ALTER ROLE {role} NOBYPASSRLS;`,
  },
  {
    code: 'definer-view',
    title: 'views that show what policies hide, also through other views',
    version: 15,
    sql: `
      create table note (id int primary key, owner text);
      alter table note enable row level security;
      create table plain (id int);
      create view all_notes as select * from note;
      create view own_notes with (security_invoker = true) as select * from note;
      create view indirect with (security_invoker = on) as select * from all_notes;
      create view "of others" as select * from own_notes;
      create view harmless as select * from plain;
      create view unserved as select * from note;
      comment on view own_notes is 'HTTP';
      comment on view indirect is 'HTTP';
      comment on view "of others" is 'HTTP';
      comment on view harmless is 'HTTP'`,
    expected: `
-- definer-view: VIEW public.all_notes
-- the view shows public.note with the rights of postgres, to whom its policies do not apply
ALTER VIEW public.all_notes SET (security_invoker = true);

-- definer-view: VIEW public."of others"
-- the view shows public.note with the rights of postgres, to whom its policies do not apply
ALTER VIEW public."of others" SET (security_invoker = true);`,
  },
  {
    code: 'definer-view',
    title: 'a view whose owner is subject to the policies',
    sql: `
      create table note (id int primary key, owner text);
      alter table note enable row level security;
      create view notes as select * from note;
      alter view notes owner to {role};
      comment on view notes is 'HTTP'`,
    expected: '',
  },
  {
    code: 'served-materialized-view',
    title: 'materialized views',
    sql: `
      create materialized view totals as select 1 as total;
      comment on materialized view totals is 'It''s a total
HTTP';
      create materialized view other as select 1 as total`,
    expected: `
-- served-materialized-view: MATERIALIZED VIEW public.totals
-- each row is served by GET /api/totals: a materialized view has no policies, and keeps what its owner saw
COMMENT ON MATERIALIZED VIEW public.totals IS 'It''s a total
HTTP
disabled';`,
  },
  {
    code: 'served-foreign-table',
    title: 'foreign tables',
    sql: `
      create foreign data wrapper nothing;
      create server elsewhere foreign data wrapper nothing;
      create foreign table stock (id int) server elsewhere;
      comment on foreign table stock is 'HTTP';
      create foreign table other (id int) server elsewhere`,
    expected: `
-- served-foreign-table: FOREIGN TABLE public.stock
-- each row is served by GET /api/stock: a foreign table has no policies
COMMENT ON FOREIGN TABLE public.stock IS 'HTTP
disabled';`,
  },
  {
    code: 'secret-column',
    title: 'secrets by name and by type, and names that only contain such a word',
    sql: `
      create domain api_key as text;
      create table person (
        id int primary key, password_hash text, "apiToken" text, code api_key, pincode text, tokenizer text, spin int,
        password_changed_at timestamptz, has_password boolean, token_type text
      );
      comment on table person is 'HTTP';
      create table written (id int primary key, password text);
      comment on table written is 'HTTP
disabled select, returning';
      create table other (password text)`,
    expected: `
-- secret-column: COLUMN public.person.password_hash
-- the column, a secret by its name or type, is returned by GET /api/person and 10 more. Serve a view without it in place of this table
COMMENT ON TABLE public.person IS 'HTTP
disabled';

-- secret-column: COLUMN public.person."apiToken"
-- the column, a secret by its name or type, is returned by GET /api/person and 10 more. Serve a view without it in place of this table
COMMENT ON TABLE public.person IS 'HTTP
disabled';

-- secret-column: COLUMN public.person.code
-- the column, a secret by its name or type, is returned by GET /api/person and 10 more. Serve a view without it in place of this table
COMMENT ON TABLE public.person IS 'HTTP
disabled';`,
  },
  {
    code: 'secret-result',
    title: 'results of functions, except the hash of a login',
    sql: `
      create function find_person(_id int, out name text, out card_number text) language sql stable as $$ select 'a', 'b' $$;
      comment on function find_person is 'HTTP';
      create function sign_in(_name text, _password text) returns table (id int, hash text, password_hash text) language sql
        as $$ select 1, 'a', 'b' $$;
      comment on function sign_in is 'HTTP
login';
      create function other(out secret text) language sql as $$ select 'a' $$`,
    expected: `
-- secret-result: FUNCTION public.find_person(integer)
-- card_number, a secret by its name or type, is returned by GET /api/find-person
COMMENT ON FUNCTION public.find_person(integer) IS 'HTTP
disabled';`,
  },
  {
    code: 'no-primary-key',
    title: 'tables without a primary key, some with a unique index',
    sql: `
      create table note (text text);
      create table code (code text not null unique, "Region" text not null, unique ("Region", code));
      create table maybe (id int, code text unique);
      create table keyed (id int primary key);
      create table unserved (id int);
      comment on table note is 'HTTP';
      comment on table code is 'HTTP';
      comment on table maybe is 'HTTP';
      comment on table keyed is 'HTTP'`,
    expected: `
-- no-primary-key: TABLE public.code
-- the table has no primary key: a row cannot be named, and updates and pages need a key
ALTER TABLE public.code ADD PRIMARY KEY (code);
ALTER TABLE public.code DROP CONSTRAINT code_code_key;

-- no-primary-key: TABLE public.maybe
-- the table has no primary key: a row cannot be named, and updates and pages need a key
ALTER TABLE public.maybe ADD COLUMN row_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;

-- no-primary-key: TABLE public.note
-- the table has no primary key: a row cannot be named, and updates and pages need a key
ALTER TABLE public.note ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;`,
  },
];

const policies: readonly AdviceCase[] = [
  {
    code: 'policy-always-true',
    title: 'policies for writes and for all commands',
    sql: `
      create table note (id int, owner text);
      alter table note enable row level security;
      create policy all_rows on note using (true);
      create policy "add any" on note for insert to {role} with check (1 = 1);
      create policy give_away on note for update using (owner = 'a') with check ('a' = 'a' and true);
      create policy take_away on note for update using (owner = 'a' or true) with check (owner = 'b');
      create policy remove on note for delete using (not false or (true and 2 = 2));
      create policy read on note for select using (true);
      create policy own on note using (owner = 'a' and true);
      create policy same on note for delete using (owner = owner);
      create policy nothing on note;
      create table restricted (owner text);
      alter table restricted enable row level security;
      create policy all_rows on restricted using (true);
      create policy limits on restricted as restrictive using (owner = 'a');
      create table forced (owner text);
      alter table forced enable row level security, force row level security;
      alter table forced owner to {role};
      create policy of_owner on forced to {role} using (true)`,
    expected: `
-- policy-always-true: POLICY public.note."add any"
-- WITH CHECK is always true: {role} may use INSERT on any row. Replace false by the condition of the rows that belong to the caller
ALTER POLICY "add any" ON public.note WITH CHECK (false);

-- policy-always-true: POLICY public.note.all_rows
-- USING is always true: PUBLIC may use every command on any row. Replace false by the condition of the rows that belong to the caller
ALTER POLICY all_rows ON public.note USING (false);

-- policy-always-true: POLICY public.note.give_away
-- WITH CHECK is always true: PUBLIC may use UPDATE on any row. Replace false by the condition of the rows that belong to the caller
ALTER POLICY give_away ON public.note WITH CHECK (false);

-- policy-always-true: POLICY public.note.remove
-- USING is always true: PUBLIC may use DELETE on any row. Replace false by the condition of the rows that belong to the caller
ALTER POLICY remove ON public.note USING (false);

-- policy-always-true: POLICY public.note.take_away
-- USING is always true: PUBLIC may use UPDATE on any row. Replace false by the condition of the rows that belong to the caller
ALTER POLICY take_away ON public.note USING (false);`,
  },
  {
    code: 'policy-without-identity',
    title: 'alternatives for callers without an identity',
    sql: `${supabase}
      create table note (id int, owner uuid);
      alter table note enable row level security;
      create policy a on note using (auth.uid() is null or owner = auth.uid());
      create policy b on note using (owner = (select auth.uid()) or (select auth.uid()) is null or id = 3);
      create policy c on note for insert with check (current_setting('a.b', true) is null or id = 1);
      create policy d on note using (auth.uid() is not null and owner = auth.uid());
      create policy e on note using (owner is null or owner = auth.uid());
      create policy f on note using (owner = auth.uid() and (auth.uid() is null or id = 1));
      create policy g on note using (current_setting('a.b') is null or id = 1)`,
    expected: `
-- policy-without-identity: POLICY public.note.a
-- the alternative (auth.uid() IS NULL) gives callers without an identity all rows
ALTER POLICY a ON public.note USING ((owner = auth.uid()));

-- policy-without-identity: POLICY public.note.b
-- the alternative (( SELECT auth.uid() AS uid) IS NULL) gives callers without an identity all rows
ALTER POLICY b ON public.note USING ((owner = ( SELECT auth.uid() AS uid)) OR (id = 3));

-- policy-without-identity: POLICY public.note.c
-- the alternative (current_setting('a.b'::text, true) IS NULL) gives callers without an identity all rows
ALTER POLICY c ON public.note WITH CHECK ((id = 1));`,
  },
  {
    code: 'policy-user-metadata',
    title: 'claims that users can change',
    sql: `${supabase}
      create table note (id int);
      alter table note enable row level security;
      create policy of_user on note using (((select auth.jwt()) -> 'user_metadata' ->> 'role') = 'admin');
      create policy of_app on note using (((select auth.jwt()) -> 'app_metadata' ->> 'role') = 'admin')`,
    expected: `
-- policy-user-metadata: POLICY public.note.of_user
-- the condition uses user_metadata, which users of Supabase can change themselves
ALTER POLICY of_user ON public.note USING ((((( SELECT auth.jwt() AS jwt) -> 'app_metadata'::text) ->> 'role'::text) = 'admin'::text));`,
  },
  {
    code: 'policy-per-row',
    title: 'calls outside of sub-selects, and with columns',
    sql: `${supabase}
      create function "my role"(_of text) returns text language plpgsql stable as $$ begin return _of; end $$;
      create function random_id() returns int language plpgsql as $$ begin return 1; end $$;
      create table member (note int, person uuid);
      create table note (id int, owner uuid, team text);
      alter table note enable row level security;
      create policy direct on note using (owner = auth.uid());
      create policy setting on note for update using (team = current_setting('a.''b', true)::varchar(20)) with check (true);
      create policy twice on note using (owner = (select auth.uid()) or team = (auth.jwt() ->> 'team'));
      create policy inner_call on note using (exists (select from member where note = id and person = auth.uid()));
      create policy correlated on note using ((select owner = auth.uid()));
      create policy constant on note using (team = "my role"('a'));
      create policy wrapped on note using (owner = (select auth.uid()) and team = (select (auth.jwt() ->> 'team')::text));
      create policy with_column on note using (team = "my role"(team));
      create policy volatile on note using (id = random_id());
      create policy literal on note using (team = 'auth.uid()')`,
    expected: `
-- policy-per-row: POLICY public.note.constant
-- public."my role"('a'::text) is called for each row; in a sub-select, it is called once for a statement
ALTER POLICY constant ON public.note USING ((team = ( SELECT public."my role"('a'::text))));

-- policy-per-row: POLICY public.note.correlated
-- auth.uid() is called for each row; in a sub-select, it is called once for a statement
ALTER POLICY correlated ON public.note USING (( SELECT (note.owner = ( SELECT auth.uid()))));

-- policy-per-row: POLICY public.note.direct
-- auth.uid() is called for each row; in a sub-select, it is called once for a statement
ALTER POLICY direct ON public.note USING ((owner = ( SELECT auth.uid())));

-- policy-per-row: POLICY public.note.inner_call
-- auth.uid() is called for each row; in a sub-select, it is called once for a statement
ALTER POLICY inner_call ON public.note USING ((EXISTS ( SELECT
   FROM public.member
  WHERE ((member.note = note.id) AND (member.person = ( SELECT auth.uid()))))));

-- policy-per-row: POLICY public.note.setting
-- current_setting('a.''b'::text, true) is called for each row; in a sub-select, it is called once for a statement
ALTER POLICY setting ON public.note USING ((team = ((( SELECT current_setting('a.''b'::text, true)))::character varying(20))::text)) WITH CHECK (false);

-- policy-per-row: POLICY public.note.twice
-- auth.jwt() is called for each row; in a sub-select, it is called once for a statement
ALTER POLICY twice ON public.note USING (((owner = ( SELECT auth.uid() AS uid)) OR (team = (( SELECT auth.jwt()) ->> 'team'::text))));`,
  },
  {
    code: 'several-policies',
    title: 'permissive policies of one role and command',
    sql: `
      create table equal (id int, owner text);
      alter table equal enable row level security;
      create policy "First" on equal to {role} using (owner = 'a');
      create policy second on equal to {role} using (owner = 'b') with check (id = 2);
      create table different (id int, owner text);
      alter table different enable row level security;
      create policy everyone on different using (owner = 'a');
      create policy of_role on different for select to {role} using (owner = 'b');
      create table separate (id int, owner text);
      alter table separate enable row level security;
      create policy reads on separate for select using (owner = 'a');
      create policy writes on separate for insert with check (owner = 'a');
      create policy restricts on separate as restrictive using (owner = 'a')`,
    expected: `
-- several-policies: TABLE public.different
-- 2 permissive policies are evaluated for one role, for each row of SELECT: everyone, of_role. Write one policy for each command and role

-- several-policies: TABLE public.equal
-- 2 permissive policies are evaluated for one role, for each row of SELECT, INSERT, UPDATE, DELETE: "First", second
ALTER POLICY "First" ON public.equal USING ((owner = 'a'::text) OR (owner = 'b'::text)) WITH CHECK ((owner = 'a'::text) OR (id = 2));
DROP POLICY second ON public.equal;`,
  },
];

const grants: readonly AdviceCase[] = [
  {
    code: 'missing-grant',
    title: 'routines, tables and schemas that the role of calls may not use',
    hasRole: true,
    sql: `
      create schema shop;
      create table shop.film (id int primary key);
      comment on table shop.film is 'HTTP
disabled
enabled select, delete';
      create table readable (id int primary key, title text);
      comment on table readable is 'HTTP';
      grant select, insert, update (title), delete on readable to {role};
      create function shop.visit(a int, b text) returns void language sql as '';
      comment on function shop.visit is 'HTTP';
      create function visit(a int) returns void language sql as '';
      comment on function visit(int) is 'HTTP POST /a';
      create function visit(a text) returns void language sql as '';
      comment on function visit(text) is 'HTTP POST /b';
      create procedure allowed() language sql as '';
      comment on procedure allowed is 'HTTP';
      revoke execute on function visit(text) from public`,
    expected: `
-- missing-grant: TABLE shop.film
-- calls of GET /api/shop/film and 2 more fail: no DELETE, SELECT, USAGE of its schema for {role}
GRANT USAGE ON SCHEMA shop TO {role};
GRANT DELETE, SELECT ON shop.film TO {role};

-- missing-grant: FUNCTION shop.visit(integer, text)
-- calls of POST /api/shop/visit fail: no USAGE of its schema for {role}
GRANT USAGE ON SCHEMA shop TO {role};

-- missing-grant: FUNCTION public.visit(text)
-- calls of POST /b fail: no EXECUTE for {role}
GRANT EXECUTE ON FUNCTION public.visit(text) TO {role};`,
  },
  {
    code: 'definer-search-path',
    title: 'functions with the rights of their owner',
    sql: `
      create function "Open"(a int) returns int language sql security definer as $$ select 1 $$;
      create procedure does() language plpgsql security definer as $$ begin end $$;
      create function fixed() returns int language sql security definer set search_path = '' as $$ select 1 $$;
      create function invoker() returns int language sql as $$ select 1 $$`,
    expected: `
-- definer-search-path: FUNCTION public."Open"(integer)
-- SECURITY DEFINER without a search_path: a caller chooses which objects the names in it mean, with the rights of postgres. Add the other schemas that it uses
ALTER FUNCTION public."Open"(integer) SET search_path = public, pg_temp;

-- definer-search-path: PROCEDURE public.does()
-- SECURITY DEFINER without a search_path: a caller chooses which objects the names in it mean, with the rights of postgres. Add the other schemas that it uses
ALTER PROCEDURE public.does() SET search_path = public, pg_temp;`,
  },
  {
    code: 'mutable-search-path',
    title: 'functions that run in sessions of any role',
    sql: `
      create schema app;
      create function app.in_policy() returns int language sql stable as $$ select 1 $$;
      create function app.in_check(a int) returns boolean language sql immutable as $$ select a > 0 $$;
      create function app.in_default() returns int language sql as $$ select 1 $$;
      create function app.in_index(a int) returns int language sql immutable as $$ select 1 $$;
      create function app.in_trigger() returns trigger language plpgsql as $$ begin return new; end $$;
      create function app.fixed() returns int language sql set search_path = '' as $$ select 1 $$;
      create function app.unused() returns int language sql as $$ select 1 $$;
      create table note (id int check (app.in_check(id)), a int default app.in_default(), b int default app.fixed());
      create index on note (app.in_index(id));
      create trigger t before insert on note for each row execute function app.in_trigger();
      alter table note enable row level security;
      create policy p on note using (id = (select app.in_policy()))`,
    expected: `
-- mutable-search-path: FUNCTION app.in_check(integer)
-- the function is called by a constraint in sessions of any role: their search_path decides what the names in it mean, and pg_dump and pg_restore empty it. Add the other schemas that it uses
ALTER FUNCTION app.in_check(integer) SET search_path = app, pg_temp;

-- mutable-search-path: FUNCTION app.in_default()
-- the function is called by a default or generated column in sessions of any role: their search_path decides what the names in it mean, and pg_dump and pg_restore empty it. Add the other schemas that it uses
ALTER FUNCTION app.in_default() SET search_path = app, pg_temp;

-- mutable-search-path: FUNCTION app.in_index(integer)
-- the function is called by an index in sessions of any role: their search_path decides what the names in it mean, and pg_dump and pg_restore empty it. Add the other schemas that it uses
ALTER FUNCTION app.in_index(integer) SET search_path = app, pg_temp;

-- mutable-search-path: FUNCTION app.in_policy()
-- the function is called by a policy in sessions of any role: their search_path decides what the names in it mean, and pg_dump and pg_restore empty it. Add the other schemas that it uses
ALTER FUNCTION app.in_policy() SET search_path = app, pg_temp;

-- mutable-search-path: FUNCTION app.in_trigger()
-- the function is called by a trigger in sessions of any role: their search_path decides what the names in it mean, and pg_dump and pg_restore empty it. Add the other schemas that it uses
ALTER FUNCTION app.in_trigger() SET search_path = app, pg_temp;`,
  },
  {
    code: 'mutable-search-path',
    title: 'bodies in standard SQL, whose names were resolved',
    version: 14,
    sql: `
      create function one() returns int language sql begin atomic select 1; end;
      create table note (id int default one())`,
    expected: '',
  },
  {
    code: 'public-definer',
    title: 'functions that every role may execute',
    hasRole: true,
    sql: `
      create function total(_of text) returns int language sql security definer set search_path = '' as $$ select 1 $$;
      comment on function total is 'HTTP';
      create function helper() returns int language sql security definer set search_path = '' as $$ select 1 $$;
      create function fires() returns trigger language plpgsql security definer set search_path = '' as $$ begin return new; end $$;
      create function granted() returns int language sql security definer set search_path = '' as $$ select 1 $$;
      revoke execute on function granted from public;
      create function invoker() returns int language sql as $$ select 1 $$`,
    expected: `
-- public-definer: FUNCTION public.helper()
-- every role may execute the function, which has the rights of postgres. Grant EXECUTE to the roles that need it
REVOKE EXECUTE ON FUNCTION public.helper() FROM PUBLIC;

-- public-definer: FUNCTION public.total(text)
-- every role may execute the function, which has the rights of postgres. Grant EXECUTE to the roles that need it
REVOKE EXECUTE ON FUNCTION public.total(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION public.total(text) TO {role};`,
  },
  {
    code: 'open-schema',
    title: 'schemas in which every role may create objects',
    sql: `
      revoke create on schema public from public;
      create schema "Shared";
      grant create on schema "Shared" to public;
      create schema own`,
    expected: `
-- open-schema: SCHEMA "Shared"
-- every role may create objects in the schema, such as a function with the name of another that calls use
REVOKE CREATE ON SCHEMA "Shared" FROM PUBLIC;`,
  },
];

const indexes: readonly AdviceCase[] = [
  {
    code: 'foreign-key-without-index',
    title: 'foreign keys, with indexes of more or fewer columns',
    sql: `
      create table person (id int primary key, a int, b int, unique (a, b));
      create table uncovered (id int primary key, person int references person);
      create table partial (person int references person);
      create index on partial (person) where person > 1;
      create table second ("Person" int references person, id int);
      create index on second (id, "Person");
      create table pair (a int, b int, c int, foreign key (a, b) references person (a, b));
      create index on pair (a, c, b);
      create table year (id int, person int references person) partition by range (id);
      create table year_1 partition of year for values from (1) to (2);
      create table covered (person int primary key references person, a int, b int, foreign key (a, b) references person (a, b));
      create index on covered (b, a, person)`,
    expected: `
-- foreign-key-without-index: CONSTRAINT public.pair.pair_a_b_fkey
-- no index begins with a, b: each delete in public.person, and a join with it, reads the whole table
CREATE INDEX CONCURRENTLY ON public.pair (a, b);

-- foreign-key-without-index: CONSTRAINT public.partial.partial_person_fkey
-- no index begins with person: each delete in public.person, and a join with it, reads the whole table
CREATE INDEX CONCURRENTLY ON public.partial (person);

-- foreign-key-without-index: CONSTRAINT public.second."second_Person_fkey"
-- no index begins with "Person": each delete in public.person, and a join with it, reads the whole table
CREATE INDEX CONCURRENTLY ON public.second ("Person");

-- foreign-key-without-index: CONSTRAINT public.uncovered.uncovered_person_fkey
-- no index begins with person: each delete in public.person, and a join with it, reads the whole table
CREATE INDEX CONCURRENTLY ON public.uncovered (person);

-- foreign-key-without-index: CONSTRAINT public.year.year_person_fkey
-- no index begins with person: each delete in public.person, and a join with it, reads the whole table
CREATE INDEX ON public.year (person);`,
  },
  {
    code: 'duplicate-index',
    title: 'indexes with the same columns',
    sql: `
      create table note (id int primary key, a int, b text, c text constraint one unique);
      create index first on note (a, lower(b)) where id > 3;
      create index second on note (a, lower(b)) where id > 3;
      create index other_condition on note (a, lower(b)) where id > 4;
      create index other_order on note (a desc, lower(b)) where id > 3;
      create index other_class on note (b text_pattern_ops);
      create index plain on note (b);
      create index "with id" on note (id);
      alter table note add constraint two unique (c);
      create unique index three on note (c);
      create table other (c text references note (c))`,
    expected: `
-- duplicate-index: INDEX public.second
-- public.first has the same columns and condition: each write maintains both
DROP INDEX CONCURRENTLY public.second;

-- duplicate-index: INDEX public."with id"
-- public.note_pkey has the same columns and condition: each write maintains both
DROP INDEX CONCURRENTLY public."with id";

-- duplicate-index: INDEX public.two
-- public.one has the same columns and condition: each write maintains both
ALTER TABLE public.note DROP CONSTRAINT two;

-- duplicate-index: INDEX public.three
-- public.one has the same columns and condition: each write maintains both
DROP INDEX CONCURRENTLY public.three;`,
  },
];

export const cases: readonly AdviceCase[] = [...tables, ...policies, ...grants, ...indexes];
