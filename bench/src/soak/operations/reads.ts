import type { SoakCall, Client } from '../client.ts';
import { padding } from '../schema.sql.ts';
import type { User } from '../users.ts';
import { expectResponse, expectEcho, type Operation } from './operation.ts';

const bodyLength = 20_000;
/** About 60 kB, 600 kB and 6 MB. */
const sizes = { medium: 400, large: 4000, huge: 40_000 };
const maxPauseMs = 400;

/** Returns the expected response of `rows`. */
function rowsBody(token: string, user: User, count: number): string {
  const rows = Array.from({ length: count }, (_, index) =>
    JSON.stringify({ n: index + 1, token, role: user.role, padding }),
  );
  return `[${rows.join(',')}]`;
}

async function echo(client: Client): Promise<void> {
  const token = client.token();
  const call: SoakCall = { operation: 'echo', user: client.anyUser(), line: 'GET /echo', query: { token } };
  expectEcho(client, call, await client.call(call), token);
}

/** Takes some milliseconds; one call in twenty takes 250 ms, so that its connection is not shared. */
async function echoSlowly(client: Client): Promise<void> {
  const token = client.token();
  const seconds = client.random.chance(0.05) ? 0.25 : client.random.next() / 50;
  const call: SoakCall = {
    operation: 'echo_slowly',
    user: client.anyUser(),
    line: 'GET /echo-slowly',
    query: { token, seconds },
  };
  expectEcho(client, call, await client.call(call), token);
}

async function echoParameters(client: Client): Promise<void> {
  const token = client.token();
  const user = client.anyUser();
  const call: SoakCall = { operation: 'echo_parameters', user, line: 'POST /echo-parameters', body: { token } };
  const name = user.id === null ? null : `name of ${user.id}`;
  const row = { token, user: user.id, name, role: user.role };
  expectResponse(client, call, await client.call(call), JSON.stringify([row]));
}

async function echoBody(client: Client): Promise<void> {
  const token = client.token();
  const body = `${token} "ü\\" `.repeat(client.random.integer(1, bodyLength / 10));
  const call: SoakCall = {
    operation: 'echo_body',
    user: client.anyUser(),
    line: 'POST /echo-body',
    query: { token },
    body,
  };
  expectResponse(client, call, await client.call(call), `${token}:${body}`);
}

async function echoBytes(client: Client): Promise<void> {
  const token = Buffer.from(client.token()).toString('hex');
  const times = client.random.integer(1, 500);
  const call: SoakCall = {
    operation: 'echo_bytes',
    user: client.anyUser(),
    line: 'GET /echo-bytes',
    query: { token, times },
  };
  expectResponse(client, call, await client.call(call), Buffer.from(token.repeat(times), 'hex'));
}

async function rowsOfBytes(client: Client): Promise<void> {
  const token = client.token();
  const call: SoakCall = {
    operation: 'rows_of_bytes',
    user: client.anyUser(),
    line: 'GET /rows-of-bytes',
    query: { token },
  };
  const bytes = `\\x${Buffer.from(`${token}\\`).toString('hex')}`;
  const row = { token, bytes, number: 0.1 + 0.2 };
  expectResponse(client, call, await client.call(call), JSON.stringify([row]));
}

async function fewRows(client: Client): Promise<void> {
  const token = client.token();
  const user = client.anyUser();
  const count = client.random.integer(0, 30);
  const call: SoakCall = { operation: 'few rows', user, line: 'GET /rows', query: { token, count } };
  expectResponse(client, call, await client.call(call), rowsBody(token, user, count));
}

async function manyRows(client: Client, size: keyof typeof sizes): Promise<void> {
  const token = client.token();
  const user = client.anyUser();
  const count = sizes[size];
  const call: SoakCall = {
    operation: `${size} response`,
    user,
    line: 'GET /rows',
    query: { token, count },
    isStream: true,
    // A slow client pauses after the first bytes.
    ...(size === 'medium' ? {} : { pauseMs: client.random.integer(1, maxPauseMs) }),
  };
  expectResponse(client, call, await client.call(call), rowsBody(token, user, count));
}

async function lines(client: Client): Promise<void> {
  const token = client.token();
  const user = client.anyUser();
  const count = client.random.integer(1, 30);
  const headers = { accept: 'application/x-ndjson' };
  const call: SoakCall = { operation: 'ndjson', user, line: 'GET /rows', query: { token, count }, headers };
  const rows = Array.from({ length: count }, (_, index) =>
    JSON.stringify({ n: index + 1, token, role: user.role, padding }),
  );
  expectResponse(client, call, await client.call(call), `${rows.join('\n')}\n`);
}

export const reads: readonly Operation[] = [
  { weight: 20, run: echo },
  { weight: 4, run: echoSlowly },
  { weight: 8, run: echoParameters },
  { weight: 3, run: echoBody },
  { weight: 4, run: echoBytes },
  { weight: 3, run: rowsOfBytes },
  { weight: 7, run: fewRows },
  { weight: 2, run: lines },
  { weight: 1, run: (client) => manyRows(client, 'medium') },
  { weight: 0.3, run: (client) => manyRows(client, 'large') },
  { weight: 0.03, run: (client) => manyRows(client, 'huge') },
];
