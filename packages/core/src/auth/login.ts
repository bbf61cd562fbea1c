import type { Value } from '../postgres/port.ts';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse, HeaderList } from '../http/response.ts';
import type { Endpoint, EndpointParameter, ResultColumn, LoginOrLogout } from '../endpoints/endpoint.ts';
import { errorToLoginOutcome, type LoginAttempt, type LoginOutcome } from '../ports/ports.ts';
import { firstClaim } from './claims.ts';
import type { LoginOptions } from './login-options.ts';
import { completeLogin, type LoginResult, loginStatus, refuseLogin } from './login-result.ts';
import { columnValues, type LoginRow, normalizeUser, rowAsJson, rowClaims } from './login-row.ts';

/** A call of a login routine. */
export interface LoginCall {
  readonly candidate: { readonly endpoint: Endpoint };
  readonly parameters: readonly EndpointParameter[];
  readonly values: readonly Value[];
}

/** The steps of a login that belong to the request pipeline. */
export interface LoginSteps {
  /** Runs the routine and returns its rows. */
  readonly execute: () => Promise<readonly LoginRow[]>;
  /**
   * Returns the response headers of the endpoint's comment. The headers of the routine's own result do not apply.
   * @throws Problem 500 for a header that cannot be sent
   */
  readonly headers: () => HeaderList;
}

type LoginColumns = Extract<LoginOrLogout, { readonly kind: 'login' }>;

interface Login extends LoginCall {
  readonly endpoint: Endpoint;
  readonly request: GatewayRequest;
  readonly login: LoginColumns;
  readonly columns: readonly ResultColumn[];
  readonly options: LoginOptions;
  readonly headers: LoginSteps['headers'];
}

/**
 * Runs a login routine, and signs its caller in when the row allows it.
 * @throws Problem 429 after too many failures, 403 for a cross-site request; the errors of the routine
 */
export async function login(
  call: LoginCall,
  request: GatewayRequest,
  options: LoginOptions,
  { execute, headers }: LoginSteps,
): Promise<GatewayResponse> {
  // Login CSRF: another site could sign the browser in as a user of its choice.
  if (options.csrfGuard.source(request) === 'cross-site') throw new Problem('cross-site-request');
  const { endpoint } = call.candidate;
  const columns = 'columns' in endpoint.result ? endpoint.result.columns : [];
  const columnsOfLogin = endpoint.loginOrLogout as LoginColumns;
  const current: Login = { ...call, endpoint, request, login: columnsOfLogin, columns, options, headers };
  const { loginRateLimiter } = options;
  const attempt = attemptOf(current);
  const result = await loginRateLimiter.consume(attempt);
  if (!result.ok) throw new Problem('too-many-attempts', { headers: ['retry-after', String(result.retryAfter)] });
  let verdict: Verdict;
  try {
    const [row] = await execute();
    verdict = await judge(current, row ?? null);
  } catch (error) {
    loginRateLimiter.complete(attempt, errorToLoginOutcome(error));
    throw error;
  }
  // Before the response, which may throw.
  loginRateLimiter.complete(attempt, verdict.outcome);
  return verdict.respond();
}

/** Returns the keys of the rate limit. */
function attemptOf({ parameters, values, request, login: { userParameter: position } }: Login): LoginAttempt {
  const index = parameters.findIndex((parameter) => parameter.position === position);
  const user = index < 0 ? null : normalizeUser(values[index]!, parameters[index]!);
  return { user, address: request.remoteAddress ?? null };
}

/** The result of evaluating a login row. */
interface Verdict {
  readonly outcome: LoginOutcome;
  readonly respond: () => GatewayResponse | Promise<GatewayResponse>;
}

