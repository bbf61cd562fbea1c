import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createGateway,
  createPasswordHasher,
  type Gateway,
  type GatewayOptions,
  type Observation,
  type PasswordHasher,
} from '@pgway/core';
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

/** The password hasher of test gateways with authentication: the 600,000 rounds of the default take 0.2 s. */
export const quickHasher: PasswordHasher = createPasswordHasher({ rounds: 1000 });

/** Runs the SQL in a fresh database and starts a gateway and an HTTP server for it. */
export async function startGateway(sql: string, options: Partial<GatewayOptions> = {}): Promise<TestGateway> {
  const database = await freshDatabase(sql);
  const observations: Observation[] = [];
  const observer = (observation: Observation): void => void observations.push(observation);
  try {
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
        await database.drop();
      },
    };
  } catch (error) {
    await database.drop();
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
