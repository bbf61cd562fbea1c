import {
  type AuthScheme,
  crudSource,
  type Diagnostic,
  type Endpoint,
  functionsSource,
  type GatewayOptions,
} from '@pgway/core';
import { serverVersion, startGateway, type TestGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';

async function start(sql: string, options: Partial<GatewayOptions> = {}): Promise<TestGateway> {
  const gateway = await startGateway(`create schema app; set search_path to app; ${sql}`, {
    routineSources: [crudSource(), functionsSource()],
    ...options,
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

/** The streams by the name of the table or view. */
function streams({ gateway }: TestGateway): Readonly<Record<string, Endpoint['changes']>> {
  return Object.fromEntries(
    gateway.endpoints.flatMap(({ name, changes }) => (changes === undefined ? [] : [[name, changes]])),
  );
}

/** `severity routine line: message`, without the reports of effects. */
function reports({ gateway }: TestGateway): readonly string[] {
  return gateway.diagnostics
    .filter(({ code }) => code !== 'annotation-set' && code !== 'nothing-to-set')
    .map(({ severity, routine, line, message }: Diagnostic) => `${severity} ${routine} ${line}: ${message}`);
}

const film = 'create table film (id int primary key, title text);';

/** Starts a gateway with a table for each comment. Returns the reports and the stream of each, which are those of `film`. */
async function readComments(
  comments: readonly string[],
): Promise<readonly (readonly [comment: string, said: readonly string[], found: Endpoint['changes']])[]> {
  const tables = comments.map(
    (comment, index) => `create table t${index} (id int primary key, title text);
      comment on table t${index} is E'HTTP\\n${comment.replaceAll('\n', '\\n')}';`,
  );
  const gateway = await start(tables.join('\n'));
  const [said, found] = [reports(gateway), streams(gateway)];
  return comments.map((comment, index) => {
    const name = new RegExp(`\\bt${index}(?=\\b|_)`, 'g');
    const own = said.filter((report) => report.split(':')[0]!.match(name));
    const changes = found[`t${index}`];
    const renamed: unknown = changes && JSON.parse(JSON.stringify(changes).replaceAll(name, 'film'));
    return [comment, own.map((report) => report.replaceAll(name, 'film')), renamed as Endpoint['changes']] as const;
  });
}

const stream: NonNullable<Endpoint['changes']> = {
  path: '/api/app/film/changes',
  operations: ['insert', 'update', 'delete'],
  relation: { schema: 'app', name: 'film' },
  key: [{ column: 'id', shown: 'id' }],
  old: false,
  by: null,
  byAddress: false,
  gapOn: [],
};

test('a table with the annotation has a stream at the path of its select, and no other operation has one', async () => {
  const gateway = await start(`${film} comment on table film is E'HTTP\\nauthorize\\nchanges';`);

  expect(reports(gateway)).toEqual([]);
  expect(gateway.gateway.endpoints.map(({ id, changes }) => [id, changes]).filter(([, changes]) => changes)).toEqual([
    ['select app.film', stream],
  ]);
});

test('the forms of the annotation', async () => {
  const forms: Readonly<Record<string, Partial<typeof stream>>> = {
    'changes insert, update': { operations: ['insert', 'update'] },
    'changes DELETE insert': { operations: ['insert', 'delete'] },
    'changes = on': {},
    'changes old': { old: true },
    'changes by address': { byAddress: true },
    'changes by id = claim film': { by: { column: 'id', claim: 'film' } },
    'changes by "id"=claim "the film"': { by: { column: 'id', claim: 'the film' } },
    'changes gap on membership, audit.entry': {
      gapOn: [
        { schema: 'app', name: 'membership' },
        { schema: 'audit', name: 'entry' },
      ],
    },
    'changes gap on one\nchanges gap on two': {
      gapOn: [
        { schema: 'app', name: 'one' },
        { schema: 'app', name: 'two' },
      ],
    },
    'changes_path /live': { path: '/api/app/film/live' },
    'for select\npath /films/{id}\nchanges': { path: '/films/changes' },
    'changes insert\nchanges old\nchanges_path live': { operations: ['insert'], old: true, path: '/api/app/film/live' },
  };

  expect(await readComments(Object.keys(forms))).toEqual(
    Object.entries(forms).map(([comment, members]) => [comment, [], { ...stream, ...members }]),
  );
});

test('lines that switch the stream off, and prose', async () => {
  const lines = [
    'changes = off',
    'changes\nchanges off',
    'changes old\nchanges = off',
    'Changes of a film are logged.',
    'Changes by the editor',
    'Changes to prices need a second person',
    'Changes insert into the log.',
  ];

  expect(await readComments(lines)).toEqual(lines.map((line) => [line, [], undefined]));
});

test('mistakes in a line', async () => {
  const mistakes: Readonly<Record<string, string>> = {
    'changes updates':
      'changes takes insert, update, delete, or one of old, by <column> = claim <name>, by address, gap on <table>, not "updates"; did you mean "update"?',
    'changes by id = clame film':
      'write changes by <column> = claim <name>, or changes by address, not "by id = clame film"',
    'changes by adress': 'write changes by <column> = claim <name>, or changes by address, not "by adress"',
    'changes gap': 'write changes gap on <table>, …, not "gap"',
    'changes gap film': 'write changes gap on <table>, …, not "gap film"',
    changes_path: 'changes_path takes one path, which is appended to that of the endpoint, not ""',
  };

  expect(await readComments(Object.keys(mistakes))).toEqual(
    Object.entries(mistakes).map(([line, message]) => [line, [`warning app.film 2: ${message}`], undefined]),
  );
});

test('a stream that cannot be: the select is not published', async () => {
  const mistakes: Readonly<Record<string, string>> = {
    'changes by tenant = claim tenant': '"tenant" is not a column of "app.film"; name one of "id", "title"',
    'changes by title = claim title':
      'the log does not have "title" of a deleted or updated row; run: create unique index film_changes on app.film (id, title); alter table app.film replica identity using index film_changes. Its columns must be not null',
    'for select\nraw\nchanges': 'records are JSON objects, which raw is not; remove one of the lines',
  };

  expect(await readComments(Object.keys(mistakes))).toEqual(
    Object.entries(mistakes).map(([comment, message]) => [
      comment,
      [`error select app.film ${comment.startsWith('for') ? 4 : 2}: changes: ${message}`],
      undefined,
    ]),
  );
});

test('two lines that route are a mistake', async () => {
  const [read] = await readComments(['changes by id = claim a\nchanges by id = claim b']);
  expect(read?.[1]).toEqual([
    'warning app.film 3: changes by id = claim b is the second column; changes are sent by one column, remove one of the lines',
  ]);
});

test('the path of a stream must be free, and has no parameters', async () => {
  const gateway = await start(`${film}
    create table tape (id int primary key);
    comment on table film is E'HTTP\\nfor select\\nchanges_path /{id}';
    comment on table tape is E'HTTP\\nfor select\\nchanges_path x';
    create function other() returns int language sql stable as 'select 1';
    comment on function other() is 'HTTP GET /api/app/tape/x';`);

  expect(reports(gateway)).toEqual([
    'error select app.film 3: changes_path "/{id}": the path of a stream must not contain parameters',
    'error select app.tape null: the stream of changes "/api/app/tape/x" is also the path of app.other(), so the endpoint is not published; set another changes_path',
  ]);
});

test('a claim that no caller can have is a warning', async () => {
  const hostScheme: AuthScheme = {
    name: 'host',
    authenticate: () => null,
    challenge: () => null,
    signIn: null,
    signOut: null,
    routes: [],
  };
  const sql = `create table film (id int primary key); comment on table film is E'HTTP\\nfor select\\nchanges by id = claim tenat';
    create table tape (id int primary key); comment on table tape is E'HTTP\\nfor select\\nchanges by id = claim tenant';
    create function sign_in() returns table (user_id int, tenant int) language sql as 'select 1, 2';
    comment on function sign_in() is E'HTTP POST\\nlogin';`;
  const warnings = async (authentication: GatewayOptions['authentication']): Promise<readonly string[]> => {
    const { observations } = await start(sql, authentication === undefined ? {} : { authentication });
    return observations.flatMap((one) =>
      one.kind === 'start-warning' && one.code === 'route-claim' ? [one.message] : [],
    );
  };

  expect(await warnings({ cookie: true })).toEqual([
    'changes by … = claim "tenat" of /api/app/film: no caller can have the claim, as no login returns a column with this name; did you mean "tenant"?',
  ]);
  expect(await warnings({ cookie: true, schemes: [hostScheme] })).toEqual([]);
});

test('a function has no changes', async () => {
  const gateway = await start(`create function now_playing() returns int language sql stable as 'select 1';
    comment on function now_playing() is E'HTTP\\nchanges\\nchanges_path /live';`);

  expect(reports(gateway)).toEqual([
    'warning app.now_playing() 2: changes applies to tables and views only; remove the line',
    'warning app.now_playing() 3: changes_path applies to tables and views only; remove the line',
  ]);
});

test('the key of a row is the primary key, or else that of the replica identity', async () => {
  const gateway = await start(`
    create table pair (a int, b text, note text, primary key (b, a)); comment on table pair is E'HTTP\\nchanges';
    create table coded (code text not null, tenant int not null, note text);
    create unique index coded_code on coded (code); alter table coded replica identity using index coded_code;
    comment on table coded is E'HTTP\\nchanges';
    create table routed (id int primary key, tenant int not null, note text);
    create unique index routed_key on routed (id, tenant) include (note);
    alter table routed replica identity using index routed_key;
    comment on table routed is E'HTTP\\nchanges by tenant = claim tenant_id';
    create table whole (id int primary key, tenant int); alter table whole replica identity full;
    comment on table whole is E'HTTP\\nchanges by tenant = claim tenant_id';
    create table off (id int primary key); alter table off replica identity nothing; comment on table off is E'HTTP\\nchanges';
    create table parted (id int, day date, primary key (day, id)) partition by range (day);
    comment on table parted is E'HTTP\\nchanges';`);
  const found = Object.entries(streams(gateway)).map(([name, changes]) => [
    name,
    changes!.key.map(({ column }) => column),
    changes!.by,
  ]);

  expect(reports(gateway)).toEqual([]);
  expect(Object.fromEntries(found.map(([name, ...rest]) => [name, rest]))).toEqual({
    pair: [['b', 'a'], null],
    coded: [['code'], null],
    routed: [['id'], { column: 'tenant', claim: 'tenant_id' }],
    whole: [['id'], { column: 'tenant', claim: 'tenant_id' }],
    off: [['id'], null],
    parted: [['day', 'id'], null],
  });
});

test('tables whose changes the log does not have are refused', async () => {
  const gateway = await start(`
    create table bare (id int, note text); comment on table bare is E'HTTP\\nchanges';
    create table later (id int primary key deferrable); comment on table later is E'HTTP\\nchanges';
    create table whole (id int); alter table whole replica identity full; comment on table whole is E'HTTP\\nchanges';
    create unlogged table fast (id int primary key); comment on table fast is E'HTTP\\nchanges';
    create foreign data wrapper none; create server elsewhere foreign data wrapper none;
    create foreign table remote (id int) server elsewhere; comment on foreign table remote is E'HTTP\\nchanges';
    create table base (id int primary key); create table child () inherits (base); comment on table base is E'HTTP\\nchanges';
    create materialized view kept as select 1 as id; comment on materialized view kept is E'HTTP\\nchanges';`);

  const key = (name: string): string =>
    `error select app.${name} 2: changes: rows of "app.${name}" have no key that identifies them; run: alter table app.${name} add primary key (<columns>), which must not be deferrable`;
  expect(reports(gateway)).toEqual([
    key('bare'),
    'warning select app.base 2: changes: other tables inherit from "app.base", and changes of their rows are not sent; use a partitioned table, or publish the inheriting tables',
    'error select app.fast 2: changes: PostgreSQL does not log changes of the unlogged table "app.fast"; run: alter table app.fast set logged',
    'error select app.kept 2: changes: PostgreSQL does not log changes of a materialized view; use a view, or a table that a trigger keeps current',
    key('later'),
    'error select app.remote 2: changes: PostgreSQL does not log changes of a foreign table; watch the table on its own server',
    key('whole'),
  ]);
  expect(Object.keys(streams(gateway))).toEqual(['base']);
});

test('the key of a view is that of one table whose key it shows', async () => {
  const option = serverVersion() >= 15 ? 'with (security_invoker)' : '';
  const gateway = await start(`
    create table studio (id int primary key, name text);
    create table film (id int primary key, title text, studio_id int references studio);
    create view plain as select title, id as film_id from film; comment on view plain is E'HTTP\\nchanges';
    create view joined ${option} as select f.id, f.title, s.name from film f left join studio s on s.id = f.studio_id;
    comment on view joined is E'HTTP\\nchanges';
    create view above as select name as studio, id as number from joined where id > 0; comment on view above is E'HTTP\\nchanges';
    create view twice as select f.id, s.id as studio from film f join studio s on s.id = f.studio_id;
    comment on view twice is E'HTTP\\nchanges';
    create view keyless as select title from film; comment on view keyless is E'HTTP\\nchanges';
    create view computed as select id + 0 as id from film; comment on view computed is E'HTTP\\nchanges';
    create view merged as select id from film union select id from studio; comment on view merged is E'HTTP\\nchanges';`);

  const found = Object.entries(streams(gateway)).map(([name, changes]) => [name, changes!.relation.name, changes!.key]);
  expect(found).toEqual([
    ['above', 'film', [{ column: 'id', shown: 'number' }]],
    ['joined', 'film', [{ column: 'id', shown: 'id' }]],
    ['plain', 'film', [{ column: 'id', shown: 'film_id' }]],
  ]);
  const none =
    'no column of the view is that of a table with a primary key or replica identity; show the key of one table';
  expect(reports(gateway)).toEqual([
    `error select app.computed 2: changes: ${none}`,
    'error select app.keyless 2: changes: the view does not show "id" of the key of "app.film" unchanged; add it to the columns of the view',
    `error select app.merged 2: changes: ${none}`,
    'error select app.twice 2: changes: the view shows the keys of "app.film" and "app.studio", so that changes of one would be missing; show the key of one table only, and a column that refers to the other',
  ]);
});
