import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse, Handle } from '../http/response.ts';
import { withCallerHeaders } from '../auth/caller-headers.ts';
import type { MaybeLimitedRequest } from './admit.ts';
import { findEndpoint, handleError } from './error-handler.ts';
import { runStages } from './handle.ts';
import type { RequestPipeline } from './pipeline.ts';
import type { CompiledRateLimit } from './rate-limit/compile-rate-limit.ts';
import { LimitedRequest } from './rate-limit/limited-request.ts';
import { observeHandled, reportCall } from './request-observation.ts';
import { respondWithoutCall } from './responses-without-call.ts';
import { lookUpRoute, type RouteLookup } from './route-lookup.ts';
import { type FailedAttempt, pipelineForRetry, type RefreshStaleEndpoint } from './stale-endpoint.ts';

interface RoutedRequest extends MaybeLimitedRequest {
  readonly pipeline: RequestPipeline;
  readonly route: RouteLookup;
}

/** Runs the stages for each request. A stale endpoint is refreshed, and its request runs a second time. */
export function createHandle(currentPipeline: () => RequestPipeline, refreshStale: RefreshStaleEndpoint): Handle {
  return (request) => {
    const pipeline = currentPipeline();
    const route = lookUpRoute(request, pipeline);
    const rateLimit = findRateLimit(route, pipeline);
    const limited = rateLimit === null ? null : new LimitedRequest(rateLimit, request);
    return handleRouted({ request, pipeline, route, limited }, refreshStale);
  };
}

/** Overloads have the same rate limit. */
function findRateLimit(route: RouteLookup, { streamRateLimits }: RequestPipeline): CompiledRateLimit | null {
  if (route.kind === 'match') return route.targets[0]!.rateLimit;
  return route.kind === 'stream' ? (streamRateLimits.get(route.definition.path) ?? null) : null;
}

async function handleRouted(
  { request, pipeline, route, limited }: RoutedRequest,
  refreshStale: RefreshStaleEndpoint,
): Promise<GatewayResponse | undefined> {
  try {
    if (route.kind !== 'match') return finish(limited, await respondWithoutCall(route, { request, limited }, pipeline));
    const first = await runStages(request, pipeline, route, { limited, earlierInput: null });
    if ('response' in first) return finish(limited, reportCall(first, request, pipeline));
    const refreshed = first.mayRepeat ? await pipelineForRetry(first, refreshStale) : null;
    if (refreshed === null) return finish(limited, await respondToFailure(first, request, pipeline));
    const newRoute = lookUpRoute(request, refreshed);
    if (newRoute.kind !== 'match') {
      return finish(limited, await respondWithoutCall(newRoute, { request, limited }, refreshed));
    }
    const second = await runStages(request, refreshed, newRoute, { limited, earlierInput: first.input });
    if ('response' in second) return finish(limited, reportCall(second, request, pipeline));
    return finish(limited, await respondToFailure(second, request, pipeline));
  } catch (error) {
    limited?.release();
    throw error;
  }
}

function finish(limited: LimitedRequest | null, response: GatewayResponse | undefined): GatewayResponse | undefined {
  return limited === null ? response : limited.finish(response);
}

async function respondToFailure(
  failed: FailedAttempt,
  request: GatewayRequest,
  pipeline: RequestPipeline,
): Promise<GatewayResponse> {
  const response = withCallerHeaders(await handleError(failed.error, request, failed, failed.pipeline), failed.caller);
  observeHandled(pipeline, { ...failed, request, endpoint: findEndpoint(failed) });
  return response;
}
