import type { SoakCall, Client } from '../client.ts';
import { raisedState } from '../schema.sql.ts';
import { writeToken } from '../write-log.ts';
import { expectResponse, expectProblem, type Operation, parseJson, describeOutcome } from './operation.ts';
import { logWrite } from './writes.ts';

async function divide(client: Client): Promise<void> {
  const [a, b] = [client.random.integer(0, 1000), client.random.integer(0, 2)];
  const call: SoakCall = { operation: 'divide', user: client.anyUser(), line: 'GET /divide', query: { a, b } };
  const outcome = await client.call(call);
  if (b === 0) expectProblem(client, call, outcome, [400, '22012']);
  else expectResponse(client, call, outcome, String(Math.trunc(a / b)));
}

/** Writes and then raises an error: the message must be that of the call, and the write must not be committed. */
async function raise(client: Client): Promise<void> {
  const user = client.anyUser();
  const id = client.context.writes.begin(user);
  const token = writeToken(id);
  const [status, state] = client.random.pick([
    [500, raisedState],
    [400, 'P0001'],
    [409, '40001'],
  ] as const);
  const call: SoakCall = {
    operation: 'raise',
    user,
    line: 'POST /add-entry-and-fail',
    body: { id, token, state },
    raises: state,
  };
  const outcome = await client.call(call);
  logWrite(client, id, outcome);
  expectProblem(client, call, outcome, [status, state]);
  if (outcome.kind !== 'answered' || outcome.status !== status) return;
  const problem = parseJson(outcome.text) as { readonly title?: unknown } | null;
  if (problem?.title !== token) client.reportViolation('own-response', call, describeOutcome(outcome));
}

/** A call whose write violates a constraint: immediately, or at the commit, after its rows were sent. */
async function violate(client: Client, path: string, expected: [number, string]): Promise<void> {
  const user = client.anyUser();
  const id = client.context.writes.begin(user);
  const call: SoakCall = {
    operation: `constraint at ${path}`,
    user,
    line: `POST ${path}`,
    body: { id, token: writeToken(id) },
  };
  const outcome = await client.call(call);
  logWrite(client, id, outcome);
  expectProblem(client, call, outcome, expected);
}

async function timeOut(client: Client): Promise<void> {
  const user = client.anyUser();
  const id = client.context.writes.begin(user);
  const body = { id, token: writeToken(id) };
  const line = 'POST /add-entry-and-time-out';
  const call: SoakCall = { operation: 'timeout', user, line, body, raises: 'timeout' };
  const outcome = await client.call(call);
  logWrite(client, id, outcome);
  expectProblem(client, call, outcome, [504]);
}

type InvalidCall = Pick<SoakCall, 'line' | 'query' | 'body' | 'headers'> & { readonly status: number };

const json = { 'content-type': 'application/json' };
const invalidCalls: readonly InvalidCall[] = [
  { line: 'GET /echo', query: { token: 'x', unknown: 'y' }, status: 400 },
  { line: 'GET /echo', status: 400 },
  { line: 'GET /divide', query: { a: 'one', b: 1 }, status: 400 },
  { line: 'GET /divide', query: { a: '99999999999', b: 1 }, status: 400 },
  { line: 'POST /add-entry', body: '{"id": 1, "token": ', headers: json, status: 400 },
  { line: 'POST /add-entry', body: [], status: 400 },
  { line: 'POST /add-entry', body: '<id>1</id>', headers: { 'content-type': 'application/xml' }, status: 415 },
  { line: 'POST /echo', body: {}, status: 405 },
  { line: 'GET /no-such-path', status: 404 },
  { line: 'PUT /entry', body: { nothing: 1 }, status: 400 },
];

async function invalidCall(client: Client): Promise<void> {
  const { status, ...invalid } = client.random.pick(invalidCalls);
  const call: SoakCall = { operation: 'invalid request', user: client.anyUser(), ...invalid };
  expectProblem(client, call, await client.call(call), [status]);
}

export const errors: readonly Operation[] = [
  { weight: 3, run: divide },
  { weight: 2.5, run: raise },
  { weight: 1.5, run: (client) => violate(client, '/add-taken', [409, '23505']) },
  { weight: 1.5, run: (client) => violate(client, '/add-entry-and-fail-at-commit', [400, '23503']) },
  { weight: 0.1, run: timeOut },
  { weight: 3, run: invalidCall },
];
