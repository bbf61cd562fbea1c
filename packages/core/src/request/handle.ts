import type { GatewayRequest } from '../http/request.ts';
import { cancelOnThrow } from '../http/response.ts';
import { withCallerHeaders } from '../auth/caller-headers.ts';
import { hashParameters } from '../auth/hash-parameters.ts';
import { bind } from './bind/bind.ts';
import { buildQuery, type ExecutableCall, logCommand } from './build-query.ts';
import { readConsistency } from './consistency.ts';
import { respondFromRows } from './execute-for-row.ts';
import { admit } from './admit.ts';
import { noHooks, runHooks } from './hooks.ts';
import { injectValues } from './inject.ts';
import { produceResult } from './produce-result.ts';
import { parseInput } from './parse/parse-input.ts';
import type { RequestInput } from '../ports/request-input.ts';
import type { RequestPipeline } from './pipeline.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import type { Caller } from '../ports/ports.ts';
import type { LimitedRequest } from './rate-limit/limited-request.ts';
import type { Handled } from './request-observation.ts';
import { respond, withLocation } from './respond.ts';
import type { PhaseTimer } from './server-timing.ts';
import { checkUriLength } from './route-lookup.ts';
import type { RouteMatch } from './router.ts';
import { type FailedAttempt, toFailedAttempt } from './stale-endpoint.ts';

/** One of at most two attempts of a request. */
interface Attempt {
  /** Null without a rate limit. */
  readonly limited: LimitedRequest | null;
  /** The input of the first attempt: a body can be read only once. */
  readonly earlierInput: RequestInput | null;
  readonly timer: PhaseTimer;
}

/**
 * Route lookup → rate limit and authorize → parse input → bind → inject → build query → hooks → receive an upload → execute, or reply
 * from the cache → respond.
 * Each stage returns its product or throws a `Problem`.
 */
export async function runStages(
  request: GatewayRequest,
  pipeline: RequestPipeline,
  route: RouteMatch<CompiledEndpoint>,
  { limited, earlierInput, timer }: Attempt,
): Promise<Handled | FailedAttempt> {
  const { access, hooks } = pipeline;
  let candidates = route.targets;
  let caller: Caller | null = null;
  let input: RequestInput | null = null;
  let call: ExecutableCall | null = null;
  try {
    checkUriLength(request, pipeline.maxUriLength);
    const authorized = admit(candidates, { request, limited }, access);
    ({ candidates, caller } = authorized instanceof Promise ? await authorized : authorized);
    timer.enter('parse');
    const consistency = pipeline.readRouting === null ? null : readConsistency(request);
    const parsed = parseInput(earlierInput, request, candidates, pipeline.maxBodySize);
    input = parsed instanceof Promise ? await parsed : parsed;
    const sent = input;
    const bound = bind(candidates, { input, path: route.path, ignoreUnknown: pipeline.ignoreUnknown });
    const injected = injectValues(bound, { request, caller }, pipeline);
    const { hashesParameters } = injected.candidate;
    const complete = hashesParameters ? await hashParameters(injected, request, pipeline.login) : injected;
    const context = { request, caller };
    const built = buildQuery(complete, context, input, pipeline);
    call = built instanceof Promise ? await built : built;
    timer.enter('plan');
    if (pipeline.logsCommands) logCommand(pipeline.observe, call, request);
    const hooked = hooks === null ? noHooks : await runHooks(hooks, call, { request, caller }, pipeline);
    if (hooked.response !== null) return { response: withCallerHeaders(hooked.response, caller), call, caller };
    const { usesPrimary } = hooked;
    timer.enter('transaction');
    const own = respondFromRows(pipeline, { call, request, caller, consistency, usesPrimary });
    if (own !== null) return { response: await own, call, caller };
    const { format, writeHeaders } = call.candidate.selectRepresentation(request.header('accept'), call);
    const headers = writeHeaders(call);
    const execution = { call, format, request, caller, consistency, usesPrimary };
    const executed = produceResult(pipeline, execution);
    const result = executed instanceof Promise ? await executed : executed;
    const toResponse = () =>
      withCallerHeaders(withLocation(respond(request, { format, headers, result }), sent), caller);
    return { response: cancelOnThrow(result, toResponse), call, caller };
  } catch (error) {
    return toFailedAttempt(error, { pipeline, targets: route.targets, call, caller, input });
  }
}
