import type { FormattedProblem, HeaderList, Problem, ProblemFormat, ShownMembers } from '@pgway/core';
import { isDatabaseError } from './database-error.ts';
import { raisedStatus } from './raised-problem.ts';

const unknownFunction = { status: 404, code: 'PGRST202' };
const invalidBody = { status: 400, code: 'PGRST102' };

/** The status and code of PostgREST for problems of the gateway. */
const postgrestErrors: ReadonlyMap<string, { readonly status: number; readonly code: string }> = new Map([
  ['unknown-parameter', unknownFunction],
  ['missing-parameter', unknownFunction],
  ['no-matching-signature', unknownFunction],
  ['ambiguous-signature', { status: 300, code: 'PGRST203' }],
  ['malformed-json', invalidBody],
  ['malformed-body', invalidBody],
  ['body-not-an-object', invalidBody],
]);

/** A code of PostgREST with its text. */
interface KnownError {
  readonly code: string;
  readonly message: string;
  readonly details?: string;
}

const unsuitableKey = {
  code: 'PGRST301',
  message: 'No suitable key or wrong key type',
  details: 'None of the keys was able to decode the JWT',
} as const;

/** The texts of PostgREST for the reasons why a token is refused. */
const refusals: Readonly<Record<string, KnownError & { readonly code: 'PGRST301' | 'PGRST303' }>> = {
  'The token is empty': { code: 'PGRST301', message: 'Empty JWT is sent in Authorization header' },
  'The token is malformed': { code: 'PGRST301', message: 'JWT cryptographic operation failed' },
  'The token is not signed': {
    code: 'PGRST301',
    message: 'Wrong or unsupported encoding algorithm',
    details: "JWT is unsecured but expected 'alg' was not 'none'",
  },
  'The key of the token is not known': unsuitableKey,
  'The signature of the token is not valid': unsuitableKey,
  'The token has expired': { code: 'PGRST303', message: 'JWT expired' },
  'The token is not valid yet': { code: 'PGRST303', message: 'JWT not yet valid' },
  'The token is for another audience': { code: 'PGRST303', message: 'JWT not in audience' },
  'The claim aud is not a text or an array of texts': {
    code: 'PGRST303',
    message: "The JWT 'aud' claim must be a string or an array of strings",
  },
};

/** Refusals of other claims of a token whose signature is valid. */
const refusedClaims = /^The token (?:is too old|is from another issuer|has no expiry)/;
const partCount = /^A token has 3 parts, and not (\d+)$/;
const notNumber = /^The claim (exp|nbf|iat) is not a number$/;

/** @param detail the reason; undefined: there is no token */
function unauthenticated(detail: string | undefined): KnownError {
  if (detail === undefined) return { code: 'PGRST302', message: 'Anonymous access is disabled' };
  const reason = detail.replace(/\.$/, '');
  const [, parts] = partCount.exec(reason) ?? [];
  if (parts !== undefined) return { code: 'PGRST301', message: `Expected 3 parts in JWT; got ${parts}` };
  const [, claim] = notNumber.exec(reason) ?? [];
  if (claim !== undefined) return { code: 'PGRST303', message: `The JWT '${claim}' claim must be a number` };
  const known = Object.hasOwn(refusals, reason) ? refusals[reason] : undefined;
  return known ?? { code: refusedClaims.test(reason) ? 'PGRST303' : 'PGRST301', message: reason };
}

/** The errors with a choice for the client. A problem itself has a status from 400 on. */
const choices: ReadonlySet<unknown> = new Set(['PGRST201', 'PGRST203']);

/** Returns the error that PostgREST has in place of a problem; null: the problem has its own text. */
function knownError({ code, detail }: Problem): KnownError | null {
  if (code === 'unauthenticated') return unauthenticated(detail);
  return code === 'invalid-response-setting' ? settingFault(detail) : null;
}

