import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Gateway, GatewayOptions, Observation, PasswordHasher } from '@pgway/core';
import { afterAll, beforeAll } from 'vitest';
import { freshDatabase, type TestDatabase } from './database.ts';

/** A response as a client sees it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The `content-type` header. */
  readonly type: string | null;
  /** The body as text. */
  readonly body: string;
}

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and forms are sent as they are, anything else as JSON with its content type. */
  readonly body?: unknown;
}

/** A gateway with a database and an HTTP server of its own. */
export interface TestGateway {
  readonly database: TestDatabase;
  readonly gateway: Gateway;
  readonly url: string;
  /** The observations of the gateway so far. */
  readonly observations: readonly Observation[];
  /** `send('GET /api/books?title=x')` */
  readonly send: (line: string, options?: SendOptions) => Promise<Answer>;
  close(): Promise<void>;
}

/** Loaded by the first gateway: files that start built programs only need none of its modules. */
const core = async () => import('@pgway/core');

let hasher: Promise<PasswordHasher> | undefined;

const loadHasher = (): Promise<PasswordHasher> =>
  (hasher ??= core().then(({ createPasswordHasher }) => createPasswordHasher({ rounds: 1000 })));

/** The password hasher of test gateways with authentication: the 600,000 rounds of the default take 0.2 s. */
export const quickHasher: PasswordHasher = {
  hash: async (...args) => (await loadHasher()).hash(...args),
  verify: async (...args) => (await loadHasher()).verify(...args),
  verifyDummy: async (...args) => (await loadHasher()).verifyDummy(...args),
};

/**
 * Starts a gateway and an HTTP server.
 * @param source the SQL of a fresh database, or a database that stays when the gateway is closed
 */
export async function startGateway(
  source: string | TestDatabase,
  options: Partial<GatewayOptions> = {},
): Promise<TestGateway> {
  const database = typeof source === 'string' ? await freshDatabase(source) : source;
  const dropOwn = async (): Promise<void> => {
    if (typeof source === 'string') await database.drop();
  };
  const observations: Observation[] = [];
  const observer = (observation: Observation): void => void observations.push(observation);
  try {
    const { createGateway } = await core();
    const gateway = await createGateway({
      connectionString: database.connectionString,
      observer,
      ...options,
      ...(options.authentication === undefined
        ? {}
        : { authentication: { passwordHasher: quickHasher, ...options.authentication } }),
    });
    const server = createServer(gateway.middleware);
    const url = await listen(server);
    return {
      database,
      gateway,
      url,
      observations,
      send: (line, sending) => send(url, line, sending),
      close: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
        await gateway.close();
        await dropOwn();
      },
    };
  } catch (error) {
    await dropOwn();
    throw error;
  }
}

/** Starts a gateway for the tests of the file or `describe`. Its properties are valid inside tests. */
export function useGateway(sql: string, options: Partial<GatewayOptions> = {}): TestGateway {
  let started: TestGateway | undefined;
  const current = (): TestGateway => {
    if (started === undefined) throw new Error('use the gateway of useGateway() inside tests only');
    return started;
  };
  beforeAll(async () => {
    started = await startGateway(sql, options);
  });
  afterAll(async () => {
    await started?.close();
    started = undefined;
  });
  return {
    get database() {
      return current().database;
    },
    get gateway() {
      return current().gateway;
    },
    get url() {
      return current().url;
    },
    get observations() {
      return current().observations;
    },
    send: (line, sending) => current().send(line, sending),
    close: () => current().close(),
  };
}

function listen(server: Server): Promise<string> {
  // A connection that the server closes while a busy test sends its next request would fail that request.
  server.keepAliveTimeout = 0;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

async function send(url: string, line: string, { headers = {}, body }: SendOptions = {}): Promise<Answer> {
  const space = line.indexOf(' ');
  const json = body !== undefined && typeof body !== 'string' && !(body instanceof FormData);
  const response = await fetch(url + line.slice(space + 1), {
    method: line.slice(0, space),
    headers: { ...(json ? { 'content-type': 'application/json' } : {}), ...headers },
    body: body === undefined ? null : json ? JSON.stringify(body) : (body as string | FormData),
  });
  return {
    status: response.status,
    headers: response.headers,
    type: response.headers.get('content-type'),
    body: await response.text(),
  };
}
