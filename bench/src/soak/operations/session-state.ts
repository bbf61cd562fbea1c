import type { SoakCall, Client } from '../client.ts';
import { expectResponse, type Operation, parseJson, describeOutcome } from './operation.ts';

/** Calls a routine that changes its session. */
async function changeSession(client: Client): Promise<void> {
  const token = client.token();
  const name = client.random.pick(client.context.leftovers);
  const call: SoakCall = {
    operation: 'leaves session state',
    user: client.anyUser(),
    line: `POST /leave-${name.replaceAll('_', '-')}`,
    body: { token },
  };
  expectResponse(client, call, await client.call(call), token);
}

/** Compares the session state of a call with the first one that was read. */
export async function checkSession(client: Client): Promise<void> {
  const token = client.token();
  const { context: load } = client;
  const call: SoakCall = {
    operation: 'session_state',
    user: client.anyUser(),
    line: 'POST /session-state',
    body: { token },
  };
  const outcome = await client.call(call);
  if (outcome.kind !== 'answered') return;
  const state = parseJson(outcome.text) as Readonly<Record<string, unknown>> | null;
  if (outcome.status !== 200 || state === null) {
    client.reportViolation('status', call, describeOutcome(outcome));
    return;
  }
  if (state['token'] !== token) client.reportViolation('own-response', call, describeOutcome(outcome));
  const rest = JSON.stringify({ ...state, token: undefined });
  if (load.sessionState === '') load.sessionState = rest;
  else if (rest !== load.sessionState)
    client.reportViolation('session-state', call, differences(load.sessionState, rest));
}

function differences(expected: string, found: string): string {
  const [before, after] = [JSON.parse(expected), JSON.parse(found)] as [
    Record<string, unknown>,
    Record<string, unknown>,
  ];
  return Object.keys({ ...before, ...after })
    .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
    .map((key) => `${key} was ${JSON.stringify(before[key])} and is ${JSON.stringify(after[key])}`)
    .join('; ');
}

export const sessionStates: readonly Operation[] = [
  { weight: 2, run: changeSession },
  { weight: 6, run: checkSession },
];
