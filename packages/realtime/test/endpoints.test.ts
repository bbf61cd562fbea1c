import { crudSource, type Endpoint } from '@pgway/core';
import { useGateway } from '@pgway/testing';
import { beforeEach, expect, test } from 'vitest';
import { bearers, bind, openConnection, type OpenConnection } from './connection-support.ts';

/** Hooks change the endpoints that a channel is allowed by. */

const hidden = new Set<string>();
const dropped = new Set<string>();

function endpointCreated(endpoint: Endpoint): Endpoint | null {
  const { result, name } = endpoint;
  if (dropped.has(name)) return null;
  if (result.kind !== 'objects') return endpoint;
  return { ...endpoint, result: { ...result, columns: result.columns.filter((column) => !hidden.has(column.name)) } };
}

const gateway = useGateway(
  `
  create table film (id int primary key, title text, secret text);
  create table actor (id int primary key);
  create publication pgway_changes for table film, actor;
  `,
  {
    routineSources: [crudSource()],
    commentsMode: 'parseAll',
    changes: { window: 0 },
    authentication: { schemes: [bearers().scheme] },
    endpointCreated,
  },
);

beforeEach(async () => {
  hidden.clear();
  dropped.clear();
  await gateway.gateway.refresh();
});

async function joined({ messages, send }: OpenConnection, topic: string, binding: object): Promise<void> {
  await expect
    .poll(async () => {
      messages.length = 0;
      send(topic, 'phx_join', binding);
      await expect.poll(() => messages.at(-1)).toBeDefined();
      return messages.at(-1);
    })
    .toMatch(/ system .*"ok"/);
  messages.length = 0;
}

const film = (more: object): object => ({
  config: { postgres_changes: [{ event: '*', schema: 'public', table: 'film', ...more }] },
});

test('columns that the endpoint does not return are neither sent nor compared', async () => {
  hidden.add('secret');
  await gateway.gateway.refresh();
  const opened = await openConnection(gateway.gateway, 'ada');
  const { messages, send } = opened;
  await joined(opened, 'room', film({}));
  await gateway.database.query(`insert into film values (1, 'One', 'x')`);
  await expect.poll(() => messages.at(-1)).toContain('"record":{"id":1,"title":"One"}');
  await gateway.database.query(`delete from film`);
  await expect.poll(() => messages.at(-1)).toContain('"DELETE"');
  messages.length = 0;
  send('filter', 'phx_join', film({ filter: 'secret=eq.x' }));
  send('select', 'phx_join', film({ select: 'secret' }));
  await expect
    .poll(() => messages)
    .toEqual([
      `filter phx_reply {"status":"error","response":{"reason":"filter: \\"secret\\" is not a column of \\"film\\""}}`,
      `select phx_reply {"status":"error","response":{"reason":"select: \\"secret\\" is not a column of \\"film\\""}}`,
    ]);
});

test('a table whose key the endpoint does not return is refused', async () => {
  hidden.add('id');
  await gateway.gateway.refresh();
  const { messages, send } = await openConnection(gateway.gateway, 'ada');
  send('room', 'phx_join', film({}));
  await expect
    .poll(() => messages)
    .toEqual([
      `room phx_reply {"status":"error","response":{"reason":"Changes of \\"public.film\\" are not available: its endpoint does not return \\"id\\", which identifies a row"}}`,
    ]);
});

test('a check after a reload applies the columns of the endpoint, and ends channels without an endpoint', async () => {
  const opened = await openConnection(gateway.gateway, 'ada');
  const { connection, messages, send } = opened;
  await joined(opened, 'all', { config: { postgres_changes: [{ event: '*', schema: 'public' }] } });
  await joined(opened, 'room', film({}));
  await joined(opened, 'cast', bind('actor'));
  const checked = async (): Promise<void> => {
    connection.check();
    // The reply follows the check.
    send('none', 'x', {});
    await expect.poll(() => messages.at(-1)).toContain('unmatched topic');
  };
  hidden.add('secret');
  await gateway.gateway.refresh();
  await checked();
  messages.length = 0;
  await gateway.database.query(`insert into film values (2, 'Two', 'x')`);
  await expect.poll(() => messages.length).toBe(2);
  expect(messages.every((message) => message.includes('"record":{"id":2,"title":"Two"}'))).toBe(true);

  dropped.add('film');
  await gateway.gateway.refresh();
  messages.length = 0;
  await checked();
  expect(messages).toEqual([
    expect.stringMatching(/^room system .*Changes of .*public\.film.* are not available/),
    'room phx_close {}',
    expect.stringContaining('unmatched topic'),
  ]);
  messages.length = 0;
  await gateway.database.query(`delete from film; insert into actor values (1)`);
  await expect.poll(() => messages.map((message) => message.slice(0, 4)).toSorted()).toEqual(['all ', 'cast']);
});
