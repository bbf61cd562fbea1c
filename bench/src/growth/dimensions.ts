/** The dimensions besides the number of endpoints. Each size is measured with one gateway in a process of its own. */
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';

import { runSql } from '../database.ts';
import type { LoadTool } from '../load/load-tool.ts';
import { openStreamReaders } from '../streams/stream-reader.ts';
import { getRequest } from '../works/work.ts';
import { ask, closeInstance, type Instance, startInstance } from './instance.ts';

/** The costs of one size, by their names with units. */
export type Costs = Readonly<Record<string, number>>;

export interface Dimension {
  readonly name: string;
  /** The unit of the sizes. */
  readonly unit: string;
  readonly sizes: readonly number[];
  readonly quickSizes: readonly number[];
  measure(size: number, bench: DimensionBench): Promise<Costs>;
}

export interface DimensionBench {
  readonly connectionString: string;
  readonly tool: LoadTool;
  readonly seconds: number;
  /** The least number of requests that are measured. */
  readonly requests: number;
  readonly signal: AbortSignal;
}

const mebibyte = 2 ** 20;
const agent = new Agent({ keepAlive: true });

export const dimensionsSql = `create schema work;
  create function work.one(_n int) returns int language sql stable as $$ select _n $$;
  comment on function work.one is 'HTTP GET';
  create function work.bytes(_n bigint) returns setof text language sql stable as $$
    select repeat('x', least(_n, 65536)::int) from generate_series(1, greatest(1, _n / 65536)) $$;
  comment on function work.bytes is 'HTTP GET
    timeout 600s';
  create function work.say(_text text) returns void language plpgsql as $$ begin raise info '%', _text; end $$;
  comment on function work.say is 'HTTP POST
    info_path
    info_scope all';
  create function work.tenant() returns text language sql stable as $$ select current_database()::text $$;
  comment on function work.tenant is 'HTTP GET';`;

const includeSchemas = ['work'];

async function using<Result>(
  options: Parameters<typeof startInstance>[0],
  measure: (instance: Instance) => Promise<Result>,
): Promise<Result> {
  const instance = await startInstance({ includeSchemas, ...options });
  try {
    return await measure(instance);
  } finally {
    await closeInstance(instance);
  }
}

/** Returns the microseconds of CPU of each call under load, after as many calls that are compiled. */
async function cpuPerRequest({ child, start }: Instance, bench: DimensionBench, connections: number): Promise<number> {
  const { tool, seconds, signal } = bench;
  const base = `http://127.0.0.1:${start.port}/api/work`;
  const load = async (): Promise<number> => {
    let sum = 0;
    while (sum < bench.requests) {
      const load = { base, requests: [getRequest('/one?n=1')], connections, seconds, signal };
      const { requests, failures } = await tool.run(load);
      if (failures > 0) throw new Error(`${failures} requests failed with ${connections} connections`);
      sum += requests;
    }
    return sum;
  };
  await load();
  const before = await ask(child, { kind: 'usage' });
  const requests = await load();
  const after = await ask(child, { kind: 'usage' });
  return (after.cpu - before.cpu) / requests;
}

/** Opens connections that have sent a request each and stay idle; a hundred at a time. */
async function openIdle(port: number, count: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const next = Array.from({ length: Math.min(100, count - sockets.length) }, () => connect(port, '127.0.0.1'));
    const answered = next.map((socket) => once(socket, 'data'));
    for (const socket of next) socket.write('GET /api/work/one?n=1 HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await Promise.all(answered);
    for (const socket of next) socket.on('error', () => undefined);
    sockets.push(...next);
  }
  return sockets;
}

const idleConnections: Dimension = {
  name: 'idle connections',
  unit: 'connections',
  sizes: [10, 100, 1_000, 9_000],
  quickSizes: [10, 100],
  measure: (size, bench) =>
    using({ connectionString: bench.connectionString }, async (instance) => {
      const sockets = await openIdle(instance.start.port, size);
      const { rss } = await ask(instance.child, { kind: 'memory' });
      const cpu = await cpuPerRequest(instance, bench, 10);
      for (const socket of sockets) socket.destroy();
      return { 'CPU µs/request': cpu, 'RSS MiB': rss / mebibyte };
    }),
};

const activeConnections: Dimension = {
  name: 'active connections',
  unit: 'connections',
  sizes: [10, 100, 1_000, 9_000],
  quickSizes: [10, 100],
  measure: (size, bench) =>
    using({ connectionString: bench.connectionString }, async (instance) => {
      const cpu = await cpuPerRequest(instance, bench, size);
      const { peak } = await ask(instance.child, { kind: 'memory' });
      return { 'CPU µs/request': cpu, 'peak MiB': peak / mebibyte };
    }),
};

const databaseConnections: Dimension = {
  name: 'database connections',
  unit: 'connections',
  sizes: [1, 4, 16, 64],
  quickSizes: [1, 16],
  measure: (size, bench) =>
    using({ connectionString: bench.connectionString, poolSize: size }, async (instance) => {
      const cpu = await cpuPerRequest(instance, bench, 100);
      const { peak } = await ask(instance.child, { kind: 'memory' });
      return { 'CPU µs/request': cpu, 'peak MiB': peak / mebibyte };
    }),
};

/** Calls until so many bytes have been sent, at most 500 and at least one. */
const responseBytes = 32 * mebibyte;

