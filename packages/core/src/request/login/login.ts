import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { GatewayResponse, HeaderList } from '../../http/response.ts';
import type { ResultColumn, SignIn } from '../../endpoints/endpoint.ts';
import { challenges } from '../../auth/authorize.ts';
import { claimOf } from '../../auth/identity.ts';
import type { ExecutableCall } from '../build-query.ts';
import type { LoginAttempt, Claim } from '../../ports/ports.ts';
import { bodiless } from '../problem-response.ts';
import { checked } from '../../response/response-headers.ts';
import { type LoginOutcome, errorToLoginOutcome } from '../../ports/attempt-outcome.ts';
import { schemeFor, type SignInOptions } from './options.ts';
import { recordAsJson } from './record.ts';
import { claimsOf, valuesOf } from './signed-row.ts';
import { userOf } from './user-key.ts';

type Login = Extract<SignIn, { readonly kind: 'login' }>;
type Row = readonly (string | null)[];

/** One try to sign in. */
interface Try {
  readonly call: ExecutableCall;
  readonly request: GatewayRequest;
  readonly login: Login;
  readonly columns: readonly ResultColumn[];
  readonly options: SignInOptions;
}

/**
 * Runs the routine and signs its caller in, if its row says so.
 * @param run runs the routine, gives the rows as text
 * @throws Problem 429 after too many failures, 403 when another site made the browser call; whatever the routine throws
 */
export async function signIn(
  call: ExecutableCall,
  request: GatewayRequest,
  options: SignInOptions,
  run: () => Promise<readonly Row[]>,
): Promise<GatewayResponse> {
  // A browser that another site signs in under an identity of that site's choice would confide in it.
  if (options.siteGuard.source(request) === 'foreign') throw new Problem('cross-site-request');
  const { endpoint } = call.candidate;
  const columns = 'columns' in endpoint.result ? endpoint.result.columns : [];
  const attempt: Try = { call, request, login: endpoint.signIn as Login, columns, options };
  const keys = keysOf(attempt);
  const may = options.attempts.mayTry(keys);
  if (!may.ok) throw new Problem('too-many-attempts', { headers: ['retry-after', String(may.retryAfter)] });
  let verdict: Verdict;
  try {
    const [row] = await run();
    verdict = await judge(attempt, row ?? null);
  } catch (error) {
    options.attempts[errorToLoginOutcome(error)](keys);
    throw error;
  }
  // Before the answer is made: a refusal may be thrown.
  options.attempts[verdict.outcome](keys);
  return verdict.answer();
}

/** What failures are counted by. */
function keysOf({ call, request, login }: Try): LoginAttempt {
  const index = call.parameters.findIndex(({ position }) => position === login.user);
  const user = index < 0 ? null : userOf(call.values[index]!, call.parameters[index]!);
  return { user, address: request.remoteAddress ?? null };
}

interface Verdict {
  readonly outcome: LoginOutcome;
  readonly answer: () => GatewayResponse | Promise<GatewayResponse>;
}

async function judge(attempt: Try, row: Row | null): Promise<Verdict> {
  const { login, options } = attempt;
  if (row === null) {
    await wasteTime(attempt);
    // An unknown user is answered as a wrong password is.
    return { outcome: 'failed', answer: login.hash === null ? () => refused(attempt, 401, null) : notFound };
  }
  const message = textAt(attempt, row, login.message);
  const status = statusOf(attempt, row);
  if (status !== 200) {
    await wasteTime(attempt);
    return { outcome: 'failed', answer: () => refused(attempt, status, message) };
  }
  const claims = claimsOf(attempt.columns, row, steering(login));
  const verified = await verify(attempt, row);
  if (verified === false) {
    void tellFailure(attempt, about(attempt, row, claims));
    return { outcome: 'failed', answer: notFound };
  }
  const command = verified === null ? null : options.verificationSucceededCommand;
  if (command !== null) await options.command(command, about(attempt, row, claims));
  return { outcome: 'succeeded', answer: () => begin(attempt, row, { claims, message }) };
}

/** The answer to an unknown user and to a wrong password, where the row has a hash. */
const notFound = (): GatewayResponse => ({ kind: 'whole', status: 404, headers: [], body: '' });

/**
 * Runs the command after a wrong password. The answer waits neither for its end nor for its success: an unknown user has no such
 * command, and would be told apart by the time or by the status.
 */
