/** Several instances of one gateway, for the tests of broadcasts. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGateway, type EventsOptions, type Gateway, type GatewayOptions, type Observation } from '@pgway/core';
import { freshDatabase, type TestDatabase } from '@pgway/testing';
import { afterEach, beforeEach, expect, onTestFinished } from 'vitest';
import { until } from '../database/support.ts';
import { people } from './people.ts';
import { executionId, openStream } from './support.ts';

/** The database of each test. */
export let database: TestDatabase;

/** Creates the database for each test of the file. */
export function useInstanceDatabase(): void {
  beforeEach(async () => {
    database = await freshDatabase(`
    create function say(_text text, _hint text default 'self') returns void language plpgsql as $$
    begin raise info '%', _text using hint = _hint; end $$;
    comment on function say is 'HTTP POST
    info_path';
    create function secret(_text text) returns void language plpgsql as $$ begin raise info '%', _text; end $$;
    comment on function secret is 'HTTP POST
    authorize admin
    info_path
    info_scope matching';
  `);
  });
  afterEach(() => database.drop());
}

export interface Instance {
  readonly gateway: Gateway;
  readonly url: string;
  readonly observations: readonly Observation[];
  call(name: string, body: object, headers?: Readonly<Record<string, string>>): Promise<number>;
}

export async function start(events: Partial<EventsOptions>, options: Partial<GatewayOptions> = {}): Promise<Instance> {
  const observations: Observation[] = [];
  const gateway = await createGateway({
    connectionString: database.connectionString,
    authentication: { schemes: [people().scheme] },
    observer: (observation) => void observations.push(observation),
    events,
    ...options,
  });
  const server = createServer(gateway.middleware).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await gateway.close();
  });
  const call: Instance['call'] = async (name, body, headers = {}) => {
    const sent = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    };
    return (await fetch(`${url}/api/${name}`, sent)).status;
  };
  return { gateway, url, observations, call };
}

/** Asserts that events of one instance reach the subscribers of the other. */
export async function crossesOver(one: Instance, other: Instance): Promise<void> {
  const id = executionId();
  const own = await openStream(other.url, `/api/say/info?${id}`, { 'x-user': 'ada' });
  const thief = await openStream(other.url, `/api/say/info?${id}`, { 'x-user': 'eve' });
  const admin = await openStream(other.url, '/api/secret/info', { 'x-user': 'bob admin' });
  const here = await openStream(one.url, '/api/say/info');
  expect(await one.call('say', { text: 'for ada' }, { 'x-user': 'ada', 'x-gateway-id': id })).toBe(204);
  expect(await one.call('say', { text: 'for staff', hint: 'authorize staff' })).toBe(204);
  expect(await one.call('say', { text: 'for all', hint: 'all' })).toBe(204);
  expect(await one.call('secret', { text: 'for admins' }, { 'x-user': 'cyd admin' })).toBe(204);
  expect(await own.messages(2)).toEqual(['for ada', 'for all']);
  expect(await thief.messages(1)).toEqual(['for all']);
  expect(await here.messages(1)).toEqual(['for all']);
  expect(await admin.messages(1)).toEqual(['for admins']);
  for (const stream of [own, thief, admin, here]) stream.close();
}

export async function refreshCrossesOver(one: Instance, other: Instance): Promise<void> {
  await database.query(
    `create function news() returns int language sql as 'select 1'; comment on function news() is 'HTTP GET'`,
  );
  await one.gateway.refresh();
  await until('the other instance has it', () => other.gateway.endpoints.some(({ path }) => path === '/api/news'));
}

export async function signOutCrossesOver(one: Instance, other: Instance): Promise<void> {
  await database.query(
    `create function logout() returns void language sql as ''; comment on function logout is 'HTTP\nlogout'`,
  );
  await one.gateway.refresh();
  const ada = await openStream(other.url, '/api/say/info', { 'x-user': 'ada' });
  const bob = await openStream(other.url, '/api/say/info', { 'x-user': 'bob' });
  expect(await one.call('logout', {}, { 'x-user': 'ada' })).toBe(200);
  await ada.over();
  expect([ada.ended, bob.closed]).toEqual([true, false]);
}
