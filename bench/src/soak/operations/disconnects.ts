import type { SoakCall, Client } from '../client.ts';
import { slowClientTimeoutSeconds } from '../gateway-process.ts';
import { writeToken } from '../write-log.ts';
import type { Operation } from './operation.ts';
import { logWrite } from './writes.ts';

/** More than the buffers of both sockets hold: about 30 MB in rows, 20 MB in one value. */
const oversized = { rows: 200_000, value: 3_000_000 };

async function disconnectDuringResponse(client: Client): Promise<void> {
  const query = { token: client.token(), count: client.random.pick([400, 4000, 40_000]) };
  const call: SoakCall = {
    operation: 'disconnects in response',
    user: client.anyUser(),
    line: 'GET /rows',
    query,
    disconnect: 'at-first-bytes',
    isStream: true,
  };
  await client.call(call);
}

/** The statement is cancelled; other calls on the connection must not be affected. */
async function disconnectDuringRead(client: Client): Promise<void> {
  const query = { token: client.token(), seconds: client.random.chance(0.1) ? 5 : 0.05 };
  const disconnect = { afterMs: client.random.integer(1, 40) };
  await client.call({
    operation: 'disconnects in read',
    user: client.anyUser(),
    line: 'GET /echo-slowly',
    query,
    disconnect,
  });
}

async function disconnectDuringWrite(client: Client): Promise<void> {
  const user = client.anyUser();
  const id = client.context.writes.begin(user);
  const body = { id, token: writeToken(id), seconds: client.random.next() / 20 };
  const disconnect = { afterMs: client.random.integer(0, 40) };
  const call: SoakCall = { operation: 'disconnects in write', user, line: 'POST /add-entry-slowly', body, disconnect };
  logWrite(client, id, await client.call(call));
}

/** The request is incomplete: nothing may be written. */
async function disconnectDuringBody(client: Client): Promise<void> {
  const user = client.anyUser();
  const id = client.context.writes.begin(user);
  const body = { id, token: writeToken(id) };
  await client.call({
    operation: 'disconnects in body',
    user,
    line: 'POST /add-entry',
    body,
    disconnect: 'in-request-body',
  });
  client.context.writes.end(id, 'rejected');
}

/** The call occupies a database connection until `slowClientTimeout`, and not longer. */
async function neverRead(client: Client): Promise<void> {
  const token = client.token();
  const [line, query] = client.random.chance(0.5)
    ? (['GET /rows', { token, count: oversized.rows }] as const)
    : (['GET /large-value', { token, times: oversized.value }] as const);
  const call: SoakCall = {
    operation: 'never reads',
    user: client.anyUser(),
    line,
    query,
    pauseMs: slowClientTimeoutSeconds * 3000,
    isStream: true,
    neverReads: true,
  };
  const outcome = await client.call(call);
  if (outcome.kind === 'answered')
    client.reportViolation('connections', call, 'the response to a client that reads nothing continues');
}

export const disconnects: readonly Operation[] = [
  { weight: 0.3, run: disconnectDuringResponse },
  { weight: 1, run: disconnectDuringRead },
  { weight: 1, run: disconnectDuringWrite },
  { weight: 0.3, run: disconnectDuringBody },
  { weight: 0.01, run: neverRead },
];
