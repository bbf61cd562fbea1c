import { createGateway, crudSource, functionsSource, type GatewayOptions, type Observation } from '@pgway/core';
import { startGateway, type TestGateway, useDatabase, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

/*
 * Citus cannot be installed where these tests run. They make PostgreSQL pretend: the row of the extension in `pg_extension`, and
 * its table of distributed tables, which only a superuser can create in `pg_catalog`. The gateway then sends the statements that
 * Citus accepts. They run on PostgreSQL, beside a database without that row, and must return the same bytes.
 */
const citus = `
  insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    values (999999, 'citus', 10, 11, false, '13.0-1');
  set allow_system_table_mods = on;
  create table pg_catalog.pg_dist_partition (logicalrelid regclass primary key, partmethod "char");
  reset allow_system_table_mods;
`;

const options: Partial<GatewayOptions> = {
  routineSources: [functionsSource(), crudSource()],
  logCommands: true,
  nameConverter: (name) => name,
};

/** The SQL of the last call. */
function lastStatement({ observations }: Pick<TestGateway, 'observations'>): string {
  const commands = observations.filter((seen) => seen.kind === 'command');
  return (commands.at(-1) as Extract<Observation, { kind: 'command' }>).sql;
}

describe('statements', () => {
  const schema = `
    create type place as (street text, floors int[]);
    create table book (id int primary key, title text, tags text[], stays daterange, "ordinality" int, at place, seen timestamptz);
    insert into book values (1, 'Dune', '{a,"b c",null}', '[2024-01-01,2024-02-01)', 7, row('Main', '{1,2}'), '2024-01-12 11:06:59+01'),
      (2, null, null, null, null, null, null);
    comment on table book is 'HTTP';
    create table author (id int primary key, name text);
    comment on table author is 'HTTP';
    create table shelf (id int primary key, places int[]);
    insert into shelf values (1, '{1}');
    comment on table shelf is 'HTTP
      listing';
    create function books() returns setof book language sql stable as 'select * from book order by id desc';
    comment on function books is 'HTTP';
    create function titles(_min int default 0) returns setof text language sql stable as
      'select title from book where id >= _min order by id desc';
    comment on function titles is 'HTTP';
    create function tags() returns setof text[] language sql stable as 'select tags from book order by id';
    comment on function tags is 'HTTP';
    create function pairs() returns table (id int, ordinality_ text, "ordinality" int[]) language sql stable as
      'select id, title, array[id] from book order by id';
    comment on function pairs is 'HTTP';
    create function only_column() returns table ("v" int) language sql stable as 'select id from book order by id';
    comment on function only_column is 'HTTP';
    create function as_text() returns setof book language sql stable as 'select * from book order by id';
    comment on function as_text is 'HTTP
      raw
      separator ,
      new_line \\n';
    create function in_plpgsql() returns setof int language plpgsql stable as
      $$ begin return query select id from book order by id; end $$;
    comment on function in_plpgsql is 'HTTP';
    create function one_book() returns book language sql stable as 'select * from book where id = 1';
    comment on function one_book is 'HTTP';
    create function outputs(out a int, out b text[]) language sql stable as $$ select 1, array['x'] $$;
    comment on function outputs is 'HTTP';
    create function rows() returns setof record language sql stable as 'select id, title from book order by id';
    comment on function rows is 'HTTP';
    create type nothing as ();
    create function no_columns() returns setof nothing language sql stable as 'select from book';
    comment on function no_columns is 'HTTP';
    create procedure plain(_a int, inout _b int[] default '{1}') language sql as 'select array[_a]';
    comment on procedure plain is 'HTTP';
  `;
  const distributed = useGateway(schema + citus, options);
  const plain = useGateway(schema, options);

  /** Sends a request to both gateways. Returns the statements, and the response, which must be the same. */
  async function askBoth(line: string, body?: unknown): Promise<{ citus: string; plain: string; body: string }> {
    const sending = body === undefined ? {} : { body };
    const expected = await plain.send(line, sending);
    const answer = await distributed.send(line, sending);
    expect([answer.status, answer.type, answer.body]).toEqual([expected.status, expected.type, expected.body]);
    return { citus: lastStatement(distributed), plain: lastStatement(plain), body: answer.body };
  }

  const bookColumns = '"id", "title", "tags", "stays", "ordinality", "at", "seen"';
  const bookList =
    '"r"."id", "r"."title", pg_catalog.to_json("r"."tags"), "r"."stays", "r"."ordinality", pg_catalog.to_json("r"."at"), "r"."seen"';

  test('a set of rows of a function in language sql: its number has a name that no column has, where one is called "ordinality"', async () => {
    expect(await askBoth('GET /api/books')).toEqual({
      plain: `select ${bookList} from "public"."books"() as "r"`,
      citus: `select ${bookList} from "public"."books"() with ordinality as "r"(${bookColumns}, "ordinality_")`,
      body: '[{"id":2,"title":null,"tags":null,"stays":null,"ordinality":null,"at":null,"seen":null},{"id":1,"title":"Dune","tags":["a","b c",null],"stays":"[2024-01-01,2024-02-01)","ordinality":7,"at":{"street":"Main","floors":[1,2]},"seen":"2024-01-12T10:06:59+00:00"}]',
    });
    expect(await askBoth('GET /api/pairs')).toEqual({
      plain: 'select "r"."id", "r"."ordinality_", pg_catalog.to_json("r"."ordinality") from "public"."pairs"() as "r"',
      citus:
        'select "r"."id", "r"."ordinality_", pg_catalog.to_json("r"."ordinality") from "public"."pairs"() with ordinality as "r"("id", "ordinality_", "ordinality", "ordinality__")',
      body: '[{"id":1,"ordinality_":"Dune","ordinality":[1]},{"id":2,"ordinality_":null,"ordinality":[2]}]',
    });
  });

  test('a set of values, of arrays, and of one column', async () => {
    expect(await askBoth('GET /api/titles?_min=1')).toEqual({
      plain: 'select "r"."v" from "public"."titles"("_min" => $1::"pg_catalog"."int4") as "r"("v")',
      citus:
        'select "r"."v" from "public"."titles"("_min" => $1::"pg_catalog"."int4") with ordinality as "r"("v", "ordinality")',
      body: '[null,"Dune"]',
    });
    expect(await askBoth('GET /api/tags')).toEqual({
      plain: 'select pg_catalog.to_json("r"."v") from "public"."tags"() as "r"("v")',
      citus: 'select pg_catalog.to_json("r"."v") from "public"."tags"() with ordinality as "r"("v", "ordinality")',
      body: '[["a","b c",null],null]',
    });
    expect((await askBoth('GET /api/only-column')).citus).toBe(
      'select "r"."v" from "public"."only_column"() with ordinality as "r"',
    );
  });

  test('raw text, and rows without columns', async () => {
    expect((await askBoth('GET /api/as-text')).citus).toBe(
      `select ${bookColumns.replaceAll(/"\w+"/g, '"r".$&')} from "public"."as_text"() with ordinality as "r"(${bookColumns}, "ordinality_")`,
    );
    expect((await askBoth('GET /api/no-columns')).citus).toBe(
      'select from "public"."no_columns"() with ordinality as "r"',
    );
  });

  test.each(['in-plpgsql', 'one-book', 'outputs', 'rows'])(
    'PostgreSQL never inlines other calls, which stay as they are: %s',
    async (path) => {
      const asked = await askBoth(`GET /api/${path}`);
      expect(asked.citus).toBe(asked.plain);
    },
  );

  test('a procedure, and the conversion of its output, stay as they are', async () => {
    const asked = await askBoth('POST /api/plain', { _a: 5 });
    expect(asked.citus).toBe(asked.plain);
    expect(asked.body).toBe('{"_b":[5]}');
  });

  test('WITH ORDINALITY keeps PostgreSQL from inlining the function', async () => {
    const explain = async (sql: string): Promise<readonly unknown[]> =>
      (await plain.database.query(`explain (costs off) ${sql}`)).map((row) => row['QUERY PLAN']);
    const inlined = 'select "r"."v" from "public"."only_column"() as "r"("v")';
    const called = 'select "r"."v" from "public"."only_column"() with ordinality as "r"("v", "ordinality")';
    expect(await explain(inlined)).not.toContainEqual(expect.stringContaining('Function Scan'));
    expect(await explain(called)).toEqual(['Function Scan on only_column r']);
    expect(await explain('select r.id, r.tags from books() with ordinality as r')).toEqual([
      'Function Scan on books r',
    ]);
  });

  test('RETURNING has plain columns, which a query around it converts', async () => {
    const row = { id: 3, title: 'Emma', tags: ['x'], at: { street: 'S', floors: [3] }, seen: '2024-01-12T10:06:59Z' };
    const inserted = await askBoth('PUT /api/book/returning', row);
    expect(inserted).toEqual({
      plain: `insert into "public"."book" as "r" ("id", "title", "tags", "at", "seen") values ($1::"pg_catalog"."int4", $2::"pg_catalog"."text", $3::"pg_catalog"."_text", $4::"public"."place", $5::"pg_catalog"."timestamptz") returning ${bookList}`,
      citus: `with "q" (${bookColumns}) as (insert into "public"."book" as "r" ("id", "title", "tags", "at", "seen") values ($1::"pg_catalog"."int4", $2::"pg_catalog"."text", $3::"pg_catalog"."_text", $4::"public"."place", $5::"pg_catalog"."timestamptz") returning ${bookColumns.replaceAll(/"\w+"/g, '"r".$&')}\n) select ${bookList.replaceAll('"r"', '"q"')} from "q"`,
      body: '[{"id":3,"title":"Emma","tags":["x"],"stays":null,"ordinality":null,"at":{"street":"S","floors":[3]},"seen":"2024-01-12T10:06:59+00:00"}]',
    });
  });

  test.each([
    ['PUT /api/book/on-conflict-do-nothing/returning', { id: 3, title: 'again' }, /^\[\]$/],
    ['PUT /api/book/on-conflict-do-update/returning', { id: 3, title: 'Other' }, /"id":3,"title":"Other"/],
    ['POST /api/book/returning', { id: 3, title: 'Third' }, /"id":3,"title":"Third"/],
    ['DELETE /api/book/returning?id=3', undefined, /"id":3,"title":"Third"/],
    ['DELETE /api/book/returning?id=3', undefined, /^\[\]$/],
  ] as const)('%s changes and returns the same rows', async (line, body, expected) => {
    const asked = await askBoth(line, body);
    expect(asked.citus).toMatch(/^with "q" .* returning (?:(?!to_json).)*\n\) select .*to_json\("q"\."tags"\)/);
    expect(asked.body).toMatch(expected);
  });

  test('a table of plain columns needs no query around it', async () => {
    const asked = await askBoth('PUT /api/author/returning', { id: 1, name: 'Ann' });
    expect(asked.body).toBe('[{"id":1,"name":"Ann"}]');
    expect(asked.citus).toBe(asked.plain);
    expect((await askBoth('PUT /api/book', { id: 9, tags: ['x'] })).citus).not.toContain('returning');
    // A constant tells whether the row exists.
    expect((await askBoth('DELETE /api/book?id=9')).citus).toMatch(/^delete from .* returning 1$/);
  });

  test('If-Match selects the row, whose columns are returned', async () => {
    const body = { id: 1, places: [2] };
    const stale = await distributed.send('POST /api/shelf/returning', { headers: { 'if-match': '"0"' }, body });
    expect(stale.status).toBe(412);
    const tag = (await distributed.send('GET /api/shelf?id=1')).headers.get('etag')!;
    const changed = await distributed.send('POST /api/shelf/returning', { headers: { 'if-match': tag }, body });
    expect([changed.status, changed.body]).toEqual([200, '[{"id":1,"places":[2]}]']);
    expect(lastStatement(distributed)).toMatch(
      /^with "q" \("id", "places"\) as \(update .* returning "r"\."id", "r"\."places"\n\)/,
    );
  });
});

