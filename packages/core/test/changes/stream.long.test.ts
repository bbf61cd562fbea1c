import { crudSource } from '@pgway/core';
import { serverVersion, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { openStream, type OpenStream } from './stream-support.ts';

/** A type, and texts of two values. */
const samples: readonly (readonly [type: string, first: string, second: string])[] = [
  ['smallint', '-32768', '7'],
  ['real', '0.1', 'NaN'],
  ['double precision', '-Infinity', '1e-300'],
  ['numeric', 'NaN', '12345678901234567890.0100'],
  ['money', '12.30', '-1'],
  ['char(4)', 'a', 'é'],
  ['varchar(9)', '', 'a"b\\'],
  ['"char"', 'x', ''],
  ['name', 'n', 'ü'],
  ['time', '24:00:00', '01:02:03.5'],
  ['timetz', '01:02:03+05:30', '00:00:00-12'],
  ['timestamp', 'infinity', '2026-01-02 03:04:05.6'],
  ['timestamptz', '-infinity', '0044-03-15 12:00:00+00 BC'],
  ['date', '0001-01-01 BC', 'infinity'],
  ['interval', '-1 year 2 mons -3 days 04:05:06.7', '0'],
  ['bit(3)', '101', '000'],
  ['varbit', '', '10101'],
  ['point', '(1,2.5)', '(0,-0)'],
  ['line', '{1,2,3}', '{0,1,0}'],
  ['lseg', '[(0,0),(1,1)]', '[(1,1),(1,1)]'],
  ['box', '(1,1),(0,0)', '(2,2),(2,2)'],
  ['path', '((0,0),(1,1))', '[(0,0),(1,1)]'],
  ['polygon', '((0,0),(1,1),(1,0))', '((0,0))'],
  ['circle', '<(0,0),1>', '<(1,1),0>'],
  ['cidr', '10.0.0.0/8', '::/0'],
  ['macaddr', '08:00:2b:01:02:03', '00:00:00:00:00:00'],
  ['macaddr8', '08:00:2b:01:02:03:04:05', '00:00:00:00:00:00:00:00'],
  ['tsvector', 'a:1 b:2', ''],
  ['tsquery', 'a & !b', 'c'],
  ['oid', '4294967295', '0'],
  ['regclass', 'pg_class', 'pg_type'],
  ['xid', '3', '0'],
  ['xid8', '18446744073709551615', '0'],
  ['pg_lsn', '16/B374D848', '0/0'],
  ['pg_snapshot', '10:20:10,14', '1:1:'],
  ['jsonpath', '$.a[*] ? (@ > 1)', '$'],
  ['int8range', '[1,10)', 'empty'],
  ['numrange', '(,1.5]', 'empty'],
  ['tsrange', '[2026-01-01,2026-01-02)', '(,)'],
  ['tstzrange', '[2026-01-01 00:00:00+00,)', 'empty'],
  ['daterange', '[2026-01-01,2026-01-03]', '(,)'],
  ['text[]', '{"a,b",NULL,"c\\"d"}', '{}'],
  ['integer[]', '{{1,2},{3,4}}', '[0:1]={5,6}'],
  ['jsonb[]', '{"{\\"a\\":1}",NULL}', '{}'],
  ['timestamptz[]', '{"2026-01-01 00:00:00+00",infinity}', '{}'],
  ['boolean[]', '{t,f,NULL}', '{}'],
  ['bytea[]', '{"\\\\x00ff"}', '{}'],
  ['mood', 'so so', 'ok'],
  ['mood[]', '{ok,"so so"}', '{}'],
  ['share', '0.5', '1'],
  ['place', '(1,"a ""b""")', '(,)'],
  ['place[]', '{"(1,a)",NULL}', '{}'],
  ...(serverVersion() >= 14 ? ([['int4multirange', '{[1,3),[5,7)}', '{}']] as const) : []),
];
const sampleColumns = samples.map((_, index) => `c${index}`);
const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const gateway = useGateway(
  `
  create type mood as enum ('ok', 'so so');
  create domain share as numeric check (value between 0 and 1);
  create type place as (number integer, name text);
  create table sample (id integer primary key, ${samples.map(([type], index) => `c${index} ${type}`).join(', ')});
  comment on table sample is 'HTTP
changes';
  create table toasted (id integer primary key, number integer, long text, bytes bytea, doc jsonb);
  alter table toasted alter column long set storage external, alter column bytes set storage external;
  comment on table toasted is 'HTTP
changes';
  create table film (id integer primary key, title text, length integer);
  comment on table film is 'HTTP
changes';
  create table kinds (id bigint primary key, flag boolean, amount numeric(10,2), at timestamptz, day date, span interval,
    bytes bytea, list integer[], doc json, docb jsonb, code uuid, real8 double precision, range int4range, address inet);
  comment on table kinds is 'HTTP
changes';
  create table showing (id integer primary key, film_id integer references film on delete cascade);
  comment on table showing is 'HTTP
changes';
  create publication pgway_changes for table film, kinds, sample, toasted, showing;
  insert into film values (1, 'One', 90), (2, 'Two', 120);
  `,
  {
    routineSources: [crudSource({ listing: true })],
    changes: { window: 0 },
    events: { heartbeat: 1 },
  },
);

const film = '"schema":"public","table":"film"';

function records(stream: OpenStream): readonly string[] {
  return stream
    .events()
    .map(({ event, data }) => `${event} ${data!.replace(/,"(?:schema|table|commitTimestamp)":"[^"]*"/g, '')}`);
}

/** Returns the records as they are written. */
function recordTexts(stream: OpenStream): readonly string[] {
  return stream.events().map(({ data }) => /"record":(.*)\}$/s.exec(data!)![1]!);
}

