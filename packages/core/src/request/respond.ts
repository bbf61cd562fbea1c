import type { RequestInput } from '../ports/request-input.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse, HeaderList } from '../http/response.ts';
import type { CallResult } from './execution.ts';
import type { Format } from '../response/format.ts';
import type { ResponseSettings } from '../response/response-settings.ts';
import { isNotModified } from '../http/conditional-request.ts';

export interface ExecutedCall {
  readonly format: Format;
  /** The endpoint's headers, content type first. */
  readonly headers: HeaderList;
  readonly result: CallResult;
}

/** Makes the response of a successful call: 200, 204 or 304, without a body for HEAD. */
export function respond(request: GatewayRequest, executed: ExecutedCall): GatewayResponse {
  const { headerRow, cacheHeaders, settingsRow } = executed.result;
  const response = withSettings(toResponse(executed), settingsRow?.settings ?? null);
  // Entity tags come from the header row or from the cache. One that the author wrote for all responses validates none.
  const hasValidator = headerRow !== null || settingsRow !== null || cacheHeaders?.validates === true;
  const conditional =
    hasValidator && response.status === 200 && isNotModified(request, response) ? notModified(response) : response;
  return request.method === 'HEAD' ? withoutBody(conditional) : conditional;
}

/** Statuses of responses without content (RFC 9110, section 6.4.1). */
const statusesWithoutContent = new Set([204, 205, 304]);

/** Applies the settings of a call to its response. Headers of the settings replace those of the endpoint. */
export function withSettings(response: GatewayResponse, settings: ResponseSettings | null): GatewayResponse {
  if (settings === null || response.kind === 'stream') return response;
  const status = settings.status ?? response.status;
  const replaced = new Set(settings.headers.filter((_, index) => index % 2 === 0));
  const others = pairs(response.headers).filter(([name]) => !replaced.has(name));
  // The content type stands first.
  const headers = [...others, ...pairs(settings.headers)].toSorted(([left], [right]) => rank(left) - rank(right));
  // Without a body, adapters send no length, which statuses other than 204 and 304 need.
  if (!statusesWithoutContent.has(status))
    return { ...response, status, headers: headers.flat(), body: response.body ?? '' };
  const kept = headers.filter(([name]) => name !== 'content-type');
  return { kind: 'whole', status, headers: kept.flat(), body: status === 205 ? '' : null };
}

function pairs(headers: HeaderList): readonly (readonly [name: string, value: string])[] {
  return Array.from({ length: headers.length / 2 }, (_, index) => [headers[2 * index]!, headers[2 * index + 1]!]);
}

function rank(name: string): number {
  return name === 'content-type' ? 0 : 1;
}

function toResponse({ format, headers: endpointHeaders, result }: ExecutedCall): GatewayResponse {
  const { headerRow, cacheHeaders } = result;
  const rowHeaders = headerRow === null ? endpointHeaders : [...endpointHeaders, ...headerRow.headers];
  const headers = cacheHeaders === null ? rowHeaders : [...rowHeaders, ...cacheHeaders.headers];
  if (result.kind === 'stream') return { kind: 'stream', status: 200, headers, body: result.body };
  const { body, rows, memory = null } = result;
  if (rows === 0 && format.whenEmpty === 'noContent') {
    // Without the content type, which comes first: there is no content.
    return { kind: 'whole', status: 204, headers: headers.slice(2), body: null };
  }
  return { kind: 'whole', status: 200, headers, body, memory, isShared: cacheHeaders !== null };
}

/** Characters; a longer one may not fit into a URL. */
const longestLocation = 4000;
/** The characters of a query (RFC 3986, section 3.4). */
const queryText = /^[\w!$&'()*+,./:;=?@~%-]*$/;

/**
 * Adds the URL that gives the same rows with GET, relative to the URL of the request, where the method QUERY has sent a form (RFC 10008,
 * section 2.4).
 */
export function withLocation(response: GatewayResponse, input: RequestInput): GatewayResponse {
  const form = input.source === 'query' ? input.form : undefined;
  if (form === undefined || response.status !== 200) return response;
  if (form.length > longestLocation || !queryText.test(form) || hasHeader(response, 'location')) return response;
  return { ...response, headers: [...response.headers, 'location', `?${form}`] };
}

function hasHeader({ headers }: GatewayResponse, name: string): boolean {
  return headers.some((text, index) => index % 2 === 0 && text.toLowerCase() === name);
}

/** The client has this representation already. The call behind a stream is cancelled. */
function notModified(response: GatewayResponse): GatewayResponse {
  if (response.kind === 'stream') response.body.cancel();
  // Without the content type, which comes first: there is no content.
  return { kind: 'whole', status: 304, headers: response.headers.slice(2), body: null };
}

/** The response to HEAD: the same status and headers. */
export function withoutBody(response: GatewayResponse): GatewayResponse {
  if (response.kind === 'whole') {
    const length = response.body === null ? [] : ['content-length', String(Buffer.byteLength(response.body))];
    return { ...response, headers: [...response.headers, ...length], body: null, memory: null };
  }
  response.body.cancel();
  return { kind: 'whole', status: response.status, headers: response.headers, body: null };
}
