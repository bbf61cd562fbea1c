import type { SoakCall, Client, CallOutcome } from '../client.ts';
import type { User } from '../users.ts';

/** A kind of request, with the check of its response. The weight is its share of the load. */
export interface Operation {
  readonly weight: number;
  run(client: Client): Promise<void>;
}

/** Checks status and body of a response. Other outcomes have no response to check. */
export function expectResponse(client: Client, call: SoakCall, outcome: CallOutcome, expected: string | Buffer): void {
  if (outcome.kind !== 'answered') return;
  const body = Buffer.from(expected as string);
  if (outcome.status !== 200)
    client.reportViolation('status', call, `200 was expected, not ${describeOutcome(outcome)}`);
  else if (!outcome.body.equals(body)) {
    client.reportViolation(
      'own-response',
      call,
      `${JSON.stringify(bodyStart(body))} was expected, not ${describeOutcome(outcome)}`,
    );
  }
}

/** Checks a response `{"token": …, "role": …, "user": …}`. */
export function expectEcho(client: Client, call: SoakCall, outcome: CallOutcome, token: string): void {
  if (outcome.kind !== 'answered') return;
  if (outcome.status !== 200) {
    client.reportViolation('status', call, `200 was expected, not ${describeOutcome(outcome)}`);
    return;
  }
  const echo = parseJson(outcome.text) as {
    readonly token?: unknown;
    readonly role?: unknown;
    readonly user?: unknown;
  } | null;
  if (echo?.token !== token)
    client.reportViolation('own-response', call, `${token} was expected, not ${describeOutcome(outcome)}`);
  else if (echo.role !== call.user.role || echo.user !== call.user.id)
    client.reportViolation('identity', call, describeOutcome(outcome));
}

/** Checks the status of a problem response, and the SQLSTATE in its body if one is expected. */
export function expectProblem(
  client: Client,
  call: SoakCall,
  outcome: CallOutcome,
  [status, code]: [number, string?],
): void {
  if (outcome.kind !== 'answered') return;
  const problem = parseJson(outcome.text) as { readonly code?: unknown } | null;
  if (outcome.status !== status || (code !== undefined && problem?.code !== code)) {
    client.reportViolation('status', call, `${status} ${code ?? ''} was expected, not ${describeOutcome(outcome)}`);
  }
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

/** Returns the status and the start of the body, for a message. */
export function describeOutcome(outcome: CallOutcome): string {
  return outcome.kind === 'answered' ? `${outcome.status} ${bodyStart(outcome.body)}` : outcome.kind;
}

function bodyStart(body: Buffer): string {
  return body.subarray(0, 300).toString();
}

export function isAdmin(client: Client, user: User): boolean {
  return user.role === client.context.roles.admin;
}
