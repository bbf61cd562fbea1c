import { createHmac } from 'node:crypto';
import { connect } from 'node:net';

import { build, cases, useDatabase } from '@pgway/testing';
import { Client } from 'undici';
import { beforeAll, expect, test } from 'vitest';
import { folderWith } from './support/folder.ts';
import { bin, start } from './support/program.ts';

beforeAll(build);

const items = 1000;
const clientCount = 50;

const database = useDatabase(`
  create table item (id int primary key, note text not null);
  insert into item select n, 'item ' || n from generate_series(1, ${items}) n;
  create table entry (id int primary key, note text not null);
  comment on table item is 'HTTP';
  comment on table entry is 'HTTP';
  create type parts as (text text, numbers int[]);

  create function add(_a int, _b int) returns int language sql immutable as 'select _a + _b';
  comment on function add is 'HTTP GET';
  create function plus(_a int, _b int) returns int language sql volatile as 'select _a + _b';
  comment on function plus is 'HTTP GET';
  create function known(_n int) returns text language sql stable as $$ select 'known ' || _n $$;
  comment on function known is 'HTTP GET
  cached';
  create function echo(_text text, _numbers int[]) returns parts language sql as
    $$ select row(_text, _numbers)::parts $$;
  comment on function echo is 'HTTP POST';
  create function numbers(_first int, _amount int) returns table (n int, twice int) language sql stable as
    $$ select n, 2 * n from generate_series(_first, _first + _amount - 1) n $$;
  comment on function numbers is 'HTTP GET';
  create function lines(_n int) returns setof text language sql stable as $$ values ('a' || _n), ('b' || _n) $$;
  comment on function lines is 'HTTP GET
  raw
  new_line \\n';
  create procedure turn(inout _a int, inout _b int) language plpgsql as
    $$ declare a int := _a; begin _a := _b; _b := a; end $$;
  comment on procedure turn is 'HTTP POST';
  create function who(_n int, _user_name text default null) returns text language sql stable as
    $$ select _user_name || ' ' || _n $$;
  comment on function who is 'HTTP GET
  authorize
  user_parameters';
  create function mark(_headers json default null) returns text language sql stable as $$ select _headers ->> 'x-mark' $$;
  comment on function mark is 'HTTP GET
  request_headers parameter
  request_headers_parameter_name _headers';
  create function refuse(_n int) returns int language plpgsql as $$ begin raise 'refused %', _n; end $$;
  comment on function refuse is 'HTTP GET';
  create function late(_n int) returns int language sql volatile as $$ select _n from pg_sleep(30) $$;
  comment on function late is 'HTTP GET
  command_timeout 50ms';
  create function nap(_n int) returns int language sql volatile as $$ select _n from pg_sleep(0.02) $$;
  comment on function nap is 'HTTP GET';
`);

const secret = 'a secret of the tests, which has 32 bytes';

function tokenOf(name: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: name, name, iss: 'test', aud: 'test', exp: 4_000_000_000 })}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

interface Call {
  /** Method and path. */
  readonly line: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly status?: number;
  /** The expected response: a text, or a value whose JSON it is. For a problem a text that it contains. */
  readonly expected: string | object;
}

/** Returns call number `n` of a client. Calls of the same kind differ in their arguments and their response. */
type Kind = (n: number, client: number) => Call;

const authorization = Array.from({ length: clientCount }, (_, client) => `Bearer ${tokenOf(`user${client}`)}`);

const kinds: Readonly<Record<string, { readonly perMille: number; readonly call: Kind }>> = {
  'an immutable function': {
    perMille: 440,
    call: (n) => ({ line: `GET /api/add?a=${n}&b=7`, expected: String(n + 7) }),
  },
  'a volatile function': {
    perMille: 180,
    call: (n) => ({ line: `GET /api/plus?a=${n}&b=9`, expected: String(n + 9) }),
  },
  'a cached response': {
    perMille: 80,
    call: (n) => ({ line: `GET /api/known?n=${n % 5000}`, expected: `known ${n % 5000}` }),
  },
  'a JSON body': {
    perMille: 60,
    call: (n) => {
      const body = { text: `"${n}" ü`, numbers: [n, -n] };
      return { line: 'POST /api/echo', body, expected: body };
    },
  },
  'the row of a key': {
    perMille: 60,
    call: (n) => {
      const id = 1 + (n % items);
      return { line: `GET /api/item?id=${id}`, expected: [{ id, note: `item ${id}` }] };
    },
  },
  'some rows': {
    perMille: 50,
    call: (n) => ({ line: `GET /api/numbers?first=${n}&amount=${n % 20}`, expected: numbers(n, n % 20) }),
  },
  'a caller': {
    perMille: 40,
    call: (n, client) => ({
      line: `GET /api/who?n=${n}`,
      headers: { authorization: authorization[client]! },
      expected: `user${client} ${n}`,
    }),
  },
  'a header': {
    perMille: 30,
    call: (n) => ({ line: 'GET /api/mark', headers: { 'x-mark': `mark ${n}` }, expected: `mark ${n}` }),
  },
  'an error': {
    perMille: 19,
    call: (n) => ({ line: `GET /api/refuse?n=${n}`, status: 400, expected: `"refused ${n}"` }),
  },
  'a write': {
    perMille: 16,
    call: (n, client) => {
      const body = { id: client, note: `note ${n}` };
      return { line: 'PUT /api/entry/on-conflict-do-update/returning', body, expected: [body] };
    },
  },
  'a procedure': {
    perMille: 10,
    call: (n) => ({ line: 'POST /api/turn', body: { a: n, b: -n }, expected: { a: -n, b: n } }),
  },
  'raw lines': {
    perMille: 10,
    call: (n) => ({ line: `GET /api/lines?n=${n}`, expected: `a${n}\nb${n}` }),
  },
  'many rows': {
    perMille: 2,
    call: (n) => ({ line: `GET /api/numbers?first=${n}&amount=1000`, expected: numbers(n, 1000) }),
  },
  'an invalid value': {
    perMille: 2,
    call: (n) => ({ line: `GET /api/add?a=x${n}&b=1`, status: 400, expected: `x${n}` }),
  },
  'a timeout': {
    perMille: 1,
    // One in four, so that timeouts do not occupy all connections.
    call: (n) =>
      n % 4000 < 1000
        ? { line: `GET /api/late?n=${n}`, status: 504, expected: '"status":504' }
        : { line: `GET /api/nap?n=${n}`, expected: String(n) },
  },
};

