import type { Annotation } from './annotation.ts';
import { normalizeName } from './lexer.ts';
import type { MemberResolver, SimpleMember } from './value-annotation.ts';
import { allowUnfilteredDelete } from '../annotations/allow-unfiltered-delete.ts';
import { allowAnonymous, authorize } from '../annotations/authorize.ts';
import {
  basicAuthentication,
  basicAuthenticationCommand,
  basicAuthenticationRealm,
} from '../annotations/basic-authentication.ts';
import { bodyParameterName } from '../annotations/body-parameter-name.ts';
import { bufferRows } from '../annotations/buffer-rows.ts';
import { cached, cacheExpiresIn, invalidates } from '../annotations/cache.ts';
import { changes, changesPath } from '../annotations/changes.ts';
import { columnNames, newLine, raw, separator } from '../annotations/raw.ts';
import { commandTimeout } from '../annotations/command-timeout.ts';
import { connectionName, connectionReset } from '../annotations/connection.ts';
import { consistency } from '../annotations/consistency.ts';
import { contentType, responseHeader } from '../annotations/response-headers.ts';
import { retryStrategy } from '../annotations/retry-strategy.ts';
import { responseSettings } from '../annotations/response-settings.ts';
import { fieldErrors } from '../annotations/field-errors.ts';
import { largeNumbers } from '../annotations/large-numbers.ts';
import { disabled, enabled } from '../annotations/enabled.ts';
import { http, method, path } from '../annotations/http.ts';
import { idempotent } from '../annotations/idempotent.ts';
import { infoLevel, infoPath, infoScope } from '../annotations/info.ts';
import { internal } from '../annotations/internal.ts';
import { listen } from '../annotations/listen.ts';
import { listing } from '../annotations/listing.ts';
import { login, logout } from '../annotations/login.ts';
import { paramType } from '../annotations/request-param-type.ts';
import { mcp, mcpHints, mcpName, mcpTitle } from '../annotations/mcp.ts';
import { nested } from '../annotations/nested.ts';
import { param } from '../annotations/param.ts';
import { planCacheMode } from '../annotations/plan-cache-mode.ts';
import { rateLimit } from '../annotations/rate-limit.ts';
import { queryStringNullHandling, responseNullHandling } from '../annotations/null-handling.ts';
import { requestHeaders, requestHeadersParameterName } from '../annotations/request-headers.ts';
import { upload } from '../annotations/upload.ts';
import { uploadOption } from '../annotations/upload-option.ts';
import { securitySensitive } from '../annotations/security-sensitive.ts';
import { excelFileName, excelSheet, tableFormat } from '../annotations/table-format.ts';
import { tags } from '../annotations/tags.ts';
import {
  tsclient,
  tsclientEvents,
  tsclientParseRequest,
  tsclientParseUrl,
  tsclientStatusCode,
} from '../annotations/tsclient.ts';
import { validate } from '../annotations/validate.ts';
import { userContext, userParameters } from '../annotations/user-context.ts';

/** All annotations, in the order of their documentation and of explanations. */
const all = [
  http,
  path,
  method,
  paramType,
  authorize,
  allowAnonymous,
  login,
  logout,
  basicAuthentication,
  basicAuthenticationRealm,
  basicAuthenticationCommand,
  userContext,
  userParameters,
  param,
  validate,
  upload,
  uploadOption,
  enabled,
  disabled,
  internal,
  tags,
  contentType,
  responseHeader,
  raw,
  separator,
  newLine,
  columnNames,
  tableFormat,
  excelFileName,
  excelSheet,
  responseSettings,
  largeNumbers,
  nested,
  fieldErrors,
  bufferRows,
  commandTimeout,
  connectionName,
  consistency,
  planCacheMode,
  connectionReset,
  requestHeaders,
  requestHeadersParameterName,
  bodyParameterName,
  securitySensitive,
  cached,
  cacheExpiresIn,
  invalidates,
  idempotent,
  retryStrategy,
  rateLimit,
  responseNullHandling,
  queryStringNullHandling,
  infoPath,
  infoLevel,
  infoScope,
  listen,
  changes,
  changesPath,
  listing,
  allowUnfilteredDelete,
  tsclient,
  tsclientEvents,
  tsclientParseUrl,
  tsclientParseRequest,
  tsclientStatusCode,
  mcp,
  mcpName,
  mcpTitle,
  mcpHints,
] as const;

export const annotations: readonly Annotation[] = Object.freeze(all);

type Listed = (typeof all)[number];
type ByMember = {
  readonly [One in Listed as One extends { readonly member: infer Name extends SimpleMember } ? Name : never]: One;
};

/** Does not compile when the list above has no annotation for a member of endpoints. */
const byMember: { readonly [Member in SimpleMember]: MemberResolver<Member> } = Object.fromEntries(
  all.flatMap((one) => ('member' in one ? [[one.member, one]] : [])),
) as unknown as ByMember;

/** The resolvers of members of endpoints. */
export const members: readonly MemberResolver<SimpleMember>[] = Object.freeze(Object.values(byMember));

const byName: ReadonlyMap<string, Annotation> = new Map(
  annotations.flatMap((annotation) => annotation.names.map((name) => [name, annotation])),
);

/** The names and synonyms of all annotations. */
export const annotationNames: readonly string[] = [...byName.keys()];

/** Returns the annotation with this name or synonym, or null. */
export function findAnnotation(name: string): Annotation | null {
  return byName.get(normalizeName(name)) ?? null;
}
