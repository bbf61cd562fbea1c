/**
 * Everything that a request can be refused for: one table of codes. The codes are part of the public surface; a client
 * may branch on the last part of a problem's `type`.
 */
export const problemTypes = {
  'malformed-query': { status: 400, title: 'The query string is not valid' },
  'malformed-body': { status: 400, title: 'The body cannot be read' },
  'malformed-json': { status: 400, title: 'The body is not valid JSON' },
  'malformed-file': { status: 400, title: 'An uploaded file cannot be read' },
  'body-not-an-object': { status: 400, title: 'The body must be a JSON object' },
  'unknown-parameter': { status: 400, title: 'The request has an unknown parameter' },
  'missing-parameter': { status: 400, title: 'A required parameter is missing' },
  'repeated-parameter': { status: 400, title: 'A parameter is given more than once' },
  'invalid-parameter': { status: 400, title: 'A parameter has an invalid value' },
  'invalid-consistency': { status: 400, title: 'The consistency headers are not valid' },
  'missing-idempotency-key': { status: 400, title: 'The endpoint needs an Idempotency-Key' },
  'invalid-idempotency-key': { status: 400, title: 'The Idempotency-Key is not valid' },
  'invalid-execution-id': { status: 400, title: 'The execution id is not valid' },
  'invalid-batch': { status: 400, title: 'The batch is not valid' },
  'batch-too-large': { status: 400, title: 'The batch is larger than this server accepts' },
  'batch-failed': { status: 400, title: 'A request of the batch has failed' },
  'not-in-batch': { status: 400, title: 'This request cannot be part of a batch' },
  'no-matching-signature': { status: 400, title: 'The parameters match no signature of this endpoint' },
  'ambiguous-signature': { status: 400, title: 'The parameters match several signatures of this endpoint' },
  'too-many-conditions': { status: 400, title: 'The request has too many conditions' },
  'unfiltered-delete': { status: 400, title: 'A delete without a condition is not allowed' },
  'invalid-sign-in': {
    status: 400,
    title: 'The sign-in was not started in this browser, has expired, or is already complete',
  },
  unauthenticated: { status: 401, title: 'Authentication is required' },
  forbidden: { status: 403, title: 'The caller has none of the required roles' },
  'cross-site-request': { status: 403, title: 'Requests from pages of other sites are not allowed' },
  'sign-in-denied': { status: 403, title: 'The sign-in was cancelled or refused at the provider' },
  'insecure-transport': {
    status: 403,
    title: 'Credentials of this kind are not accepted over an unencrypted connection',
  },
  'unknown-endpoint': { status: 404, title: 'No endpoint has this path' },
  'unknown-tenant': { status: 404, title: 'No tenant has this name' },
  'row-not-found': { status: 404, title: 'No such row' },
  'missing-column': { status: 404, title: 'Required columns are missing' },
  'account-not-linked': { status: 404, title: 'The account is not linked to this user' },
  'method-not-allowed': { status: 405, title: 'The path does not support this method' },
  'unrepresentable-rows': { status: 406, title: 'The requested format cannot contain these rows' },
  'request-timeout': { status: 408, title: 'The body did not arrive in time' },
  'upload-too-slow': { status: 408, title: 'The upload does not arrive fast enough' },
  'file-name-conflict': { status: 409, title: 'The file cannot be stored under this name' },
  'account-not-linkable': { status: 409, title: 'The account cannot be linked to this user' },
  'idempotency-key-in-use': { status: 409, title: 'A request with this Idempotency-Key is running' },
  'stored-response-unavailable': { status: 409, title: 'The response of the earlier request is not available' },
  'precondition-failed': {
    status: 412,
    title: 'The row has changed or does not exist',
  },
  'body-too-large': { status: 413, title: 'The body is larger than this server accepts' },
  'uri-too-long': { status: 414, title: 'The path and query are longer than this server accepts' },
  'unsupported-media-type': { status: 415, title: 'The body must be application/json' },
  'unknown-origin': { status: 421, title: 'The host of the request is not the configured origin of the pages' },
  'idempotency-key-reused': { status: 422, title: 'Another request had this Idempotency-Key' },
  'quota-exceeded': { status: 429, title: 'Too many requests' },
  'too-many-attempts': { status: 429, title: 'Too many logins have failed; try again later' },
  'too-many-streams': { status: 429, title: 'Too many event streams of this user or address are open' },
  'refresh-failed': { status: 500, title: 'The endpoints could not be reloaded; the old ones stay in use' },
  internal: { status: 500, title: 'The request could not be answered' },
  'invalid-response-header': { status: 500, title: 'The endpoint made a response header that cannot be sent' },
  'invalid-response-setting': { status: 500, title: 'The endpoint set a response that cannot be sent' },
  'stale-endpoint': {
    status: 500,
    title: 'The database object of this endpoint has changed since it was loaded',
  },
  'database-error': { status: 500, title: 'The database refused the request' },
  'invalid-provider-response': { status: 502, title: 'The response of the sign-in provider is not valid' },
  'provider-unavailable': { status: 503, title: 'The sign-in provider cannot be reached' },
  'database-unavailable': { status: 503, title: 'The database cannot be reached' },
  'outcome-unknown': { status: 503, title: 'The connection was lost; the call may have been executed' },
  'idempotency-unavailable': { status: 503, title: 'Idempotency keys cannot be stored now' },
  'no-free-stream': { status: 503, title: 'The server cannot open more event streams now' },
  'changes-unavailable': { status: 503, title: 'Changes of rows cannot be read now' },
  'rate-limit-unavailable': { status: 503, title: 'The rate limit cannot be checked now' },
  'no-free-connection': { status: 503, title: 'No database connection became free in time' },
  timeout: { status: 504, title: 'The database did not answer in time' },
  'insufficient-storage': { status: 507, title: 'The server has no space for the upload' },
} as const;

