/** Bodies of requests: `100 Continue`, and the time within which they must arrive. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { onBodyRead, Problem } from '@pgway/core';

export interface BodyPolicy {
  /** The time within which a body must arrive, except that of an upload. */
  readonly timeoutMs: number;
  /** Whether the client waits for `100 Continue` (RFC 9110, section 10.1.1). */
  readonly expectsContinue: boolean;
}

/** Whether the request came over HTTP/2. Its version does not tell: a request line of HTTP/1.1 may end with `HTTP/2.0`. */
export function isHttp2(request: object): request is Http2ServerRequest {
  return 'stream' in request;
}

export function hasBody(request: IncomingMessage): boolean {
  // A body of HTTP/2 needs no header.
  if (isHttp2(request)) return !request.stream.endAfterHeaders;
  const { headers } = request;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Applies the policy from when the gateway begins to read the body: the client does not send a body that the gateway refuses. */
export function applyBodyPolicy(request: IncomingMessage, response: ServerResponse, policy: BodyPolicy): void {
  if (!hasBody(request)) return;
  const begin = (): void => {
    if (policy.expectsContinue && !request.complete) response.writeContinue();
  };
  onBodyRead(request, {
    whole: (fail) => {
      begin();
      if (request.complete) return;
      const timer = setTimeout(() => fail(timeout(policy)), policy.timeoutMs);
      response.once('close', () => clearTimeout(timer));
    },
    chunks: begin,
  });
}

function timeout({ timeoutMs }: BodyPolicy): Problem {
  return new Problem('request-timeout', { detail: `The limit is ${timeoutMs / 1000} seconds.` });
}