describe('plans', () => {
  const routines = `
    create function plan_mode() returns text language sql stable as $$ select current_setting('plan_cache_mode') $$;
    comment on function plan_mode is 'HTTP';
    create function forced() returns text language sql stable as $$ select current_setting('plan_cache_mode') $$;
    comment on function forced is 'HTTP
      plan_cache_mode force_generic_plan';
  `;
  const database = useDatabase(routines + citus);
  const other = useDatabase(routines);

  const refused = (where: string): string =>
    `planCacheMode is force_generic_plan, but ${where} has the extension citus: with such plans its reads by distribution column fail, and its coordinator can crash; remove planCacheMode, or set it to auto`;

  test('the start refuses planCacheMode force_generic_plan', async () => {
    await expect(
      createGateway({ connectionString: database.connectionString, planCacheMode: 'force_generic_plan' }),
    ).rejects.toThrow(refused('the database'));
    await expect(
      createGateway({
        connectionString: other.connectionString,
        planCacheMode: 'force_generic_plan',
        connectionStrings: { shards: database.connectionString },
        endpointCreated: (endpoint) => ({ ...endpoint, connection: 'shards' }),
      }),
    ).rejects.toThrow(refused('the database of the connection "shards"'));
  });

  test('a comment that forces such plans stops its endpoint; the others have auto', async () => {
    const gateway = await startGateway(routines + citus);
    expect(gateway.gateway.diagnostics.filter(({ severity }) => severity !== 'info')).toEqual([
      {
        severity: 'error',
        code: 'citus-plan',
        routine: 'public.forced()',
        line: null,
        message:
          'plan_cache_mode force_generic_plan: the database has the extension citus, whose coordinator such a plan can crash; remove the line, or use auto',
      },
    ]);
    expect((await gateway.send('GET /api/forced')).status).toBe(404);
    expect((await gateway.send('GET /api/plan-mode')).body).toBe('auto');
    await gateway.close();
  });

  test('a refresh finds the extension that was created after the start', async () => {
    const gateway = await startGateway(routines, { planCacheMode: 'force_generic_plan' });
    expect((await gateway.send('GET /api/plan-mode')).body).toBe('force_generic_plan');
    await gateway.database.query(citus);
    await expect(gateway.gateway.refresh()).rejects.toThrow(refused('the database'));
    await gateway.close();
  });

  test('calls on a connection that could not be reached at the start force no plan, as it may lead to Citus', async () => {
    const lateDatabase = new URL(database.connectionString);
    let reachable = false;
    const gateway = await createGateway({
      connectionString: other.connectionString,
      planCacheMode: 'force_generic_plan',
      connectionStrings: { late: lateDatabase.href },
      beforeConnectionOpen: (configuration, name) => {
        if (name === 'late' && !reachable) configuration.port = 1;
      },
      endpointCreated: (endpoint) => ({ ...endpoint, connection: 'late' }),
    });
    reachable = true;
    for (const path of ['/api/plan-mode', '/api/forced']) {
      const response = await gateway.fetch(new Request(`http://localhost${path}`));
      expect(await response?.text()).toBe('auto');
    }
    await gateway.close();
  });
});

