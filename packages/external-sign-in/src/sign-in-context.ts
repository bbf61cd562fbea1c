import {
  type ExternalSignInServices,
  type GatewayRequest,
  type GatewayResponse,
  type HeaderList,
  Problem,
} from '@pgway/core';
import { pageResponse, wantsPage } from './pages.ts';
import type { PendingSignIns } from './pending-sign-in.ts';
import { ProviderError } from './provider-error.ts';
import type { ProviderSettings } from './provider-settings.ts';
import { parseReturnPath } from './return-path.ts';
import type { SignInCommands } from './sign-in-commands.ts';

/** The settings of the routes. */
export interface RouteSettings {
  readonly publicOrigin: string | null;
  readonly path: string;
  readonly signOutPath: string;
  readonly defaultReturnPath: string;
  /** Seconds. */
  readonly lifetime: number;
}

/** Everything that the routes of all providers share. */
export interface SignInContext extends ExternalSignInServices {
  readonly settings: RouteSettings;
  readonly commands: SignInCommands;
  readonly pending: PendingSignIns;
}

/**
 * Returns the path of `return_to`, or the default one.
 * @throws Problem 400 for a value that is not a path of this site
 */
export function returnPathOf(parameters: URLSearchParams, { defaultReturnPath }: RouteSettings): string {
  const [text, ...others] = parameters.getAll('return_to');
  if (text === undefined) return defaultReturnPath;
  const path = others.length === 0 ? parseReturnPath(text) : null;
  if (path !== null) return path;
  throw new Problem('invalid-parameter', {
    detail: 'The parameter "return_to" takes one path of this site, such as /books?page=2.',
    members: { parameters: ['return_to'] },
  });
}

/** Sends the browser to a path of this site. */
export function redirectTo(path: string, headers: HeaderList = []): GatewayResponse {
  return { kind: 'whole', status: 303, headers: ['location', path, 'cache-control', 'no-store', ...headers], body: '' };
}

interface Continuation {
  readonly url: string;
  readonly title: string;
  readonly headers: HeaderList;
}

/**
 * The response to a POST that continues at another site: a page that goes on by itself, as a redirect would break the rule
 * `form-action 'self'` of the page with the form. Scripts get the address as JSON.
 */
export function continueAt(request: GatewayRequest, { url, title, headers }: Continuation): GatewayResponse {
  if (wantsPage(request)) {
    return pageResponse({
      status: 200,
      title,
      continueTo: url,
      action: { method: 'GET', url, label: 'Continue' },
      headers,
    });
  }
  const fields = ['content-type', 'application/json', 'cache-control', 'no-store', ...headers];
  return { kind: 'whole', status: 200, headers: fields, body: JSON.stringify({ location: url }) };
}

const failureCodes = {
  unavailable: 'provider-unavailable',
  'invalid-response': 'invalid-provider-response',
  denied: 'sign-in-denied',
} as const;

/** Returns the problem of an error. The reasons of provider errors are for the log. */
export function toSignInProblem(error: unknown, { label }: ProviderSettings, context: SignInContext): Problem {
  if (!(error instanceof ProviderError)) return context.toProblem(error);
  const isOutage = error.failure === 'unavailable';
  return new Problem(failureCodes[error.failure], {
    detail: `${label}: ${isOutage ? 'try again in a moment.' : 'start the sign-in again.'}`,
    headers: isOutage ? ['retry-after', '5'] : [],
    cause: error,
  });
}

/** Returns the problem with further response headers. */
export function withProblemHeaders(problem: Problem, headers: HeaderList): Problem {
  const { code, status, title, type, detail, members, cause } = problem;
  return new Problem(code, {
    status,
    title,
    type,
    members,
    cause,
    headers: [...problem.headers, ...headers],
    ...(detail === undefined ? {} : { detail }),
  });
}

interface ProblemPageOptions {
  /** The path that starts the sign-in again. */
  readonly startPath: string;
  readonly showsDatabaseMessages: boolean;
}

/** Returns the page of a problem for a browser, with a link to start again; null for other clients. */
export function problemPage(
  problem: Problem,
  request: GatewayRequest,
  { startPath, showsDatabaseMessages }: ProblemPageOptions,
): GatewayResponse | null {
  if (!wantsPage(request)) return null;
  const { status, title, detail, code, members } = problem;
  const isFromProvider = code === 'provider-unavailable' || code === 'invalid-provider-response';
  const isFromDatabase = members['code'] !== undefined;
  const isInternal = (status >= 500 && !isFromProvider) || (isFromDatabase && !showsDatabaseMessages);
  return pageResponse({
    status,
    title: isInternal ? 'The request could not be answered' : title,
    paragraphs: [
      ...(detail === undefined || isInternal ? [] : [detail]),
      ...(status < 500 ? [] : [`Id: ${request.id}`]),
    ],
    action: { method: 'GET', url: startPath, label: 'Try again' },
    headers: problem.headers,
  });
}
