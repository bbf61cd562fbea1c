import { crudSource } from '@pgway/core';
import { display, ReadFault, realtimeAccess } from '@pgway/core/internal';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { parseJoin } from '../src/bindings.ts';
import { parseFilter } from '../src/parse-filter.ts';
import { planSubscriptions } from '../src/plan-subscriptions.ts';
import { PublishedTables } from '../src/published-tables.ts';
import { Refusal } from '../src/refusal.ts';
import { type Binding, connect, join, useRealtime } from './support.ts';

const gateway = useGateway(
  `
  create table film (id integer primary key, title text, length integer, released date, seen boolean, secret text);
  create table full_film (id integer primary key, title text, data jsonb, tags text[], price numeric(8, 2), big bigint);
  alter table full_film replica identity full;
  create table no_key (id integer);
  alter table no_key replica identity full;
  create table unpublished (id integer primary key);
  create schema other;
  create table other.note (id uuid primary key, body text);
  create schema hidden;
  create table hidden.unserved (id integer primary key);
  create publication pgway_changes for table film, full_film, no_key, other.note, hidden.unserved;
  `,
  {
    routineSources: [crudSource()],
    commentsMode: 'parseAll',
    includeSchemas: ['public', 'other'],
    changes: { window: 0 },
  },
);
const server = useRealtime(() => gateway.gateway, { publicChannels: true });

const film = { event: '*', schema: 'public', table: 'film' };

type Received = readonly Record<string, unknown>[][];

/** Runs each statement when the changes of the one before have arrived, as changes of one row in one cut are one. */
async function run(received: Received, statements: readonly (readonly [sql: string, last: string])[]): Promise<void> {
  for (const [sql, last] of statements) {
    await gateway.database.query(sql);
    await expect.poll(() => summarize(received).flat().at(-1)).toBe(last);
  }
}

/** Returns the events and keys that bindings have received. */
function summarize(received: Received): readonly (readonly string[])[] {
  return received.map((changes) =>
    changes.map(({ eventType, new: row, old }) => {
      const { id } = (eventType === 'DELETE' ? old : row) as { id: unknown };
      return `${String(eventType)} ${String(id)}`;
    }),
  );
}

describe('events, schemas and tables', () => {
  test('each binding gets its events', async () => {
    const bindings: readonly Binding[] = [
      { ...film, event: 'INSERT' },
      { ...film, event: 'UPDATE' },
      { ...film, event: 'DELETE' },
      film,
      { event: '*', schema: 'public' },
      { event: 'INSERT', schema: '*' },
      { event: '*', schema: '*', table: '*' },
      { event: '*', schema: 'other', table: 'note' },
      { ...film, filter: 'id=gt.1' },
    ];
    const { received } = await join(connect(server), bindings);
    await gateway.database.query(`insert into film (id) values (1), (2)`);
    await expect.poll(() => summarize(received)[3]).toEqual(['INSERT 1', 'INSERT 2']);
    await gateway.database.query(`update film set title = 'x' where id = 2`);
    await expect.poll(() => summarize(received)[3]).toHaveLength(3);
    await gateway.database.query(`delete from film`);
    await expect.poll(() => summarize(received)[3]).toHaveLength(5);
    const id = '00000000-0000-0000-0000-000000000001';
    await gateway.database.query(`insert into other.note values ('${id}', 'note')`);
    const all = ['INSERT 1', 'INSERT 2', 'UPDATE 2', 'DELETE 1', 'DELETE 2'];
    await expect
      .poll(() => summarize(received))
      .toEqual([
        ['INSERT 1', 'INSERT 2'],
        ['UPDATE 2'],
        ['DELETE 1', 'DELETE 2'],
        all,
        all,
        ['INSERT 1', 'INSERT 2', `INSERT ${id}`],
        [...all, `INSERT ${id}`],
        [`INSERT ${id}`],
        ['INSERT 2', 'UPDATE 2', 'DELETE 2'],
      ]);
  });

  test('a join repeats the bindings in order, and a message of the system follows', async () => {
    const { system, status } = await join(connect(server), [film, { ...film, filter: 'id=eq.1' }]);
    expect(status).toBe('SUBSCRIBED');
    await expect
      .poll(() => system)
      .toEqual([
        {
          extension: 'postgres_changes',
          status: 'ok',
          message: 'Subscribed to PostgreSQL',
          channel: 'room',
        },
      ]);
  });

  test('a channel without bindings can be joined', async () => {
    expect((await join(connect(server), [])).status).toBe('SUBSCRIBED');
  });
});

