import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse } from '../http/response.ts';
import { executionIdOfStream } from '../events/execution-id.ts';
import type { StreamPlan } from '../events/stream.ts';
import type { Streams } from '../events/streams.ts';

/** What a stream answers, beside OPTIONS. */
export const streamMethods: readonly string[] = ['GET', 'HEAD'];

/**
 * The answer to a request for a stream: refused before its first byte, or without end.
 * @throws Problem 400 for an execution id that others might guess, 401, 403; 429 and 503 when there are too many
 */
export async function openStream(
  plan: StreamPlan,
  request: GatewayRequest,
  streams: Streams,
): Promise<GatewayResponse> {
  const executionId = executionIdOfStream(request);
  const audience = await streams.admit(plan, request);
  const headers = [...streams.headers, ...(audience.caller?.headers ?? [])];
  if (request.method === 'HEAD') return { kind: 'whole', status: 200, headers, body: null };
  const reader = streams.join(plan, request, audience, executionId);
  request.onLeave(() => reader.cancel());
  return { kind: 'stream', status: 200, headers, body: reader };
}
