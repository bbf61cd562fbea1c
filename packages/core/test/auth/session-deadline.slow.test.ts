import { createGateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { startProxy } from '../database/support.ts';
import { cookieOf, defaultHashOfSecret, hashOfSecret, ownPage, people } from './people.ts';

const db = useDatabase(
  `${people.replaceAll(hashOfSecret, defaultHashOfSecret)} create table session (id text primary key, ended timestamptz);`,
);

test('a session check that times out is 503, and does not make the caller anonymous', async () => {
  const proxy = await startProxy(db.connectionString);
  const gateway = await createGateway({
    connectionString: proxy.connectionString,
    authentication: {
      cookie: true,
      sessions: {
        beginCommand: 'insert into session (id) values ($1)',
        checkCommand: 'select ended is null from session where id = $1',
        endCommand: 'update session set ended = now() where id = $1',
        cacheSeconds: 0,
      },
    },
  });
  onTestFinished(() => gateway.close());
  const send = async (path: string, headers: Record<string, string>, body: unknown): Promise<Response> =>
    (await gateway.fetch(
      new Request(`http://x/api/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    ))!;
  const cookie = cookieOf(await send('login', {}, { user: 'ada', password: 'secret' }));
  expect((await send('for-members', { cookie, ...ownPage }, {})).status).toBe(200);
  // The server becomes unreachable: its packets are lost, and no connection closes.
  proxy.swallow();
  const answer = await send('for-members', { cookie, ...ownPage }, {});
  expect([answer.status, await answer.json()]).toMatchObject([503, { detail: 'The session could not be checked.' }]);
  proxy.release();
});
