import { crudSource } from '@pgway/core';
import { useGateway } from '@pgway/testing';
import { SignJWT } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { connect, join, useRealtime } from './support.ts';

const secret = 'super-secret-jwt-token-with-at-least-32-characters-long';

const gateway = useGateway(
  `create table film (id integer primary key); create publication pgway_changes for table film;`,
  {
    routineSources: [crudSource()],
    commentsMode: 'parseAll',
    authentication: { jwt: { keys: [{ secret }], issuer: null, audience: null } },
  },
);
const server = useRealtime(() => gateway.gateway);

const sign = (lifetime: string): Promise<string> =>
  new SignJWT({ sub: 'ada' })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setExpirationTime(lifetime)
    .sign(new TextEncoder().encode(secret));

function open(autoPong: boolean): WebSocket {
  const socket = new WebSocket(`${server.url}/realtime/v1/websocket`, { autoPong });
  onTestFinished(() => socket.terminate());
  return socket;
}

// One test, because the service checks both of them once a minute.
test('a channel ends when its token has expired; a client that does not answer pings is disconnected, and one that does stays', async () => {
  const [silent, alive] = [open(false), open(true)];
  const client = connect(server, { apikey: await sign('1h'), token: await sign('3s') });
  const { channel, system } = await join(client, [{ event: '*', schema: 'public', table: 'film' }]);
  await expect
    .poll(() => system.at(-1), { timeout: 180_000 })
    .toMatchObject({ status: 'error', message: 'The credentials are refused: The token has expired.' });
  await expect.poll(() => channel.state).toBe('closed');

  await expect.poll(() => silent.readyState, { timeout: 180_000 }).toBe(WebSocket.CLOSED);
  expect(alive.readyState).toBe(WebSocket.OPEN);
});
