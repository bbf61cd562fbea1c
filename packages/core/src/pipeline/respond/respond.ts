import type { GatewayResponse, HeaderList } from '../../http/response.ts';
import type { Outcome } from '../execute.ts';
import type { Format } from './format.ts';

/** The answer of a call that went well. */
export function respond(format: Format, headers: HeaderList, outcome: Outcome): GatewayResponse {
  if (outcome.kind === 'stream') return { kind: 'stream', status: 200, headers, body: outcome.body };
  const { body, rows } = outcome;
  if (rows === 0 && format.empty === 'noContent') {
    // Whatever the author's headers say, there is no content for a content type to describe.
    return { kind: 'whole', status: 204, headers: headers.slice(2), body: null };
  }
  return { kind: 'whole', status: 200, headers, body };
}

/** The answer to HEAD: all but the body. A stream is of no use then, and its work is stopped. */
export function withoutBody(response: GatewayResponse): GatewayResponse {
  if (response.kind === 'whole') {
    const length = response.body === null ? [] : ['content-length', String(Buffer.byteLength(response.body))];
    return { ...response, headers: [...response.headers, ...length], body: null };
  }
  response.body.cancel();
  return { kind: 'whole', status: response.status, headers: response.headers, body: null };
}