describe('errors of shards', () => {
  const long = 'a_table_with_a_name_that_is_so_long_that_its_shards_shorten_it';
  const schema = `
    create table campaigns (id int primary key, budget int constraint "budget is positive" check (budget > 0), name text unique);
    comment on table campaigns is 'HTTP';
    comment on constraint campaigns_name_key on campaigns is 'There is such a campaign.';
    comment on constraint "budget is positive" on campaigns is 'A campaign has a budget.';
    create table ads (id int primary key, campaigns int not null constraint has_campaign references campaigns);
    create table ${long} (id int primary key);
    create table events (id int primary key);
    create table events_202401 (id int primary key);

    -- Shards on the coordinator itself: their errors have all fields.
    create table campaigns_102129 (id int constraint campaigns_pkey_102129 primary key, name text);
    insert into campaigns_102129 values (1);
    create function insert_into(_table regclass) returns void language plpgsql as
      $$ begin execute format('insert into %s values (1)', _table); end $$;
    comment on function insert_into is 'HTTP';

    -- An error of a worker, as Citus passes it on: code, message, detail and hint.
    create function fail(_code text, _message text, _detail text default '') returns void language plpgsql as
      $$ begin
        if _detail = '' then raise exception using errcode = _code, message = _message; end if;
        raise exception using errcode = _code, message = _message, detail = _detail;
      end $$;
    comment on function fail is 'HTTP';
    create function fail_in_trigger() returns trigger language plpgsql as
      $$ begin raise exception using errcode = '23514',
        message = 'new row for relation "campaigns_102130" violates check constraint "' || new.name || '"'; end $$;
    create trigger fail before update on campaigns for each row execute function fail_in_trigger();
    insert into campaigns values (1, 1, null);
  `;
  const partitioned = `insert into pg_dist_partition select unnest(array['campaigns', 'ads', '${long}', 'events', 'events_202401']::regclass[])`;
  const distributed = useGateway(`${schema}${citus}${partitioned}`, options);
  const plain = useGateway(schema, options);

  async function fail(code: string, message: string, detail = ''): Promise<Readonly<Record<string, unknown>>> {
    const { body } = await distributed.send('POST /api/fail', {
      body: { _code: code, _message: message, _detail: detail },
    });
    const { type: _, status: __, ...members } = JSON.parse(body) as Record<string, unknown>;
    return members;
  }

  test('a shard on the coordinator has the name of its table', async () => {
    const body = { _table: 'campaigns_102129' };
    expect(JSON.parse((await distributed.send('POST /api/insert-into', { body })).body)).toEqual({
      type: expect.stringContaining('database-error'),
      title: 'duplicate key value violates unique constraint "campaigns_pkey"',
      status: 409,
      detail: 'Key (id)=(1) already exists.',
      code: '23505',
      constraint: 'campaigns_pkey',
      table: 'campaigns',
    });
    expect(JSON.parse((await plain.send('POST /api/insert-into', { body })).body)).toMatchObject({
      title: 'duplicate key value violates unique constraint "campaigns_pkey_102129"',
      table: 'campaigns_102129',
    });
  });

  test.each([
    [
      'a unique constraint',
      [
        '23505',
        'duplicate key value violates unique constraint "campaigns_pkey_102130"',
        'Key (id)=(1) already exists.',
      ],
      {
        title: 'duplicate key value violates unique constraint "campaigns_pkey"',
        detail: 'Key (id)=(1) already exists.',
        code: '23505',
        constraint: 'campaigns_pkey',
        table: 'campaigns',
      },
    ],
    [
      'a foreign key, whose detail names the other table after the value of the client',
      [
        '23503',
        'insert or update on table "ads_102140" violates foreign key constraint "has_campaign_102140"',
        'Key (campaigns)=("ads_102140") is not present in table "campaigns_102130".',
      ],
      {
        title: 'insert or update on table "ads" violates foreign key constraint "has_campaign"',
        detail: 'Key (campaigns)=("ads_102140") is not present in table "campaigns".',
        code: '23503',
        constraint: 'has_campaign',
        table: 'ads',
      },
    ],
    [
      'a column that must not be NULL, with the name of a table',
      ['23502', 'null value in column "campaigns" of relation "ads_102140" violates not-null constraint'],
      {
        title: 'null value in column "campaigns" of relation "ads" violates not-null constraint',
        code: '23502',
        table: 'ads',
      },
    ],
    [
      'an error that is not about a constraint',
      ['55P03', 'could not obtain lock on row in relation "campaigns_102130"'],
      { title: 'could not obtain lock on row in relation "campaigns"', code: '55P03' },
    ],
    [
      'a table whose own name ends with a number',
      ['55P03', 'could not obtain lock on row in relation "events_202401"'],
      { title: 'could not obtain lock on row in relation "events_202401"', code: '55P03' },
    ],
    [
      'a table whose name is that of a distributed one with a year',
      ['55P03', 'could not obtain lock on row in relation "campaigns_2024"'],
      { title: 'could not obtain lock on row in relation "campaigns_2024"', code: '55P03' },
    ],
    [
      'a table that is not distributed',
      ['23505', 'duplicate key value violates unique constraint "other_pkey_102130"'],
      { title: 'duplicate key value violates unique constraint "other_pkey_102130"', code: '23505' },
    ],
    [
      'a message that a routine raises',
      ['P0001', 'look at "campaigns_102130"'],
      { title: 'look at "campaigns_102130"', code: 'P0001' },
    ],
  ] as const)('an error of a worker: %s', async (_, [code, message, detail], members) => {
    expect(await fail(code, message, detail)).toEqual(members);
  });

  test('the name of a shard that Citus has shortened', async () => {
    // 63 bytes: the beginning of the name, its hash, and the number of the shard.
    const [row] = await plain.database.query(
      `select left('${long}', 47) || '_' || lpad(to_hex(hashtext('${long}')), 8, '0') || '_102150' as name`,
    );
    expect(row!['name']).toHaveLength(63);
    expect(await fail('55P03', `could not obtain lock on row in relation "${String(row!['name'])}"`)).toEqual({
      title: `could not obtain lock on row in relation "${long}"`,
      code: '55P03',
    });
  });

  test.each(['budget is positive', 'budget is positive_102130'])(
    'the comment of the constraint is the message: "%s"',
    async (name) => {
      const { body } = await distributed.send('POST /api/campaigns', { body: { id: 1, name } });
      expect(JSON.parse(body)).toEqual({
        type: expect.stringContaining('database-error'),
        title: 'A campaign has a budget.',
        status: 400,
        code: '23514',
        constraint: 'budget is positive',
        table: 'campaigns',
      });
    },
  );
});
