import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { crudSource } from '@pgway/core';
import { useGateway } from '@pgway/testing';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { clientOf, compile, folderWith } from './support.ts';

/** The generated client reads changes of rows: from a server of the test, which sends exact events, and loses connections. */

const gateway = useGateway(
  `create table film (id int primary key, big_id bigint, title text);
   comment on table film is E'HTTP\\nfor select\\nchanges\\nchanges old';`,
  { routineSources: [crudSource({ listing: true })] },
);

interface Row {
  readonly id: number;
  readonly title?: string;
}

interface Changes extends AsyncIterable<readonly Row[]> {
  close(): void;
}

let getChanges: (base: string) => Promise<(options: object) => Changes>;

beforeAll(() => {
  getChanges = async (base) => {
    const files = clientOf(gateway.gateway.endpoints, { skipTypes: true, customHost: base });
    const { folder, remove } = await folderWith([...files, { path: 'package.json', content: '{ "type": "module" }' }]);
    onTestFinished(remove);
    const client = (await import(pathToFileURL(join(folder, files[0]!.path)).href)) as Record<string, unknown>;
    return client['filmChanges'] as (options: object) => Changes;
  };
});

interface Opened {
  readonly url: string | undefined;
  readonly lastEventId: string | undefined;
  readonly authorization: string | undefined;
  readonly send: (...events: readonly string[]) => void;
  readonly end: () => void;
}

/** Starts a server for streams. `next` resolves with the next request. */
async function startServer(): Promise<{ readonly url: string; readonly next: () => Promise<Opened> }> {
  const [opened, waiting]: [Opened[], ((one: Opened) => void)[]] = [[], []];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    const one: Opened = {
      url: request.url,
      lastEventId: request.headers['last-event-id'] as string | undefined,
      authorization: request.headers.authorization,
      send: (...events) => response.write(events.map((event) => `${event}\n\n`).join('')),
      end: () => response.end(),
    };
    const resolve = waiting.shift();
    if (resolve === undefined) opened.push(one);
    else resolve(one);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next: () => {
      const known = opened.shift();
      return known === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(known);
    },
  };
}

const row = (type: string, record: Row): string => `event: ${type}\ndata: ${JSON.stringify({ type, record })}`;
const changed = (type: string, id: string, data: object): string =>
  `event: ${type}\nid: ${id}\ndata: ${JSON.stringify({ type, ...data })}`;

test('the list follows the changes, over a lost connection and a gap', async () => {
  const server = await startServer();
  const filmChanges = await getChanges(server.url);
  const stream = filmChanges({ filter: { title: 'a' }, snapshot: true, headers: { Authorization: 'Bearer x' } });
  const lists = stream[Symbol.asyncIterator]();
  const next = async (): Promise<readonly Row[]> => (await lists.next()).value as readonly Row[];

  const first = await server.next();
  expect([first.url, first.authorization, first.lastEventId]).toEqual([
    '/api/film/changes?title=a&snapshot=true',
    'Bearer x',
    undefined,
  ]);
  first.send(': open', row('row', { id: 1, title: 'a' }), row('row', { id: 2 }), ':\nid: 1.0');
  expect(await next()).toEqual([{ id: 1, title: 'a' }, { id: 2 }]);
  first.send(
    changed('update', '2.1', { record: { id: 1, title: 'b' } }),
    changed('delete', '2.2', { old: { id: 2 } }),
    ': cut',
    ':\nid: 2.2',
    changed('insert', '3.1', { record: { id: 3 } }),
    ': cut',
  );
  await expect.poll(next).toEqual([{ id: 1, title: 'b' }, { id: 3 }]);

  first.end();
  const second = await server.next();
  expect([second.url, second.lastEventId]).toEqual(['/api/film/changes?title=a&snapshot=true', '3.1']);
  second.send(changed('insert', '4.1', { record: { id: 4 } }), ': cut');
  expect(await next()).toEqual([{ id: 1, title: 'b' }, { id: 3 }, { id: 4 }]);
  second.send(
    changed('gap', '5.0', { reason: 'too-many-changes' }),
    'event: reset\ndata: {"type":"reset"}',
    row('row', { id: 9 }),
    ':\nid: 5.0',
  );
  expect(await next()).toEqual([{ id: 9 }]);
  second.send('event: truncate\nid: 6.1\ndata: {"type":"truncate"}', ': cut');
  expect(await next()).toEqual([]);
  stream.close();
  expect(await lists.next()).toEqual({ done: true, value: undefined });
});

test('callbacks receive each change', async () => {
  const server = await startServer();
  const filmChanges = await getChanges(server.url);
  const calls: unknown[] = [];
  const record =
    (name: string) =>
    (value?: unknown): unknown =>
      calls.push(value === undefined ? [name] : [name, value]);
  const names = ['onRow', 'onInsert', 'onUpdate', 'onDelete', 'onTruncate', 'onGap', 'onReset'];
  const stream = filmChanges(Object.fromEntries(names.map((name) => [name, record(name)])));
  onTestFinished(() => stream.close());

  const opened = await server.next();
  expect(opened.url).toBe('/api/film/changes');
  opened.send(
    changed('insert', '1.1', { record: { id: 1 } }),
    changed('update', '1.2', { record: { id: 2 }, old: { id: 2, title: 'x' } }),
    changed('delete', '1.3', { old: { id: 3 } }),
    changed('truncate', '2.1', {}),
    changed('gap', '3.0', { reason: 'connection-lost' }),
  );
  await expect
    .poll(() => calls)
    .toEqual([
      ['onInsert', { id: 1 }],
      ['onUpdate', { id: 2 }],
      ['onDelete', { id: 3 }],
      ['onTruncate'],
      ['onGap', 'connection-lost'],
    ]);
  await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow('lists() needs the option snapshot: true');
});

test('the types are those of the rows', async () => {
  const files = clientOf(gateway.gateway.endpoints, { createSeparateTypeFile: false });
  const program = {
    path: 'program.ts',
    content: `import { filmChanges } from "./client.ts";
export async function watch(): Promise<string[]> {
  for await (const films of filmChanges({ snapshot: true, filter: { title: "a" }, onInsert: (film) => film.title?.length })) {
    return films.map(({ title }) => title ?? "");
  }
  for await (const films of filmChanges<{ id: number; year: string }>({ snapshot: true, filter: { title: "a", select: "id,year:doc->>year" } })) {
    return films.map(({ year }) => year);
  }
  // @ts-expect-error: rows have the selected columns
  filmChanges({ filter: { select: "id" }, onInsert: (film: { title: string }) => film.name });
  // @ts-expect-error: not a column
  filmChanges({ filter: { name: "a" } });
  return [];
}
`,
  };

  expect(await compile([...files, program])).toBe('');
  for (const options of [{ parseBigints: true, exportEventSources: false }, { createSeparateTypeFile: true }])
    expect(await compile(clientOf(gateway.gateway.endpoints, options))).toBe('');
});
