import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse, Handle } from '../http/response.ts';
import { withCallerHeaders } from '../auth/caller-headers.ts';
import type { MaybeLimitedRequest } from './admit.ts';
import { addToken, getsToken, readConsistency } from './consistency.ts';
import { observedStream, openChanges, toStreamError } from './changes/open-change-stream.ts';
import { findEndpoint, handleError } from './error-handler.ts';
import { runStages } from './handle.ts';
import type { RequestPipeline } from './pipeline.ts';
import type { CompiledRateLimit } from './rate-limit/compile-rate-limit.ts';
import { LimitedRequest } from './rate-limit/limited-request.ts';
import { type Handled, observeHandled, reportCall } from './request-observation.ts';
import { respondWithoutCall } from './responses-without-call.ts';
import { isRepeatable, lookUpRoute, type RepeatableRoute, type RouteLookup } from './route-lookup.ts';
import { noTimer, type PhaseTimer, ServerTiming } from './server-timing.ts';
import {
  type FailedAttempt,
  maxStaleRepetitions,
  pipelineForRetry,
  type RefreshStaleEndpoint,
} from './stale-endpoint.ts';

interface RoutedRequest extends MaybeLimitedRequest {
  readonly pipeline: RequestPipeline;
  readonly route: RouteLookup;
  readonly timer: PhaseTimer;
}

/** Runs the stages for each request. A stale endpoint is refreshed, and its request runs again. */
export function createHandle(currentPipeline: () => RequestPipeline, refreshStale: RefreshStaleEndpoint): Handle {
  return (request) => {
    const pipeline = currentPipeline();
    const timing = pipeline.serverTiming ? new ServerTiming() : null;
    const route = lookUpRoute(request, pipeline);
    const rateLimit = findRateLimit(route, pipeline);
    const limited = rateLimit === null ? null : new LimitedRequest(rateLimit, request);
    const handled = handleRouted({ request, pipeline, route, limited, timer: timing ?? noTimer }, refreshStale);
    if (timing === null) return handled;
    return handled.then((response) => (response === undefined ? response : timing.addTo(response)));
  };
}

/** Overloads have the same rate limit. */
export function findRateLimit(
  route: RouteLookup,
  { rateLimits, streamRateLimits }: RequestPipeline,
): CompiledRateLimit | null {
  const name =
    route.kind === 'match'
      ? route.targets[0]!.endpoint.rateLimit
      : route.kind === 'changes'
        ? route.target.endpoint.rateLimit
        : route.kind === 'stream'
          ? (streamRateLimits.get(route.definition.path) ?? null)
          : null;
  return name === null ? null : rateLimits.get(name)!;
}

async function handleRouted(
  { request, pipeline, route, limited, timer }: RoutedRequest,
  refreshStale: RefreshStaleEndpoint,
): Promise<GatewayResponse | undefined> {
  const respondToSuccess = (handled: Handled): GatewayResponse | undefined => {
    timer.enter('response');
    return finish(limited, reportCall(handled, request, pipeline));
  };
  try {
    if (!isRepeatable(route)) {
      timer.enter('parse');
      const response = await respondWithoutCall(route, { request, limited }, pipeline);
      timer.enter('response');
      return finish(limited, response);
    }
    const last = await runAttempts({ request, pipeline, route, limited, timer }, refreshStale);
    if (last.attempt === null) {
      return finish(limited, await respondWithoutCall(last.route, { request, limited }, last.pipeline));
    }
    if ('response' in last.attempt) return respondToSuccess(last.attempt);
    return finish(limited, await respondToFailure(last.attempt, request, pipeline, last.route));
  } catch (error) {
    limited?.release();
    throw error;
  }
}

type Attempt = Awaited<ReturnType<typeof runStages>>;

/** The outcome of the last attempt, with its route; no attempt where the route has become one without a call. */
type LastAttempt =
  | { readonly attempt: Attempt; readonly route: RepeatableRoute }
  | {
      readonly attempt: null;
      readonly route: Exclude<RouteLookup, RepeatableRoute>;
      readonly pipeline: RequestPipeline;
    };

/** Runs the stages, and again with the endpoints that a refresh gives for a stale one. */
async function runAttempts(
  { request, pipeline, route: first, limited, timer }: RoutedRequest & { readonly route: RepeatableRoute },
  refreshStale: RefreshStaleEndpoint,
): Promise<LastAttempt> {
  let route = first;
  let attempt: Attempt = await runAttempt(request, pipeline, route, { limited, earlierInput: null, timer });
  for (let repetition = 0; repetition < maxStaleRepetitions && !('response' in attempt); repetition++) {
    const refreshed = attempt.mayRepeat ? await pipelineForRetry(attempt, refreshStale) : null;
    if (refreshed === null) break;
    const newRoute = lookUpRoute(request, refreshed);
    if (!isRepeatable(newRoute)) return { attempt: null, route: newRoute, pipeline: refreshed };
    route = newRoute;
    attempt = await runAttempt(request, refreshed, route, { limited, earlierInput: attempt.input, timer });
  }
  return { attempt, route };
}

/** Runs the stages, and adds the token of a write to its response. */
function runAttempt(
  request: GatewayRequest,
  pipeline: RequestPipeline,
  route: RepeatableRoute,
  attempt: Parameters<typeof runStages>[3],
): ReturnType<typeof runStages> {
  if (route.kind === 'changes') {
    attempt.timer.enter('parse');
    return openChanges(route.target, { request, limited: attempt.limited }, pipeline);
  }
  const running = runStages(request, pipeline, route, attempt);
  const { readRouting } = pipeline;
  if (readRouting === null) return running;
  return running.then(async (result) => {
    if (!('response' in result) || result.call === null) return result;
    const { response, call } = result;
    if (
      response === undefined ||
      response.status >= 400 ||
      !getsToken(call.candidate.endpoint, readConsistency(request))
    )
      return result;
    return { ...result, response: await addToken(response, readRouting.replicas) };
  });
}

function finish(limited: LimitedRequest | null, response: GatewayResponse | undefined): GatewayResponse | undefined {
  return limited === null ? response : limited.finish(response);
}

async function respondToFailure(
  failed: FailedAttempt,
  request: GatewayRequest,
  pipeline: RequestPipeline,
  route: RepeatableRoute,
): Promise<GatewayResponse> {
  const isStream = route.kind === 'changes';
  const error = isStream ? toStreamError(failed.error) : failed.error;
  const response = withCallerHeaders(await handleError(error, request, failed, failed.pipeline), failed.caller);
  const observed = isStream ? observedStream(route.target.endpoint) : {};
  observeHandled(pipeline, { ...failed, ...observed, request, endpoint: findEndpoint(failed) });
  return response;
}