describe('the stream of changes of a table', () => {
  test('select chooses the columns of the records, as in GET; other changes make no event', async () => {
    await gateway.database.query(
      `insert into kinds (id, docb, day, amount) values (71, '{"name": "a"}', '2026-01-02', 1)`,
    );
    const select = 'select=id,docb->>name,doc:docb->name,day::text,cents:amount::text&id=gte.71';
    const rows = await (await fetch(`${gateway.url}/api/kinds?${select}`)).text();
    expect(rows).toBe('[{"id":71,"name":"a","doc":"a","day":"2026-01-02","cents":"1.00"}]');
    const stream = await openStream(gateway, `/api/kinds/changes?snapshot=true&${select}`);
    const renamed = await openStream(gateway, '/api/kinds/changes?select=key:id,name:docb->>name&id=gte.71');
    const other = await openStream(gateway, '/api/kinds/changes?select=key:id,title:docb->>name&id=gte.71');
    await expect.poll(() => records(stream)).toEqual([`row {"type":"row","record":${rows.slice(1, -1)}}`]);
    await expect.poll(() => [renamed.lastId(), other.lastId()]).toEqual([expect.any(String), expect.any(String)]);

    await gateway.database.query('update kinds set flag = true where id = 71');
    await gateway.database.query(`update kinds set docb = '{"name": "b"}' where id = 71`);
    await expect.poll(() => [stream, renamed, other].map((one) => records(one).length)).toEqual([2, 1, 1]);
    await gateway.database.query('delete from kinds where id = 71');

    await expect
      .poll(() => records(stream).slice(1))
      .toEqual([
        'update {"type":"update","record":{"id":71,"name":"b","doc":"b","day":"2026-01-02","cents":"1.00"}}',
        'delete {"type":"delete","old":{"id":71}}',
      ]);
    await expect
      .poll(() => [renamed, other].map(records))
      .toEqual(
        ['name', 'title'].map((name) => [
          `update {"type":"update","record":{"key":71,"${name}":"b"}}`,
          'delete {"type":"delete","old":{"id":71}}',
        ]),
      );
  });

  test('a select that cannot be read, or has related rows, is refused with the reason', async () => {
    const refused = async (query: string): Promise<readonly [number, string]> => {
      const { status, body } = await gateway.send(`GET ${query}`);
      return [status, (JSON.parse(body) as { detail: string }).detail];
    };
    expect(await refused('/api/showing/changes?select=id,film(title)')).toEqual([
      400,
      'The parameter "select": a stream of changes has no related rows, as changes of their tables make no event; select columns only.',
    ]);
    expect(await refused('/api/showing/changes?film.title=eq.One')).toEqual([
      400,
      expect.stringContaining('"film" is not a related table that "select" names'),
    ]);
    expect(await refused('/api/film/changes?select=id,nothing')).toEqual([
      400,
      expect.stringContaining('"nothing" is not a column of'),
    ]);
    expect(await refused('/api/kinds/changes?select=flag::date')).toEqual([
      400,
      expect.stringContaining('cannot evaluate what the request selects'),
    ]);
  });

  test('begins with the rows, and continues with changes', async () => {
    const stream = await openStream(gateway, '/api/film/changes?snapshot=true&length=lt.100');
    expect([stream.response.status, stream.response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);

    await expect
      .poll(() => stream.events())
      .toEqual([{ event: 'row', data: `{"type":"row",${film},"record":{"id":1,"title":"One","length":90}}` }]);
    await gateway.database.query(`update film set length = 80 where id = 2; delete from film where id = 1`);
    await expect
      .poll(() => stream.events().slice(1))
      .toEqual([
        {
          event: 'insert',
          id: expect.stringMatching(/^[0-9A-F]{8}-[0-9A-F]{16}\.[0-9A-F]{8}-[0-9a-f]{14}$/),
          data: expect.stringMatching(
            `^{"type":"insert",${film},"commitTimestamp":"20.{24}Z","record":{"id":2,"title":"Two","length":80}}$`,
          ),
        },
        {
          event: 'delete',
          id: expect.any(String),
          data: expect.stringMatching(`^{"type":"delete",${film},"commitTimestamp":"20.{24}Z","old":{"id":1}}$`),
        },
      ]);
    expect(stream.text()).toContain('\n\n: cut\n\n');
  });

  test('a client that comes back continues after its last event', async () => {
    const stream = await openStream(gateway, '/api/film/changes');
    await expect.poll(() => stream.lastId()).toBeDefined();
    await gateway.database.query(`insert into film values (11, 'a', 1), (12, 'b', 1), (13, 'c', 1)`);
    await expect.poll(() => stream.events().length).toBe(3);
    const { id } = stream.events()[0]!;
    stream.close();
    await gateway.database.query(`update film set title = 'd' where id = 12`);

    const again = await openStream(gateway, '/api/film/changes', { 'last-event-id': id! });
    await expect
      .poll(() => records(again))
      .toEqual([
        'insert {"type":"insert","record":{"id":12,"title":"b","length":1}}',
        'insert {"type":"insert","record":{"id":13,"title":"c","length":1}}',
        'update {"type":"update","record":{"id":12,"title":"d","length":1}}',
      ]);
    const unknown = await openStream(gateway, '/api/film/changes?snapshot=true&id=12', {
      'last-event-id': `${id!.slice(0, -14)}00000000000000`,
    });
    await expect
      .poll(() => records(unknown))
      .toEqual([
        'gap {"type":"gap","reason":"other-instance"}',
        'reset {"type":"reset"}',
        'row {"type":"row","record":{"id":12,"title":"d","length":1}}',
      ]);
    const other = await openStream(gateway, '/api/film/changes?id=12', { 'last-event-id': id! });
    await expect.poll(() => records(other)).toEqual(['gap {"type":"gap","reason":"other-stream"}']);
    await gateway.database.query('delete from film where id > 10');
  });

  test('a table that is taken out of the publication ends its streams after a gap', async () => {
    const stream = await openStream(gateway, '/api/showing/changes');
    await expect.poll(() => stream.lastId()).toBeDefined();
    await gateway.database.query('alter publication pgway_changes drop table showing');

    await expect.poll(() => stream.hasEnded(), { timeout: 10_000 }).toBe(true);
    expect(records(stream)[0]).toBe('gap {"type":"gap","reason":"schema-changed"}');
    const again = await gateway.send('GET /api/showing/changes');
    expect([again.status, again.body]).toEqual([
      503,
      expect.stringContaining('run pgway install changes public.showing'),
    ]);
    await gateway.database.query('alter publication pgway_changes add table showing');
    const mended = await openStream(gateway, '/api/showing/changes');
    await expect.poll(() => mended.lastId()).toBeDefined();
  });

  test('a truncation has an event of its own', async () => {
    const stream = await openStream(gateway, '/api/film/changes');
    await expect.poll(() => stream.lastId()).toBeDefined();
    await gateway.database.query(`truncate film cascade; insert into film values (5, 'Five', 5)`);
    await expect
      .poll(() => records(stream))
      .toEqual([
        'truncate {"type":"truncate"}',
        'insert {"type":"insert","record":{"id":5,"title":"Five","length":5}}',
      ]);
  });

  test('what GET refuses is refused', async () => {
    const refused = await gateway.send('GET /api/film/changes?length=lt.abc');
    expect([refused.status, JSON.parse(refused.body)]).toEqual([
      400,
      expect.objectContaining({ parameters: ['length'] }),
    ]);
    expect((await gateway.send('GET /api/film/changes?unknown=1')).status).toBe(400);
    const twice = await gateway.send('GET /api/film/changes?snapshot=maybe');
    expect(JSON.parse(twice.body)).toMatchObject({
      status: 400,
      detail: '"snapshot" is true or false, once: with true, the stream begins with the rows that there are.',
    });
    expect((await gateway.send('POST /api/film/changes')).status).toBe(405);
    expect((await gateway.send('HEAD /api/film/changes')).status).toBe(200);
  });

  test('records of each type are those of GET, byte for byte', async () => {
    const stream = await openStream(gateway, '/api/kinds/changes');
    await expect.poll(() => stream.lastId()).toBeDefined();
    await gateway.database.query(
      `insert into kinds values (9007199254740993, true, 1.50, '2026-01-02 03:04:05.678901+02', '2026-01-02', '1 day 2 hours',
         '\\x00ff', '{1,null,3}', '{"a" : 1,  "b":[ "x\\"y" ]}', '{"b":2,"a":1}', gen_random_uuid(), 0.1, '[1,5)', '10.0.0.1/8'),
        (2, null, null, null, null, null, null, null, null, null, null, null, null, null)`,
    );
    await expect.poll(() => stream.events().length).toBe(2);
    const { body } = await gateway.send('GET /api/kinds?order=id.desc');
    expect(`[${recordTexts(stream).join(',')}]`).toBe(body);
  });

  test('records of every other built-in type are those of GET', async () => {
    const stream = await openStream(gateway, '/api/sample/changes');
    await expect.poll(() => stream.lastId()).toBeDefined();
    const [firsts, seconds] = [samples.map(([, first]) => quote(first)), samples.map(([, , second]) => quote(second))];
    const nulls = samples.map(() => 'null');
    await gateway.database.query(
      `insert into sample values (1, ${firsts.join(', ')}), (2, ${seconds.join(', ')}), (3, ${nulls.join(', ')})`,
    );
    await expect.poll(() => stream.events().length).toBe(3);
    const { body } = await gateway.send('GET /api/sample?order=id');
    expect(`[${recordTexts(stream).join(',')}]`).toBe(body);

    const swap = sampleColumns.map((name) => `${name} = other.${name}`).join(', ');
    await gateway.database.query(
      `update sample set ${swap} from sample as other where other.id = 4 - sample.id and sample.id <> 2`,
    );
    await expect.poll(() => stream.events().length).toBe(5);
    const swapped = await gateway.send('GET /api/sample?order=id&id=in.(1,3)');
    expect(`[${recordTexts(stream).slice(3).join(',')}]`).toBe(swapped.body);
  });

  test('records have values that are stored outside of their row and have not changed', async () => {
    const stream = await openStream(gateway, '/api/toasted/changes?snapshot=true');
    await expect.poll(() => stream.lastId()).toBeDefined();
    await gateway.database.query(`insert into toasted
      select 1, 1, string_agg(md5(n::text), ''), decode(string_agg(md5(n::text), ''), 'hex'), jsonb_agg(md5(n::text))
      from generate_series(1, 4000) as n`);
    await expect.poll(() => stream.events().length).toBe(1);
    await gateway.database.query('update toasted set number = 2');
    await expect.poll(() => stream.events().length).toBe(2);
    const { body } = await gateway.send('GET /api/toasted');
    expect(body.length).toBeGreaterThan(300_000);
    expect(`[${recordTexts(stream)[1]!}]`).toBe(body);
  });
});
