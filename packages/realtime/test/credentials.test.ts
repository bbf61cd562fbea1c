import { crudSource } from '@pgway/core';
import { useGateway } from '@pgway/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { bearers, bind, openConnection, type OpenConnection } from './connection-support.ts';

const { scheme, gone } = bearers();
const gateway = useGateway(
  `
  create table a (id int primary key, owner text);
  create table b (id int primary key, owner text);
  comment on table a is 'HTTP
authorize';
  comment on table b is 'HTTP
authorize';
  create publication pgway_changes for table a, b;
  `,
  {
    routineSources: [crudSource()],
    commentsMode: 'parseAll',
    changes: { window: 0 },
    authentication: { schemes: [scheme] },
  },
);

beforeEach(() => gone.clear());

/** Joins; the log may not be read yet. */
async function joined({ messages, send }: OpenConnection, topic: string, ...tables: readonly string[]): Promise<void> {
  await expect
    .poll(async () => {
      const before = messages.length;
      send(topic, 'phx_join', bind(...tables));
      await expect.poll(() => messages.length).toBeGreaterThan(before);
      return messages.at(-1);
    })
    .toMatch(/ system .*"ok"/);
}

const refused =
  'room system {"extension":"postgres_changes","status":"error","message":"Changes of \\"public.a\\" are not available: the table needs an endpoint that you may call, and pgway install changes","channel":"room"}';

describe('a check of the credentials', () => {
  test('is made although joins of the client wait', async () => {
    const opened = await openConnection(gateway.gateway, 'ada');
    const { connection, socket, messages, send } = opened;
    await joined(opened, 'room', 'a');
    gone.add('ada');
    let received = 0;
    // The first join is being answered, and the second one waits.
    socket.on('message', () => {
      if (++received === 2) connection.check();
    });
    send('one', 'phx_join', bind('a'));
    send('two', 'phx_join', bind('a'));
    await expect.poll(() => messages.at(-1)).toBe('room phx_close {}');
    expect(messages.at(-2)).toBe(refused);
  });
});