async function judge(current: Login, row: LoginRow | null): Promise<Verdict> {
  const { login: columns, request, options } = current;
  if (row === null) {
    await verifyDummy(current);
    // With a hash, the same response as for a wrong password.
    const failedStatus = columns.hashColumn === null ? 401 : options.verificationFailedStatus;
    return { outcome: 'failed', respond: () => refuseLogin({ status: failedStatus, message: null }, request, options) };
  }
  const result = loginResult(current, row);
  const status = loginStatus(result);
  if (status !== 200) {
    await verifyDummy(current);
    return { outcome: 'failed', respond: () => refuseLogin({ status, message: result.message }, request, options) };
  }
  const verified = await verifyPassword(current, row);
  if (verified === false) {
    void runFailedCommand(current, commandValues(result, options));
    const refusal = { status: options.verificationFailedStatus, message: null };
    return { outcome: 'failed', respond: () => refuseLogin(refusal, request, options) };
  }
  const command = verified === null ? null : options.verificationSucceededCommand;
  if (command !== null) await options.command(command, commandValues(result, options));
  return { outcome: 'succeeded', respond: () => signIn(result, current) };
}

/**
 * Runs the command after a wrong password. The response neither waits for it nor depends on its success: for an unknown user no
 * command runs, and a difference in time or status would reveal that.
 */
async function runFailedCommand({ options }: Login, values: readonly (string | null)[]): Promise<void> {
  const { verificationFailedCommand: command } = options;
  try {
    if (command !== null) await options.command(command, values);
  } catch (cause) {
    options.report(new Error('passwordVerificationFailedCommand has failed', { cause }));
  }
}

function controlColumns({
  statusColumn: status,
  messageColumn: message,
  schemeColumn: scheme,
  hashColumn: hash,
}: LoginColumns): ReadonlySet<number> {
  return new Set([status, message, scheme, hash].filter((index) => index !== null));
}

/** Takes as long as the verification of a password: otherwise the time would reveal which users exist. */
async function verifyDummy({
  login: { hashColumn: hash, passwordParameter: password },
  options,
  request,
}: Login): Promise<void> {
  if (hash !== null && password !== null) await options.hasher.verifyDummy(request.remoteAddress);
}

function textAt({ columns }: Login, row: LoginRow, index: number | null): string | null {
  return index === null ? null : (columnValues(columns[index]!, row[index] ?? null)[0] ?? null);
}

/** Returns null when there is nothing to verify. */
async function verifyPassword(current: Login, row: LoginRow): Promise<boolean | null> {
  const { parameters, values, login: columns, options, request } = current;
  if (columns.hashColumn === null || columns.passwordParameter === null) return null;
  const hash = row[columns.hashColumn] ?? null;
  if (hash === null && options.allowNullHash) return null;
  const index = parameters.findIndex(({ position }) => position === columns.passwordParameter);
  const password = values[index] ?? null;
  if (hash !== null && typeof password === 'string') {
    return options.hasher.verify(password, hash, request.remoteAddress);
  }
  await options.hasher.verifyDummy(request.remoteAddress);
  return false;
}

/** Returns the values of the verification commands: scheme, user id and user name; NULL for those that the row lacks. */
function commandValues({ scheme, claims }: LoginResult, { claimTypes }: LoginOptions): readonly (string | null)[] {
  return [scheme, firstClaim(claims, claimTypes.id), firstClaim(claims, claimTypes.name)];
}

/** Returns the row by the meaning of its columns. */
function loginResult(current: Login, row: LoginRow): LoginResult {
  const { login: columns, endpoint } = current;
  return {
    source: endpoint.id,
    status: columns.statusColumn === null ? undefined : textAt(current, row, columns.statusColumn),
    message: textAt(current, row, columns.messageColumn),
    scheme: textAt(current, row, columns.schemeColumn),
    claims: rowClaims(current.columns, row, controlColumns(columns)),
    toJson: () => rowAsJson(current.columns, row, columns.hashColumn),
  };
}

/** @throws Problem 500 for a header of the comment that cannot be sent, before a session begins */
function signIn(result: LoginResult, { request, options, headers }: Login): Promise<GatewayResponse> {
  return completeLogin(result, { request, headers: headers() }, options);
}
