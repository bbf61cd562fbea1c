import type { SoakCall, Client } from '../client.ts';
import { slowClientTimeoutSeconds } from '../gateway-process.ts';
import { writeToken } from '../write-log.ts';
import type { Operation } from './operation.ts';
import { logWrite } from './writes.ts';

/** More than the buffers of both sockets take: about 30 MB in rows, 20 MB in one value. */
const endless = { rows: 200_000, value: 3_000_000 };

async function leaveAnswer(client: Client): Promise<void> {
  const query = { token: client.token(), count: client.random.pick([400, 4000, 40_000]) };
  const call: SoakCall = {
    operation: 'leaves in the answer',
    user: client.anyUser(),
    line: 'GET /rows',
    query,
    leave: 'at-first-bytes',
    isStream: true,
  };
  await client.call(call);
}

/** Its statement is cancelled; others on its connection must not notice. */
async function leaveCall(client: Client): Promise<void> {
  const query = { token: client.token(), seconds: client.random.chance(0.1) ? 5 : 0.05 };
  const leave = { afterMs: client.random.integer(1, 40) };
  await client.call({
    operation: 'leaves a read',
    user: client.anyUser(),
    line: 'GET /echo-slowly',
    query,
    leave,
  });
}

async function leaveWrite(client: Client): Promise<void> {
  const user = client.anyUser();
  const id = client.context.writes.begin(user);
  const body = { id, token: writeToken(id), seconds: client.random.next() / 20 };
  const leave = { afterMs: client.random.integer(0, 40) };
  const call: SoakCall = { operation: 'leaves a write', user, line: 'POST /add-entry-slowly', body, leave };
  logWrite(client, id, await client.call(call));
}

/** The request is never whole: nothing may be written. */
async function leaveBody(client: Client): Promise<void> {
  const user = client.anyUser();
  const id = client.context.writes.begin(user);
  const body = { id, token: writeToken(id) };
  await client.call({ operation: 'leaves its body', user, line: 'POST /add-entry', body, leave: 'in-request-body' });
  client.context.writes.end(id, 'refused');
}

/** It holds a connection to the database until the gateway's `slowClientTimeout` is over, and not longer. */
async function neverRead(client: Client): Promise<void> {
  const token = client.token();
  const [line, query] = client.random.chance(0.5)
    ? (['GET /rows', { token, count: endless.rows }] as const)
    : (['GET /large-value', { token, times: endless.value }] as const);
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
    client.reportViolation('connections', call, 'the answer of a client that reads nothing goes on');
}

export const disconnects: readonly Operation[] = [
  { weight: 0.3, run: leaveAnswer },
  { weight: 1, run: leaveCall },
  { weight: 1, run: leaveWrite },
  { weight: 0.3, run: leaveBody },
  { weight: 0.01, run: neverRead },
];
