import { type ClientRequest, get } from 'node:http';
import { build, freshDatabase, type TestDatabase, useDatabase } from '@pgway/testing';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Server, startWorkers } from './support.ts';

beforeAll(build);

const database = useDatabase(`
  create table film (id integer primary key, title text);
  comment on table film is 'HTTP
changes';
  create publication pgway_changes for table film;
`);

interface Stream {
  /** The events with their data, without comments. */
  readonly events: () => readonly string[];
  /** The id of the last event. */
  readonly lastId: () => string;
  readonly isEnded: () => boolean;
}

/** Opens a stream on the next worker. */
async function openStream(
  { url }: Pick<Server, 'url'>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Stream> {
  let text = '';
  let isEnded = false;
  let outgoing: ClientRequest | undefined;
  onTestFinished(() => void outgoing?.destroy());
  const open = (): Promise<number | undefined> => {
    text = '';
    isEnded = false;
    return new Promise((resolve, reject) => {
      outgoing = get(`${url}/api/film/changes`, { agent: false, headers }, (response) => {
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('error', () => undefined).on('close', () => (isEnded = true));
        resolve(response.statusCode);
      }).on('error', (error) => (isEnded ? undefined : reject(error)));
    });
  };
  // The slot waits for transactions of other tests.
  await expect.poll(open).not.toBe(503);
  const blocks = (): readonly string[] => text.split('\n\n').filter((block) => block.includes('data: '));
  return {
    events: () =>
      blocks().map((block) => {
        const event = /^event: (.*)$/m.exec(block)?.[1];
        const { record, old, reason } = JSON.parse(/^data: (.*)$/m.exec(block)![1]!) as Record<string, unknown>;
        return `${event} ${JSON.stringify(record ?? old ?? reason)}`;
      }),
    lastId: () =>
      text
        .match(/^id: .*$/gm)
        ?.at(-1)
        ?.slice(4) ?? '',
    isEnded: () => isEnded,
  };
}

const slots = (of: TestDatabase = database): Promise<readonly unknown[]> =>
  of.query('select active_pid from pg_replication_slots where database = current_database()');

test('one slot serves all workers, and streams survive the ends of a worker and of the reader', async () => {
  const server = await startWorkers({ connectionString: database.connectionString, crud: { enabled: true } });
  const streams = [
    await openStream(server),
    await openStream(server),
    await openStream(server),
    await openStream(server),
  ];
  await expect.poll(() => slots()).toHaveLength(1);
  await database.query(`insert into film values (1, 'One')`);
  for (const { events } of streams) await expect.poll(events).toEqual(['insert {"id":1,"title":"One"}']);

  // A worker: its clients continue on another one.
  const [victim] = await server.workers();
  process.kill(victim!, 'SIGKILL');
  await expect.poll(() => streams.filter(({ isEnded }) => isEnded()).length).toBe(2);
  const lost = streams.find(({ isEnded }) => isEnded())!;
  const kept = streams.find(({ isEnded }) => !isEnded())!;
  await database.query(`insert into film values (2, 'Two')`);
  const continued = await openStream(server, { 'last-event-id': lost.lastId() });
  for (const { events } of [continued, kept]) {
    await expect.poll(() => events().at(-1)).toBe('insert {"id":2,"title":"Two"}');
  }
  expect(continued.events()).toHaveLength(1);
  expect(await slots()).toHaveLength(1);

  // The connection to the log: clients learn that changes may be missing.
  await database.query(
    'select pg_terminate_backend(active_pid) from pg_replication_slots where database = current_database()',
  );
  for (const { events } of [continued, kept]) await expect.poll(() => events().at(-1)).toBe('gap "connection-lost"');
  await expect.poll(() => slots()).toHaveLength(1);
  await database.query(`insert into film values (3, 'Three')`);
  for (const { events } of [continued, kept]) {
    await expect.poll(() => events().at(-1)).toBe('insert {"id":3,"title":"Three"}');
  }

  // The server: nothing stays behind.
  server.program.child.kill('SIGKILL');
  await expect.poll(() => slots()).toEqual([]);
});

test('with tenants, each worker reads the logs of its tenants, and streams have the changes of theirs alone', async () => {
  const schema = `
    create table film (id integer primary key, title text);
    comment on table film is E'HTTP\\nchanges';
    create publication pgway_changes for table film;`;
  const [acme, globex] = [await freshDatabase(schema), await freshDatabase(schema)];
  onTestFinished(async () => void (await Promise.all([acme.drop(), globex.drop()])));
  const server = await startWorkers({
    connectionString: database.connectionString,
    crud: { enabled: true },
    tenant: {
      by: 'host',
      host: '{tenant}.example.com',
      connectionStrings: { acme: acme.connectionString, globex: globex.connectionString },
    },
  });
  const [acmeHost, globexHost] = [{ host: 'acme.example.com' }, { host: 'globex.example.com' }];
  const ofAcme: Stream[] = [];
  const openAnother = async (): Promise<number> => {
    ofAcme.push(await openStream(server, acmeHost));
    return (await slots(acme)).length;
  };
  await expect.poll(openAnother).toBe(2);
  const ofGlobex = await openStream(server, globexHost);
  await acme.query(`insert into film values (1, 'Of Acme')`);
  await globex.query(`insert into film values (1, 'Of Globex')`);
  for (const { events } of ofAcme) await expect.poll(events).toEqual(['insert {"id":1,"title":"Of Acme"}']);
  await expect.poll(ofGlobex.events).toEqual(['insert {"id":1,"title":"Of Globex"}']);

  // Another worker has another log: the client learns that changes may be missing.
  const [victim] = await server.workers();
  process.kill(victim!, 'SIGKILL');
  await expect.poll(() => ofAcme.some(({ isEnded }) => isEnded())).toBe(true);
  const lost = ofAcme.find(({ isEnded }) => isEnded())!;
  const continued = await openStream(server, { ...acmeHost, 'last-event-id': lost.lastId() });
  await expect.poll(continued.events).toEqual(['gap "other-instance"']);
  await acme.query(`insert into film values (2, 'Two')`);
  await expect.poll(() => continued.events().at(-1)).toBe('insert {"id":2,"title":"Two"}');

  server.program.child.kill('SIGKILL');
  await expect.poll(() => slots(acme)).toEqual([]);
  await expect.poll(() => slots(globex)).toEqual([]);
});
