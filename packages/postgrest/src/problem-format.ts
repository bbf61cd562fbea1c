import type { HeaderList, ProblemFormat } from '@pgway/core';

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

/** Refusals of a token whose signature is valid. */
const refusedClaims =
  /^The token (?:has expired|is too old|is for another audience|is from another issuer|is not valid yet)/;

/** Without a token, the request is that of an anonymous caller. */
function unauthenticatedCode(detail: string | undefined): string {
  if (detail === undefined) return 'PGRST302';
  return refusedClaims.test(detail) ? 'PGRST303' : 'PGRST301';
}

/**
 * The code of an error as a header (RFC 9209), which a response to HEAD has too. The name of the proxy is that of PostgREST, as its clients
 * know it. A function can raise any text as its code: one that is not a code is left out.
 */
function proxyStatus(code: unknown): HeaderList {
  return typeof code === 'string' && /^[\w-]{1,40}$/.test(code) ? ['proxy-status', `PostgREST; error=${code}`] : [];
}

/** The error as PostgREST has it. Its code is an SQLSTATE, a code of PostgREST, or that of the problem. */
export const formatProblem: ProblemFormat = ({ code, status, detail: reason }, shown) => {
  const known = code === 'unauthenticated' ? { status, code: unauthenticatedCode(reason) } : postgrestErrors.get(code);
  const { title, detail, details = detail ?? null, hint = null, pointer } = shown;
  const shownCode = shown.code ?? known?.code ?? code;
  return {
    headers: proxyStatus(shownCode),
    // A problem has a status from 400 on; several relationships are a choice for the client.
    status: known?.status ?? (shown.code === 'PGRST201' ? 300 : status),
    members: {
      code: shownCode,
      message: title,
      details,
      hint,
      ...(pointer === undefined ? {} : { pointer }),
    },
  };
};
