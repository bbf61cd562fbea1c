import { createServer, request as httpRequest, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { createGateway, type Gateway, type GatewayOptions, type Observation } from '@pgway/core';
import { freshDatabase, quickHasher, type TestDatabase } from '@pgway/testing';

/** A gateway whose tenants have databases of their own, all with the same SQL. */
export interface TenantGateway {
  readonly gateway: Gateway;
  /** The database of the gateway's own connection string. */
  readonly main: TestDatabase;
  /** By the name of the tenant. */
  readonly databases: Readonly<Record<string, TestDatabase>>;
  readonly observations: readonly Observation[];
  /** `send('acme', 'GET /api/items')`: a request to the host `acme.example.com`. */
  readonly send: (tenant: string, line: string, options?: SendOptions) => Promise<Response>;
  readonly url: string;
  /** Starts another gateway for the same databases, and returns its URL. */
  readonly startInstance: () => Promise<string>;
  close(): Promise<void>;
}

interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Starts a gateway with a database for each tenant, and the table `tenants` that lists them. */
export async function startTenants(
  names: readonly string[],
  sql: string,
  {
    tenant,
    ...options
  }: Omit<Partial<GatewayOptions>, 'tenant'> & {
    readonly tenant?: Partial<NonNullable<GatewayOptions['tenant']>>;
  } = {},
): Promise<TenantGateway> {
  const all = `create table tenants (name text, connection_string text);${sql}`;
  const main = await freshDatabase(all);
  const created = await Promise.all(names.map(async (name) => [name, await freshDatabase(all)] as const));
  const databases = Object.fromEntries(created);
  for (const [name, { connectionString }] of created) {
    await main.query('insert into tenants values ($1, $2)', [name, connectionString]);
  }
  const observations: Observation[] = [];
  const drop = async (): Promise<void> => {
    await Promise.all([main, ...Object.values(databases)].map((database) => database.drop()));
  };
  try {
    const settings: GatewayOptions = {
      connectionString: main.connectionString,
      observer: (observation) => void observations.push(observation),
      ...options,
      ...(options.authentication === undefined
        ? {}
        : { authentication: { passwordHasher: quickHasher, ...options.authentication } }),
      tenant: {
        by: 'host',
        host: '{tenant}.example.com',
        connectionStrings: Object.fromEntries(
          created.map(([name, { connectionString }]) => [name, connectionString] as const),
        ),
        ...tenant,
      },
    };
    const instances: { readonly gateway: Gateway; readonly server: Server }[] = [];
    const startInstance = async (): Promise<string> => {
      const started = await createGateway(settings);
      const server = createServer(started.middleware);
      instances.push({ gateway: started, server });
      return listen(server);
    };
    const url = await startInstance();
    const { gateway } = instances[0]!;
    return {
      gateway,
      main,
      databases,
      observations,
      url,
      startInstance,
      send: (name, line, options) => sendTo(url, name.includes('.') ? name : `${name}.example.com`, line, options),
      close: async () => {
        await Promise.all(
          instances.map(async (instance) => {
            instance.server.closeAllConnections();
            await new Promise((resolve) => instance.server.close(resolve));
            await instance.gateway.close();
          }),
        );
        await drop();
      },
    };
  } catch (error) {
    await drop();
    throw error;
  }
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

/** Sends a request with a `Host` header, which `fetch` does not allow. */
export async function sendTo(
  url: string,
  host: string,
  line: string,
  { headers = {}, body }: SendOptions = {},
): Promise<Response> {
  const [method = '', path = ''] = line.split(' ', 2);
  const json = body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' };
  const content = body === undefined || body instanceof FormData ? body : JSON.stringify(body);
  const encoded = new Response(content ?? null);
  const type = body instanceof FormData ? { 'content-type': encoded.headers.get('content-type')! } : json;
  const bytes = Buffer.from(await encoded.arrayBuffer());
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}${path}`, { method, headers: { host, ...type, ...headers } }, (response) => {
      buffer(response).then((received) => {
        const pairs = Object.entries(response.headersDistinct).flatMap(([name, values]) =>
          (values ?? []).map((value): [string, string] => [name, value]),
        );
        const status = response.statusCode!;
        const isEmpty = status === 204 || status === 304;
        resolve(new Response(isEmpty ? null : new Uint8Array(received), { status, headers: pairs }));
      }, reject);
    });
    sent.on('error', reject);
    sent.end(bytes);
  });
}
