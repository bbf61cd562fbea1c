import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse, HeaderList } from '../http/response.ts';
import type { CallResult } from './execute.ts';
import type { Format } from '../response/format.ts';
import { isNotModified } from '../http/conditional-request.ts';

export interface Answer {
  readonly format: Format;
  readonly headers: HeaderList;
  readonly outcome: CallResult;
}

/** The answer of a call that went well, as the request wants it. */
export function respond(request: GatewayRequest, answer: Answer): GatewayResponse {
  const response = responseOf(answer);
  const { headerRow: told, cacheHeaders: kept } = answer.outcome;
  // Only what the call itself has told, or what is known of a kept answer, can be an entity tag.
  const tagged = told !== null || kept?.validates === true;
  const asked = tagged && isNotModified(request, response) ? notModified(response) : response;
  return request.method === 'HEAD' ? withoutBody(asked) : asked;
}

function responseOf({ format, headers: own, outcome }: Answer): GatewayResponse {
  const { headerRow: told, cacheHeaders: kept } = outcome;
  const said = told === null ? own : [...own, ...told.headers];
  const headers = kept === null ? said : [...said, ...kept.headers];
  if (outcome.kind === 'stream') return { kind: 'stream', status: 200, headers, body: outcome.body };
  const { body, rows } = outcome;
  if (rows === 0 && format.whenEmpty === 'noContent') {
    // Whatever the author's headers say, there is no content for a content type to describe.
    return { kind: 'whole', status: 204, headers: headers.slice(2), body: null };
  }
  return { kind: 'whole', status: 200, headers, body, isShared: kept !== null };
}

/** The client has it already. A stream is of no use then, and its work is stopped. */
function notModified(response: GatewayResponse): GatewayResponse {
  if (response.kind === 'stream') response.body.cancel();
  // The content type stands first, and there is no content.
  return { kind: 'whole', status: 304, headers: response.headers.slice(2), body: null };
}

/** The answer to HEAD: all but the body. */
function withoutBody(response: GatewayResponse): GatewayResponse {
  if (response.kind === 'whole') {
    const length = response.body === null ? [] : ['content-length', String(Buffer.byteLength(response.body))];
    return { ...response, headers: [...response.headers, ...length], body: null };
  }
  response.body.cancel();
  return { kind: 'whole', status: response.status, headers: response.headers, body: null };
}
