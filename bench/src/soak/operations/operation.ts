import type { Call, Client, Outcome } from '../client.ts';
import type { User } from '../users.ts';

/** One kind of request, with the check of its answer. The weight is its share of the load. */
export interface Operation {
  readonly weight: number;
  run(client: Client): Promise<void>;
}

/** Checks status and body of an answer, byte by byte; other outcomes have no answer to check. */
export function expectAnswer(client: Client, call: Call, outcome: Outcome, expected: string | Buffer): void {
  if (outcome.kind !== 'answered') return;
  const body = Buffer.from(expected as string);
  if (outcome.status !== 200) client.violated('status', call, `200 was expected, not ${tell(outcome)}`);
  else if (!outcome.body.equals(body)) {
    client.violated('own-answer', call, `${JSON.stringify(start(body))} was expected, not ${tell(outcome)}`);
  }
}

/** Checks an answer `{"token": …, "role": …, "user": …}`. */
export function expectEcho(client: Client, call: Call, outcome: Outcome, token: string): void {
  if (outcome.kind !== 'answered') return;
  if (outcome.status !== 200) {
    client.violated('status', call, `200 was expected, not ${tell(outcome)}`);
    return;
  }
  const echo = parse(outcome.text) as {
    readonly token?: unknown;
    readonly role?: unknown;
    readonly user?: unknown;
  } | null;
  if (echo?.token !== token) client.violated('own-answer', call, `${token} was expected, not ${tell(outcome)}`);
  else if (echo.role !== call.user.role || echo.user !== call.user.id) client.violated('identity', call, tell(outcome));
}

/** Checks the status of a refusal, and the SQLSTATE in its body where there is one. */
export function expectRefusal(client: Client, call: Call, outcome: Outcome, [status, code]: [number, string?]): void {
  if (outcome.kind !== 'answered') return;
  const problem = parse(outcome.text) as { readonly code?: unknown } | null;
  if (outcome.status !== status || (code !== undefined && problem?.code !== code)) {
    client.violated('status', call, `${status} ${code ?? ''} was expected, not ${tell(outcome)}`);
  }
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

/** The begin of an answer, for a message. */
export function tell(outcome: Outcome): string {
  return outcome.kind === 'answered' ? `${outcome.status} ${start(outcome.body)}` : outcome.kind;
}

function start(body: Buffer): string {
  return body.subarray(0, 300).toString();
}

export function isAdmin(client: Client, user: User): boolean {
  return user.role === client.load.roles.admin;
}
