import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createGateway, installIdempotency } from '@pgway/core';
import { freshDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';

/** The connection to PostgreSQL is lost at any byte of a batch, in both directions: what the client is told is true. */

const sql = `
  ${installIdempotency({ schema: 'pgway', roles: [] }).join(';\n')};
  create table note (text text);
  create function add_note(_text text) returns text language sql as $$ insert into note values (_text) returning text $$;
  comment on function add_note is E'HTTP POST\\nidempotent';
`;

type Direction = 'toServer' | 'toClient';

interface Proxy {
  readonly connectionString: string;
  /** Bytes since the last call of `cutAfter`. */
  readonly passed: Readonly<Record<Direction, number>>;
  /** Closes the next connection that has passed this number of bytes; null: none. */
  cutAfter(direction: Direction, bytes: number | null): void;
  close(): void;
}

async function startProxy(connectionString: string): Promise<Proxy> {
  const target = new URL(connectionString);
  const sockets = new Set<Socket>();
  const passed = { toServer: 0, toClient: 0 };
  let cut: { readonly direction: Direction; readonly bytes: number } | null = null;
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    const pass = (from: Socket, to: Socket, direction: Direction): void => {
      sockets.add(from);
      from.on('data', (chunk: Buffer) => {
        const left = cut?.direction === direction ? cut.bytes - passed[direction] : Number.POSITIVE_INFINITY;
        passed[direction] += chunk.length;
        to.write(chunk.subarray(0, left));
        if (chunk.length < left) return;
        cut = null;
        client.destroy();
        // The server executes what it has received.
        server.end();
      });
      from.on('error', () => to.destroy());
      from.on('close', () => to.end());
    };
    pass(client, server, 'toServer');
    pass(server, client, 'toClient');
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const own = new URL(connectionString);
  own.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    connectionString: own.href,
    passed,
    cutAfter: (direction, bytes) => {
      passed.toServer = passed.toClient = 0;
      cut = bytes === null ? null : { direction, bytes };
    },
    close: () => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const add = (text: unknown): object => ({ method: 'POST', path: '/api/add-note', body: { text } });
/** A text that no earlier request had. */
const requests: Readonly<Record<string, (text: string) => readonly [path: string, body: unknown]>> = {
  'a request alone': (text) => ['/api/add-note', { text }],
  'a batch in one round trip': (text) => ['/batch', [add(text), add(`${text} and more`)]],
  'a batch of several round trips': (text) => ['/batch', [add(text), add({ $ref: '0' })]],
};
/** The rows of a request with its text. */
const rowsOfOne: Readonly<Record<string, number>> = { 'a batch of several round trips': 2 };
const positions = 25;

/** What a response says about the effects of its request. */
interface Truth {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly effects: readonly number[];
}

test.each(
  Object.keys(requests).flatMap((request) =>
    (['toServer', 'toClient'] as const).flatMap((direction) =>
      [false, true].map((hasKey) => ({ request, direction, hasKey })),
    ),
  ),
)('$request, $direction, idempotency key: $hasKey', async ({ request, direction, hasKey }) => {
  const database = await freshDatabase(sql);
  const proxy = await startProxy(database.connectionString);
  const gateway = await createGateway({
    connectionString: proxy.connectionString,
    poolSize: 1,
    batchPath: '/batch',
    observer: () => undefined,
  });
  onTestFinished(async () => {
    await gateway.close();
    proxy.close();
    await database.drop();
  });
  const send = async (text: string): Promise<{ status: number; type: string; retryAfter: string | null }> => {
    const [path, body] = requests[request]!(text);
    const headers = { 'content-type': 'application/json', ...(hasKey ? { 'idempotency-key': text } : {}) };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = (await gateway.fetch(new Request(`http://localhost${path}`, init)))!;
    const answer = await response.text();
    const type = response.status === 200 ? 'done' : (JSON.parse(answer) as { type: string }).type;
    return { status: response.status, type, retryAfter: response.headers.get('retry-after') };
  };
  const effects = async (text: string): Promise<number> => {
    const others = `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and backend_type = 'client backend' and state <> 'idle'`;
    await expect.poll(() => database.query(others), { interval: 10 }).toEqual([]);
    const rows = await database.query('select from note where text = $1', [text]);
    return rows.length / (rowsOfOne[request] ?? 1);
  };
  // A connection that is open, whose statements are prepared.
  const warmUp = async (name: string): Promise<void> => {
    for (let done = 0; done < 3;) if ((await send(`${name}-${done}`)).status === 200) done++;
  };
  await warmUp('first');
  proxy.cutAfter(direction, null);
  expect((await send('measured')).status).toBe(200);
  const bytes = proxy.passed[direction];
  const lasting: number[] = [];
  // Only a request with a key can be sent again without a second effect.
  const truths: Readonly<Record<string, Truth>> = {
    done: { status: 200, retryAfter: null, effects: [1] },
    'urn:pgway:problem:database-unavailable': { status: 503, retryAfter: '1', effects: [0] },
    'urn:pgway:problem:outcome-unknown': { status: 503, retryAfter: hasKey ? '1' : null, effects: [0, 1] },
  };
  for (let position = 0; position < positions; position++) {
    const text = `cut-${position}`;
    await warmUp(`before-${position}`);
    proxy.cutAfter(direction, 1 + Math.floor((bytes * position) / positions));
    let answer = await send(text);
    proxy.cutAfter(direction, null);
    const found = await effects(text);
    const { effects: possible, ...expected } = truths[answer.type]!;
    expect(answer).toEqual({ ...expected, type: answer.type });
    expect(possible).toContain(found);
    if (!hasKey) continue;
    while (answer.status !== 200) answer = await send(text);
    lasting.push(await effects(text));
  }
  expect(lasting).toEqual(hasKey ? Array.from({ length: positions }, () => 1) : []);
});