export type ProblemCode = keyof typeof problemTypes;

/** The members of a problem beside its code. */
export interface ProblemDetails {
  /** Names the culprit and what to do. */
  readonly detail?: string;
  readonly title?: string;
  readonly status?: number;
  /** The URI of the problem type (RFC 9457, section 3.1.1). Default: `urn:pgway:problem:<code>`, for a code of the host `urn:problem:<code>`. */
  readonly type?: string;
  /** Further members of the response, such as `parameters`, `code` (SQLSTATE), `constraint`. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Further response headers, names and values in turn. */
  readonly headers?: readonly string[];
  readonly cause?: unknown;
}

/** A problem of the host's own: its code is in no table, so that status and title are required. */
export type HostProblemDetails = ProblemDetails & Required<Pick<ProblemDetails, 'status' | 'title'>>;

const codePattern = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/** An error that becomes a problem response (RFC 9457). Stages and callbacks of the host throw it. */
export class Problem extends Error {
  /** The last part of `type`: one of `problemTypes`, or a code of the host. */
  readonly code: string;
  readonly type: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string | undefined;
  readonly members: Readonly<Record<string, unknown>>;
  readonly headers: readonly string[];

  constructor(code: ProblemCode, details?: ProblemDetails);
  /** @throws TypeError for a code that is not in kebab case, a status outside 400 to 599, or an empty title */
  constructor(code: string, details: HostProblemDetails);
  constructor(code: string, details: ProblemDetails = {}) {
    const { status, title, type } = isKnown(code) ? knownProblem(code) : hostProblem(code, details);
    super(details.detail ?? details.title ?? title, { cause: details.cause });
    this.name = 'Problem';
    this.code = code;
    this.type = details.type ?? type;
    this.status = details.status ?? status;
    this.title = details.title ?? title;
    this.detail = details.detail;
    this.members = details.members ?? {};
    this.headers = details.headers ?? [];
  }

  /** Returns a copy with further members. */
  withMembers(members: ProblemDetails['members']): Problem {
    const { status, title, detail, type, headers, cause } = this;
    const details = { status, title, type, headers, cause, members: { ...this.members, ...members } };
    return new Problem(this.code, detail === undefined ? details : { ...details, detail });
  }
}

type Defaults = Required<Pick<ProblemDetails, 'status' | 'title' | 'type'>>;

function isKnown(code: string): code is ProblemCode {
  return Object.hasOwn(problemTypes, code);
}

function knownProblem(code: ProblemCode): Defaults {
  return { ...problemTypes[code], type: `urn:pgway:problem:${code}` };
}

/** @throws TypeError */
function hostProblem(code: string, { status = 0, title = '' }: ProblemDetails): Defaults {
  const fault = (message: string): TypeError => new TypeError(`new Problem(${JSON.stringify(code)}): ${message}`);
  if (!codePattern.test(code)) throw fault('the code must be in kebab case, such as "out-of-stock"');
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw fault('a code of your own needs a status from 400 to 599');
  }
  if (title === '') throw fault('a code of your own needs a title');
  return { status, title, type: `urn:problem:${code}` };
}
