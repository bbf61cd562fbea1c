import type { SoakCall, Client, CallOutcome } from '../client.ts';
import { writeToken } from '../write-log.ts';
import { expectResponse, expectEcho, type Operation, describeOutcome } from './operation.ts';

/** Adds the outcome of the call to the log of writes: 2xx acknowledges, any other status rejects. */
export function logWrite(client: Client, id: number, outcome: CallOutcome): void {
  const { writes } = client.context;
  if (outcome.kind === 'notSent') writes.end(id, 'not-sent');
  else if (outcome.kind === 'failed') writes.end(id, 'rejected');
  else if (outcome.kind === 'answered') writes.end(id, isSuccess(outcome.status) ? 'acknowledged' : 'rejected');
}

function isSuccess(status: number): boolean {
  // 205 is the status of a cancelled statement.
  return status >= 200 && status < 300 && status !== 205;
}

async function addEntry(client: Client): Promise<void> {
  const user = client.anyUser();
  const id = client.context.writes.begin(user);
  const token = writeToken(id);
  const call: SoakCall = { operation: 'add_entry', user, line: 'POST /add-entry', body: { id, token } };
  const outcome = await client.call(call);
  logWrite(client, id, outcome);
  expectEcho(client, call, outcome, token);
}

async function addSlowly(client: Client): Promise<void> {
  const user = client.anyUser();
  const id = client.context.writes.begin(user);
  const token = writeToken(id);
  const seconds = client.random.next() / 50;
  const body = { id, token, seconds };
  const call: SoakCall = { operation: 'add_entry_slowly', user, line: 'POST /add-entry-slowly', body };
  const outcome = await client.call(call);
  logWrite(client, id, outcome);
  expectResponse(client, call, outcome, token);
}

async function addByProcedure(client: Client): Promise<void> {
  const user = client.anyUser();
  const id = client.context.writes.begin(user);
  const token = writeToken(id);
  const body = { id, token, added: null };
  const call: SoakCall = { operation: 'procedure', user, line: 'POST /add-entry-by-procedure', body };
  const outcome = await client.call(call);
  logWrite(client, id, outcome);
  expectResponse(client, call, outcome, JSON.stringify({ added: token }));
}

async function insertEntry(client: Client): Promise<void> {
  const user = client.anyUser();
  const id = client.context.writes.begin(user);
  const call: SoakCall = { operation: 'table insert', user, line: 'PUT /entry', body: { id, token: writeToken(id) } };
  const outcome = await client.call(call);
  logWrite(client, id, outcome);
  if (outcome.kind === 'answered' && outcome.status !== 204) {
    client.reportViolation('status', call, `204 was expected, not ${describeOutcome(outcome)}`);
  }
}

export const writes: readonly Operation[] = [
  { weight: 8, run: addEntry },
  { weight: 2, run: addSlowly },
  { weight: 4, run: addByProcedure },
  { weight: 5, run: insertEntry },
];
