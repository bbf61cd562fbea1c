import type { SoakCall, Client } from '../client.ts';
import { expectResponse, expectProblem, isAdmin, type Operation, describeOutcome } from './operation.ts';

/** Routines that one role may call: 200 for it, 403 for all others, after any statement that was prepared on the connection. */
async function forAdmins(client: Client): Promise<void> {
  const token = client.token();
  const user = client.anyUser();
  const [path, expected] = client.random.pick([
    ['/vault/open', `vault ${token}`],
    ['/for-admins', `admin ${token}`],
    ['/for-admins-constant', `${token} secret`],
  ] as const);
  const call: SoakCall = { operation: 'privileged', user, line: `GET ${path}`, query: { token } };
  const outcome = await client.call(call);
  if (isAdmin(client, user)) {
    expectResponse(client, call, outcome, expected);
  } else if (outcome.kind === 'answered' && outcome.status === 200) {
    client.reportViolation('privileges', call, describeOutcome(outcome));
  } else {
    expectProblem(client, call, outcome, [403, '42501']);
  }
}

/** Rows that a policy shows to one role only. */
async function notes(client: Client): Promise<void> {
  const user = client.anyUser();
  const { reader, writer, admin } = client.context.roles;
  const call: SoakCall = { operation: 'row security by role', user, line: 'GET /note' };
  const outcome = await client.call(call);
  if (outcome.kind !== 'answered') return;
  const notesOf: Readonly<Record<string, readonly number[]>> = { [reader]: [1], [writer]: [2], [admin]: [3, 4] };
  const visible = notesOf[user.role];
  if (visible === undefined) {
    expectProblem(client, call, outcome, [403, '42501']);
    return;
  }
  const expected = JSON.stringify(visible.map((id) => ({ id, reader: user.role })));
  if (outcome.status !== 200 || outcome.text !== expected) {
    client.reportViolation('privileges', call, `${expected} was expected, not ${describeOutcome(outcome)}`);
  }
}

/** The reader's role has no privilege on the table. */
async function itemsWithoutPrivilege(client: Client): Promise<void> {
  const user = client.users.find(({ role }) => role === client.context.roles.reader) ?? client.context.anonymous;
  const line = client.random.pick(['GET /item', 'DELETE /item', 'PUT /item'] as const);
  const call: SoakCall = {
    operation: 'table without privilege',
    user,
    line,
    ...(line === 'PUT /item' ? { body: { id: -1, value: 'forbidden' } } : {}),
    ...(line === 'DELETE /item' ? { query: { id: 1 } } : {}),
  };
  const outcome = await client.call(call);
  if (outcome.kind === 'answered' && outcome.status < 300)
    client.reportViolation('privileges', call, describeOutcome(outcome));
  else expectProblem(client, call, outcome, [403, '42501']);
}

export const privileges: readonly Operation[] = [
  { weight: 4, run: forAdmins },
  { weight: 4, run: notes },
  { weight: 1, run: itemsWithoutPrivilege },
];