function numbers(first: number, amount: number): readonly object[] {
  return Array.from({ length: amount }, (_, index) => ({ n: first + index, twice: 2 * (first + index) }));
}

/** The kind of each call in a thousand, spread evenly. */
const schedule: readonly string[] = Object.entries(kinds)
  .flatMap(([name, { perMille }]) =>
    Array.from({ length: perMille }, (_, index) => ({ name, at: (index + 0.5) / perMille })),
  )
  .toSorted((left, right) => left.at - right.at)
  .map(({ name }) => name);

interface Response {
  readonly status: number;
  readonly body: string;
}

function send(client: Client, { line, headers = {}, body }: Call): Promise<Response> {
  const [method, path] = line.split(' ') as ['GET', string];
  return new Promise((resolve, reject) => {
    let status = 0;
    const chunks: Buffer[] = [];
    const json = body === undefined ? null : JSON.stringify(body);
    client.dispatch(
      {
        method,
        path,
        body: json,
        headers: json === null ? headers : { ...headers, 'content-type': 'application/json' },
      },
      {
        onConnect: () => undefined,
        onHeaders: (statusCode) => {
          status = statusCode;
          return true;
        },
        onData: (chunk) => {
          chunks.push(chunk);
          return true;
        },
        onComplete: () => resolve({ status, body: Buffer.concat(chunks).toString() }),
        onError: reject,
      },
    );
  });
}

/** Returns a description of the difference, or null. */
function compare({ line, status = 200, expected }: Call, response: Response): string | null {
  const isRight =
    response.status === status &&
    (status === 200
      ? response.body === (typeof expected === 'string' ? expected : JSON.stringify(expected))
      : response.body.includes(expected as string));
  return isRight ? null : `${line}: ${response.status} ${response.body.slice(0, 200)}`;
}

/** Sends requests and disconnects before their responses, until the signal. */
async function leave(url: string, signal: AbortSignal): Promise<void> {
  const { hostname, port } = new URL(url);
  for (let n = 0; !signal.aborted; n++) {
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    socket.write(
      `GET /api/${n % 2 === 0 ? 'nap' : 'numbers'}?n=${n}&first=1&amount=2000 HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`,
    );
    // Between the arrival of the request and the end of the response.
    await new Promise((resolve) => setTimeout(resolve, 1 + (n % 25)));
    socket.destroy();
  }
}

const configuration = {
  port: 0,
  workers: 1,
  crud: { enabled: true },
  log: { format: 'json', levels: { access: 'silent' } },
  // On a busy machine, calls wait longer for a connection.
  gateway: { poolSize: 8, acquireTimeout: 60, unknownParameters: 'ignore' },
  authentication: { production: false },
  jwt: { enabled: true, secret, issuer: ['test'], audience: ['test'] },
};

// PGWAY_TEST_CALLS=1000000 makes a million.
const total = Number(process.env['PGWAY_TEST_CALLS'] ?? cases(100) * 1000);

test('among errors, timeouts, writes and clients that disconnect, each call of 50 clients gets its own response', async () => {
  const folder = await folderWith({ 'pgway.json': { connectionString: database.connectionString, ...configuration } });
  const program = start(folder, [process.execPath, bin]);
  const [, url] = await program.until(/"url":"(http[^"]+)".*"msg":"ready"/);
  const leaving = new AbortController();
  const left = leave(url!, leaving.signal);
  const wrong: string[] = [];
  const notes = new Map<number, Call['body']>();
  const counts = new Map<string, number>();
  let next = 0;
  const run = async (index: number): Promise<void> => {
    const client = new Client(url!);
    while (next < total && wrong.length < 20) {
      const n = next++;
      const kind = schedule[n % schedule.length]!;
      const call = kinds[kind]!.call(n, index);
      // A client sends its calls one by one.
      const difference = compare(call, await send(client, call));
      if (difference !== null) wrong.push(`${kind}: ${difference}`);
      if (kind === 'a write') notes.set(index, call.body);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    await client.close();
  };
  await Promise.all(Array.from({ length: clientCount }, (_, index) => run(index)));
  leaving.abort();
  await left;
  expect(wrong).toEqual([]);
  expect(await database.query('select id, note from entry order by id')).toEqual(
    [...notes].toSorted(([left], [right]) => left - right).map(([, note]) => note),
  );
  expect(Object.fromEntries(counts)).toEqual(
    Object.fromEntries(Object.entries(kinds).map(([kind, { perMille }]) => [kind, (perMille * total) / 1000])),
  );
}, 1_800_000);
