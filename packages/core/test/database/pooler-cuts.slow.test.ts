import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createGateway } from '@pgway/core';
import { freshDatabase, pgbouncerVersion, startPgBouncer } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';

/** PgBouncer reports a lost server in the middle of the message that it was passing on: what arrives is no message of PostgreSQL. */

const version = await pgbouncerVersion();
if (version === null) console.warn('SKIPPED: there is no PgBouncer on this machine (apt-get install pgbouncer)');

// The responses of a function have one length.
const sql = `
  create table entry (n int);
  create function add_entry() returns table (first_column_name int, second_column_name text, third_column_name timestamptz)
  language sql as $$ insert into entry values (1) returning n, 'a text', timestamptz '2026-01-02 03:04:05.678901Z' $$;
  comment on function add_entry is 'HTTP POST';
  create function read_entry() returns table (first_column_name int, second_column_name text, third_column_name timestamptz)
  language sql stable as $$ select 1, 'a text', timestamptz '2026-01-02 03:04:05.678901Z' $$;
  comment on function read_entry is 'HTTP GET';
`;

interface CutProxy {
  readonly connectionString: string;
  /** Bytes of the server since the last call of `cutAfter`. */
  readonly passed: () => number;
  /** Closes the connection when the server has sent this number of bytes; infinite: never. */
  cutAfter(bytes: number): void;
}

/** Starts a proxy that loses the server after some bytes of its responses. */
async function startCutProxy(connectionString: string): Promise<CutProxy> {
  const target = new URL(connectionString);
  const sockets = new Set<Socket>();
  let [passed, limit] = [0, Infinity];
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    client.pipe(server);
    client.on('close', () => server.destroy());
    server.on('close', () => client.end());
    server.on('data', (chunk: Buffer) => {
      const rest = limit - passed;
      passed += chunk.length;
      client.write(chunk.subarray(0, rest));
      if (chunk.length < rest) return;
      limit = Infinity;
      client.end();
      server.destroy();
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  const own = new URL(connectionString);
  own.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    connectionString: own.href,
    passed: () => passed,
    cutAfter: (bytes) => ([passed, limit] = [0, bytes]),
  };
}

const ok = '200 [{"firstColumnName":1,"secondColumnName":"a text",…}]';

describe.skipIf(version === null)('the server is lost at any byte of a response behind PgBouncer', () => {
  test.each([
    ['POST', '/api/add-entry', ['503 outcome-unknown']],
    // A row may have arrived before.
    ['GET', '/api/read-entry', [ok, '503 database-unavailable']],
  ])('%s %s', async (method, path, expected) => {
    const database = await freshDatabase(sql);
    onTestFinished(() => database.drop());
    const proxy = await startCutProxy(database.connectionString);
    const bouncer = await startPgBouncer(proxy.connectionString, { mode: 'transaction', size: 1 });
    onTestFinished(() => bouncer.stop());
    const { connectionString } = bouncer;
    const gateway = await createGateway({
      connectionString,
      poolSize: 1,
      pooler: 'transaction',
      preparedStatements: false,
    });
    onTestFinished(() => gateway.close());
    const send = async (): Promise<string> => {
      const response = (await gateway.fetch(new Request(`http://x${path}`, { method })))!;
      const body = await response.text();
      if (response.status === 200) return `200 ${body.replace(/"thirdColumnName":".*"/, '…')}`;
      return `${response.status} ${(JSON.parse(body) as { type: string }).type.split(':').at(-1)!}`;
    };
    expect(await send()).toBe(ok);
    proxy.cutAfter(Infinity);
    expect(await send()).toBe(ok);
    const length = proxy.passed();
    expect(length).toBeGreaterThan(100);
    const outcomes = new Set<string>();
    for (let bytes = 1; bytes < length; bytes++) {
      proxy.cutAfter(bytes);
      outcomes.add(await send());
      proxy.cutAfter(Infinity);
      // PgBouncer connects to the server again.
      expect(await send()).toBe(ok);
    }
    expect([...outcomes].toSorted()).toEqual(expected);
  });
});
