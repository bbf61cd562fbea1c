import type { Word } from './annotation.ts';
import { allowAnonymous } from '../annotations/allow-anonymous.ts';
import { allowUnfilteredDelete } from '../annotations/allow-unfiltered-delete.ts';
import { authorize } from '../annotations/authorize.ts';
import {
  basicAuthentication,
  basicAuthenticationCommand,
  basicAuthenticationRealm,
} from '../annotations/basic-authentication.ts';
import { bodyParameterName } from '../annotations/body-parameter-name.ts';
import { bufferRows } from '../annotations/buffer-rows.ts';
import { cacheExpiresIn } from '../annotations/cache-expires-in.ts';
import { cached } from '../annotations/cached.ts';
import { columnNames } from '../annotations/column-names.ts';
import { commandTimeout } from '../annotations/command-timeout.ts';
import { connectionName } from '../annotations/connection-name.ts';
import { contentType } from '../annotations/content-type.ts';
import { disabled, enabled } from '../annotations/enabled.ts';
import { http } from '../annotations/http.ts';
import { infoPath } from '../annotations/info-path.ts';
import { infoScope } from '../annotations/info-scope.ts';
import { listen } from '../annotations/listen.ts';
import { invalidates } from '../annotations/invalidates.ts';
import { listing } from '../annotations/listing.ts';
import { login, logout } from '../annotations/login.ts';
import { method } from '../annotations/method.ts';
import { newLine } from '../annotations/new-line.ts';
import { paramType } from '../annotations/param-type.ts';
import { param } from '../annotations/param.ts';
import { path } from '../annotations/path.ts';
import { planCacheMode } from '../annotations/plan-cache-mode.ts';
import { connectionReset } from '../annotations/connection-reset.ts';
import { queryStringNullHandling } from '../annotations/query-string-null-handling.ts';
import { raw } from '../annotations/raw.ts';
import { requestHeadersParameterName } from '../annotations/request-headers-parameter-name.ts';
import { requestHeaders } from '../annotations/request-headers.ts';
import { reserved } from '../annotations/reserved.ts';
import { responseHeader } from '../annotations/response-header.ts';
import { responseNullHandling } from '../annotations/response-null-handling.ts';
import { securitySensitive } from '../annotations/security-sensitive.ts';
import { separator } from '../annotations/separator.ts';
import { tags } from '../annotations/tags.ts';
import { tsclientEvents } from '../annotations/tsclient-events.ts';
import { tsclientParseRequest } from '../annotations/tsclient-parse-request.ts';
import { tsclientParseUrl } from '../annotations/tsclient-parse-url.ts';
import { tsclientStatusCode } from '../annotations/tsclient-status-code.ts';
import { tsclient } from '../annotations/tsclient.ts';
import { userContext, userParameters } from '../annotations/user-context.ts';

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
