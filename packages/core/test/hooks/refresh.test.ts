import { holdLock, startGateway, useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';

const sql = `
  create function first() returns text language sql stable as $$ select 'one' $$;
  comment on function first is 'HTTP GET';
`;
const second = `
  create function second() returns text language sql stable as $$ select 'two' $$;
  comment on function second is 'HTTP GET';
`;

const gateway = useGateway(sql, { refreshEndpointEnabled: true });

test('the refresh endpoint reads the catalog again: 204, and the new endpoint is there', async () => {
  expect((await gateway.send('GET /api/second')).status).toBe(404);
  await gateway.database.query(second);
  const { status, body } = await gateway.send('GET /api/gateway/refresh');
  expect({ status, body }).toEqual({ status: 204, body: '' });
  expect((await gateway.send('GET /api/second')).body).toBe('two');
});

test('it is not there unless asked for', async () => {
  const closed = await startGateway(sql);
  expect((await closed.send('GET /api/gateway/refresh')).status).toBe(404);
  await closed.close();
});

test.each(['internal/reload', '/internal/reload/'])('slashes around its path are optional: %s', async (refreshPath) => {
  const other = await startGateway(sql, { refreshEndpointEnabled: true, refreshPath });
  for (const path of ['/internal/reload', '/internal/reload/']) {
    expect([path, (await other.send(`GET ${path}`)).status]).toEqual([path, 204]);
  }
  await other.close();
});

test('its method and path are options', async () => {
  const other = await startGateway(sql, {
    refreshEndpointEnabled: true,
    refreshMethod: 'POST',
    refreshPath: '/internal/reload',
  });
  expect((await other.send('POST /internal/reload')).status).toBe(204);
  expect((await other.send('GET /internal/reload')).status).toBe(405);
  await other.close();
});

test('it can be kept to roles: who is not signed in gets 401, and nothing is read', async () => {
  const guarded = await startGateway(sql, { refreshEndpointEnabled: true, refreshRoles: ['admin'] });
  await guarded.database.query(second);
  const { status, body } = await guarded.send('GET /api/gateway/refresh');
  expect([status, (JSON.parse(body) as { type: string }).type]).toEqual([401, 'urn:pgway:problem:unauthenticated']);
  expect((await guarded.send('GET /api/second')).status).toBe(404);
  await guarded.close();
});

test('a refresh that fails answers 500 with the reason, and the old endpoints stay', async () => {
  const failing = await startGateway(sql, {
    refreshEndpointEnabled: true,
    endpointsCreated: (() => {
      let calls = 0;
      return () => {
        if (calls++ > 0) throw new Error('no disk');
      };
    })(),
  });
  const { status, body } = await failing.send('GET /api/gateway/refresh');
  expect({ status, body: JSON.parse(body) as unknown }).toEqual({
    status: 500,
    body: {
      type: 'urn:pgway:problem:refresh-failed',
      title: 'The endpoints could not be read again; the old ones stay',
      status: 500,
      detail: 'endpointsCreated failed: no disk',
    },
  });
  expect((await failing.send('GET /api/first')).body).toBe('one');
  await failing.close();
});

test('a request that runs while a refresh swaps the endpoints ends on the old ones', async () => {
  const busy = await startGateway(`
    create function slow() returns text language sql volatile as $$ select 'old' from pg_advisory_xact_lock(1) $$;
    comment on function slow is 'HTTP GET';
  `);
  const lock = await holdLock(busy.database.connectionString, 1);
  const running = busy.send('GET /api/slow');
  await expect.poll(() => lock.waiting()).toBe(1);
  await busy.database.query(`comment on function slow is null; ${second}`);
  await busy.gateway.refresh();
  expect(busy.gateway.endpoints.map(({ name }) => name)).toEqual(['second']);
  await lock.release();
  expect((await running).body).toBe('old');
  await busy.close();
});
