import type { Word } from './word.ts';
import { allowAnonymous } from './words/allow-anonymous.ts';
import { allowUnfilteredDelete } from './words/allow-unfiltered-delete.ts';
import { authorize } from './words/authorize.ts';
import {
  basicAuthentication,
  basicAuthenticationCommand,
  basicAuthenticationRealm,
} from './words/basic-authentication.ts';
import { bodyParameterName } from './words/body-parameter-name.ts';
import { bufferRows } from './words/buffer-rows.ts';
import { cacheExpiresIn } from './words/cache-expires-in.ts';
import { cached } from './words/cached.ts';
import { columnNames } from './words/column-names.ts';
import { commandTimeout } from './words/command-timeout.ts';
import { connectionName } from './words/connection-name.ts';
import { contentType } from './words/content-type.ts';
import { disabled, enabled } from './words/enabled.ts';
import { http } from './words/http.ts';
import { infoPath } from './words/info-path.ts';
import { infoScope } from './words/info-scope.ts';
import { listen } from './words/listen.ts';
import { invalidates } from './words/invalidates.ts';
import { listing } from './words/listing.ts';
import { login, logout } from './words/login.ts';
import { method } from './words/method.ts';
import { newLine } from './words/new-line.ts';
import { paramType } from './words/param-type.ts';
import { param } from './words/param.ts';
import { path } from './words/path.ts';
import { planCacheMode } from './words/plan-cache-mode.ts';
import { connectionReset } from './words/connection-reset.ts';
import { queryStringNullHandling } from './words/query-string-null-handling.ts';
import { raw } from './words/raw.ts';
import { requestHeadersParameterName } from './words/request-headers-parameter-name.ts';
import { requestHeaders } from './words/request-headers.ts';
import { reserved } from './words/reserved.ts';
import { responseHeader } from './words/response-header.ts';
import { responseNullHandling } from './words/response-null-handling.ts';
import { securitySensitive } from './words/security-sensitive.ts';
import { separator } from './words/separator.ts';
import { tags } from './words/tags.ts';
import { tsclientEvents } from './words/tsclient-events.ts';
import { tsclientParseRequest } from './words/tsclient-parse-request.ts';
import { tsclientParseUrl } from './words/tsclient-parse-url.ts';
import { tsclientStatusCode } from './words/tsclient-status-code.ts';
import { tsclient } from './words/tsclient.ts';
import { userContext, userParameters } from './words/user-context.ts';

/** Every word of the annotation language, in the order of its documentation. The only registry. */
export const vocabulary: readonly Word[] = Object.freeze([
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
  enabled,
  disabled,
  tags,
  contentType,
  responseHeader,
  raw,
  separator,
  newLine,
  columnNames,
  bufferRows,
  commandTimeout,
  connectionName,
  planCacheMode,
  connectionReset,
  requestHeaders,
  requestHeadersParameterName,
  bodyParameterName,
  securitySensitive,
  cached,
  cacheExpiresIn,
  invalidates,
  responseNullHandling,
  queryStringNullHandling,
  infoPath,
  infoScope,
  listen,
  listing,
  allowUnfilteredDelete,
  tsclient,
  tsclientEvents,
  tsclientParseUrl,
  tsclientParseRequest,
  tsclientStatusCode,
  ...reserved,
]);

const byName: ReadonlyMap<string, Word> = new Map(vocabulary.flatMap((word) => word.names.map((name) => [name, word])));

/** All names and synonyms. */
export const wordNames: readonly string[] = [...byName.keys()];

/**
 * Words compare without case, and `-` is `_`: names of the web are written with hyphens (`Content-Type`), names of the
 * database with underscores, and no two words differ in that alone.
 */
export function normalName(written: string): string {
  return written.toLowerCase().replaceAll('-', '_');
}

/** The word of that name or synonym, or null. */
export function wordOf(written: string): Word | null {
  return byName.get(normalName(written)) ?? null;
}