const responses: Dimension = {
  name: 'response',
  unit: 'bytes',
  sizes: [1, 1_024, 65_536, mebibyte, 16 * mebibyte, 1024 * mebibyte],
  quickSizes: [1, 65_536, 16 * mebibyte],
  measure: (size, bench) =>
    using({ connectionString: bench.connectionString }, async ({ child, start }) => {
      const url = `http://127.0.0.1:${start.port}/api/work/bytes?n=${size}`;
      for (let call = 0; call < 20; call++) await readBytes(`http://127.0.0.1:${start.port}/api/work/bytes?n=65536`);
      const calls = Math.max(1, Math.min(500, Math.floor(responseBytes / size)));
      const before = await ask(child, { kind: 'usage' });
      for (let call = 0; call < calls; call++) {
        const bytes = await readBytes(url);
        if (bytes < size) throw new Error(`${bytes} of ${size} bytes have arrived`);
      }
      const after = await ask(child, { kind: 'usage' });
      const { peak } = await ask(child, { kind: 'memory' });
      return { 'CPU µs/response': (after.cpu - before.cpu) / calls, 'peak MiB': peak / mebibyte };
    }),
};

function readBytes(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => resolve(bytes)).on('error', reject);
    }).on('error', reject);
  });
}

/** Returns the response to a call of a tenant; `fetch` would not send the host. */
function readText(port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path: '/api/work/tenant', headers: { host }, agent }, (response) => {
      response.setEncoding('utf8');
      let text = '';
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(text)).on('error', reject);
    }).on('error', reject);
  });
}

const eventStreams: Dimension = {
  name: 'event streams',
  unit: 'streams',
  sizes: [1, 10, 100, 1_000, 9_000],
  quickSizes: [1, 100],
  measure: (size, { connectionString }) =>
    using(
      { connectionString, events: { maxStreams: 20_000, maxStreamsPerAddress: 20_000 } },
      async ({ child, start }) => {
        const readers = await openStreamReaders(start.port, '/api/work/say/info', size);
        const { rss } = await ask(child, { kind: 'memory' });
        const messages = 20;
        const before = await ask(child, { kind: 'usage' });
        for (let message = 0; message < messages; message++) {
          const arrived = Promise.all(readers.map((reader) => reader.waitForMarker(`message ${message}.`)));
          await fetch(`http://127.0.0.1:${start.port}/api/work/say`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ text: `message ${message}.` }),
          });
          await arrived;
        }
        const after = await ask(child, { kind: 'usage' });
        for (const { socket } of readers) socket.destroy();
        return {
          'CPU µs/message': (after.cpu - before.cpu) / messages,
          'RSS MiB': rss / mebibyte,
        };
      },
    ),
};

const tenants: Dimension = {
  name: 'tenants',
  unit: 'tenants',
  // Each tenant has a database, which takes 8 MB of the disk and up to a second: `npm run bench:tenants` has more of them.
  sizes: [1, 10, 100],
  quickSizes: [1, 4],
  measure: async (size, { connectionString }) => {
    const url = new URL(connectionString);
    const reference = url.pathname.slice(1);
    const prefix = `${reference}_t${size}_`;
    const names = Array.from({ length: size }, (_, index) => `t${index + 1}`);
    await runSql(
      connectionString,
      `create table if not exists public.tenant_name (name text); truncate public.tenant_name;
      insert into public.tenant_name values ${names.map((name) => `('${name}')`).join(', ')}`,
    );
    const administration = new URL(connectionString);
    administration.pathname = '/postgres';
    const administer = (statement: (name: string) => string): Promise<void> =>
      names.reduce((done, name) => done.then(() => runSql(administration.href, statement(name))), Promise.resolve());
    const ofTenants = new URL(connectionString);
    ofTenants.pathname = `/${prefix}{tenant}`;
    try {
      for (const name of names) {
        await runSql(administration.href, `create database "${prefix}${name}"`);
        const ofTenant = new URL(connectionString);
        ofTenant.pathname = `/${prefix}${name}`;
        await runSql(ofTenant.href, dimensionsSql);
      }
      const options = {
        connectionString,
        tenant: {
          by: 'host' as const,
          host: '{tenant}.example.com',
          connectionString: decodeURI(ofTenants.href),
          query: 'select name from public.tenant_name',
        },
      };
      return await using(options, async ({ child, start }) => {
        const call = async (name: string): Promise<void> => {
          const text = await readText(start.port, `${name}.example.com`);
          if (!text.includes(`${prefix}${name}`)) throw new Error(`${name} got ${text}`);
        };
        for (const name of names) await call(name);
        const { rss } = await ask(child, { kind: 'memory' });
        const calls = 2_000;
        for (let index = 0; index < calls; index++) await call(names[index % size]!);
        const before = await ask(child, { kind: 'usage' });
        for (let index = 0; index < calls; index++) await call(names[index % size]!);
        const after = await ask(child, { kind: 'usage' });
        return {
          'CPU µs/request': (after.cpu - before.cpu) / calls,
          'RSS MiB': rss / mebibyte,
        };
      });
    } finally {
      await administer((name) => `drop database if exists "${prefix}${name}" with (force)`);
    }
  },
};

export const dimensions: readonly Dimension[] = [
  idleConnections,
  activeConnections,
  databaseConnections,
  responses,
  eventStreams,
  tenants,
];
