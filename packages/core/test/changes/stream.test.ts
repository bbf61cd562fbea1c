import { crudSource } from '@pgway/core';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { openStream, type OpenStream } from './stream-support.ts';

const gateway = useGateway(
  `
  create table film (id integer primary key, title text, length integer);
  comment on table film is 'HTTP
changes';
  create table kinds (id bigint primary key, flag boolean, amount numeric(10,2), at timestamptz, day date, span interval,
    bytes bytea, list integer[], doc json, docb jsonb, code uuid, real8 double precision, range int4range, address inet);
  comment on table kinds is 'HTTP
changes';
  create publication pgway_changes for table film, kinds;
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

describe('the stream of changes of a table', () => {
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
          id: expect.stringMatching(/^[0-9A-F]{8}-[0-9A-F]{16}\.[0-9A-F]{8}-[0-9a-f]{8}$/),
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
      'last-event-id': `${id!.slice(0, -8)}00000000`,
    });
    await expect
      .poll(() => records(unknown))
      .toEqual([
        'gap {"type":"gap","reason":"other-instance"}',
        'reset {"type":"reset"}',
        'row {"type":"row","record":{"id":12,"title":"d","length":1}}',
      ]);
    await gateway.database.query('delete from film where id > 10');
  });

  test('a truncation has an event of its own', async () => {
    const stream = await openStream(gateway, '/api/film/changes');
    await expect.poll(() => stream.lastId()).toBeDefined();
    await gateway.database.query(`truncate film; insert into film values (5, 'Five', 5)`);
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
    const rows = stream.events().map(({ data }) => /"record":(.*)\}$/s.exec(data!)![1]!);
    const { body } = await gateway.send('GET /api/kinds?order=id.desc');
    expect(`[${rows.join(',')}]`).toBe(body);
  });
});