describe('rows', () => {
  test('with the identity FULL, updates and deletes have the row before; values are those of JSON', async () => {
    const { received } = await join(connect(server), [{ event: '*', schema: 'public', table: 'full_film' }]);
    await run(received, [
      [`insert into full_film values (1, 'a', '{"n": 1}', '{x,"y z"}', 1.50, 9007199254740993)`, 'INSERT 1'],
      [`update full_film set title = 'b'`, 'UPDATE 1'],
      [`delete from full_film`, 'DELETE 1'],
    ]);
    const row = { id: 1, title: 'a', data: { n: 1 }, tags: ['x', 'y z'], price: 1.5, big: expect.anything() };
    await expect
      .poll(() => received[0])
      .toMatchObject([
        { eventType: 'INSERT', new: row, old: {} },
        { eventType: 'UPDATE', new: { ...row, title: 'b' }, old: row },
        { eventType: 'DELETE', new: {}, old: { ...row, title: 'b' } },
      ]);
  });

  test('an update that changes no visible value arrives, and a changed key is a delete and an insert', async () => {
    await gateway.database.query(`insert into film (id, title) values (7, 'seven')`);
    const { received } = await join(connect(server), [{ ...film, select: 'title' }]);
    await run(received, [
      [`update film set secret = 'x' where id = 7`, 'UPDATE 7'],
      [`update film set id = 8 where id = 7`, 'INSERT 8'],
    ]);
    expect(received[0]).toMatchObject([
      { eventType: 'UPDATE', new: { id: 7, title: 'seven' }, old: { id: 7 } },
      { eventType: 'DELETE', old: { id: 7 } },
      { eventType: 'INSERT', new: { id: 8, title: 'seven' } },
    ]);
    expect(Object.keys(received[0]![0]!['new'] as object)).toEqual(['id', 'title']);
    await gateway.database.query(`delete from film`);
  });

  test('a truncated table is a message of the system', async () => {
    await gateway.database.query(`insert into film (id) values (9)`);
    const { system } = await join(connect(server), [film]);
    await gateway.database.query(`truncate film`);
    await expect
      .poll(() => system.at(-1))
      .toMatchObject({ status: 'error', message: 'public.film was truncated; read the rows again' });
  });
});

describe('filters', () => {
  const rows = [
    `(1, 'Alpha', 90, '2001-01-01', true)`,
    `(2, 'alphabet', 120, '2002-01-01', false)`,
    `(3, 'Beta, "two"', null, '2003-01-01', null)`,
    `(4, null, 60, null, true)`,
  ];
  const cases: readonly (readonly [filter: string, ids: readonly number[]])[] = [
    ['id=eq.2', [2]],
    ['id=neq.2', [1, 3, 4]],
    ['length=lt.90', [4]],
    ['length=lte.90', [1, 4]],
    ['length=gt.90', [2]],
    ['length=gte.90', [1, 2]],
    ['id=in.(1,3)', [1, 3]],
    ['title=in.("Beta, \\"two\\"",Alpha)', [1, 3]],
    ['title=like.Alpha%', [1]],
    ['title=like.Alpha*', [1]],
    ['title=ilike.alpha%', [1, 2]],
    ['title=is.null', [4]],
    ['seen=is.true', [1, 4]],
    ['seen=is.unknown', [3]],
    ['title=match.^[Aa]lpha$', [1]],
    ['title=imatch.^alpha', [1, 2]],
    ['length=isdistinct.90', [2, 3, 4]],
    ['title=not.is.null', [1, 2, 3]],
    ['id=not.in.(1,2)', [3, 4]],
    ['title=not.ilike.alpha%', [3]],
    ['released=gte.2002-01-01,length=gt.90', [2]],
    ['id=in.(1,2,3),length=lte.120,seen=is.true', [1]],
    ['title=eq."Beta, \\"two\\""', [3]],
    ['title=eq.Beta, "two"', [3]],
    ['"title"=eq.Alpha', [1]],
    [' title =eq.Alpha,length=eq.90', [1]],
  ];

  test('have the operators of the documentation', async () => {
    const bindings = cases.map(([filter]) => ({ ...film, event: 'INSERT', filter }));
    const { received, status } = await join(connect(server), bindings);
    expect(status).toBe('SUBSCRIBED');
    await gateway.database.query(`insert into film (id, title, length, released, seen) values ${rows.join(', ')}`);
    const found = (): unknown =>
      received.map((changes, index) => [cases[index]![0], changes.map(({ new: row }) => (row as { id: number }).id)]);
    await expect.poll(found).toEqual(cases);
    await gateway.database.query(`delete from film`);
  });

  test('a row that moves into the filter is inserted, and deleted when it leaves', async () => {
    await gateway.database.query(`insert into film (id, length) values (1, 10)`);
    const { received } = await join(connect(server), [{ ...film, filter: 'length=gt.50' }]);
    await run(received, [
      [`update film set length = 60`, 'INSERT 1'],
      [`update film set length = 20`, 'DELETE 1'],
    ]);
    await expect.poll(() => summarize(received)).toEqual([['INSERT 1', 'DELETE 1']]);
    await gateway.database.query(`delete from film`);
  });
});

test('filters are parsed in linear time', () => {
  const length = 60_000;
  for (const part of [' ', '\\"', '"', ',"', ',"\\', '"\\"', 'a ', '\\', '("', ', ', 'a=eq.'])
    for (const start of ['', '"', 'a', 'a=eq."', 'a=in.("'])
      for (const end of ['', '"', '=', '=eq', '=eq.1']) attempt(`${start}${part.repeat(length / part.length)}${end}`);
  const filters = parseFilter(`a=eq.${'\\"'.repeat(length)}`);
  expect(filters).toHaveLength(1);
});