/** The error as PostgREST has it. Its code is an SQLSTATE, a code of PostgREST, or that of the problem. */
export const formatProblem: ProblemFormat = (problem, shown) => {
  const known = knownError(problem);
  const members: ErrorMembers = known === null ? shownError(problem, shown) : errorOf(known);
  const status = statusOf(problem, shown);
  const { pointer } = shown;
  return {
    status,
    members: pointer === undefined ? members : { ...members, pointer },
    headers: [...challenges(problem.headers, { status, known }), ...proxyStatus(members.code)],
  };
};

type ErrorMembers = FormattedProblem['members'];

function errorOf({ code, message, details }: KnownError): ErrorMembers {
  return { code, message, details: details ?? null, hint: null };
}

function shownError(
  { code: ownCode, cause }: Problem,
  { code, title, detail, details, hint = null }: ShownMembers,
): ErrorMembers {
  // The text of PostgreSQL names the type; which parameter has the value is not part of its errors.
  const isRefusedValue = ownCode === 'invalid-parameter' && code !== undefined && isDatabaseError(cause);
  return {
    code: code ?? postgrestErrors.get(ownCode)?.code ?? ownCode,
    message: title,
    details: details ?? (isRefusedValue ? cause.diagnostics.detail : detail) ?? null,
    hint,
  };
}

function statusOf({ code: ownCode, status, members, cause }: Problem, { code, title }: ShownMembers): number {
  const raised = members[raisedStatus];
  if (typeof raised === 'number') return raised;
  if (choices.has(code)) return 300;
  if (isFaultOfDatabase(code, title, cause)) return 500;
  const isMissingRole = code === '22023' && missingRole.test(title);
  return isMissingRole ? 401 : (postgrestErrors.get(ownCode)?.status ?? status);
}

/** A subquery of a view or function, as requests have none, and a recursion of functions. */
function isFaultOfDatabase(code: unknown, title: string, cause: unknown): boolean {
  if (code === '21000') return title.startsWith('more than one row returned by a subquery');
  return code === '54001' && isDatabaseError(cause) && / function | statement /.test(cause.diagnostics.where ?? '');
}

/** The role that a token names. */
const missingRole = /^role ".*" does not exist$/s;

/** What a function has set for its response: its headers, or its status. */
function settingFault(detail = ''): KnownError {
  return detail.startsWith('response.headers')
    ? {
        code: 'PGRST111',
        message: 'response.headers guc must be a JSON array composed of objects with a single key and a string value',
      }
    : { code: 'PGRST112', message: 'response.status guc must be a valid status code' };
}

interface Refusal {
  readonly status: number;
  readonly known: KnownError | null;
}

/** A challenge of PostgREST has no realm, and the reason why a token is refused. Those of other schemes stay. */
function challenges(headers: HeaderList, { status, known }: Refusal): HeaderList {
  const isChallenge = (_: string, index: number): boolean =>
    index % 2 === 0 && headers[index]!.toLowerCase() === 'www-authenticate';
  if (status === 401 && !headers.some(isChallenge)) return [...headers, 'www-authenticate', 'Bearer'];
  const described =
    known === null || known.code === 'PGRST302'
      ? ''
      : ` error="invalid_token", error_description="${known.message.replaceAll(/["\\]/g, '')}"`;
  return headers.map((value, index) =>
    index % 2 === 1 && headers[index - 1]!.toLowerCase() === 'www-authenticate' && /^Bearer\b/.test(value)
      ? `Bearer${described}`
      : value,
  );
}

/**
 * The code of an error as a header (RFC 9209), which a response to HEAD has too. The name of the proxy is that of PostgREST, as its clients
 * know it. A function can raise any text as its code: one that is not a code is left out.
 */
function proxyStatus(code: unknown): HeaderList {
  return typeof code === 'string' && /^[\w-]{1,40}$/.test(code) ? ['proxy-status', `PostgREST; error=${code}`] : [];
}
