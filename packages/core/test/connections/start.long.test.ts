import { randomBytes } from 'node:crypto';
import {
  createGateway,
  functionsSource,
  type GatewayOptions,
  type Observation,
  type RoutineSource,
  StartError,
} from '@pgway/core';
import { freshDatabase, type TestDatabase } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startProxy } from '../database/support.ts';

let database: TestDatabase;
const role = `modest_${randomBytes(4).toString('hex')}`;

beforeAll(async () => {
  database = await freshDatabase(`
    create role ${role} login password 'fresh';
    create function me() returns text language sql as 'select current_user::text';
    create function app() returns text language sql as $$ select current_setting('application_name') $$;
    create function app_elsewhere() returns text language sql as $$ select current_setting('application_name') $$;
    comment on function me() is 'HTTP GET';
    comment on function app() is 'HTTP GET';
    comment on function app_elsewhere() is 'HTTP GET
connection_name elsewhere';
  `);
});
afterAll(async () => {
  await database.query(`drop role ${role}`);
  await database.drop();
});

function as(user: string, password: string): string {
  const url = new URL(database.connectionString);
  url.username = user;
  url.password = password;
  return url.href;
}

async function start(
  options: GatewayOptions,
): Promise<{ readonly get: (path: string) => Promise<string>; readonly observations: readonly Observation[] }> {
  const observations: Observation[] = [];
  const gateway = await createGateway({ observer: (observation) => void observations.push(observation), ...options });
  onTestFinished(() => gateway.close());
  const get = async (path: string): Promise<string> => {
    const response = await gateway.fetch(new Request(`http://gateway${path}`));
    return `${response!.status} ${await response!.text()}`;
  };
  return { get, observations };
}

const warnings = (observations: readonly Observation[]): readonly Observation[] =>
  observations.filter(({ kind }) => kind === 'start-warning');

describe('the role of the connection', () => {
  test('a superuser causes one warning', async () => {
    const { get, observations } = await start({ connectionString: database.connectionString });
    await get('/api/me');
    expect(warnings(observations)).toEqual([
      {
        kind: 'start-warning',
        code: 'privileged-role',
        message:
          'the gateway connects as "postgres", which is a superuser; use a role with the necessary privileges only',
      },
    ]);
  });

  test('a role with BYPASSRLS causes a warning, another one does not', async () => {
    expect(warnings((await start({ connectionString: as(role, 'fresh') })).observations)).toEqual([]);
    await database.query(`alter role ${role} bypassrls`);
    onTestFinished(() => database.query(`alter role ${role} nobypassrls`).then(() => undefined));
    const [warning] = warnings((await start({ connectionString: as(role, 'fresh') })).observations);
    expect(warning).toMatchObject({ message: expect.stringContaining('is exempt from row-level security') });
  });

  test('the warning is a line of the log', async () => {
    const lines: string[] = [];
    const silent = (): void => undefined;
    const logger = {
      debug: silent,
      info: silent,
      error: silent,
      warn: (_: object, text: string) => void lines.push(text),
    };
    await start({ connectionString: database.connectionString, logger });
    expect(lines.filter((line) => line.includes('superuser'))).toHaveLength(1);
  });
});

describe('beforeConnectionOpen', () => {
  test('sets a password per connection and receives its name', async () => {
    const asked: (string | null)[] = [];
    const { get } = await start({
      connectionString: as(role, 'stale'),
      connectionStrings: { elsewhere: as(role, 'stale') },
      poolSize: 1,
      beforeConnectionOpen: async (configuration, connection) => {
        asked.push(connection);
        configuration.password = 'fresh';
        configuration.application_name += ' with a token';
      },
    });
    expect(await get('/api/me')).toBe(`200 ${role}`);
    expect(await get('/api/app')).toBe('200 pgway with a token');
    expect(await get('/api/app-elsewhere')).toBe('200 elsewhere with a token');
    expect(asked).toEqual([null, 'elsewhere']);
  });

  test('an exception fails the connection with its message', async () => {
    const broken = start({
      connectionString: database.connectionString,
      startRetry: 30,
      beforeConnectionOpen: () => {
        throw new Error('no token');
      },
    });
    await expect(broken).rejects.toThrow(new StartError('beforeConnectionOpen failed: no token'));
  });

  test('during a request the response is 503, and the observer is notified', async () => {
    let fails = false;
    const { get, observations } = await start({
      connectionString: database.connectionString,
      poolSize: 1,
      beforeConnectionOpen: async () => {
        if (fails) throw new Error('no token');
      },
    });
    fails = true;
    await database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pgway' and datname = current_database()`,
    );
    await expect
      .poll(async () => [await get('/api/me'), observations.filter(({ kind }) => kind === 'connection-failed').at(-1)])
      .toMatchObject([
        expect.stringMatching(/^503 .*database-unavailable/),
        { connection: null, error: { message: 'beforeConnectionOpen failed: no token' } },
      ]);
    fails = false;
    await expect.poll(() => get('/api/me')).toBe('200 postgres');
  });

  test('a callback that never resolves fails after the connect timeout', async () => {
    const hanging = start({
      connectionString: `${database.connectionString}?connect_timeout=1`,
      beforeConnectionOpen: () => new Promise<void>(() => undefined),
    });
    await expect(hanging).rejects.toThrow('beforeConnectionOpen failed: it did not finish within 1000 ms');
  });
});

describe('startRetry', () => {
  test('waits for a server that starts later', async () => {
    const proxy = await startProxy(database.connectionString);
    await proxy.off();
    const starting = start({ connectionString: proxy.connectionString, startRetry: 20 });
    await new Promise((resolve) => setTimeout(resolve, 400));
    await proxy.on();
    expect(await (await starting).get('/api/me')).toBe('200 postgres');
  });

  test('waits no longer than configured, and not at all without it', async () => {
    const proxy = await startProxy(database.connectionString);
    await proxy.off();
    await expect(start({ connectionString: proxy.connectionString, startRetry: 0 })).rejects.toThrow('ECONNREFUSED');
    await expect(start({ connectionString: proxy.connectionString, startRetry: 0.3 })).rejects.toThrow('ECONNREFUSED');
  });

  test('repeats a step whose connection is lost after the first ones have succeeded', async () => {
    const functions = functionsSource();
    let attempts = 0;
    const losesConnections: RoutineSource = {
      name: 'loses connections',
      read: async (reader, filters) => {
        attempts++;
        await reader.query(`select pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid()) where ${attempts < 3}`);
        return functions.read(reader, filters);
      },
    };
    const options = { connectionString: database.connectionString, routineSources: [losesConnections] };
    const { get } = await start({ ...options, startRetry: 20 });
    expect([await get('/api/me'), attempts]).toEqual(['200 postgres', 3]);
    attempts = 0;
    await expect(start(options)).rejects.toThrow(
      'the database connection was lost: terminating connection due to administrator command; start the server, or correct host and port',
    );
    expect(attempts).toBe(1);
  });

  test('a wrong password is not retried', async () => {
    await expect(start({ connectionString: as(role, 'wrong'), startRetry: 600 })).rejects.toThrow('user or password');
  });
});

test('several servers in one string: the first available writable one', async () => {
  const away = await startProxy(database.connectionString);
  await away.off();
  const url = new URL(database.connectionString);
  const text = database.connectionString.replace(url.host, `${new URL(away.connectionString).host},${url.host}`);
  const { get } = await start({ connectionString: `${text}?target_session_attrs=read-write` });
  expect(await get('/api/me')).toBe('200 postgres');
});
