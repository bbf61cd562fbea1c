import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import { bodilessStatuses, type GatewayResponse, type HeaderList } from '../http/response.ts';
import type { Claim, SignInResponse } from '../ports/ports.ts';
import { challengeHeaders } from './authorize.ts';
import { type LoginOptions, selectScheme } from './login-options.ts';

/** The row of a login routine or a login command, by the meaning of its columns. */
export interface LoginResult {
  /** Names the routine or the option in messages. */
  readonly source: string;
  /** The text of the status column: `true`, `false` or a number; null for NULL, undefined without the column. */
  readonly status: string | null | undefined;
  readonly message: string | null;
  /** The name of the scheme; null: the default scheme. */
  readonly scheme: string | null;
  readonly claims: readonly Claim[];
  /** Returns the row as a JSON object, without the column of the password hash. */
  readonly toJson: () => string;
}

/**
 * Returns the status of a login: 200 without a status column, 401 for false and NULL.
 * @throws Problem 500 for a value that is not a status
 */
export function loginStatus({ status: text, source }: Pick<LoginResult, 'status' | 'source'>): number {
  if (text === undefined || text === 'true') return 200;
  if (text === null || text === 'false') return 401;
  const number = Number(text);
  if (Number.isInteger(number) && number >= 200 && number <= 599) return number;
  throw new Problem('internal', {
    detail: `${source} returned the login status ${text}, which is not from 200 to 599.`,
  });
}

interface Refusal {
  readonly status: number;
  readonly message: string | null;
}

/** @throws Problem 401 without a message */
export function refuseLogin(
  { status, message }: Refusal,
  request: GatewayRequest,
  { schemes }: Pick<LoginOptions, 'schemes'>,
): GatewayResponse {
  const headers = status === 401 ? challengeHeaders(schemes, request) : [];
  if (bodilessStatuses.has(status)) return { kind: 'whole', status, headers, body: null };
  if (message !== null) return { kind: 'whole', status, headers: [...text, ...headers], body: message };
  if (status !== 401) return { kind: 'whole', status, headers, body: '' };
  throw new Problem('unauthenticated', { title: 'The login was refused', headers });
}

const text: HeaderList = ['content-type', 'text/plain; charset=utf-8'];
const json: HeaderList = ['content-type', 'application/json'];

/**
 * Starts a session with the scheme that the row names.
 * @throws Problem 500 without such a scheme
 */
export async function startSession(
  { source, scheme: name, claims }: Pick<LoginResult, 'source' | 'scheme' | 'claims'>,
  request: GatewayRequest,
  options: Pick<LoginOptions, 'schemes' | 'authenticationType'>,
): Promise<SignInResponse> {
  const scheme = selectScheme(options, name, 'signIn');
  if (scheme?.signIn) return scheme.signIn(claims, request);
  const which = name === null ? 'there is no scheme' : `there is no scheme ${JSON.stringify(name)}`;
  throw new Problem('internal', { detail: `${source} accepted a login, but ${which} that supports login.` });
}

/** The request of a login, and the headers of its response besides those of the scheme. */
export interface LoginExchange {
  readonly request: GatewayRequest;
  readonly headers: HeaderList;
}

/** Logs in with the scheme. The body is that of the scheme, else the message, else the row. */
export async function completeLogin(
  result: LoginResult,
  { request, headers: ownHeaders }: LoginExchange,
  options: Pick<LoginOptions, 'schemes' | 'authenticationType' | 'serializeResponse'>,
): Promise<GatewayResponse> {
  const { message, toJson } = result;
  const signedIn = await startSession(result, request, options);
  const headers = [...ownHeaders, ...signedIn.headers];
  if (signedIn.body !== null) return { kind: 'whole', status: 200, headers, body: signedIn.body };
  if (message !== null) return { kind: 'whole', status: 200, headers: [...text, ...headers], body: message };
  if (!options.serializeResponse) return { kind: 'whole', status: 200, headers, body: '' };
  return { kind: 'whole', status: 200, headers: [...json, ...headers], body: toJson() };
}
