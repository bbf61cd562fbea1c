import { crudSource } from '@pgway/core';
import { freshDatabase, pgbouncerVersion, startGateway, startPgBouncer, type TestGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { openStream } from './stream-support.ts';

async function start(sql: string): Promise<TestGateway> {
  const gateway = await startGateway(sql, { routineSources: [crudSource()] });
  onTestFinished(() => gateway.close());
  return gateway;
}

/** Returns the status and the body of a problem; of a stream the status alone. */
async function open({ url }: TestGateway, path: string): Promise<readonly unknown[]> {
  const abort = new AbortController();
  const response = await fetch(url + path, { signal: abort.signal });
  const body: unknown = response.status === 200 ? null : await response.json();
  abort.abort();
  return body === null ? [200] : [response.status, response.headers.get('retry-after'), body];
}

function warnings({ observations }: TestGateway): readonly string[] {
  return observations.flatMap((observation) =>
    observation.kind === 'start-warning' && observation.code.startsWith('changes-')
      ? [`${observation.code}: ${observation.message}`]
      : [],
  );
}

const film = `create table film (id int primary key); comment on table film is E'HTTP\\nchanges';`;
test('without a publication, only the streams are off; they work as soon as there is one', async () => {
  const gateway = await start(film);
  const message = 'the database has no publication pgway_changes; run: pgway install changes public.film';

  await expect.poll(() => warnings(gateway)).toEqual([`changes-no-publication: changes: ${message}`]);
  const [status, retryAfter, body] = await open(gateway, '/api/film/changes');
  expect([status, retryAfter, body]).toMatchObject([503, '5', { status: 503, detail: `${message}.` }]);
  expect((await gateway.send('GET /api/film')).body).toBe('[]');
  await gateway.database.query('create publication pgway_changes for table film');
  await expect.poll(() => open(gateway, '/api/film/changes')).toEqual([200]);
  expect(warnings(gateway)).toHaveLength(1);
});

test('a table that is not published is refused, and others are not', async () => {
  const gateway = await start(`${film}
    create table tape (id int primary key); comment on table tape is E'HTTP\\nchanges';
    create publication pgway_changes for table film;`);

  await expect.poll(() => open(gateway, '/api/film/changes')).toEqual([200]);
  await expect
    .poll(() => open(gateway, '/api/tape/changes'))
    .toMatchObject([
      503,
      '5',
      {
        detail:
          'the publication pgway_changes does not have the table public.tape; run: pgway install changes public.tape.',
      },
    ]);
});

test('a reload checks the tables again', async () => {
  const gateway = await start(`${film} create publication pgway_changes for table film;`);
  await expect.poll(() => open(gateway, '/api/film/changes')).toEqual([200]);
  expect(warnings(gateway)).toEqual([]);

  await gateway.database.query(
    `alter table film replica identity nothing; comment on table film is E'HTTP\\nchanges old'`,
  );
  await gateway.gateway.refresh();

  await expect
    .poll(() => warnings(gateway))
    .toEqual([
      'changes-no-identity: changes: public.film has no replica identity; once it is published, PostgreSQL refuses every UPDATE and DELETE of it (55000); run: alter table public.film replica identity default',
    ]);
});

test.skipIf((await pgbouncerVersion()) === null)(
  'a pooler in front of the log is named, with what to set',
  async () => {
    const database = await freshDatabase(`${film} create publication pgway_changes for table film;`);
    onTestFinished(() => database.drop());
    const pooler = await startPgBouncer(database.connectionString, { mode: 'transaction', size: 5 });
    onTestFinished(() => pooler.stop());
    const through = {
      routineSources: [crudSource()],
      connectionString: pooler.connectionString,
      pooler: 'transaction',
    } as const;
    const gateway = await startGateway('', { ...through, preparedStatements: false });
    onTestFinished(() => gateway.close());
    const reasons = (): readonly string[] =>
      gateway.observations.flatMap((observation) =>
        observation.kind === 'changes-unavailable' ? [observation.reason] : [],
      );

    await expect
      .poll(() => reasons().at(-1))
      .toContain(
        'the connection leads to a pooler, which does not support replication; set changes.connectionString to a connection string of the server itself',
      );
    expect((await open(gateway, '/api/film/changes'))[0]).toBe(503);
    expect((await gateway.send('GET /api/film')).body).toBe('[]');
  },
);

test.skipIf((await pgbouncerVersion()) === null)('lookups pass a pooler, and the log is read beside it', async () => {
  const database = await freshDatabase(`${film} create publication pgway_changes for table film;`);
  onTestFinished(() => database.drop());
  const pooler = await startPgBouncer(database.connectionString, { mode: 'transaction', size: 5 });
  onTestFinished(() => pooler.stop());
  const gateway = await startGateway('', {
    routineSources: [crudSource()],
    connectionString: pooler.connectionString,
    pooler: 'transaction',
    preparedStatements: false,
    changes: { connectionString: database.connectionString, window: 0 },
  });
  onTestFinished(() => gateway.close());
  const stream = await openStream(gateway, '/api/film/changes');
  await expect.poll(() => stream.lastId()).toBeDefined();
  await database.query('insert into film values (1)');
  await expect.poll(() => stream.events().map(({ event }) => event)).toEqual(['insert']);
});