async function tellFailure({ options }: Try, values: readonly (string | null)[]): Promise<void> {
  const { verificationFailedCommand: command } = options;
  try {
    if (command !== null) await options.command(command, values);
  } catch (cause) {
    options.report(new Error('passwordVerificationFailedCommand has failed', { cause }));
  }
}

function steering({ status, message, scheme, hash }: Login): ReadonlySet<number> {
  return new Set([status, message, scheme, hash].filter((index) => index !== null));
}

/** As long as a wrong password takes: otherwise the time would tell who is a user. */
async function wasteTime({ login, options, request }: Try): Promise<void> {
  if (login.hash !== null && login.password !== null) await options.hasher.verifyDummy(request.remoteAddress);
}

function textAt({ columns }: Try, row: Row, index: number | null): string | null {
  return index === null ? null : (valuesOf(columns[index]!, row[index] ?? null)[0] ?? null);
}

/** 200 for a routine that says nothing of it; a NULL is no success. */
function statusOf(attempt: Try, row: Row): number {
  const { status } = attempt.login;
  if (status === null) return 200;
  const text = textAt(attempt, row, status);
  if (text === null || text === 'false') return 401;
  if (text === 'true') return 200;
  const number = Number(text);
  if (Number.isInteger(number) && number >= 200 && number <= 599) return number;
  throw new Problem('internal', {
    detail: `${attempt.call.candidate.endpoint.id} answered a sign-in with the status ${text}, which is none from 200 to 599.`,
  });
}

/** Null: there is nothing to verify. */
async function verify({ call, login, options, request }: Try, row: Row): Promise<boolean | null> {
  if (login.hash === null || login.password === null) return null;
  const hash = row[login.hash] ?? null;
  if (hash === null && options.allowNullHash) return null;
  const index = call.parameters.findIndex(({ position }) => position === login.password);
  const password = call.values[index] ?? null;
  if (hash !== null && typeof password === 'string')
    return options.hasher.verify(password, hash, request.remoteAddress);
  await options.hasher.verifyDummy(request.remoteAddress);
  return false;
}

/** What the commands of a verification are told: the scheme that the row names, user id, user name; NULL for what it does not say. */
function about(attempt: Try, row: Row, claims: readonly Claim[]): readonly (string | null)[] {
  const { options, login } = attempt;
  return [
    textAt(attempt, row, login.scheme),
    claimOf(claims, options.claimTypes.id),
    claimOf(claims, options.claimTypes.name),
  ];
}

function refused({ options, request }: Try, status: number, message: string | null): GatewayResponse {
  const headers = status === 401 ? challenges(options.schemes, request) : [];
  if (bodiless.has(status)) return { kind: 'whole', status, headers, body: null };
  if (message !== null) return { kind: 'whole', status, headers: [...text, ...headers], body: message };
  if (status !== 401) return { kind: 'whole', status, headers, body: '' };
  throw new Problem('unauthenticated', { title: 'The sign-in was refused', headers });
}

const text: HeaderList = ['content-type', 'text/plain; charset=utf-8'];
const json: HeaderList = ['content-type', 'application/json'];

interface Success {
  readonly claims: readonly Claim[];
  readonly message: string | null;
}

/** The scheme says what it has to say; where that is nothing, the message is the answer, or the row. */
async function begin(attempt: Try, row: Row, { claims, message }: Success): Promise<GatewayResponse> {
  const { login, options, request, call } = attempt;
  const named = textAt(attempt, row, login.scheme);
  const scheme = schemeFor(options, named, 'signIn');
  if (!scheme?.signIn) {
    const which = named === null ? 'there is no scheme' : `there is no scheme ${JSON.stringify(named)}`;
    throw new Problem('internal', {
      detail: `${call.candidate.endpoint.id} would sign in, but ${which} that signs in.`,
    });
  }
  const signed = await scheme.signIn(claims, request);
  const headers = [...authorHeaders(attempt), ...signed.headers];
  if (signed.body !== null) return { kind: 'whole', status: 200, headers, body: signed.body };
  if (message !== null) return { kind: 'whole', status: 200, headers: [...text, ...headers], body: message };
  if (!options.serializeResponse) return { kind: 'whole', status: 200, headers, body: '' };
  const body = recordAsJson(attempt.columns, row, login.hash);
  return { kind: 'whole', status: 200, headers: [...json, ...headers], body };
}

/** Response headers of the comment; what describes the routine's own answer describes none of ours. */
function authorHeaders({ call }: Try): HeaderList {
  return call.candidate.endpoint.headers.flatMap(({ name, value }) => [name.toLowerCase(), checked(name, value)]);
}