function attempt(filter: string): void {
  try {
    parseFilter(filter);
  } catch (error) {
    if (!(error instanceof Refusal || error instanceof ReadFault)) throw error;
  }
}

test('bindings beyond the limit of tables are not planned', async () => {
  const access = realtimeAccess(gateway.gateway)!;
  const sources = {
    caller: { identity: access.ownIdentity, isAnonymous: true, isPermitted: () => true },
    tables: await new PublishedTables(access.database).list(),
    endpoints: access.endpoints(),
  };
  const request = parseJoin({
    config: { postgres_changes: [film, { ...film, filter: 'id=eq.1' }, { ...film, filter: 'x' }] },
  });
  const bindings = request.bindings.map((binding, id) => ({ ...binding, id }));
  expect(() => planSubscriptions(bindings, sources, 2)).toThrow('The filter "x" is not <column>');
  expect(() => planSubscriptions(bindings, sources, 1)).toThrow(
    'The channels of the connection watch more than 500 tables; leave a channel, or name tables in place of *',
  );
  const all = parseJoin({ config: { postgres_changes: [{ schema: '*' }, { schema: '*' }] } });
  const [first, ...others] = planSubscriptions(
    all.bindings.map((binding, id) => ({ ...binding, id })),
    sources,
    3,
  );
  expect(others).toHaveLength(2);
  expect(first!.ids).toEqual({ INSERT: [0, 1], UPDATE: [0, 1], DELETE: [0, 1] });
});

describe('a join is refused', () => {
  const public_ = (table: string) => ({ event: '*', schema: 'public', table });
  test.each([
    [
      'for a table that is not published',
      public_('unpublished'),
      'Changes of "public.unpublished" are not available: the table needs an endpoint that you may call, and pgway install changes',
    ],
    [
      'for a table without an endpoint',
      { event: '*', schema: 'hidden', table: 'unserved' },
      'Changes of "hidden.unserved" are not available: the table needs an endpoint that you may call, and pgway install changes',
    ],
    [
      'for a table without a key',
      public_('no_key'),
      'Rows of "public.no_key" have no key that identifies them; add a primary key, or set the replica identity to a unique index',
    ],
    ['for an unknown column', { ...film, filter: 'x=eq.1' }, 'filter: "x" is not a column of "film"'],
    ['for an unknown column of select', { ...film, select: 'x' }, 'select: "x" is not a column of "film"'],
    [
      'for an unknown operator',
      { ...film, filter: 'id=fts.1' },
      'The filter "id=fts.1" has an unknown operator; the operators are eq, neq, lt, lte, gt, gte, in, like, ilike, is, match, imatch, isdistinct',
    ],
    [
      'for another form of a filter',
      { ...film, filter: 'id.eq.1' },
      'The filter "id.eq.1" is not <column>=<operator>.<value>, as in id=eq.1',
    ],
    [
      'for blanks instead of a filter',
      { ...film, filter: ' '.repeat(4_096) },
      `The filter ${display(' '.repeat(4_096))} is not <column>=<operator>.<value>, as in id=eq.1`,
    ],
    ['for a value of another type', { ...film, filter: 'id=eq.x' }, 'invalid input syntax for type integer: "x"'],
    ['for an unfinished list', { ...film, filter: 'id=in.(1' }, 'filter on "id": ")" is expected'],
    ['for an unknown event', { ...film, event: 'TRUNCATE' }, '"event" is *, INSERT, UPDATE or DELETE, not "TRUNCATE"'],
    [
      'for a long filter',
      { ...film, filter: `title=eq.${'x'.repeat(4_096)}` },
      '"filter" has 4105 characters; use at most 4096',
    ],
  ])('%s', async (_, binding, reason) => {
    const { status } = await join(connect(server), [binding]);
    const text = /^CHANNEL_ERROR: (?<reason>.*)$/.exec(status)!.groups!['reason']!;
    expect(text).toBe(reason);
  });

  test('for private channels without their table', async () => {
    const { status } = await join(connect(server), [], { config: { private: true } });
    expect(status).toContain('Private channels are not available; run pgway install realtime');
  });

  test('for too many bindings, and for too many channels', async () => {
    const client = connect(server);
    const { status } = await join(
      client,
      // The client joins with equal bindings once.
      Array.from({ length: 101 }, (_, index) => ({ ...film, filter: `id=gt.${index}` })),
    );
    expect(status).toContain(
      'The channel has 101 bindings of postgres_changes; use several channels with at most 100 each',
    );
    for (let index = 0; index < 100; index++) {
      expect((await join(client, [], { name: `room ${index}` })).status).toBe('SUBSCRIBED');
    }
    const last = await join(client, [], { name: 'one more' });
    expect(last.status).toContain(
      'The connection has 100 channels, which is the maximum; leave one, or open another connection',
    );
  });
});
