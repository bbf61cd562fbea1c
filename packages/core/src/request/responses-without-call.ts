import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Destination } from './route-lookup.ts';
import { openStream } from './open-stream.ts';
import type { StreamPlan } from '../events/stream.ts';
import { handleError } from './error-handler.ts';
import type { Pipeline } from './pipeline.ts';
import { problemResponse } from './problem-response.ts';

/** Nothing runs in the database for these. Undefined: the request is not ours. */
export async function withoutCall(
  routed: Exclude<Destination, { readonly kind: 'match' }>,
  request: GatewayRequest,
  pipeline: Pipeline,
): Promise<GatewayResponse | undefined> {
  switch (routed.kind) {
    case 'none':
      return undefined;
    case 'method':
      return otherMethod(request, routed.allowed, pipeline);
    case 'stream':
      return streamed(routed.plan, request, pipeline);
  }
}

async function streamed(plan: StreamPlan, request: GatewayRequest, pipeline: Pipeline): Promise<GatewayResponse> {
  try {
    return await openStream(plan, request, pipeline.streams);
  } catch (error) {
    return handleError(error, request, { call: null, targets: plan.operations }, pipeline);
  }
}

/** The path is ours and the method is not: a host's own handlers may still want it. */
function otherMethod(request: GatewayRequest, allowed: readonly string[], { refusal }: Pipeline): GatewayResponse {
  const allow = ['allow', allowed.join(', ')];
  if (request.method === 'OPTIONS') return { kind: 'whole', status: 204, headers: allow, body: null, passable: true };
  const problem = new Problem('method-not-allowed', {
    detail: `${request.method} is not answered here; try ${allowed.join(', ')}.`,
    headers: allow,
  });
  return { ...problemResponse(problem, null, refusal), passable: true };
}
