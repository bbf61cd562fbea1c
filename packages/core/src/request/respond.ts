import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse, HeaderList } from '../http/response.ts';
import type { CallResult } from './execute.ts';
import type { Format } from '../response/format.ts';
import { isNotModified } from '../http/conditional-request.ts';

export interface ExecutedCall {
  readonly format: Format;
  /** The endpoint's headers, content type first. */
  readonly headers: HeaderList;
  readonly result: CallResult;
}

/** Makes the response of a successful call: 200, 204 or 304, without a body for HEAD. */
export function respond(request: GatewayRequest, executed: ExecutedCall): GatewayResponse {
  const response = toResponse(executed);
  const { headerRow, cacheHeaders } = executed.result;
  // Entity tags come from the header row or from the cache. One that the author wrote for all responses validates none.
  const hasValidator = headerRow !== null || cacheHeaders?.validates === true;
  const conditional = hasValidator && isNotModified(request, response) ? notModified(response) : response;
  return request.method === 'HEAD' ? withoutBody(conditional) : conditional;
}

function toResponse({ format, headers: endpointHeaders, result }: ExecutedCall): GatewayResponse {
  const { headerRow, cacheHeaders } = result;
  const rowHeaders = headerRow === null ? endpointHeaders : [...endpointHeaders, ...headerRow.headers];
  const headers = cacheHeaders === null ? rowHeaders : [...rowHeaders, ...cacheHeaders.headers];
  if (result.kind === 'stream') return { kind: 'stream', status: 200, headers, body: result.body };
  const { body, rows } = result;
  if (rows === 0 && format.whenEmpty === 'noContent') {
    // Without the content type, which stands first: there is no content.
    return { kind: 'whole', status: 204, headers: headers.slice(2), body: null };
  }
  return { kind: 'whole', status: 200, headers, body, isShared: cacheHeaders !== null };
}

/** The client has this representation already. The call behind a stream is cancelled. */
function notModified(response: GatewayResponse): GatewayResponse {
  if (response.kind === 'stream') response.body.cancel();
  // Without the content type, which stands first: there is no content.
  return { kind: 'whole', status: 304, headers: response.headers.slice(2), body: null };
}

/** The response to HEAD: the same status and headers. */
function withoutBody(response: GatewayResponse): GatewayResponse {
  if (response.kind === 'whole') {
    const length = response.body === null ? [] : ['content-length', String(Buffer.byteLength(response.body))];
    return { ...response, headers: [...response.headers, ...length], body: null };
  }
  response.body.cancel();
  return { kind: 'whole', status: response.status, headers: response.headers, body: null };
}
