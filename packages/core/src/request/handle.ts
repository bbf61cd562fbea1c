import type { GatewayRequest } from '../http/request.ts';
import { cancelOnThrow, type Handle } from '../http/response.ts';
import { authorize, needsNoCaller, refuseAnonymousCrossSite } from '../auth/authorize.ts';
import { withCallerHeaders } from '../auth/caller-headers.ts';
import { hashParameters } from '../auth/hash-parameters.ts';
import { bind } from './bind/bind.ts';
import { buildCustomQuery, buildQuery, type ExecutableCall, logCommand } from './build-query.ts';
import { executeCached } from './cache/cached-execution.ts';
import { findEndpoint, handleError } from './error-handler.ts';
import { runHooks } from './hooks.ts';
import { injectValues } from './inject.ts';
import { loginOrLogout } from './login.ts';
import { parseInput, type RequestInput } from './parse/parse-input.ts';
import type { RequestPipeline } from './pipeline.ts';
import type { Caller } from '../ports/ports.ts';
import { type Handled, observeHandled, reportCall } from './request-observation.ts';
import { respond } from './respond.ts';
import { executeUpload } from './upload/execute-upload.ts';
import { respondWithoutCall } from './responses-without-call.ts';
import { checkUriLength, lookUpRoute } from './route-lookup.ts';
import { type FailedAttempt, pipelineForRetry, type RefreshStaleEndpoint, toFailedAttempt } from './stale-endpoint.ts';

/** Runs the stages for each request. A stale endpoint is refreshed, and its request runs a second time. */
export function createHandle(pipeline: () => RequestPipeline, refreshStale: RefreshStaleEndpoint): Handle {
  return async (request) => {
    const current = pipeline();
    const first = await runStages(request, current, null);
    if ('response' in first) return reportCall(first, request, current);
    const refreshed = first.mayRepeat ? await pipelineForRetry(first, refreshStale) : null;
    const last = refreshed === null ? first : await runStages(request, refreshed, first.input);
    if ('response' in last) return reportCall(last, request, current);
    const response = withCallerHeaders(await handleError(last.error, request, last, last.pipeline), last.caller);
    observeHandled(current, { ...last, request, endpoint: findEndpoint(last) });
    return response;
  };
}

/**
 * Route lookup → authorize → parse input → bind → inject → build query → hooks → receive an upload → execute, or reply from the cache →
 * respond.
 * Each stage returns its product or throws a `Problem`.
 * @param earlierInput the input of the first attempt: a body can be read only once
 */
async function runStages(
  request: GatewayRequest,
  pipeline: RequestPipeline,
  earlierInput: RequestInput | null,
): Promise<Handled | FailedAttempt> {
  const route = lookUpRoute(request, pipeline);
  if (route.kind !== 'match') {
    return { response: await respondWithoutCall(route, request, pipeline), call: null, caller: null };
  }
  const { access, hooks } = pipeline;
  let candidates = route.targets;
  let caller: Caller | null = null;
  let input: RequestInput | null = null;
  let call: ExecutableCall | null = null;
  try {
    checkUriLength(request, pipeline.maxUriLength);
    if (needsNoCaller(candidates, access)) refuseAnonymousCrossSite(candidates, request, access);
    else ({ candidates, caller } = await authorize(candidates, request, access));
    const parsed = parseInput(earlierInput, request, candidates[0]!.endpoint, pipeline.maxBodySize);
    input = parsed instanceof Promise ? await parsed : parsed;
    const bound = bind(candidates, { input, path: route.path, ignoreUnknown: pipeline.ignoreUnknown });
    const injected = injectValues(bound, { request, caller }, pipeline);
    const { endpoint, queryBuilder, hashesParameters } = injected.candidate;
    const complete = hashesParameters ? await hashParameters(injected, request, pipeline.login) : injected;
    call = queryBuilder === null ? buildQuery(complete) : await buildCustomQuery(complete, queryBuilder, request);
    if (pipeline.logsCommands) logCommand(pipeline.observe, call, request);
    const hookResponse = hooks === null ? null : await runHooks(hooks, call, { request, caller }, pipeline);
    if (hookResponse !== null) return { response: withCallerHeaders(hookResponse, caller), call, caller };
    if (endpoint.loginOrLogout !== null) {
      return { response: await loginOrLogout(pipeline, call, { request, caller }), call, caller };
    }
    const { format, writeHeaders } = call.candidate.selectRepresentation(request.header('accept'));
    const headers = writeHeaders(call);
    const execution = { call, format, request, caller };
    const result = await (endpoint.upload === null
      ? executeCached(pipeline, execution, caller)
      : executeUpload(pipeline, execution));
    const toResponse = () => withCallerHeaders(respond(request, { format, headers, result }), caller);
    return { response: cancelOnThrow(result, toResponse), call, caller };
  } catch (error) {
    return toFailedAttempt(error, { pipeline, targets: route.targets, call, caller, input });
  }
}
